//! Physical addresses of arenas on the machine the tests run on.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::AtomicBool;

use memgauge_sys::{
    Arena, ArenaSpec, Pages,
    limits::page_size,
    pagemap::{Physical, PhysicalError, physical},
    proc::geteuid,
};

static GO_ON: AtomicBool = AtomicBool::new(false);
const BYTES: u64 = 8 << 20;

fn populated() -> Arena {
    let arena = Arena::map(&ArenaSpec { bytes: BYTES, pages: Pages::Base, node: None, guard: true }).unwrap();
    arena.populate(&GO_ON).unwrap();
    arena
}

#[test]
fn each_page_has_a_frame_of_its_own_or_frames_are_hidden() {
    // qemu-user passes the file on, which speaks of other addresses than the program's.
    if std::env::var_os("MEMGAUGE_TEST_RUNNER").is_some() {
        return;
    }
    let (one, other) = (populated(), populated());
    let both = physical(&one).and_then(|one| Ok((one, physical(&other)?)));
    let (one, other) = match both {
        Ok(both) => both,
        // Root of a container may lack the right, too.
        Err(PhysicalError::Hidden | PhysicalError::Unreadable(_)) => return,
    };
    let covered = |seen: &Physical| seen.ranges.iter().map(|range| range.end - range.start).sum::<u64>();
    assert_eq!((covered(&one), one.absent), (BYTES, 0));
    assert_eq!((covered(&other), other.absent), (BYTES, 0));
    for range in &one.ranges {
        assert!(other.ranges.iter().all(|other| other.end <= range.start || range.end <= other.start), "{range:?} is in both");
    }
}

#[test]
fn memory_that_nobody_touched_is_absent() {
    let arena = Arena::map(&ArenaSpec { bytes: BYTES, pages: Pages::Base, node: None, guard: true }).unwrap();
    match physical(&arena) {
        Ok(seen) => assert_eq!(seen, Physical { ranges: Vec::new(), absent: BYTES / page_size() as u64 }),
        Err(error) => assert!(matches!(error, PhysicalError::Unreadable(_)) && geteuid() != 0, "{error}"),
    }
}
