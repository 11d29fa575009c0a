//! What each command measures.

use crate::support::*;
use memgauge_model::*;

/// Each point in a word or two.
fn words(plan: &Plan) -> Vec<String> {
    let word = |point: &Point| {
        let threads = point.threads.len();
        match &point.measure {
            Measure::Idle { keepalive, .. } => {
                format!("idle {} {}", chase_word(plan, point), if *keepalive { "on" } else { "off" })
            }
            Measure::Access { .. } => format!("access {}", chase_word(plan, point)),
            Measure::Peak { mix } => format!("peak {} x{threads}", mix.name()),
            Measure::Max { mix, delay } => format!("max {} {delay} x{threads}", mix.name()),
            Measure::MatrixLatency { from, to } => format!("latency {from}-{to}"),
            Measure::MatrixBandwidth { from, to, mix } => format!("bandwidth {from}-{to} {}", mix.name()),
            Measure::Loaded { delay: DelayRef::Fixed(delay), .. } => format!("loaded {delay}"),
            Measure::Loaded { delay: DelayRef::Slot(slot), .. } => format!("loaded #{slot}"),
            Measure::C2c { from, to, home, kind, scope, via, repeat } => {
                let scope = if *scope == C2cScope::Cpu { "cpu " } else { "" };
                let via = if *via == C2cVia::L2 { String::new() } else { format!(" via {}", via.word()) };
                let again = if *repeat { " again" } else { "" };
                format!("{} {scope}{from}-{to} @{home}{via}{again}", kind.word())
            }
            Measure::PrefetchProbe => format!("probe {}", chase_word(plan, point)),
            Measure::SweepLatency { span, .. } => format!("chase {} {}", chase_word(plan, point), span.bytes),
            Measure::SweepBandwidth { mix, span } => format!("sweep {} x{threads} {}", mix.name(), span.bytes),
            Measure::Scan { node, region, mix } => format!("scan {node}#{region} {} x{threads}", mix.name()),
            Measure::RfoProbe => match point.threads[0].job {
                Job::Stream { mix, .. } => format!("rfo {} x{threads}", mix.name()),
                _ => panic!("a probe without streams"),
            },
        }
    };
    plan.points.iter().map(word).collect()
}

fn chase_word(plan: &Plan, point: &Point) -> String {
    let (Job::Chase { arena, ring } | Job::TimedChase { arena, ring }) = point.threads[0].job else { panic!("no chase") };
    let Holds::Chase { rings, .. } = &plan.arenas[arena].holds else { panic!("not a chase's arena") };
    format!("{} {} {}", rings[ring].order.word(), rings[ring].stride, plan.arenas[arena].pages.word())
}

#[test]
fn idle() {
    assert_eq!(
        words(&plan(&two_cpus(), What::Idle, &[])),
        [
            "idle window-random 128 thp on",
            "idle full-random 128 thp on",
            "idle full-random 128 base on",
            "idle window-random 128 thp off",
            "access window-random 128 thp",
            "probe sequential 64 thp",
            "probe window-random 64 thp",
        ]
    );
    assert_eq!(
        words(&plan(&two_cpus(), What::Idle, &[("--order", "sequential"), ("--keepalive", "off")])),
        [
            "idle sequential 64 thp off",
            "access sequential 64 thp",
            "probe full-random 128 thp",
            "probe window-random 64 thp",
            "probe window-random 128 thp",
        ]
    );
    let close = plan(&two_cpus(), What::Idle, &[("--stride", "64"), ("--pages", "base"), ("--keepalive", "off")]);
    assert_eq!(words(&close)[..2], ["idle window-random 64 base off", "access window-random 64 base"]);
    let usual = plan(&two_cpus(), What::Idle, &[("--order", "full-random"), ("--keepalive", "off")]);
    assert_eq!(words(&usual), ["idle full-random 128 thp off", "access full-random 128 thp"], "no probe to wait for");
    assert!(close.notes.iter().any(|note| note.contains("spatial prefetchers")), "{:?}", close.notes);
}

#[test]
fn peak_is_measured_by_one_thread_and_by_all() {
    let mixes = ["read", "write", "write-nt", "copy", "copy-nt", "triad", "triad-nt"];
    let wanted = |threads: u32| {
        let all = mixes.iter().map(move |mix| format!("peak {mix} x{threads}"));
        all.chain([format!("rfo write-partial x{threads}")])
    };
    assert_eq!(words(&plan(&two_cpus(), What::Peak, &[])), wanted(1).chain(wanted(2)).collect::<Vec<_>>());
    assert_eq!(words(&plan(&one_cpu(), What::Peak, &[])), wanted(1).collect::<Vec<_>>());
    assert_eq!(
        words(&plan(&two_cpus(), What::Peak, &[("--mix", "copy"), ("--cpu", "1"), ("--load-cpus", "none")])),
        ["peak copy x1", "rfo write-partial x1", "rfo write x1"]
    );
    let own = plan(&two_sockets(), What::Peak, &[("--mix", "read")]);
    for point in &own.points {
        for (thread, arena) in point.threads.iter().zip(arenas_of(point)) {
            assert_eq!(own.arenas[arena].node, thread.cpu % 2, "each thread on its own node");
        }
    }
    assert_eq!(own.points[1].threads.len(), 16);
    assert_eq!(plan(&two_sockets(), What::Peak, &[("--mix", "read"), ("--smt", "one")]).points[1].threads.len(), 8);
    let far = plan(&two_sockets(), What::Peak, &[("--mix", "read"), ("--node", "1")]);
    assert!(far.arenas.iter().all(|arena| arena.node == 1));
}

#[test]
fn max_searches_threads_and_delays() {
    let max = plan(&two_sockets(), What::Max, &[("--mix", "read,3:1")]);
    assert_eq!(max.searches.len(), 2);
    assert!(max.searches.iter().all(|search| search.candidates.len() == 10));
    let words = words(&max);
    assert_eq!((words[0].as_str(), words[9].as_str()), ("max read 0 x8", "max read 50 x16"));
    assert_eq!(words[20..], ["rfo write-partial x8", "rfo write x8", "rfo write-partial x16", "rfo write x16"]);
    assert_eq!(plan(&two_cpus(), What::Max, &[]).points.iter().filter(|p| p.measure != Measure::RfoProbe).count(), 25);
}

#[test]
fn matrices_have_a_row_a_node_with_cpus_and_a_column_a_node_with_memory() {
    assert_eq!(words(&plan(&memoryless(), What::MatrixLatency, &[])), ["latency 0-1", "latency 1-1"]);
    let cells = ["0-0", "0-1", "0-2", "1-0", "1-1", "1-2"];
    assert_eq!(words(&plan(&cxl(), What::MatrixBandwidth, &[])), cells.map(|cell| format!("bandwidth {cell} read")));
    assert_eq!(words(&plan(&gaps(), What::MatrixLatency, &[("--node", "8")])), ["latency 3-8", "latency 8-8"]);
    let plan = plan(&cxl(), What::MatrixLatency, &[]);
    assert!(plan.points.iter().all(|point| point.threads.len() == 1), "no keep-alive");
}

#[test]
fn a_loaded_curve_is_fixed_or_found() {
    let auto = plan(&two_cpus(), What::Loaded, &[]);
    assert_eq!((auto.curves.len(), auto.curves[0].slots, auto.points.len()), (1, 12, 12));
    assert!(auto.curves[0].pilot.contains(&0) && auto.curves[0].pilot.contains(&20000));
    let fixed = plan(&two_cpus(), What::Loaded, &[("--delays", "100,0,100"), ("--mix", "2:1")]);
    assert_eq!(words(&fixed), ["loaded 0", "loaded 100", "rfo write-partial x1", "rfo write x1"]);
    assert_eq!((fixed.curves[0].slots, fixed.curves[0].pilot.len()), (0, 0));
    assert_eq!(plan(&two_cpus(), What::Loaded, &[("--delays", "mlc")]).points.len(), 19);
    let far = plan(&cxl(), What::Loaded, &[("--node", "2"), ("--delay", "0")]);
    assert!(far.arenas.iter().all(|arena| arena.node == 2), "everybody's memory is the target's");
}

#[test]
fn core_to_core_takes_each_pair_of_nodes_once() {
    let chase = plan(&two_sockets(), What::C2c, &[("--method", "chase"), ("--via", "l2")]);
    let wanted = [("0-0", 0), ("0-1", 0), ("0-1", 1), ("1-0", 1), ("1-0", 0), ("1-1", 1)];
    let wanted: Vec<String> =
        wanted.iter().flat_map(|(pair, home)| ["hit", "hitm"].map(|kind| format!("{kind} {pair} @{home}"))).collect();
    let again = ["hitm 0-0 @0 again".to_owned()];
    assert_eq!(words(&chase), [wanted.as_slice(), &again].concat());
    let turns: Vec<(Turn, Vec<usize>)> = chase.phases.iter().map(|phase| (phase.turn, phase.points.clone())).collect();
    let rest = (0..12).filter(|point| *point != 1).collect();
    assert_eq!(turns, [(Turn::Any, rest), (Turn::First, vec![1]), (Turn::Last, vec![12])]);
    for point in &chase.points {
        assert!(!two_sockets().0.core_of(point.threads[0].cpu).contains(point.threads[1].cpu), "{point:?}");
    }
    assert_eq!(words(&plan(&memoryless(), What::C2c, &[("--method", "pingpong")])).len(), 9);
    let small_l2 = two_cpus().with(|m| m.caches.l2 = vec![Cache { size: Avail::Known(256 << 10), cpus: list("0-1") }]);
    assert_eq!(plan(&small_l2, What::C2c, &[]).arenas[0].holds, Holds::C2c { bytes: 128 << 10, push: 512 << 10 });
}

#[test]
fn all_pairs_are_those_of_cpus_threads_of_one_core_too() {
    let lab = Lab::new().node(0, "0-2", GIB).siblings(&["0-1"]);
    let cas = plan(&lab, What::C2c, &[("--all-pairs", ""), ("--method", "pingpong")]);
    let of = |start: &str| words(&cas).iter().filter(|word| word.starts_with(start)).cloned().collect::<Vec<_>>();
    let pairs = ["0-1", "0-2", "1-0", "1-2", "2-0", "2-1"].map(|pair| format!("store cpu {pair} @0"));
    assert_eq!(of("store"), pairs);
    assert_eq!(of("cas").len(), 7, "the first once more");
    let one = plan(&lab, What::C2c, &[("--all-pairs", ""), ("--method", "pingpong"), ("--cpu", "2")]);
    assert_eq!(words(&one).iter().filter(|word| word.starts_with("store")).count(), 4);
}

#[test]
fn lines_come_from_l3_or_a_third_core_where_there_is_one() {
    let lab = |cpus: &str| Lab::new().node(0, cpus, GIB).l3(cpus, 32 * MIB);
    let three = plan(&lab("0-2"), What::C2c, &[("--method", "chase")]);
    let ways = words(&three);
    assert!(ways.contains(&"hitm 0-0 @0 via l3".to_owned()) && ways.contains(&"hit 0-0 @0 via third".to_owned()), "{ways:?}");
    let third = three.points.iter().find(|point| point.threads.len() == 3).unwrap();
    assert_eq!(cpus_of(third), [0, 1, 2]);
    let Holds::C2c { push, .. } = three.arenas[0].holds else { panic!("no window") };
    assert!(push > 0);
    let two = plan(&lab("0-1"), What::C2c, &[("--method", "chase")]);
    assert!(two.points.iter().all(|point| point.threads.len() == 2));
    let gap = two.unavailable.iter().find(|gap| gap.labels.get("via").is_some_and(|via| via == "third")).unwrap();
    assert!(gap.detail.contains("no third CPU"), "{gap:?}");
    assert!(refusal(&lab("0-1"), What::C2c, &[("--via", "third")]).contains("no third CPU"));
    assert!(refusal(&lab("0-1"), What::C2c, &[("--via", "l3"), ("--method", "pingpong")]).contains("--via"));
}

#[test]
fn the_default_run_has_everything_and_says_what_it_lacks() {
    let count = |plan: &Plan, start: &str| words(plan).iter().filter(|word| word.starts_with(start)).count();
    let two = plan(&two_cpus(), What::All, &[]);
    let wanted = [("idle", 4), ("access", 1), ("peak", 10), ("rfo", 2), ("latency", 1), ("bandwidth", 1), ("loaded", 10)];
    for (word, points) in wanted {
        assert_eq!(count(&two, word), points, "{word}");
    }
    assert_eq!(count(&two, "hit") + count(&two, "store") + count(&two, "cas"), 4);
    assert!(two.unavailable.is_empty());
    for lab in [one_cpu(), one_core()] {
        let one = plan(&lab, What::All, &[]);
        assert_eq!(count(&one, "loaded") + count(&one, "hit"), 0);
        let missing: Vec<_> = one.unavailable.iter().map(|m| (m.name.as_str(), m.reason)).collect();
        let wanted = ["loaded_latency", "loaded_bandwidth", "c2c_latency"];
        assert_eq!(missing, wanted.map(|name| (name, Reason::NotApplicable)));
    }
}

#[test]
fn the_default_runs_sweep_is_brief_and_takes_no_memory_of_its_own() {
    let swept = |plan: &Plan| -> Vec<(u64, Point)> {
        let sweep = plan.points.iter().filter_map(|point| Some((point.measure.span()?.bytes, point.clone())));
        sweep.collect()
    };
    let whole = plan(&two_cpus(), What::All, &[]);
    let sweep = swept(&whole);
    // Two sizes an octave, 16 KiB to twice the last-level cache.
    let sizes: Vec<u64> = (14..30).flat_map(|octave| [2, 3].map(|half| half << (octave - 1))).collect();
    let sizes: Vec<u64> = sizes.into_iter().filter(|size| *size < 600 * MIB).chain([600 * MIB]).collect();
    assert_eq!(sweep.iter().map(|(bytes, _)| *bytes).collect::<Vec<_>>(), sizes);
    let headline = arenas_of(&whole.points[0]);
    for (_, point) in &sweep {
        assert_eq!((arenas_of(point), point.brief, point.time_ns), (headline.clone(), Some(2), 10_000_000));
        assert_eq!(chase_word(&whole, point), "split-random 64 thp");
    }
    assert_eq!(whole.points.iter().filter(|point| point.brief.is_some()).count(), sweep.len());
    // No further than a buffer that was asked for, or one that had to shrink.
    assert_eq!(swept(&plan(&two_cpus(), What::All, &[("--buffer", "2MiB")])).last().map(|(bytes, _)| *bytes), Some(2 * MIB));
    let short = in_cgroup(two_cpus().with(|m| m.caches.l3[0].size = none()), 150 * MIB);
    let short = plan(&short, What::All, &[]);
    for (bytes, point) in swept(&short) {
        assert!(matches!(short.arenas[arenas_of(&point)[0]].holds, Holds::Chase { bytes: whole, .. } if bytes <= whole));
    }
    assert!(swept(&short).last().is_some_and(|(bytes, _)| (8 * MIB..64 * MIB).contains(bytes)));
    let between = plan(&two_cpus(), What::All, &[("--stride", "72")]);
    assert!(swept(&between).is_empty() && between.unavailable.iter().any(|gap| gap.name == "sweep_latency"));
}

#[test]
fn a_sweep_goes_from_4_kib_to_four_caches_in_both_kinds_of_pages() {
    let sweep = plan(&two_cpus(), What::Sweep, &[("--mix", "read,copy")]);
    let words = words(&sweep);
    // Four sizes an octave, 4 KiB to the first that is not below 1200 MiB.
    let sizes: Vec<u64> = (12..31).flat_map(|octave| (4..8).map(move |quarter| quarter << (octave - 2))).collect();
    let sizes: Vec<u64> = sizes.into_iter().filter(|size| *size <= 1280 * MIB).collect();
    assert_eq!((sizes.len(), sizes[1], sizes[73]), (74, 5 << 10, 1280 * MIB));
    let kinds = [
        "chase split-random 64 thp",
        "chase full-random 64 thp",
        "chase full-random 64 base",
        "sweep read x1",
        "sweep read x2",
        "sweep copy x1",
        "sweep copy x2",
    ];
    let wanted: Vec<String> = kinds.iter().flat_map(|kind| sizes.iter().map(move |size| format!("{kind} {size}"))).collect();
    assert_eq!(words, wanted);
    // One arena a page kind and one a thread serve all sizes; each point spans its part.
    assert_eq!(sweep.arenas.len(), 4);
    for point in &sweep.points {
        let span = point.measure.span().unwrap();
        assert_eq!(span.settle, span.bytes <= 600 * MIB);
        let holds = arenas_of(point).into_iter().map(|arena| match sweep.arenas[arena].holds {
            Holds::Chase { bytes, .. } | Holds::Streams { bytes, .. } => bytes,
            Holds::Region { .. } | Holds::C2c { .. } => 0,
        });
        assert!(holds.into_iter().all(|bytes| bytes == 1280 * MIB && span.bytes <= bytes));
    }
    let grows = |arena: &Arena| matches!(&arena.holds, Holds::Chase { rings, .. } if rings.iter().all(|ring| ring.grows));
    assert_eq!(sweep.arenas.iter().filter(|arena| grows(arena)).count(), 2);
    assert_eq!(sweep.rounds.looks, [6]);
}

#[test]
fn a_sweep_ends_where_it_is_told_or_where_memory_does() {
    let alone = plan(&two_cpus(), What::Sweep, &[("--buffer", "50KiB"), ("--load-cpus", "none"), ("--pages", "base")]);
    assert_eq!(alone.points.last().unwrap().measure.span().unwrap().bytes, 52 << 10, "whole pages");
    assert_eq!(alone.points.len(), 3 * 16);
    let largest = |lab: &Lab| plan(lab, What::Sweep, &[]).points.iter().filter_map(|p| p.measure.span()).map(|s| s.bytes).max();
    assert_eq!(largest(&in_cgroup(two_cpus(), 2000 * MIB)), Some(640 * MIB));
    let tight = in_cgroup(two_cpus(), 2000 * MIB);
    assert!(plan(&tight, What::Sweep, &[]).notes.iter().any(|note| note.starts_with("memory is short")));
    let refused = refusal(&in_cgroup(two_cpus(), 300 * MIB), What::Sweep, &[]);
    assert!(refused.contains("more than the cgroup leaves"), "{refused}");
    let refused = refusal(&two_cpus(), What::Sweep, &[("--buffer", "100GiB")]);
    assert!(refused.starts_with("--buffer 100GiB: more than node 0 has free") && refused.contains("use 1"), "{refused}");
}

#[test]
fn threads_are_counted_up_at_the_largest_size() {
    let sweep = plan(&two_sockets(), What::Sweep, &[]);
    let all = words(&sweep);
    let last = all.iter().filter(|word| word.starts_with("sweep read") && word.ends_with(&format!(" {}", 128 * MIB)));
    let threads: Vec<&str> = last.map(|word| word.split(' ').nth(2).unwrap()).collect();
    assert_eq!(threads, ["x1", "x16", "x2", "x3", "x4", "x6", "x8", "x12"]);
    // A core's second thread comes when every core has one.
    let eight = sweep.points.iter().find(|point| point.threads.len() == 8).unwrap();
    assert_eq!(cpus_of(eight), (0..8).collect::<Vec<_>>());
}

#[test]
fn the_widest_instruction_set_is_taken() {
    let isa = |lab: &Lab, flags: &[(&str, &str)]| match plan(lab, What::Peak, flags).points[0].threads[0].job {
        Job::Stream { isa, .. } => isa,
        _ => panic!("no stream"),
    };
    assert_eq!(isa(&two_cpus(), &[]), Isa::Avx2);
    assert_eq!(isa(&two_cpus(), &[("--isa", "portable")]), Isa::Portable);
    assert_eq!(isa(&two_cpus().with(|m| m.cpu.flags.push("avx512f".into())), &[]), Isa::Avx512);
    assert_eq!(isa(&two_cpus().with(|m| m.cpu.architecture = "aarch64".into()), &[]), Isa::Neon);
    assert_eq!(isa(&two_cpus().with(|m| m.cpu.architecture = "riscv64".into()), &[]), Isa::Portable);
}

#[test]
fn prefetchers_are_off_on_whole_cores_and_for_chases_only() {
    let registers = vec![PrefetchRegister { msr: 0x1a4, mask: 0xf }];
    let lab = two_sockets().with(|m| m.platform.prefetch_control = Avail::Known(registers.clone()));
    let whole = plan(&lab, What::All, &[]);
    assert_eq!(whole.prefetch.registers, registers);
    // The observer, and the latency matrix's on the other node; each with its sibling.
    assert_eq!(whole.prefetch.cores, [(0, list("0,8")), (1, list("1,9"))].into());
    for point in &whole.points {
        let chase = matches!(point.threads[0].job, Job::Chase { .. } | Job::TimedChase { .. });
        assert_eq!(whole.prefetch_off_for(point).is_some(), chase, "{:?}", point.measure);
    }
    assert!(plan(&lab, What::Peak, &[]).prefetch.registers.is_empty(), "nothing chases");
    let left = plan(&lab, What::All, &[("--prefetch", "leave")]);
    assert!(left.points.iter().all(|point| left.prefetch_off_for(point).is_none()));
}

#[test]
fn the_prefetch_probe_is_where_it_can_tell_and_where_it_was_asked_for() {
    let probes = |plan: &Plan| -> Vec<String> {
        let words = words(plan);
        words.into_iter().filter_map(|word| word.strip_prefix("probe ").map(str::to_owned)).collect()
    };
    let lab = two_cpus().with(|m| m.platform.prefetch_control = Avail::Known(vec![PrefetchRegister { msr: 0x1a4, mask: 0xf }]));
    let all = ["sequential 64 thp", "full-random 128 thp", "window-random 64 thp", "window-random 128 thp"];
    let loaded = plan(&lab, What::Loaded, &[("--delay", "0"), ("--prefetch", "off")]);
    assert_eq!(probes(&loaded), all);
    assert_eq!(loaded.arenas.iter().filter(|arena| matches!(arena.holds, Holds::Chase { .. })).count(), 1, "one memory");
    assert!(probes(&plan(&lab, What::Loaded, &[("--delay", "0")])).is_empty());
    // A headline at another stride is no part of the probe.
    assert_eq!(probes(&plan(&lab, What::Idle, &[("--stride", "256"), ("--prefetch", "off")])), all);
    // In caches, or between lines, there is nothing to see: said, not drawn.
    for flags in [[("--buffer", "4MiB"), ("--prefetch", "off")], [("--stride", "72"), ("--prefetch", "off")]] {
        let plan = plan(&lab, What::Idle, &flags);
        let said = plan.unavailable.iter().filter(|gap| gap.name == "prefetch_ratio").count();
        assert_eq!((probes(&plan), said), (vec![], 2), "{flags:?}");
    }
}
