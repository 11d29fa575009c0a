//! Each rule: where it fires and where it must not.

use crate::support::{Lab, bandwidths, latencies, metric};
use memgauge_model::{Event, EventKind, Finding, Measure, Mix, Order, Pages, Report, Severity, SharingProbe};

fn found<'a>(report: &'a Report, id: &str) -> Option<&'a Finding> {
    let finding = report.findings.iter().find(|finding| finding.id == id)?;
    assert!(finding.evidence.iter().all(|metric| *metric < report.metrics.len()), "{finding:?}");
    Some(finding)
}

/// Six rounds that differ by 1 % of the value at most.
fn steady(lab: &mut Lab, point: usize, value: f64, bandwidth: bool) {
    lab.measure(point, 6, |round| {
        let values = [value * (1.0 + 0.002 * f64::from(round)); 3];
        if bandwidth { bandwidths(&values) } else { latencies(&values) }
    });
}

/// Latency and bandwidth of each node's memory for CPUs of node 0 and 1; rows are CPUs.
fn nodes(latency: [[f64; 2]; 2]) -> Report {
    let mut lab = Lab::new();
    for from in 0..2_u32 {
        for to in 0..2_u32 {
            let thread = lab.chaser(to, Pages::Thp, Order::WindowRandom);
            let point = lab.point(Measure::MatrixLatency { from, to }, vec![thread]);
            steady(&mut lab, point, latency[from as usize][to as usize], false);
        }
    }
    lab.report()
}

#[test]
fn far_memory_is_found_and_what_it_costs() {
    let report = nodes([[100.0, 160.0], [150.0, 100.0]]);
    let finding = found(&report, "numa_penalty").expect("60 % farther");
    assert_eq!(finding.severity, Severity::Critical);
    assert!(finding.text.contains("memory of node 1 is 60 ns (60 %) farther for the CPUs of node 0"), "{}", finding.text);
    assert_eq!(finding.evidence.len(), 4);
    assert_eq!(found(&nodes([[100.0, 120.0], [120.0, 100.0]]), "numa_penalty").map(|f| f.severity), Some(Severity::Warning));
    assert!(found(&nodes([[100.0, 105.0], [105.0, 100.0]]), "numa_penalty").is_none());
}

#[test]
fn a_penalty_without_an_interval_is_no_finding() {
    let mut lab = Lab::new();
    for (to, ns) in [(0, 100.0), (1, 200.0)] {
        let thread = lab.chaser(to, Pages::Thp, Order::WindowRandom);
        let point = lab.point(Measure::MatrixLatency { from: 0, to }, vec![thread]);
        lab.measure(point, 3, |_| latencies(&[ns; 3]));
    }
    assert!(found(&lab.report(), "numa_penalty").is_none());
}

#[test]
fn there_and_back_should_be_alike() {
    let report = nodes([[100.0, 160.0], [130.0, 100.0]]);
    let finding = found(&report, "asymmetric_matrix").expect("23 % apart");
    assert!(finding.text.contains("0 → 1 and 1 → 0 differ by 23 %"), "{}", finding.text);
    let slow_node = nodes([[100.0, 150.0], [150.0, 125.0]]);
    let finding = found(&slow_node, "asymmetric_matrix").expect("node 1 is slow to itself");
    assert!(finding.text.contains("1 → 1 and 0 → 0 differ by 25 %"), "{}", finding.text);
    assert!(found(&nodes([[100.0, 150.0], [155.0, 103.0]]), "asymmetric_matrix").is_none());
}

#[test]
fn a_core_beside_that_works_shows_a_sleepy_uncore() {
    let report = |awake: f64, alone: f64| {
        let mut lab = Lab::new();
        for (keepalive, ns) in [(true, awake), (false, alone)] {
            let thread = lab.chaser(0, Pages::Thp, Order::WindowRandom);
            let point = lab.point(Measure::Idle { node: 0, keepalive, keepalive_reason: None }, vec![thread]);
            steady(&mut lab, point, ns, false);
        }
        lab.report()
    };
    let sleepy = report(100.0, 130.0);
    let finding = found(&sleepy, "power_saving").expect("30 % later");
    assert!(finding.text.contains("(30 % more)") && finding.evidence.len() == 2, "{finding:?}");
    // Less than 5 %; intervals that touch; the other way round.
    for (awake, alone) in [(100.0, 103.0), (100.0, 100.5), (130.0, 100.0)] {
        assert!(found(&report(awake, alone), "power_saving").is_none(), "{awake} {alone}");
    }
}

#[test]
fn page_walks_are_worth_huge_pages_from_a_twentieth_on() {
    let report = |base: f64| {
        let mut lab = Lab::new();
        for (pages, ns) in [(Pages::Base, base), (Pages::Thp, 150.0)] {
            let point = lab.idle(pages, Order::FullRandom);
            steady(&mut lab, point, ns, false);
        }
        lab.report()
    };
    let costly = report(180.0);
    let finding = found(&costly, "tlb_cost").expect("30 of 180 ns");
    assert!(finding.text.contains("30 of the 181 ns that a full-random access"), "{}", finding.text);
    assert_eq!(finding.evidence.len(), 2);
    assert!(found(&report(154.0), "tlb_cost").is_none());
}

fn stores(plain: f64, nt: f64) -> Report {
    let mut lab = Lab::new();
    for (mix, rate) in [(Mix::Write, plain), (Mix::WriteNt, nt)] {
        let point = lab.peak(&[0, 1], mix);
        steady(&mut lab, point, rate, true);
    }
    lab.report()
}

#[test]
fn the_better_kind_of_store_is_named() {
    let report = stores(20e9, 41e9);
    let finding = found(&report, "nt_stores_faster").expect("twice as fast");
    assert!(finding.text.starts_with("write-nt is 105 % faster than write (41.2 against 20.1 GB/s"), "{}", finding.text);
    assert!(found(&report, "nt_stores_slower").is_none());
    let report = stores(30e9, 20e9);
    assert!(found(&report, "nt_stores_slower").is_some_and(|finding| finding.text.starts_with("write-nt is 33 % slower")));
    let report = stores(30e9, 32e9);
    assert!(found(&report, "nt_stores_faster").is_none() && found(&report, "nt_stores_slower").is_none());
}

#[test]
fn what_limits_reads_is_the_core_or_the_memory() {
    let report = |all: f64| {
        let mut lab = Lab::new();
        let idle = lab.idle(Pages::Thp, Order::WindowRandom);
        steady(&mut lab, idle, 100.0, false);
        for (cpus, rate) in [(&[0][..], 10e9), (&[0, 1], all)] {
            let point = lab.peak(cpus, Mix::Read);
            steady(&mut lab, point, rate, true);
        }
        lab.report()
    };
    let cores = report(19.8e9);
    let finding = found(&cores, "concurrency").expect("twice of one");
    assert!(
        finding.text.contains("the cores are the limit") && finding.text.contains("about 16 lines in flight"),
        "{}",
        finding.text
    );
    assert_eq!(finding.evidence.len(), 3);
    let memory = report(12e9);
    assert!(found(&memory, "concurrency").is_some_and(|finding| finding.text.contains("read 1.20 times what one reads")));
    assert!(found(&report(16e9), "concurrency").is_none());
}

#[test]
fn a_clock_that_changes_its_rate_spoils_all_times() {
    for (after, severity) in [(2.5001e9, None), (2.51e9, Some(Severity::Warning)), (2.4e9, Some(Severity::Critical)), (0.0, None)]
    {
        let mut lab = Lab::new();
        lab.record.run.clock.hz_after = after;
        let report = lab.report();
        let finding = found(&report, "clock_drift");
        assert_eq!(finding.map(|finding| finding.severity), severity, "{after}");
        assert!(finding.is_none_or(|finding| !finding.evidence.is_empty()));
    }
}

#[test]
fn cpus_that_the_host_moves_are_told() {
    let report = |moves: usize| {
        let mut lab = Lab::new();
        let what = EventKind::ClassChanged { point: 0, before_ns: 40.0, after_ns: 180.0 };
        lab.record.run.events = vec![Event { at_ns: 0, what }; moves];
        lab.report()
    };
    assert!(found(&report(0), "moved_cpus").is_none());
    assert!(found(&report(3), "moved_cpus").is_some_and(|finding| finding.text.contains("3 times")));
}

#[test]
fn cpus_that_are_no_whole_cores_are_told() {
    let report = |shared: bool, steal: u64| {
        let mut lab = Lab::new();
        let probe = SharingProbe { pair: (0, 1), ratio: if shared { 0.55 } else { 0.99 }, shared };
        lab.record.machine.sharing_probes = vec![probe];
        lab.record.before.insert("stat.steal_ticks".into(), 1000);
        lab.record.after.insert("stat.steal_ticks".into(), 1000 + steal);
        lab.report()
    };
    // 27 s on two CPUs are 5400 ticks.
    let quiet = report(false, 40);
    assert!(found(&quiet, "hidden_siblings").is_none() && found(&quiet, "time_sharing").is_none());
    let siblings = report(true, 540);
    assert!(found(&siblings, "hidden_siblings").is_some_and(|finding| finding.text.contains("do 55 % of the work")));
    assert!(found(&siblings, "time_sharing").is_some_and(|finding| finding.text.contains("gave 10 % of")));
    assert!(!siblings.notes.iter().any(|note| note.contains("steal")), "said once: {:?}", siblings.notes);
}

#[test]
fn processes_of_others_are_told() {
    let report = |busy: u64, own: u64| {
        let mut lab = Lab::new();
        for (key, ticks) in [("stat.busy_ticks", busy), ("self.cpu_ticks", own)] {
            lab.record.before.insert(key.into(), 1000);
            lab.record.after.insert(key.into(), 1000 + ticks);
        }
        lab.report()
    };
    // 27 s are 2700 ticks of a CPU.
    let found = |busy, own| found(&report(busy, own), "neighbours").map(|finding| finding.text.clone());
    assert_eq!(found(4000, 3900), None);
    assert!(found(5300, 2600).is_some_and(|text| text.contains("kept 1.0 of the machine's")));
    assert_eq!(found(2600, 2700), None, "ticks are coarse");
}

#[test]
fn a_core_clock_that_differs_between_rounds_is_told() {
    let report = |clocks: [f64; 6]| {
        let mut lab = Lab::new();
        let point = lab.peak(&[0, 1], Mix::Read);
        steady(&mut lab, point, 10e9, true);
        lab.record.run.points[point].rounds.iter_mut().zip(clocks).for_each(|(block, ghz)| block.core_hz = ghz * 1e9);
        lab.report()
    };
    assert!(found(&report([2.9, 2.9, 2.8, 2.8, 2.9, 2.7]), "core_clock").is_none());
    let dropped = report([2.9, 2.9, 2.9, 2.1, 2.1, 2.0]);
    let text = found(&dropped, "core_clock").map(|finding| finding.text.as_str()).unwrap_or_default();
    assert!(text.contains("in 3 of 6 blocks") && text.contains("down to 2.00 from 2.90 GHz"), "{text}");
}

#[test]
fn the_most_severe_finding_comes_first() {
    let mut lab = Lab::new();
    lab.record.run.clock.hz_after = 2.4e9;
    for (mix, rate) in [(Mix::Write, 10e9), (Mix::WriteNt, 20e9)] {
        let point = lab.peak(&[0, 1], mix);
        steady(&mut lab, point, rate, true);
    }
    let report = lab.report();
    assert_eq!(report.findings.iter().map(|finding| finding.severity).collect::<Vec<_>>(), [Severity::Critical, Severity::Info]);
    assert!(metric(&report, "clock_hz", &[]).value > 0.0);
}
