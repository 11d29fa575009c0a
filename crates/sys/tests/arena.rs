//! Arenas on the machine the tests run on, and in a sandbox that refuses the calls.

#![expect(clippy::print_stdout, reason = "parts talk to their test this way")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common {
    pub mod part;
    pub mod sandbox;
}

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    sync::atomic::{AtomicBool, Ordering},
};

use memgauge_sys::{
    Arena, ArenaError, ArenaSpec, BindError, Binding, Errno, GotKind, Method, Pages, PopulateError, cpu, limits::page_size,
    mempolicy, mempolicy::Policy, pages::thp_size,
};

static GO_ON: AtomicBool = AtomicBool::new(false);
const MIB: u64 = 1 << 20;

fn spec(bytes: u64, pages: Pages) -> ArenaSpec {
    ArenaSpec { bytes, pages, node: None, guard: true }
}

/// An emulator of user programs lacks the calls that this kernel has.
fn emulated() -> bool {
    std::env::var_os("MEMGAUGE_TEST_RUNNER").is_some()
}

fn own_node() -> u32 {
    cpu::current().unwrap().1
}

#[test]
fn memory_is_zeroed_aligned_and_all_there() {
    for pages in [Pages::Base, Pages::Thp] {
        let mut arena = Arena::map(&spec(3 * MIB + 1, pages)).unwrap();
        let unit = usize::try_from(pages.unit()).unwrap();
        assert!(arena.len() > 3 << 20 && arena.len() - (3 << 20) <= unit.max(page_size()));
        assert_eq!(arena.len() % unit, 0);
        assert_eq!(arena.as_slice().as_ptr().addr() % unit, 0);
        arena.populate(&GO_ON).unwrap();
        assert!(arena.as_slice().iter().all(|&byte| byte == 0));
        arena.as_mut_slice().fill(7);
        // Populating again changes nothing.
        arena.populate(&GO_ON).unwrap();
        assert!(arena.as_slice().iter().all(|&byte| byte == 7));
    }
}

#[test]
fn files_without_a_name_are_memory_too() {
    let folder = std::env::temp_dir().join(format!("memgauge-arena-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    let mut arena = Arena::map_in(&folder, &spec(3 * MIB + 1, Pages::Thp)).unwrap();
    assert_eq!((arena.pages(), arena.len()), (Pages::Base, Pages::Base.round_up(3 * MIB + 1).unwrap() as usize));
    arena.populate(&GO_ON).unwrap();
    assert!(arena.as_slice().iter().all(|&byte| byte == 0));
    arena.as_mut_slice().fill(7);
    assert!(arena.as_slice().iter().all(|&byte| byte == 7));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "no name");
    fs::remove_dir(&folder).unwrap();
    let gone = Arena::map_in(&folder, &spec(MIB, Pages::Base)).unwrap_err();
    assert_eq!(gone, ArenaError::File { bytes: MIB, errno: Errno(libc::ENOENT) });
}

#[test]
fn a_byte_before_is_a_fault() {
    dies_of("a_byte_before_is_a_fault", || {
        let arena = Arena::map(&spec(MIB, Pages::Base)).unwrap();
        let start = arena.as_slice().as_ptr();
        assert!(is_mapped_shut(start.addr() - 1));
        // SAFETY: none: this reads the guard page, and dies of it.
        println!("survived: {}", unsafe { start.wrapping_sub(1).read_volatile() });
    });
}

#[test]
fn a_byte_beyond_is_a_fault() {
    dies_of("a_byte_beyond_is_a_fault", || {
        let arena = Arena::map(&spec(MIB, Pages::Thp)).unwrap();
        let end = arena.as_slice().as_ptr().wrapping_add(arena.len());
        assert!(is_mapped_shut(end.addr()));
        // SAFETY: none: this reads the guard page, and dies of it.
        println!("survived: {}", unsafe { end.read_volatile() });
    });
}

/// Whether the address is reserved by a mapping without access: it stays a guard whatever is mapped
/// later.
fn is_mapped_shut(address: usize) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().any(|line| {
        let (range, rest) = line.split_once(' ').unwrap();
        let (start, end) = range.split_once('-').unwrap();
        let number = |text| usize::from_str_radix(text, 16).unwrap();
        rest.starts_with("---") && (number(start)..number(end)).contains(&address)
    })
}

fn dies_of(test: &str, fault: impl FnOnce()) {
    if let Some(child) = common::part::start(test, "", fault) {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
    }
}

#[test]
fn pages_are_what_was_asked_and_where_they_were_bound() {
    if emulated() {
        return;
    }
    let node = own_node();
    let thp = thp_size().is_some() && thp_allowed();
    for (pages, want) in [(Pages::Base, GotKind::Base), (Pages::Thp, if thp { GotKind::Thp } else { GotKind::Base })] {
        let arena = Arena::map(&ArenaSpec { node: Some(node), ..spec(16 * MIB, pages) }).unwrap();
        let before = arena.placement(1000);
        assert_eq!(before.kind, GotKind::Unknown);
        arena.populate(&GO_ON).unwrap();
        let got = arena.placement(1000);
        assert_eq!(got.kind, want);
        if arena.binding() == Some(Binding::Bound) {
            assert_eq!(got.verified, Method::MovePages);
            assert_eq!(before.unplaced(), 1000);
            let samples = (arena.len() / page_size()).min(1000) as u64;
            assert_eq!((got.pages_sampled, got.on_node(node)), (samples, samples));
        }
    }
}

fn thp_allowed() -> bool {
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    fs::read_to_string(path).is_ok_and(|modes| !modes.contains("[never]"))
}

#[test]
fn a_node_that_is_not_there_is_refused() {
    let far = ArenaSpec { node: Some(1000), ..spec(MIB, Pages::Base) };
    match Arena::map(&far) {
        Err(ArenaError::Bind(error)) => assert_eq!(error, BindError::NotAllowed { node: 1000 }),
        Ok(arena) => assert!(matches!(arena.binding(), Some(Binding::Refused(_)))),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn threads_populate_disjoint_parts() {
    let arena = Arena::map(&spec(8 * MIB, Pages::Base)).unwrap();
    let half = arena.len() / 2;
    std::thread::scope(|scope| {
        for start in [0, half] {
            let arena = &arena;
            scope.spawn(move || arena.populate_range(start, half, &GO_ON).unwrap());
        }
    });
    if !emulated() {
        assert_eq!(arena.placement(2048).unplaced(), 0);
    }
}

#[test]
fn a_part_leaves_the_rest_alone() {
    if emulated() {
        return;
    }
    let arena = Arena::map(&spec(64 * page_size() as u64, Pages::Base)).unwrap();
    // Two bytes that lie on two pages.
    arena.populate_range(10 * page_size() - 1, 2, &GO_ON).unwrap();
    assert_eq!(arena.placement(64).unplaced(), 62);
}

#[test]
fn populating_stops_and_stays_inside() {
    let arena = Arena::map(&spec(MIB, Pages::Base)).unwrap();
    let stop = AtomicBool::new(true);
    assert_eq!(arena.populate(&stop), Err(PopulateError::Stopped { offset: 0 }));
    stop.store(false, Ordering::Relaxed);
    for (offset, len) in [(0, arena.len() + 1), (arena.len(), 1), (usize::MAX, 2)] {
        let error = PopulateError::OutOfRange { offset, len };
        assert_eq!(arena.populate_range(offset, len, &stop), Err(error));
    }
    arena.populate_range(arena.len(), 0, &stop).unwrap();
}

#[test]
fn what_cannot_be_is_an_error() {
    assert_eq!(Arena::map(&spec(0, Pages::Base)).unwrap_err(), ArenaError::Empty);
    for bytes in [u64::MAX, 1 << 63] {
        let error = Arena::map(&spec(bytes, Pages::Base)).unwrap_err();
        assert_eq!(error, ArenaError::TooLarge { bytes });
    }
    let error = Arena::map(&spec(1 << 55, Pages::Base)).unwrap_err();
    assert!(matches!(error, ArenaError::Map { errno: Errno(libc::ENOMEM), .. }), "{error:?}");
    // No power of two; below a page; a power that no machine has.
    for bytes in [3 * MIB, 512, 1 << 45] {
        let error = Arena::map(&spec(MIB, Pages::Huge { bytes })).unwrap_err();
        assert_eq!(error, ArenaError::HugePageSize { bytes });
    }
}

#[test]
fn a_short_pool_says_how_short() {
    let pools = fs::read_dir("/sys/kernel/mm/hugepages").into_iter().flatten().flatten();
    for folder in pools.filter(|_| !emulated()) {
        let name = folder.file_name().into_string().unwrap();
        let kib = name.strip_prefix("hugepages-").unwrap().strip_suffix("kB").unwrap();
        let bytes = kib.parse::<u64>().unwrap() * 1024;
        let number = |name| -> u64 { fs::read_to_string(folder.path().join(name)).unwrap().trim().parse().unwrap() };
        let wanted = number("free_hugepages") + number("nr_overcommit_hugepages") + 1;
        let error = Arena::map(&spec(wanted * bytes, Pages::Huge { bytes })).unwrap_err();
        let ArenaError::HugePagesShort { bytes: size, wanted: asked, free } = error else { panic!("{error:?}") };
        assert!(size == bytes && asked == wanted && free < wanted, "{error:?}");
    }
}

/// Runs `test` on a thread to which `calls` are refused.
fn in_sandbox(calls: &[(libc::c_long, i32)], test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| match common::sandbox::refuse(calls) {
            Ok(()) => test(),
            // Emulators have no filters, but lack the calls themselves.
            Err(error) => assert!(emulated(), "can't build the sandbox: {error}"),
        });
        thread.join().unwrap();
    });
}

#[test]
fn where_binding_is_refused_first_touch_remains() {
    for errno in [libc::EPERM, libc::ENOSYS] {
        in_sandbox(&[(libc::SYS_mbind, errno)], || {
            let node = own_node();
            let arena = Arena::map(&ArenaSpec { node: Some(node), ..spec(4 * MIB, Pages::Base) }).unwrap();
            assert_eq!(arena.binding(), Some(Binding::Refused(Errno(errno))));
            arena.populate(&GO_ON).unwrap();
            assert!(arena.placement(1000).pages_sampled > 0);
        });
    }
}

#[test]
fn each_way_to_find_nodes_has_a_next() {
    // Bound, so that the policy's number is not taken for a node's.
    let bound = ArenaSpec { node: Some(own_node()), ..spec(16 * MIB, Pages::Base) };
    let arena = Arena::map(&bound).unwrap();
    arena.populate(&GO_ON).unwrap();
    let direct = arena.placement(1000);
    if emulated() {
        assert_eq!(direct.verified, Method::None);
        return;
    }
    let pages = (arena.len() / page_size()) as u64;
    let moves = (libc::SYS_move_pages, libc::EPERM);
    let policy = (libc::SYS_get_mempolicy, libc::EPERM);
    let no_files = [
        moves,
        policy,
        (libc::SYS_openat, libc::EACCES),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, libc::EACCES),
    ];
    in_sandbox(&[moves], || {
        let got = arena.placement(1000);
        assert_eq!(got.verified, Method::GetMempolicy);
        assert_eq!((&got.by_node, got.pages_sampled), (&direct.by_node, direct.pages_sampled));
    });
    in_sandbox(&[moves, policy], || {
        let got = arena.placement(1000);
        assert_eq!((got.verified, got.pages_sampled), (Method::NumaMaps, pages));
        assert!(got.by_node.keys().eq(direct.by_node.keys()), "{got:?}");
    });
    in_sandbox(&no_files, || {
        let got = arena.placement(1000);
        assert_eq!((got.verified, got.pages_sampled), (Method::None, 0));
        assert_eq!(got.kind, GotKind::Unknown);
    });
}

#[test]
fn older_kernels_populate_too() {
    for errno in [libc::EINVAL, libc::EPERM] {
        for pages in [Pages::Base, Pages::Thp] {
            let mut arena = Arena::map(&spec(8 * MIB, pages)).unwrap();
            arena.as_mut_slice()[5] = 99;
            in_sandbox(&[(libc::SYS_madvise, errno)], || arena.populate(&GO_ON).unwrap());
            if !emulated() {
                assert_eq!(arena.placement(100_000).unplaced(), 0);
            }
            assert_eq!(arena.as_slice()[5], 99);
            assert_eq!(arena.as_slice().iter().filter(|&&byte| byte != 0).count(), 1);
        }
    }
}

#[test]
fn the_inherited_policy_is_known_or_known_to_be_hidden() {
    if !emulated() && mempolicy::mems_allowed().is_ok() {
        assert!(mempolicy::mems_allowed().unwrap().contains(&own_node()));
        assert!(!matches!(mempolicy::inherited_policy(), Policy::Unknown(_)));
    }
    in_sandbox(&[(libc::SYS_get_mempolicy, libc::EPERM)], || {
        assert_eq!(mempolicy::inherited_policy(), Policy::Unavailable(Errno(libc::EPERM)));
        assert_eq!(mempolicy::mems_allowed().unwrap_err().raw_os_error(), Some(libc::EPERM));
    });
    in_sandbox(&[], || {
        let nodes = [1u64 << own_node(), 0];
        // SAFETY: the kernel reads 128 bits of `nodes`; this thread ends with the test.
        let returned = unsafe { libc::syscall(libc::SYS_set_mempolicy, libc::MPOL_BIND, nodes.as_ptr(), 129) };
        if returned == 0 {
            assert_eq!(mempolicy::inherited_policy(), Policy::Bind(vec![own_node()]));
        }
    });
}
