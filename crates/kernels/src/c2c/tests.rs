use std::thread;

use super::{C2cError, Line, PingOp, PingPong, WINDOW_STRIDE, Window, read_through};
use crate::clock::for_tests as clock;
use crate::rng::Rng;

#[repr(align(64))]
#[derive(Clone)]
struct Node([u8; 128]);

fn memory(nodes: &mut [Node]) -> &mut [u8] {
    // SAFETY: nodes are arrays of bytes without padding.
    unsafe { std::slice::from_raw_parts_mut(nodes.as_mut_ptr().cast(), nodes.len() * 128) }
}

/// Far beyond any descheduling, yet no hang.
const PATIENCE: u64 = 1 << 33;

#[test]
fn both_sides_of_a_pingpong_finish_again_and_again() {
    for op in [PingOp::Store, PingOp::Cas] {
        let mut nodes = vec![Node([0xff; 128]); 1];
        let line = Line::new(memory(&mut nodes)).unwrap();
        let mut game = PingPong { op, first: line.value(), round_trips: 50, spin_limit: PATIENCE };
        for _ in 0..3 {
            thread::scope(|scope| {
                let follower = scope.spawn(|| game.follow(&line));
                assert!(game.lead(&line, &clock()).unwrap() > 0, "{op:?}");
                assert_eq!(follower.join().unwrap(), Some(()));
            });
            assert_eq!(line.value(), game.end(), "every turn was taken");
            game.first = game.end();
        }
        assert_eq!(line.value(), 3 * 2 * 51);
    }
}

#[test]
fn a_side_that_is_alone_gives_up() {
    for op in [PingOp::Store, PingOp::Cas] {
        let mut nodes = vec![Node([0; 128]); 1];
        let line = Line::new(memory(&mut nodes)).unwrap();
        let game = PingPong { op, first: 0, round_trips: 10, spin_limit: 1000 };
        assert_eq!(game.follow(&line), None);
        assert_eq!(line.value(), 0);
        assert_eq!(game.lead(&line, &clock()), None);
        assert!(!line.wait(77, 1000));
    }
}

#[test]
fn a_wait_ends_with_its_value_or_when_the_partner_left() {
    let mut nodes = vec![Node([0; 128]); 1];
    let line = Line::new(memory(&mut nodes)).unwrap();
    assert!(!line.wait_unless(7, u64::MAX, 1000), "nobody came");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| line.wait_unless(7, u64::MAX, PATIENCE));
        line.signal(7);
        assert!(waiting.join().unwrap());
        let left = scope.spawn(|| line.wait_unless(8, u64::MAX, u64::MAX));
        line.signal(u64::MAX);
        assert!(!left.join().unwrap(), "else this would spin for years");
    });
}

#[test]
fn a_push_reads_each_line_the_last_one_too() {
    let mut nodes = vec![Node([1; 128]); 50];
    let bytes: &[u8] = memory(&mut nodes);
    assert_eq!([0, 1, 64, 65, 6400].map(|length| read_through(&bytes[..length])), [0, 1, 1, 2, 100]);
}

#[test]
fn ownership_goes_back_and_forth_and_the_ring_stays_whole() {
    let mut nodes = vec![Node([0xab; 128]); 1000];
    let mut lines = vec![Node([0; 128]); 2];
    let mut rng = Rng::new(4);
    let window = Window::new(memory(&mut nodes), &mut rng).unwrap();
    let (go, back) = lines.split_at_mut(1);
    let (go, back) = (Line::new(memory(go)).unwrap(), Line::new(memory(back)).unwrap());
    assert_eq!(window.nodes(), 1000);
    thread::scope(|scope| {
        scope.spawn(|| {
            for pass in 1..=6 {
                if pass % 2 == 0 {
                    window.own_modified();
                } else {
                    let _ = window.own_clean();
                }
                go.signal(pass);
                assert!(back.wait(pass, PATIENCE));
                window.relink(&mut rng);
            }
        });
        for pass in 1..=6 {
            assert!(go.wait(pass, PATIENCE));
            assert!(window.read_pass(&clock()) > 0);
            back.signal(pass);
        }
    });
    let mut at = 0;
    let mut seen = vec![false; 1000];
    for _ in 0..1000 {
        let node = at as usize / WINDOW_STRIDE;
        assert!(!std::mem::replace(&mut seen[node], true), "node {node} twice");
        at = window.link(node).load(std::sync::atomic::Ordering::Relaxed);
    }
    assert_eq!(at, 0, "one cycle");
    let dirtied = |n: &Node| n.0[8..16] != [0xab; 8] && n.0[16..] == [0xab; 112];
    assert!(nodes.iter().all(dirtied), "each node's second word and no other");
}

#[test]
fn unfit_memory_is_refused() {
    let mut nodes = vec![Node([0; 128]); 2];
    let all = memory(&mut nodes);
    assert_eq!(Line::new(&mut all[8..]).err(), Some(C2cError::Unaligned));
    let small = |bytes, needed| Some(C2cError::TooSmall { bytes, needed });
    assert_eq!(Line::new(&mut all[..63]).err(), small(63, 64));
    let mut rng = Rng::new(0);
    assert_eq!(Window::new(&mut all[..255], &mut rng).err(), small(255, 256));
    assert_eq!(Window::new(all, &mut rng).map(|w| w.nodes()), Ok(2));
}
