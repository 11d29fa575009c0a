//! The machine's nodes, and the pools of huge pages on them. A test may not fill a pool, so these
//! run on what is there: one node and nothing on most machines; virtual machines have more.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common {
    pub mod sandbox;
}

use std::{collections::BTreeMap, fs, path::PathBuf, sync::atomic::AtomicBool};

use memgauge_sys::{Arena, ArenaSpec, Binding, GotKind, Method, Pages, PopulateError, cpu};

static GO_ON: AtomicBool = AtomicBool::new(false);

struct NodePool {
    node: u32,
    page: u64,
    free: u64,
}

/// The pools of each node that have free pages.
fn node_pools() -> Vec<NodePool> {
    let mut found = Vec::new();
    for (node, folder) in numbered("/sys/devices/system/node".into(), "node", "") {
        for (kib, pool) in numbered(folder.join("hugepages"), "hugepages-", "kB") {
            let free = fs::read_to_string(pool.join("free_hugepages")).unwrap();
            let free = free.trim().parse().unwrap();
            let node = u32::try_from(node).unwrap();
            found.push(NodePool { node, page: kib * 1024, free });
        }
    }
    found.retain(|pool| pool.free > 0);
    found
}

fn numbered(folder: PathBuf, before: &str, after: &str) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |name: &str| name.strip_prefix(before)?.strip_suffix(after)?.parse().ok();
    entries.filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry.path()))).collect()
}

fn map(pool: &NodePool, count: u64) -> Arena {
    let pages = Pages::Huge { bytes: pool.page };
    let bytes = count * pool.page;
    Arena::map(&ArenaSpec { bytes, pages, node: Some(pool.node), guard: true }).unwrap()
}

/// In one test, since the pools are shared.
#[test]
fn pool_pages_come_from_the_node_or_not_at_all() {
    let pools = node_pools();
    for pool in &pools {
        let mut arena = map(pool, 1);
        arena.populate(&GO_ON).unwrap();
        arena.as_mut_slice().fill(1);
        let got = arena.placement(1000);
        assert_eq!(got.kind, GotKind::Hugetlb(pool.page));
        assert_eq!(got.by_node, BTreeMap::from([(i32::try_from(pool.node).unwrap(), 1)]));
        assert_eq!(got.verified, Method::MovePages);
    }
    // More than the node has, less than all nodes have: reserving works, touching would kill.
    for pool in &pools {
        let all: u64 = pools.iter().filter(|p| p.page == pool.page).map(|p| p.free).sum();
        if all == pool.free {
            continue;
        }
        let arena = map(pool, pool.free + 1);
        let error = arena.populate(&GO_ON).unwrap_err();
        assert!(matches!(error, PopulateError::NoMemory { .. }), "{error:?}");
        drop(arena);
        // The same where the kernel is older.
        let arena = map(pool, pool.free + 1);
        std::thread::scope(|scope| {
            let old = scope.spawn(|| {
                common::sandbox::refuse(&[(libc::SYS_madvise, libc::EINVAL)]).unwrap();
                arena.populate(&GO_ON)
            });
            let error = old.join().unwrap().unwrap_err();
            let errno = memgauge_sys::Errno(libc::EFAULT);
            let offset = usize::try_from(pool.free * pool.page).unwrap();
            assert!(matches!(error, PopulateError::NoMemory { errno: e, offset: o } if e == errno && o <= offset), "{error:?}");
        });
    }
}

/// Whoever touches them.
#[test]
fn bound_pages_lie_where_they_were_bound() {
    for (node, _) in nodes_with_memory() {
        for pages in [Pages::Base, Pages::Thp] {
            let arena = Arena::map(&spec(pages, Some(node))).unwrap();
            arena.populate(&GO_ON).unwrap();
            is_on(&arena, node);
        }
    }
}

/// First touch decides where nothing is bound.
#[test]
fn unbound_pages_lie_where_the_thread_runs() {
    for (node, folder) in nodes_with_memory() {
        let list = fs::read_to_string(folder.join("cpulist")).unwrap();
        let Ok(first) = list.trim().split(['-', ',']).next().unwrap_or("").parse::<u32>() else {
            continue;
        };
        let thread = std::thread::spawn(move || {
            if cpu::pin_to(first).is_ok() {
                let arena = Arena::map(&spec(Pages::Base, None)).unwrap();
                arena.populate(&GO_ON).unwrap();
                is_on(&arena, node);
            }
        });
        thread.join().unwrap();
    }
}

fn spec(pages: Pages, node: Option<u32>) -> ArenaSpec {
    ArenaSpec { bytes: 4 << 20, pages, node, guard: false }
}

fn is_on(arena: &Arena, node: u32) {
    let got = arena.placement(1000);
    let refused = matches!(arena.binding(), Some(Binding::Refused(_)));
    if got.verified == Method::MovePages && !refused {
        assert!(got.pages_sampled > 0);
        assert_eq!(got.on_node(node), got.pages_sampled, "{got:?}");
    }
}

fn nodes_with_memory() -> Vec<(u32, PathBuf)> {
    let mut nodes = numbered("/sys/devices/system/node".into(), "node", "");
    nodes.retain(|(_, folder)| {
        let meminfo = fs::read_to_string(folder.join("meminfo")).unwrap();
        let total = meminfo.lines().find_map(|line| line.split_once("MemTotal:")).unwrap().1;
        !total.trim().starts_with("0 ")
    });
    nodes.into_iter().map(|(node, folder)| (u32::try_from(node).unwrap(), folder)).collect()
}
