use crate::support::{Lab, MIB, bandwidths, latencies, metric, switched};
use memgauge_model::{Bound, Cpu, Holds, Job, Measure, Mix, Order, Pages, Report, RingPlan, Span, SweepOver, Thread};

/// Four sizes an octave from 4 KiB to 128 MiB.
fn sizes() -> Vec<u64> {
    (12..28).flat_map(|octave| (4..8).map(move |quarter| quarter << (octave - 2))).filter(|size| *size <= 128 * MIB).collect()
}

/// A chase over all sizes on these pages, with what it takes at each.
fn chased(lab: &mut Lab, pages: Pages, ns: impl Fn(u64) -> f64) {
    chased_in(lab, Order::SplitRandom, pages, ns);
}

fn chased_in(lab: &mut Lab, order: Order, pages: Pages, ns: impl Fn(u64) -> f64) {
    let rings = vec![RingPlan { order, stride: 64, grows: true, bytes: None, block: None }];
    let arena = lab.arena(0, pages, Holds::Chase { bytes: 128 * MIB, rings });
    for bytes in sizes() {
        let measure = Measure::SweepLatency { node: 0, span: Span { bytes, settle: true }, keepalive: false };
        let point = lab.point(measure, vec![Thread { cpu: 0, job: Job::Chase { arena, ring: 0 } }]);
        lab.measure(point, 6, |round| latencies(&[ns(bytes) * (1.0 + 0.002 * f64::from(round)); 3]));
    }
}

fn streamed(lab: &mut Lab, cpus: &[Cpu], bytes: u64, rate: f64) {
    let threads = lab.streams(cpus, Mix::Read);
    let point = lab.point(Measure::SweepBandwidth { mix: Mix::Read, span: Span { bytes, settle: false } }, threads);
    lab.measure(point, 6, |_| bandwidths(&[rate; 3]));
}

/// The lab's caches are 48 KiB, 1 MiB and 32 MiB.
fn stairs(bytes: u64, l3: u64) -> f64 {
    match bytes {
        _ if bytes <= 48 << 10 => 1.5,
        _ if bytes <= MIB => 5.0,
        _ if bytes <= l3 => 40.0,
        _ => 100.0,
    }
}

/// Level, bytes found, bytes declared, the same?
type Seen = (String, Option<f64>, Option<u64>, Option<bool>);

fn caches(report: &Report) -> Vec<Seen> {
    let found = |id: Option<usize>| id.map(|id| report.metrics[id].value);
    let all = report.sweeps[0].caches.iter();
    all.map(|cache| (cache.level.clone(), found(cache.found), cache.declared, cache.same)).collect()
}

#[test]
fn caches_are_found_beside_the_declared() {
    let mut lab = Lab::new();
    chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, 32 * MIB));
    let report = lab.report();
    let sweep = &report.sweeps[0];
    assert_eq!((sweep.name.as_str(), sweep.over, sweep.points.len()), ("sweep_latency", SweepOver::Bytes, sizes().len()));
    let at = |point: &memgauge_model::SweepPoint| report.metrics[point.metric.unwrap()].labels["bytes"] == point.at.to_string();
    assert!(sweep.points.iter().all(at) && !sweep.labels.contains_key("bytes"));
    let wanted = [("L1", 48 << 10), ("L2", MIB), ("L3", 32 * MIB)];
    assert_eq!(caches(&report), wanted.map(|(name, size)| (name.to_owned(), Some(size as f64), Some(size), Some(true))));
    let l1 = metric(&report, "cache_size", &[("level", "L1")]);
    assert_eq!((l1.unit.as_str(), l1.samples, l1.ci95), ("B", 6, Some([49152.0, 57344.0])));
    // A cache's figure is none of memory's, but in a sweep it is what was asked for.
    assert!(report.status.reasons.is_empty(), "{:?}", report.status);
}

/// A size has two windows in all: one that is disturbed spoils neither the run nor the size.
#[test]
fn a_brief_sweep_is_judged_as_one() {
    let report = |disturbed: usize| {
        let mut lab = Lab::new();
        chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, 32 * MIB));
        for (at, point) in lab.record.run.points.iter_mut().enumerate() {
            lab.record.plan.points[at].brief = Some(2);
            point.rounds.truncate(2);
            point.rounds.iter_mut().for_each(|block| block.windows.truncate(1));
            if at < disturbed {
                let first = &mut point.rounds[0].windows;
                *first = first.drain(..).map(switched).collect();
            }
        }
        lab.report()
    };
    let few = report(10);
    assert!(few.status.reasons.is_empty(), "{:?}", few.status);
    let wanted = [("L1", 48 << 10), ("L2", MIB), ("L3", 32 * MIB)];
    assert_eq!(caches(&few), wanted.map(|(name, size)| (name.to_owned(), Some(size as f64), Some(size), Some(true))));
    let l3 = metric(&few, "cache_size", &[("level", "L3")]);
    assert!(l3.ci95.is_none() && l3.range.is_some() && l3.range_reason.as_deref().is_some_and(|why| why.contains("needs 6")));
    let many = report(40);
    assert_eq!(many.status.reasons.len(), 1, "{:?}", many.status);
    assert!(many.status.reasons[0].starts_with("sweep_latency: 40 of "), "{:?}", many.status);
}

#[test]
fn what_is_found_elsewhere_or_not_at_all_is_said() {
    // A guest's share of its host's cache: as many edges as caches, one of them far off.
    let mut lab = Lab::new();
    chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, 4 * MIB));
    let report = lab.report();
    assert_eq!(caches(&report)[2], ("L3".to_owned(), Some(4.0 * MIB as f64), Some(32 * MIB), Some(false)));
    let shares = |report: &Report| -> Vec<String> {
        let findings = report.findings.iter().filter(|finding| finding.id == "cache_share");
        findings.map(|finding| finding.text.clone()).collect()
    };
    let [share] = &shares(&report)[..] else { panic!("{:?}", report.findings) };
    assert!(share.starts_with("the L3 that CPU 0 has ends at 4 MiB [4 MiB…5 MiB], 12 % of the 32 MiB"), "{share}");
    // More than declared; and no conclusion where it is the same.
    let mut lab = Lab::new();
    chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, 80 * MIB));
    assert!(shares(&lab.report())[0].contains("the machine tells less than there is"));
    let mut lab = Lab::new();
    chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, 32 * MIB));
    assert_eq!(shares(&lab.report()), Vec::<String>::new());
    // No step at the end of the last cache.
    let mut lab = Lab::new();
    chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, u64::MAX));
    let seen = caches(&lab.report());
    assert_eq!(seen.iter().map(|cache| cache.1.is_some()).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(seen[2], ("L3".to_owned(), None, Some(32 * MIB), None));
    // An edge that no cache is declared for.
    let mut lab = Lab::new();
    lab.record.machine.caches.l3.clear();
    chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, 32 * MIB));
    assert_eq!(caches(&lab.report())[2], ("?".to_owned(), Some(32.0 * MIB as f64), None, None));
}

#[test]
fn page_walks_do_not_tell_of_caches_where_another_order_does() {
    let mut lab = Lab::new();
    let walks = |bytes: u64| if bytes > 8 * MIB { 90.0 } else { 0.0 };
    chased_in(&mut lab, Order::FullRandom, Pages::Thp, |bytes| stairs(bytes, 32 * MIB) + walks(bytes));
    assert_eq!(caches(&lab.report())[2].1, Some(8.0 * MIB as f64), "alone it is all that there is");
    chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, 32 * MIB));
    let report = lab.report();
    let views: Vec<(&str, usize)> =
        report.sweeps.iter().map(|sweep| (sweep.labels["order"].as_str(), sweep.caches.len())).collect();
    assert_eq!(views, [("full-random", 0), ("split-random", 3)]);
}

/// What 512 MiB take, beside a sweep of what its last two levels take, and what is said of it.
fn claimed(claim: f64, cache: f64, memory: f64) -> Report {
    let mut lab = Lab::new();
    let outer = |bytes: u64| if bytes <= 32 * MIB { cache } else { memory };
    chased(&mut lab, Pages::Thp, |bytes| if bytes <= MIB { stairs(bytes, MIB) } else { outer(bytes) });
    let idle = lab.idle(Pages::Thp, Order::WindowRandom);
    lab.measure(idle, 6, |round| latencies(&[claim + 0.1 * f64::from(round); 3]));
    lab.report()
}

fn said<'a>(report: &'a Report, of: &str) -> &'a str {
    let start = format!("plausibility of {of}: ");
    report.notes.iter().find_map(|note| note.strip_prefix(start.as_str())).unwrap_or("nothing")
}

#[test]
fn a_latency_is_held_against_the_last_levels() {
    let memory = claimed(105.0, 40.0, 100.0);
    assert_eq!(said(&memory, "latencies"), "memory's, 2.6 × the latency of the last-level cache, which ends at 32 MiB");
    assert!(memory.status.reasons.is_empty(), "{:?}", memory.status);
    let cache = claimed(45.0, 40.0, 100.0);
    let fault = "a cache's, not memory's: 1.1 × the latency of the last-level cache, which ends at 32 MiB";
    assert!(cache.status.reasons.iter().any(|reason| reason.ends_with(fault)), "{:?}", cache.status);
    assert!(metric(&cache, "idle_latency", &[]).remarks.contains(&fault.to_owned()));
    // Neither without an end of that cache, nor where memory is hardly slower by the sweep itself.
    for (claim, cache, memory, why) in [
        (45.0, 40.0, 40.0, "unknown, the latency shows no end of the last-level cache up to 128 MiB"),
        (52.0, 40.0, 51.0, "unknown, 51 ns at 128 MiB is little more than the 40 ns of the last-level cache"),
    ] {
        let report = claimed(claim, cache, memory);
        assert_eq!(said(&report, "latencies"), why);
        assert!(report.status.reasons.is_empty(), "{:?}", report.status);
    }
}

#[test]
fn a_bandwidth_is_held_against_half_the_size_and_the_last_level() {
    let read = |at_64: f64, at_128: f64| {
        let mut lab = Lab::new();
        chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, 32 * MIB));
        for (bytes, rate) in [(4 * MIB, 20e9), (8 * MIB, 20e9), (64 * MIB, at_64), (128 * MIB, at_128)] {
            streamed(&mut lab, &[0], bytes, rate);
        }
        lab.report()
    };
    // Half of such a fall is yet to come.
    let memory = read(10.9e9, 10e9);
    assert!(said(&memory, "bandwidths").starts_with("memory's, 0.52 × the last-level cache's"), "{:?}", memory.notes);
    let threads = read(16e9, 16e9);
    assert!(said(&threads, "bandwidths").starts_with("unknown, 0.80 × the last-level cache's"), "{:?}", threads.notes);
    assert!(memory.status.reasons.is_empty() && threads.status.reasons.is_empty());
    let shared = |l3: u64| {
        let mut lab = Lab::new();
        chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, l3));
        for (bytes, rate) in [(2 * MIB, 20e9), (64 * MIB, 10e9), (128 * MIB, 10e9)] {
            streamed(&mut lab, &[0], bytes, rate);
        }
        lab.report()
    };
    assert!(said(&shared(4 * MIB), "bandwidths").starts_with("memory's, 0.50 × the last-level cache's"));
    assert!(said(&shared(0), "bandwidths").starts_with("unknown, the end of the last-level cache was not found"));
    let partly = read(12e9, 10e9);
    let fault = "partly a cache's: falls by 17 % or more from 64 MiB to 128 MiB";
    assert!(said(&partly, "bandwidths").starts_with(fault), "{:?}", partly.notes);
    assert!(partly.status.reasons.iter().any(|reason| reason.ends_with(fault)), "{:?}", partly.status);
    assert!(metric(&partly, "level_bandwidth", &[("level", "memory")]).remarks.contains(&fault.to_owned()));
}

#[test]
fn only_what_all_caches_together_do_not_hold_has_memorys_limit() {
    // The firmware says 100 GB/s. 32 MiB are shared, 1 MiB and 48 KiB are each CPU's own.
    for (bytes, is_memory) in [(33 * MIB, false), (40 * MIB, true)] {
        let mut lab = Lab::new();
        streamed(&mut lab, &[0, 1], bytes, 101e9);
        let report = lab.report();
        assert_eq!(report.status.reasons.iter().any(|reason| reason.contains("above the theoretical")), is_memory, "{bytes}");
    }
}

#[test]
fn tlb_cost_and_levels_come_out_of_the_sizes() {
    let mut lab = Lab::new();
    chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, 32 * MIB));
    chased(&mut lab, Pages::Base, |bytes| stairs(bytes, 32 * MIB) + if bytes > 8 * MIB { 7.0 } else { 0.0 });
    for bytes in sizes() {
        streamed(&mut lab, &[0], bytes, 1e11 / stairs(bytes, 32 * MIB));
        streamed(&mut lab, &[0, 1], bytes, 1.9e11 / stairs(bytes, 16 * MIB));
    }
    let report = lab.report();
    let cost = |bytes: u64| metric(&report, "tlb_cost", &[("bytes", &bytes.to_string()), ("pages", "base")]).value;
    assert!(cost(4 << 10).abs() < 1e-9 && (cost(64 * MIB) - 7.0).abs() < 0.1);
    let latency = |level: &str| metric(&report, "level_latency", &[("level", level), ("pages", "thp")]).value;
    for (level, ns) in [("L1", 1.5), ("L2", 5.0), ("L3", 40.0), ("memory", 100.0)] {
        assert!((latency(level) / ns - 1.0).abs() < 0.02, "{level}: {}", latency(level));
    }
    let bandwidth = |level, threads| metric(&report, "level_bandwidth", &[("level", level), ("threads", threads)]).value;
    // Two threads have half of the shared cache each; what lies partly in it is no level's.
    for (level, ns) in [("L1", 1.5), ("L2", 5.0), ("L3", 40.0), ("memory", 100.0)] {
        assert!(
            (bandwidth(level, "1") * ns / 1e11 - 1.0).abs() < 1e-9 && (bandwidth(level, "2") * ns / 1.9e11 - 1.0).abs() < 1e-9
        );
    }
    assert!(!report.metrics.iter().any(|metric| metric.name.ends_with("_dram")), "no controller sees a cache's bytes");
}

/// What a guest has of its host's cache may be little, or too little to show.
#[test]
fn a_level_ends_where_it_is_found_to_end() {
    let with_l3 = |l3: u64| {
        let mut lab = Lab::new();
        chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, l3));
        lab.report()
    };
    let some = with_l3(4 * MIB);
    for (level, ns, told) in [("L2", 5.0, 1), ("L3", 40.0, 2), ("memory", 100.0, 2)] {
        let metric = metric(&some, "level_latency", &[("level", level)]);
        assert!((metric.value / ns - 1.0).abs() < 0.02, "{level}: {}", metric.value);
        assert_eq!(metric.remarks.len(), told, "{level}: {:?}", metric.remarks);
    }
    let remarks = &metric(&some, "level_latency", &[("level", "L3")]).remarks;
    assert_eq!(remarks[1], "L3 as found, up to 4 MiB, not as declared, 32 MiB");
    let none = with_l3(0);
    let gap = none.unavailable.iter().find(|gap| gap.name == "level_latency").unwrap();
    assert_eq!((gap.labels["level"].as_str(), gap.reason), ("L3", memgauge_model::Reason::NotApplicable));
    assert_eq!(gap.detail, "no end of L3 was found up to 128 MiB: its sizes may be memory's");
    assert!((metric(&none, "level_latency", &[("level", "memory")]).value / 100.0 - 1.0).abs() < 0.02);
}

#[test]
fn threads_are_limited_by_cores_or_by_memory() {
    let bound = |rates: &[f64]| {
        let mut lab = Lab::new();
        let cpus: Vec<Cpu> = (0..4).collect();
        for (threads, rate) in (1..).zip(rates) {
            streamed(&mut lab, &cpus[..threads], 128 * MIB, *rate);
            if threads == 1 {
                streamed(&mut lab, &cpus[..1], MIB, 1e12);
            }
        }
        let report = lab.report();
        let over = report.sweeps.iter().find(|sweep| sweep.over == SweepOver::Threads).unwrap();
        assert_eq!(over.points.iter().map(|point| point.at).collect::<Vec<_>>(), (1..=rates.len() as u64).collect::<Vec<_>>());
        over.bound.unwrap()
    };
    assert_eq!(bound(&[1e10, 1.9e10]), Bound::Cores);
    assert_eq!(bound(&[1e10, 1.9e10, 2.0e10, 1.98e10]), Bound::Memory { threads: 2 });
    assert_eq!(bound(&[1e10, 1.0e10]), Bound::Memory { threads: 1 });
    assert_eq!(bound(&[1e10, 1.7e10, 2.2e10, 2.6e10]), Bound::Both);
    // Stopped early: ranges are no intervals.
    let mut lab = Lab::new();
    streamed(&mut lab, &[0], 128 * MIB, 1e10);
    streamed(&mut lab, &[0, 1], 128 * MIB, 2e10);
    lab.record.run.points.iter_mut().for_each(|point| point.rounds.truncate(3));
    assert_eq!(lab.report().sweeps.iter().find(|sweep| sweep.over == SweepOver::Threads).unwrap().bound, None);
}
