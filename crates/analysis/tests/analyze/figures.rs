use crate::support::{Lab, MIB, bandwidths, block, latencies, metric, switched};
use memgauge_model::{
    Block, C2cKind, C2cScope, C2cVia, Holds, Job, Measure, Mix, Order, Pages, Search, SearchRecord, State, Thread,
};

#[test]
fn a_round_is_its_median_and_the_estimate_theirs() {
    let mut lab = Lab::new();
    let point = lab.idle(Pages::Thp, Order::WindowRandom);
    // Round r: 100 + r, with one window far above and one below, and the run's best in a disturbed one.
    lab.measure(point, 6, |round| {
        let middle = 100.0 + f64::from(round);
        let mut windows = latencies(&[middle, middle - 1.0, middle + 90.0, middle, middle]);
        windows.push(switched(latencies(&[80.0])[0].clone()));
        windows
    });
    let report = lab.report();
    let idle = metric(&report, "idle_latency", &[]);
    assert_eq!((idle.value, idle.ci95), (102.5, Some([100.0, 105.0])));
    // p10 of five windows lies 0.4 of the way from the lowest to the second.
    assert!((idle.undisturbed.unwrap() - 101.9).abs() < 1e-9);
    let [lo, hi] = idle.undisturbed_ci95.unwrap();
    assert!((lo - 99.4).abs() < 1e-9 && (hi - 104.4).abs() < 1e-9);
    assert_eq!((idle.best, idle.samples, idle.windows, idle.excluded), (Some(80.0), 6, 30, 6));
    let labels: Vec<String> = idle.labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
    let wanted = "bytes=536870912 cpu=0 keepalive=no node=0 order=window-random pages=thp stride=128";
    assert_eq!(labels.join(" "), wanted);
    assert_eq!(report.status.state, State::Complete, "{:?}", report.status);
}

#[test]
fn below_six_rounds_there_is_a_range_and_its_reason() {
    let mut lab = Lab::new();
    let point = lab.idle(Pages::Thp, Order::WindowRandom);
    lab.measure(point, 3, |round| latencies(&[100.0 + f64::from(round); 4]));
    let report = lab.report();
    let idle = metric(&report, "idle_latency", &[]);
    assert_eq!((idle.ci95, idle.range), (None, Some([100.0, 102.0])));
    assert_eq!(idle.range_reason.as_deref(), Some("3 rounds, an interval needs 6"));
}

#[test]
fn one_allocation_gives_an_interval_only_if_its_windows_are_independent() {
    let independent: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i * 7 % 10)).collect();
    let drifting: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i)).collect();
    let read = |windows: &[f64]| {
        let mut lab = Lab::new();
        let point = lab.idle(Pages::Thp, Order::WindowRandom);
        lab.measure(point, 1, |_| latencies(windows));
        metric(&lab.report(), "idle_latency", &[]).clone()
    };
    let narrow = read(&independent);
    assert!(narrow.ci95.is_some() && narrow.remarks.contains(&"within_allocation".to_owned()), "{narrow:?}");
    let wide = read(&drifting);
    assert_eq!(wide.range, Some([100.0, 139.0]));
    assert!(wide.range_reason.unwrap().contains("within_allocation"));
}

#[test]
fn disturbed_rounds_give_no_value_and_too_many_reject() {
    let mut lab = Lab::new();
    let (quiet, noisy) = (lab.peak(&[0], Mix::Read), lab.peak(&[0, 1], Mix::Read));
    lab.measure(quiet, 6, |_| bandwidths(&[10e9; 10]));
    lab.measure(noisy, 6, |round| {
        let windows = bandwidths(&[20e9; 10]);
        if round < 2 { windows.into_iter().map(switched).collect() } else { windows }
    });
    let report = lab.report();
    let read = metric(&report, "peak_bandwidth", &[("threads", "2")]);
    assert_eq!((read.samples, read.windows, read.excluded), (4, 40, 20));
    assert_eq!(read.range_reason.as_deref(), Some("4 rounds, an interval needs 6; 2 wholly disturbed"));
    assert_eq!(report.status.state, State::Rejected);
    assert_eq!(
        report.status.reasons,
        ["peak_bandwidth read thp avx2 threads 2: 20 of 60 windows disturbed: involuntary context switch 20"]
    );
}

#[test]
fn a_figure_without_an_undisturbed_window_is_shown_and_rejected() {
    let mut lab = Lab::new();
    let point = lab.peak(&[0], Mix::Read);
    lab.measure(point, 6, |_| bandwidths(&[10e9; 5]).into_iter().map(switched).collect());
    let report = lab.report();
    let peak = metric(&report, "peak_bandwidth", &[]);
    assert_eq!((peak.value, peak.windows, peak.excluded), (10e9, 0, 30));
    assert!(peak.remarks.iter().any(|remark| remark.starts_with("every window was disturbed")), "{:?}", peak.remarks);
    assert_eq!(report.status.state, State::Rejected);
}

#[test]
fn what_is_no_number_is_left_out() {
    let mut lab = Lab::new();
    let point = lab.idle(Pages::Thp, Order::WindowRandom);
    lab.measure(point, 6, |_| {
        latencies(&[
            100.0,
            100.0,
            f64::NAN,
            f64::INFINITY,
            0.0,
            100.0,
            100.0,
            100.0,
            100.0,
            100.0,
            100.0,
            100.0,
            100.0,
            100.0,
            100.0,
            100.0,
        ])
    });
    let report = lab.report();
    let idle = metric(&report, "idle_latency", &[]);
    assert_eq!((idle.value, idle.excluded, idle.best), (100.0, 18, Some(100.0)));
}

#[test]
fn passes_are_the_windows_of_a_transfer() {
    let mut lab = Lab::new();
    let arena = lab.arena(0, Pages::Base, Holds::C2c { bytes: MIB / 4, push: 0 });
    let measure =
        Measure::C2c { from: 0, to: 0, home: 0, kind: C2cKind::Hitm, scope: C2cScope::Node, via: C2cVia::L2, repeat: false };
    let job = |cpu| Thread { cpu, job: Job::C2c { arena, kind: C2cKind::Hitm } };
    let point = lab.point(measure, vec![job(0), job(1)]);
    // A transfer has no warm-up: nothing of it can fail to settle.
    let block = |round| Block { round, settled: false, passes_ns: vec![22.0, 30.0, 24.0], ..Block::default() };
    lab.record.run.points[point].rounds = (0..6).map(block).collect();
    let report = lab.report();
    let wanted = [("kind", "hitm"), ("method", "chase"), ("scope", "node"), ("from", "0"), ("to", "0"), ("home", "0")];
    let transfer = metric(&report, "c2c_latency", &wanted);
    assert_eq!((transfer.value, transfer.best, transfer.windows), (24.0, Some(22.0), 18));
    assert!((transfer.undisturbed.unwrap() - 22.4).abs() < 1e-9);
    assert_eq!(transfer.remarks, ["CPU 0 to CPU 1"]);
    let matrix = report.matrices.iter().find(|matrix| matrix.name == "c2c_latency").unwrap();
    assert_eq!((matrix.rows.as_slice(), matrix.labels.get("kind").unwrap().as_str()), ([0].as_slice(), "hitm"));
}

#[test]
fn homes_are_told_apart_by_role_and_an_early_pair_is_held_against_its_repeat() {
    let mut lab = Lab::new();
    let arena = lab.arena(0, Pages::Base, Holds::C2c { bytes: MIB / 4, push: 0 });
    let job = |cpu| Thread { cpu, job: Job::C2c { arena, kind: C2cKind::Cas } };
    let cells =
        [(0, 1, 0, 40.0, false), (0, 1, 1, 60.0, false), (1, 0, 1, 55.0, false), (1, 0, 0, 60.5, false), (0, 1, 0, 52.0, true)];
    for (from, to, home, ns, repeat) in cells {
        let measure = Measure::C2c { from, to, home, kind: C2cKind::Cas, scope: C2cScope::Node, via: C2cVia::L2, repeat };
        let point = lab.point(measure, vec![job(from), job(to)]);
        let block = |round: u32| Block { round, passes_ns: vec![ns + 0.01 * f64::from(round); 3], ..Block::default() };
        lab.record.run.points[point].rounds = (0..6).map(block).collect();
    }
    let report = lab.report();
    assert_eq!(report.metrics.iter().filter(|metric| metric.name == "c2c_latency").count(), 4, "the repeat is no figure");
    let note = report.notes.iter().find(|note| note.contains("first and last in each round")).unwrap();
    assert!(
        note.starts_with("node 0 → 1 cas")
            && note.contains("40.0 ns")
            && note.contains("52.0 ns")
            && note.contains("they differ"),
        "{note}"
    );
    let of = |role: &str| {
        let found = report.matrices.iter().find(|matrix| matrix.labels.get("home").is_some_and(|home| home == role)).unwrap();
        let there = found.cells[0][1].map(|id| report.metrics[id].value);
        (there.unwrap(), found.cells[1][0].map(|id| report.metrics[id].value).unwrap())
    };
    assert!((of("writer").0 - 40.0).abs() < 0.1 && (of("writer").1 - 55.0).abs() < 0.1);
    assert!((of("reader").0 - 60.0).abs() < 0.1 && (of("reader").1 - 60.5).abs() < 0.1);
    let uneven: Vec<_> = report.findings.iter().filter(|finding| finding.id == "asymmetric_matrix").collect();
    assert!(uneven.len() == 1 && uneven[0].text.contains("c2c_latency cas node: 0 → 1 and 1 → 0"), "{uneven:?}");
}

#[test]
fn a_search_shows_its_winner_alone() {
    let mut lab = Lab::new();
    let candidates: Vec<usize> = [0, 2]
        .map(|delay| {
            let threads = lab.streams(&[0, 1], Mix::Read);
            lab.point(Measure::Max { mix: Mix::Read, delay }, threads)
        })
        .to_vec();
    lab.record.plan.searches.push(Search { candidates: candidates.clone(), rounds: 2 });
    lab.measure(candidates[1], 6, |_| bandwidths(&[40e9; 5]));
    let searched = lab.report();
    assert!(searched.find("max_bandwidth", &[]).is_none());
    assert_eq!(searched.status.state, State::Partial);
    lab.record.run.searches.push(SearchRecord { seen: vec![(candidates[1], 41e9)], winner: candidates[1] });
    let report = lab.report();
    let max = metric(&report, "max_bandwidth", &[]);
    assert_eq!((max.value, max.remarks.as_slice()), (40e9, ["delay 2".to_owned()].as_slice()));
    assert_eq!(report.metrics.iter().filter(|metric| metric.name == "max_bandwidth").count(), 1);
    assert_eq!(report.status.state, State::Complete, "{:?}", report.status);
}

#[test]
fn a_second_figure_of_the_same_name_is_said_not_shown() {
    let mut lab = Lab::new();
    for _ in 0..2 {
        let point = lab.peak(&[0], Mix::Read);
        lab.record.run.points[point].rounds = (0..6).map(|round| block(round, bandwidths(&[10e9; 5]))).collect();
    }
    let report = lab.report();
    assert!(report.notes.iter().any(|note| note.contains("two points give the same figure")));
}
