//! How a node's memory is cut into regions, and who reads them.

use crate::support::*;
use memgauge_model::*;

/// By node: regions and their size.
fn regions(plan: &Plan) -> Vec<(NodeId, usize, u64)> {
    plan.scans.iter().map(|scan| (scan.node, scan.arenas.len(), scan.region_bytes)).collect()
}

fn scan(lab: &Lab, flags: &[(&str, &str)]) -> Plan {
    plan(lab, What::Scan, flags)
}

fn of_bytes(bytes: u64) -> Lab {
    two_cpus().with(|m| {
        m.nodes[0].available_bytes = bytes;
        m.memory.available_bytes = bytes;
    })
}

#[test]
fn four_fifths_of_what_can_be_had_and_not_a_region_more() {
    let whole = scan(&two_cpus(), &[]);
    assert_eq!(regions(&whole), [(0, 19, GIB)], "19.2 GiB");
    assert!(whole.budget.nodes[0].needed > 19 * GIB && whole.budget.nodes[0].available == 24 * GIB * 4 / 5);
    // A region more with room for its page tables alone.
    let tables = |bytes: u64| bytes / 4096 * 8 + 19 * 4096;
    // (The program takes its part of the machine's memory, not of the node's.)
    let roomy = |bytes: u64| of_bytes(bytes).with(|m| m.memory.available_bytes *= 2);
    let base = |bytes: u64| regions(&scan(&roomy(bytes), &[("--pages", "base")]))[0].1;
    let exact = (19 * GIB + tables(19 * GIB)).div_ceil(4) * 5;
    assert_eq!((base(exact), base(exact - 64)), (19, 18));
    // What the cgroup leaves counts too, the program's own part with it.
    assert_eq!(regions(&scan(&in_cgroup(two_cpus(), 5 * GIB), &[("--buffer", "1GiB")])), [(0, 3, GIB)]);
}

#[test]
fn regions_are_smaller_where_there_would_be_few_and_larger_where_there_would_be_many() {
    let cached = |llc: u64, bytes: u64| of_bytes(bytes).with(|m| m.caches.l3[0].size = Avail::Known(llc));
    let automatic = |llc: u64, bytes: u64| regions(&scan(&cached(llc, bytes), &[]))[0];
    assert_eq!(automatic(32 * MIB, 8 * GIB), (0, 25, 256 * MIB));
    // Never so small that caches hold most of one.
    assert_eq!(automatic(300 * MIB, 8 * GIB), (0, 10, 600 * MIB));
    assert_eq!(automatic(1152 * MIB, 256 * GIB), (0, 68, 3 * GIB));
    assert_eq!(automatic(32 * MIB, 4096 * GIB), (0, 819, 4 * GIB));
    let few = scan(&cached(300 * MIB, 2 * GIB), &[]);
    assert_eq!(regions(&few), [(0, 2, 600 * MIB)]);
    assert!(few.notes.iter().any(|note| note.contains("too few to call one of them slow")), "{:?}", few.notes);
    // Sixteen nodes of a terabyte share the patience.
    let all: usize = regions(&scan(&giant(), &[])).iter().map(|node| node.1).sum();
    assert!((512..=1024).contains(&all), "{all}");
}

#[test]
fn what_is_asked_for_is_done() {
    let asked = |flags: &[(&str, &str)]| regions(&scan(&two_cpus(), flags))[0];
    assert_eq!(asked(&[("--buffer", "4MiB"), ("--limit", "64MiB")]), (0, 16, 4 * MIB));
    assert_eq!(asked(&[("--limit", "10GiB")]), (0, 17, 600 * MIB), "the limit leaves room for few");
    assert_eq!(asked(&[("--buffer", "3MiB"), ("--limit", "64MiB")]), (0, 16, 4 * MIB), "whole pages");
    assert_eq!(asked(&[("--buffer", "200KiB"), ("--limit", "64MiB"), ("--pages", "base")]), (0, 327, 200 << 10));
    let cached = scan(&two_cpus(), &[("--buffer", "4MiB"), ("--limit", "64MiB")]);
    let note = "node 0: regions of 4 MiB fit in the last-level caches of their CPUs (300 MiB): no figures of memory";
    assert!(cached.notes.iter().any(|have| have == note), "{:?}", cached.notes);
    assert_eq!(scan(&two_cpus(), &[("--mix", "read,copy")]).points.len(), 2 * 19);
}

#[test]
fn one_held_phase_a_node_read_by_the_cpus_near_it() {
    let plan = scan(&cxl(), &[]);
    assert_eq!(regions(&plan), [(0, 25, GIB), (1, 25, GIB), (2, 51, GIB)]);
    assert_eq!(plan.phases.len(), 3);
    for (at, cpus) in [(0, "0-3"), (1, "4-7"), (2, "4-7")] {
        let phase = &plan.phases[plan.scans[at].phase];
        assert!(phase.held.is_some() && phase.arenas == plan.scans[at].arenas);
        for point in &phase.points {
            let point = &plan.points[*point];
            assert_eq!(point.threads.iter().map(|thread| thread.cpu).collect::<CpuList>(), list(cpus));
            assert!(matches!(point.measure, Measure::Scan { node, .. } if node == plan.scans[at].node));
        }
        for arena in phase.arenas.iter().map(|arena| &plan.arenas[*arena]) {
            assert_eq!(arena.holds, Holds::Region { parts: 4, bytes: GIB });
            assert!(list(cpus).contains(arena.toucher));
        }
    }
    let lone = scan(&cxl(), &[("--node", "2"), ("--load-cpus", "none"), ("--cpu", "1")]);
    assert!(lone.points.iter().all(|point| point.threads.len() == 1 && point.threads[0].cpu == 1));
    let siblings = scan(&two_sockets(), &[("--smt", "one"), ("--node", "1")]);
    assert_eq!(siblings.points[0].threads.len(), 4);
    let far = scan(&cxl().allow("0-3"), &[("--node", "2")]);
    assert!(
        far.points[0].threads.len() == 4 && far.notes.iter().any(|note| note.contains("far ones read it")),
        "{:?}",
        far.notes
    );
}

#[test]
fn pages_of_pools_come_first() {
    let lab = two_cpus().pool(0, GIB, 5).pool(0, 2 * MIB, 1000);
    let pooled = scan(&lab, &[]);
    let kinds: Vec<Pages> = pooled.arenas.iter().map(|arena| arena.pages).collect();
    let of = |kind: Pages| kinds.iter().filter(|have| **have == kind).count();
    assert_eq!((of(Pages::Huge1G), of(Pages::Huge2M), of(Pages::Thp)), (4, 1, 19), "{kinds:?}");
    assert!(kinds.is_sorted_by_key(|kind| std::cmp::Reverse(*kind)), "the largest first");
    assert_eq!(pooled.scans[0].available_bytes, 24 * GIB + 5 * GIB + 2000 * MIB);
    let only = scan(&lab, &[("--pages", "1g")]);
    assert!(only.arenas.iter().all(|arena| arena.pages == Pages::Huge1G) && only.arenas.len() == 4);
}

#[test]
fn many_regions_have_fewer_rounds_unless_a_time_was_asked_for() {
    let rounds = |lab: &Lab, flags: &[(&str, &str)]| scan(lab, flags).rounds.looks;
    assert_eq!(rounds(&two_cpus(), &[]), [6]);
    assert_eq!(rounds(&of_bytes(1024 * GIB), &[]), [3]);
    assert_eq!(rounds(&of_bytes(1024 * GIB), &[("--time", "600ms")]), [6]);
    assert_eq!(rounds(&two_cpus(), &[("--precision", "1%")]), [6, 9, 13, 19]);
    let (once, twice) = (scan(&two_cpus(), &[]).estimate, scan(&two_cpus(), &[("--precision", "1%")]).estimate);
    assert!(twice.setup_ns < 2 * once.setup_ns, "memory is prepared once: {once:?} {twice:?}");
}

#[test]
fn what_cannot_be_cut_is_refused_with_the_remedy() {
    let refused = |lab: &Lab, flags: &[(&str, &str)]| refusal(lab, What::Scan, flags);
    assert_eq!(
        refused(&of_bytes(600 * MIB), &[]),
        "a region of 600 MiB, which caches can't hold, is more than 80 % of what node 0 has free (600 MiB); free some memory, or \
         use --buffer 432MiB or less (caches then hold part of it)"
    );
    assert_eq!(
        refused(&two_cpus(), &[("--buffer", "900TiB")]),
        "--buffer 900TiB: more than 80 % of what node 0 has free (24 GiB); use 19GiB or less"
    );
    assert_eq!(
        refused(&two_cpus(), &[("--limit", "64MiB")]),
        "--limit 64MiB: less than a region of 600 MiB; use 600MiB or more, or a smaller --buffer"
    );
    assert_eq!(
        refused(&two_sockets(), &[("--buffer", "1GiB"), ("--limit", "1GiB")]),
        "--limit 1GiB: less than a region of 1 GiB on each of 2 nodes; use 2GiB or more, or a smaller --buffer"
    );
    assert_eq!(
        refused(&two_sockets(), &[("--buffer", "64KiB"), ("--pages", "base")]),
        "--buffer 64KiB: less than 64 KiB for each of the 8 threads that share a region; use 512KiB or more, or fewer threads \
         (--load-cpus)"
    );
    assert_eq!(
        refused(&two_cpus(), &[("--buffer", "2MiB")]),
        "--buffer 2MiB: more than 8192 regions; use a larger one, or --limit 16GiB"
    );
    let empty = two_cpus().pool(0, GIB, 0);
    assert!(refused(&empty, &[("--pages", "1g")]).starts_with("--pages 1g: needs 1 free 1 GiB pages on node 0, 0 are free"));
}
