//! Who measures where, where that was asked for in detail.

use crate::support::*;
use memgauge_model::*;

/// (CPU of the observer, node of its memory, toucher, left to first touch?) of each point that chases.
fn chasers(plan: &Plan) -> Vec<(Cpu, NodeId, Cpu, bool)> {
    let chaser = |point: &Point| {
        let Job::Chase { arena, .. } = point.threads[0].job else { return None };
        let arena = &plan.arenas[arena];
        Some((point.threads[0].cpu, arena.node, arena.toucher, arena.first_touch))
    };
    plan.points.iter().filter_map(chaser).collect()
}

#[test]
fn a_latency_matrix_may_have_a_row_for_each_cpu() {
    let rows = |flags: &[(&str, &str)]| {
        let plan = plan(&two_sockets(), What::MatrixLatency, flags);
        let row = |(cpu, node, ..): &(Cpu, NodeId, Cpu, bool)| (*node == 1).then_some(*cpu);
        let near = |point: &Point| {
            let Measure::MatrixLatency { from, .. } = point.measure else { panic!("{:?}", point.measure) };
            from == point.threads[0].cpu % 2
        };
        assert!(plan.points.iter().all(near), "the node of a row is its CPU's");
        chasers(&plan).iter().filter_map(row).collect::<Vec<_>>()
    };
    assert_eq!(rows(&[]), [0, 1]);
    assert_eq!(rows(&[("--per-cpu", "")]), [0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15]);
    assert_eq!(rows(&[("--per-cpu", ""), ("--smt", "one")]), [0, 2, 4, 6, 1, 3, 5, 7]);
    assert_eq!(rows(&[("--per-cpu", ""), ("--cpu", "9")]), [9]);
    assert_eq!(
        plan(&two_sockets(), What::MatrixLatency, &[("--per-cpu", "")]).arenas.len(),
        2,
        "rows share their columns' memory"
    );
}

#[test]
fn who_touches_the_observers_buffer_decides_its_node() {
    let idle = plan(&two_sockets(), What::Idle, &[("--cpu", "0"), ("--touch-cpu", "5")]);
    assert!(chasers(&idle).iter().all(|chaser| *chaser == (0, 1, 5, true)), "{:?}", chasers(&idle));
    assert!(chasers(&plan(&two_sockets(), What::Idle, &[])).iter().all(|(_, node, _, first)| (*node, *first) == (0, false)));
    let loaded = plan(&two_sockets(), What::Loaded, &[("--cpu", "0"), ("--touch-cpu", "5"), ("--delays", "mlc")]);
    assert!(chasers(&loaded).iter().all(|chaser| *chaser == (0, 1, 5, true)));
    let streams = loaded.arenas.iter().filter(|arena| matches!(arena.holds, Holds::Streams { .. }));
    assert!(streams.clone().count() > 0 && streams.clone().all(|arena| (arena.node, arena.first_touch) == (0, false)));
    let both = refusal(&two_sockets(), What::Idle, &[("--node", "1"), ("--touch-cpu", "5")]);
    assert_eq!(
        both,
        "--touch-cpu 5: the CPU that touches first decides the node, and --node names one; leave one of the two out"
    );
    let transfers = plan(&two_sockets(), What::C2c, &[("--touch-cpu", "5")]);
    assert!(!transfers.arenas.is_empty());
    assert!(transfers.arenas.iter().all(|arena| (arena.node, arena.toucher, arena.first_touch) == (1, 5, true)));
    assert!(transfers.points.iter().all(|point| matches!(point.measure, Measure::C2c { home: 1, .. })));
    assert!(refusal(&two_sockets(), What::C2c, &[("--touch-cpu", "5"), ("--all-pairs", "")]).contains("--all-pairs"));
    assert!(refusal(&two_sockets(), What::Idle, &[("--touch-cpu", "16")]).starts_with("--touch-cpu 16: this CPU does not exist"));
}

#[test]
fn loads_use_the_observers_memory_or_each_its_own() {
    let nodes = |flags: &[(&str, &str)]| {
        let plan = plan(&two_sockets(), What::Loaded, flags);
        let of = |thread: &Thread| match thread.job {
            Job::Stream { arena, .. } => Some((thread.cpu % 2, plan.arenas[arena].node)),
            _ => None,
        };
        plan.points.iter().flat_map(|point| &point.threads).filter_map(of).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(Vec::from_iter(nodes(&[("--cpu", "0")])), [(0, 0), (1, 0)]);
    assert_eq!(Vec::from_iter(nodes(&[("--cpu", "0"), ("--local-loads", "")])), [(0, 0), (1, 1)]);
    let far = [("--cpu", "0"), ("--node", "1"), ("--local-loads", ""), ("--mix", "2:1")];
    assert_eq!(Vec::from_iter(nodes(&far)), [(0, 0), (1, 1)], "the probe's, too");
    let far = plan(&two_sockets(), What::Loaded, &far);
    assert_eq!((chasers(&far)[0].1, far.target), (1, 1), "the node is the observer's");
}

#[test]
fn nobody_watches_and_every_cpu_loads() {
    let alone = plan(&two_sockets(), What::Loaded, &[("--no-observer", ""), ("--delays", "mlc")]);
    assert_eq!((alone.observer, alone.curves[0].observer, alone.loads.len()), (None, None, 16));
    assert!(alone.points.iter().all(|point| point.threads.len() == 16) && chasers(&alone).is_empty());
    assert!(alone.rejected.is_empty());
    let named = plan(&two_sockets(), What::Loaded, &[("--no-observer", ""), ("--load-cpus", "1,3"), ("--delays", "mlc")]);
    assert_eq!((named.target, named.loads.to_string().as_str()), (1, "1,3"), "the memory of those that load");
    for (flag, text) in [("--cpu", "0"), ("--accesses", "0"), ("--order", "sequential"), ("--touch-cpu", "1")] {
        let both = refusal(&two_sockets(), What::Loaded, &[("--no-observer", ""), (flag, text)]);
        let problem = "is the observer's, and --no-observer leaves none; leave one of the two out";
        assert_eq!(both, format!("{flag} {text}: {problem}"));
    }
}

#[test]
fn named_cpus_stay_busy_beside_an_idle_chase() {
    let busy = |flags: &[(&str, &str)]| {
        let plan = plan(&two_sockets(), What::Idle, flags);
        let keepers = |point: &Point| {
            let busy = point.threads.iter().filter(|thread| thread.job == Job::KeepAlive);
            busy.map(|thread| thread.cpu).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = plan.points.iter().map(keepers).collect();
        all.dedup();
        all
    };
    assert_eq!(busy(&[("--keepalive-cpus", "1,6")]), [[1, 6]], "of every point, the probes too");
    assert_eq!(busy(&[("--order", "full-random")]), [vec![2], vec![], vec![2]], "the headline has a twin without");
    let lab = two_sockets();
    assert_eq!(
        refusal(&lab, What::Idle, &[("--keepalive-cpus", "8,1")]),
        "--keepalive-cpus 8,1: CPU 8 is on the core of the observer, CPU 0, which it would slow down; use 1"
    );
    assert!(refusal(&lab, What::Idle, &[("--keepalive-cpus", "99")]).contains("does not exist"));
    assert!(refusal(&lab, What::Idle, &[("--keepalive-cpus", "")]).contains("no CPU is named"));
    let off = [("--keepalive-cpus", "1"), ("--keepalive", "off")];
    assert!(refusal(&lab, What::Idle, &off).contains("leaves idle"));
}

#[test]
fn windows_of_a_chase_may_be_larger_or_smaller() {
    let windows = |what, flags: &[(&str, &str)]| {
        let plan = plan(&two_sockets(), what, flags);
        let Job::Chase { arena, ring } = plan.points[0].threads[0].job else { panic!("no chase") };
        let Holds::Chase { rings, .. } = &plan.arenas[arena].holds else { panic!("no ring") };
        rings[ring].window()
    };
    assert_eq!(windows(What::Idle, &[]), Some(512 << 10));
    for what in [What::Idle, What::MatrixLatency, What::Loaded] {
        assert_eq!(windows(what, &[("--block", "64")]), Some(64 * 128));
    }
    assert_eq!(windows(What::Idle, &[("--block", "100000"), ("--stride", "64")]), Some(6_400_000));
    assert!(refusal(&two_sockets(), What::Idle, &[("--block", "1")]).contains("fewer than two nodes"));
    assert!(refusal(&two_sockets(), What::Idle, &[("--block", "64"), ("--order", "sequential")]).contains("--order sequential"));
}

#[test]
fn a_scan_may_be_read_from_another_node_and_by_fewer_cpus() {
    let readers = |flags: &[(&str, &str)]| {
        let plan = plan(&two_sockets(), What::Scan, flags);
        let points = plan.points.iter().filter(|point| matches!(point.measure, Measure::Scan { node: 0, .. }));
        let mut all: Vec<_> = points.map(cpus_of).collect();
        all.dedup();
        assert!(
            plan.arenas.iter().all(|arena| !matches!(arena.holds, Holds::Region { parts, .. } if parts as usize != all[0].len()))
        );
        all.concat()
    };
    assert_eq!(readers(&[("--node", "0")]), [0, 2, 4, 6, 8, 10, 12, 14]);
    assert_eq!(readers(&[("--node", "0"), ("--from", "1")]), [1, 3, 5, 7, 9, 11, 13, 15]);
    assert_eq!(readers(&[("--node", "0"), ("--threads", "3")]), [0, 2, 4]);
    assert_eq!(readers(&[("--node", "0"), ("--threads", "2"), ("--cpu", "6")]), [6, 0]);
    let lab = two_sockets();
    assert_eq!(refusal(&lab, What::Scan, &[("--threads", "9")]), "--threads 9: 8 CPUs can read; use 1 to 8");
    assert!(refusal(&lab, What::Scan, &[("--threads", "0")]).contains("nobody would read"));
    assert_eq!(
        refusal(&lab, What::Scan, &[("--from", "7")]),
        "--from 7: no CPU that may be used is near this node; name one of 0-1"
    );
    assert!(refusal(&lab, What::Scan, &[("--from", "1"), ("--load-cpus", "0")]).contains("--load-cpus"));
}

#[test]
fn a_transfers_ends_kind_and_window_may_be_named() {
    let transfers = |flags: &[(&str, &str)]| {
        let plan = plan(&two_sockets(), What::C2c, flags);
        let seen = |point: &Point| {
            let Measure::C2c { kind, via, scope: C2cScope::Cpu, repeat: false, .. } = point.measure else { return None };
            let Job::C2c { arena, .. } = point.threads[0].job else { panic!("no transfer") };
            let Holds::C2c { bytes, .. } = plan.arenas[arena].holds else { panic!("no window") };
            Some(format!("{:?} {} {} {bytes}", cpus_of(point), kind.word(), via.word()))
        };
        plan.points.iter().filter_map(seen).collect::<Vec<_>>()
    };
    let window = ("--window", "2MiB");
    let l2 = ("--via", "l2");
    assert_eq!(transfers(&[("--writer", "3"), ("--cpu", "4"), ("--kind", "hitm"), l2, window]), ["[3, 4] hitm l2 2097152"]);
    assert_eq!(transfers(&[("--writer", "0"), ("--kind", "cas"), window]), ["[0, 1] cas l2 2097152"], "a reader on another core");
    let three = [("--writer", "3"), ("--cpu", "4"), ("--third", "6"), ("--kind", "hit,store"), window];
    assert_eq!(transfers(&three), ["[3, 4, 6] hit third 2097152"], "a ping-pong has no third");
    let refused = |flags: &[(&str, &str)]| refusal(&two_sockets(), What::C2c, flags);
    assert!(refused(&[("--writer", "3"), ("--cpu", "3")]).contains("is the reader, too"));
    assert!(refused(&[("--writer", "99")]).contains("does not exist"));
    assert!(refused(&[("--third", "2")]).contains("add --writer"));
    assert!(refused(&[("--writer", "3"), ("--cpu", "4"), ("--third", "4")]).contains("one of the two"));
    assert!(refused(&[("--writer", "3"), ("--third", "6"), ("--kind", "cas")]).contains("between two"));
    assert!(refused(&[("--kind", "cas"), ("--method", "chase")]).contains("other method"));
    assert!(refused(&[("--window", "64")]).contains("use 4KiB"));
    let pushed = [("--writer", "3"), ("--cpu", "4"), ("--kind", "hitm"), ("--push", "3MiB"), ("--extra-reads", "1MiB"), window];
    assert_eq!(transfers(&pushed), ["[3, 4] hitm l3 2097152"]);
    assert!(
        plan(&two_sockets(), What::C2c, &pushed)
            .arenas
            .iter()
            .all(|arena| matches!(arena.holds, Holds::C2c { push, .. } if push == 4 * MIB))
    );
    assert!(refused(&[("--push", "1MiB"), ("--kind", "cas")]).contains("a ping-pong is of one line"));
    assert!(refused(&[("--push", "1MiB"), l2]).contains("lines that come from L2"));
    assert!(refused(&[("--extra-reads", "2GiB")]).contains("use 1KiB to 1GiB"));
}
