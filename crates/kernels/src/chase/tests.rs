use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

use super::{Order, RingError, RingId, Rings};
use crate::clock::Clock;
use crate::rng::Rng;

#[repr(align(64))]
#[derive(Clone)]
struct Line(#[expect(dead_code, reason = "used as bytes")] [u8; 64]);

fn buffer(len: usize) -> Vec<Line> {
    vec![Line([0xee; 64]); len.div_ceil(64)]
}

fn bytes(lines: &mut [Line], len: usize) -> &mut [u8] {
    assert!(len <= lines.len() * 64);
    // SAFETY: lines are arrays of bytes without padding, and there are enough.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), len) }
}

/// The nodes of a ring in order of visit; checks that the cycle closes there.
fn visits(rings: &Rings<'_>, id: RingId, stride: usize) -> Vec<usize> {
    let mut at = rings.start(id);
    let visits = (0..rings.nodes(id))
        .map(|_| {
            let node = at as usize / stride;
            at = rings.chase(id, at, 1);
            node
        })
        .collect();
    assert_eq!(at, rings.start(id), "the cycle does not close");
    assert_eq!(rings.chase(id, at, rings.nodes(id)), at);
    visits
}

fn is_permutation(visits: &[usize]) -> bool {
    let mut sorted = visits.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..visits.len())
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Sequential),
        Just(Order::FullRandom),
        (128usize..20_000).prop_map(|window_bytes| Order::WindowRandom { window_bytes }),
        (128usize..20_000).prop_map(|window_bytes| Order::SplitRandom { window_bytes }),
    ]
}

proptest! {
    #[test]
    fn every_ring_is_one_cycle_through_all_nodes(
        len in 128usize..40_000, order in order(), stride in 8usize..40, word in 0usize..8,
        seed: u64,
    ) {
        let stride = stride * 8;
        let mut lines = buffer(len);
        let mut rings = Rings::new(bytes(&mut lines, len)).unwrap();
        match rings.build(order, stride, word, &mut Rng::new(seed)) {
            Ok(id) => {
                let visits = visits(&rings, id, stride);
                prop_assert_eq!(visits.len(), (len - 64) / stride + 1);
                prop_assert!(is_permutation(&visits));
                if let Order::WindowRandom { window_bytes } = order {
                    let windows: Vec<usize> =
                        visits.iter().map(|v| v / (window_bytes / stride)).collect();
                    prop_assert!(windows.is_sorted(), "windows come one after another");
                }
                if let Order::SplitRandom { window_bytes } = order {
                    let place = |node: &usize| (node % 2, node / 2 / (window_bytes / stride / 2).max(1));
                    prop_assert!(visits.iter().map(place).is_sorted(), "even nodes by windows, then odd ones");
                }
            }
            Err(RingError::TooSmall { bytes, .. }) => prop_assert!(bytes < 2 * stride),
            Err(RingError::Stride { .. }) => prop_assert!(stride < 64),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    /// However a ring comes to its span, it is one cycle through all nodes of that, and a place in it stays one when it grows.
    #[test]
    fn a_ring_spans_what_it_is_told_and_grows_whole(
        first in 128usize..4000, spans in prop::collection::vec(128usize..20_000, 1..6), order in order(), seed: u64,
    ) {
        let mut lines = buffer(16_384);
        let mut rings = Rings::new(bytes(&mut lines, 16_384)).unwrap();
        let (mut rng, go) = (Rng::new(seed), AtomicBool::new(false));
        let Ok(id) = rings.build_over(&go, order, 64, 3, first, &mut rng) else { return Ok(()) };
        let mut last = first / 64;
        for bytes in spans {
            let at = rings.chase(id, rings.start(id), 17);
            rings.span(&go, id, order, bytes, &mut rng).unwrap();
            let nodes = bytes.min(16_384) / 64;
            let visits = visits(&rings, id, 64);
            prop_assert_eq!(visits.len(), nodes);
            prop_assert!(is_permutation(&visits));
            if order == Order::FullRandom && nodes >= last {
                prop_assert_eq!(rings.chase(id, at, nodes as u64), at, "not in the cycle any more");
            }
            last = nodes;
        }
    }

    /// Rings in other words of the same lines, or of another stride, leave each
    /// other whole, or the second is refused.
    #[test]
    fn rings_share_a_buffer_or_are_refused(
        s1 in 8usize..33, w1 in 0usize..8, s2 in 8usize..33, w2 in 0usize..8, seed: u64,
    ) {
        let (s1, s2, len) = (s1 * 8, s2 * 8, 16_384);
        let mut lines = buffer(len);
        let mut rings = Rings::new(bytes(&mut lines, len)).unwrap();
        let mut rng = Rng::new(seed);
        let first = rings.build(Order::FullRandom, s1, w1, &mut rng).unwrap();
        let before = visits(&rings, first, s1);
        match rings.build(Order::FullRandom, s2, w2, &mut rng) {
            Ok(second) if second == first => prop_assert_eq!((s1, w1), (s2, w2)),
            Ok(second) => {
                prop_assert!(is_permutation(&visits(&rings, second, s2)));
                prop_assert_eq!(visits(&rings, first, s1), before);
            }
            Err(error) => {
                prop_assert_eq!(error, RingError::Clash { stride: s1, word: w1 });
                prop_assert_eq!(visits(&rings, first, s1), before);
            }
        }
    }
}

/// Whole windows stay as they are when more are appended, in two turns as before.
#[test]
fn a_split_ring_grows_by_windows() {
    let mut lines = buffer(64 * 1024);
    let mut rings = Rings::new(bytes(&mut lines, 64 * 1024)).unwrap();
    let (mut rng, go) = (Rng::new(7), AtomicBool::new(false));
    let order = Order::SplitRandom { window_bytes: 8192 };
    let id = rings.build_over(&go, order, 64, 0, 16 * 1024, &mut rng).unwrap();
    let before = visits(&rings, id, 64);
    rings.span(&go, id, order, 40 * 1024, &mut rng).unwrap();
    let after = visits(&rings, id, 64);
    assert!(is_permutation(&after) && after.len() == 640);
    assert!(after.iter().map(|node| (node % 2, node / 128)).is_sorted());
    assert_eq!((&after[..128], &after[320..448]), (&before[..128], &before[128..]));
}

#[test]
fn eight_rings_share_the_lines_of_one_buffer() {
    let mut lines = buffer(64 * 1024);
    let mut rings = Rings::new(bytes(&mut lines, 64 * 1024)).unwrap();
    let mut rng = Rng::new(3);
    let order = Order::WindowRandom { window_bytes: 8192 };
    let ids: Vec<RingId> = (0..8).map(|word| rings.build(order, 128, word, &mut rng).unwrap()).collect();
    let all: Vec<Vec<usize>> = ids.iter().map(|&id| visits(&rings, id, 128)).collect();
    assert!(all.iter().all(|v| is_permutation(v)));
    assert!(all.windows(2).all(|v| v[0] != v[1]), "orders differ");
}

/// Insertion behind a random earlier node draws each of the (n-1)! cycles with
/// the same chance: 6 cycles of 4 nodes, 6000 draws, chi-square with 5 degrees of
/// freedom below 25.7 (one in 10 000; the seed is fixed).
#[test]
fn full_random_is_uniform_over_single_cycles() {
    let mut counts = std::collections::BTreeMap::new();
    let mut rng = Rng::new(1);
    let mut lines = buffer(256);
    for _ in 0..6000 {
        let mut rings = Rings::new(bytes(&mut lines, 256)).unwrap();
        let id = rings.build(Order::FullRandom, 64, 0, &mut rng).unwrap();
        let mut order = visits(&rings, id, 64);
        let zero = order.iter().position(|&n| n == 0).unwrap();
        order.rotate_left(zero);
        *counts.entry(order).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 6);
    let chi: f64 = counts.values().map(|&n| f64::from(n - 1000i32).powi(2) / 1000.0).sum();
    assert!(chi < 25.7, "{counts:?}");
}

#[test]
fn a_ring_starts_at_random_and_is_rebuilt_in_place() {
    let mut lines = buffer(64 * 1024);
    let mut rings = Rings::new(bytes(&mut lines, 64 * 1024)).unwrap();
    let mut rng = Rng::new(5);
    let mut starts = std::collections::BTreeSet::new();
    for _ in 0..20 {
        let id = rings.build(Order::FullRandom, 64, 2, &mut rng).unwrap();
        assert_eq!(id, RingId(0));
        assert!(is_permutation(&visits(&rings, id, 64)));
        starts.insert(rings.start(id));
    }
    assert!(starts.len() > 10);
}

#[test]
fn hostile_rings_are_refused() {
    let mut lines = buffer(4096);
    let mut rng = Rng::new(0);
    assert_eq!(Rings::new(&mut bytes(&mut lines, 4096)[8..]).err(), Some(RingError::Unaligned));
    let mut try_build = |len, order, stride, word| {
        let mut rings = Rings::new(bytes(&mut lines, len)).unwrap();
        rings.build(order, stride, word, &mut rng).err()
    };
    let full = Order::FullRandom;
    let small = |bytes, stride| Some(RingError::TooSmall { bytes, stride });
    assert_eq!(try_build(0, full, 64, 0), small(0, 64));
    assert_eq!(try_build(127, full, 64, 0), small(127, 64));
    assert_eq!(try_build(128, full, 64, 0), None);
    assert_eq!(try_build(4096, full, 8192, 0), small(4096, 8192));
    assert_eq!(try_build(4096, full, usize::MAX - 7, 0), small(4096, usize::MAX - 7));
    assert_eq!(try_build(4096, full, 68, 0), Some(RingError::Stride { stride: 68 }));
    assert_eq!(try_build(4096, full, 0, 0), Some(RingError::Stride { stride: 0 }));
    assert_eq!(try_build(4096, full, 64, 8), Some(RingError::Word { word: 8 }));
    let window = Order::WindowRandom { window_bytes: 255 };
    assert_eq!(try_build(4096, window, 128, 0), small(255, 128));
}

#[test]
#[should_panic(expected = "offset 8 is not")]
fn a_foreign_offset_is_not_followed() {
    let mut lines = buffer(4096);
    let mut rings = Rings::new(bytes(&mut lines, 4096)).unwrap();
    let id = rings.build(Order::FullRandom, 64, 0, &mut Rng::new(0)).unwrap();
    rings.chase(id, 8, 1);
}

#[test]
fn timed_hops_follow_the_ring_and_saturate() {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NOW: AtomicU64 = AtomicU64::new(0);
    let coarse = Clock::from_fn(|| NOW.fetch_add(1 << 33, Ordering::Relaxed), 1e9);
    let mut lines = buffer(4096);
    let mut rings = Rings::new(bytes(&mut lines, 4096)).unwrap();
    let id = rings.build(Order::FullRandom, 64, 0, &mut Rng::new(9)).unwrap();
    let mut ticks = [0; 37];
    let at = rings.timed(id, rings.start(id), &coarse, &mut ticks);
    assert_eq!(at, rings.chase(id, rings.start(id), 37));
    assert_eq!(ticks, [u32::MAX; 37]);
    rings.timed(id, at, &crate::clock::for_tests(), &mut ticks);
    assert!(ticks.iter().any(|&t| t < u32::MAX));
}

#[test]
fn linking_ends_when_told_to_and_leaves_the_other_rings_whole() {
    let mut memory = buffer(1 << 16);
    let mut rings = Rings::new(bytes(&mut memory, 1 << 16)).unwrap();
    let mut rng = Rng::new(5);
    let first = rings.build(Order::FullRandom, 64, 0, &mut rng).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(true);
    for order in [Order::FullRandom, Order::Sequential, Order::WindowRandom { window_bytes: 4096 }] {
        assert_eq!(rings.build_over(&stop, order, 64, 1, usize::MAX, &mut rng), Err(RingError::Stopped));
    }
    assert_eq!(rings.chase(first, rings.start(first), rings.nodes(first)), rings.start(first));
}
