use crate::support::{Lab, MIB, bandwidths, latencies, metric};
use memgauge_model::{Bound, Cpu, Holds, Job, Measure, Mix, Order, Pages, Report, RingPlan, Span, SweepOver, Thread};

/// Four sizes an octave from 4 KiB to 128 MiB.
fn sizes() -> Vec<u64> {
    (12..28).flat_map(|octave| (4..8).map(move |quarter| quarter << (octave - 2))).filter(|size| *size <= 128 * MIB).collect()
}

/// A chase over all sizes on these pages, with what it takes at each.
fn chased(lab: &mut Lab, pages: Pages, ns: impl Fn(u64) -> f64) {
    let rings = vec![RingPlan { order: Order::FullRandom, stride: 64, grows: true, bytes: None }];
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

#[test]
fn what_is_found_elsewhere_or_not_at_all_is_said() {
    // A guest's share of its host's cache: as many edges as caches, one of them far off.
    let mut lab = Lab::new();
    chased(&mut lab, Pages::Thp, |bytes| stairs(bytes, 4 * MIB));
    let report = lab.report();
    assert_eq!(caches(&report)[2], ("L3".to_owned(), Some(4.0 * MIB as f64), Some(32 * MIB), Some(false)));
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
