use crate::support::{Lab, bandwidths, latencies, metric};
use memgauge_model::{CpuList, End, Measure, Mix, Order, Pages, Reason};

#[test]
fn tlb_cost_is_paired_within_rounds() {
    let mut lab = Lab::new();
    let base = lab.idle(Pages::Base, Order::FullRandom);
    let huge = lab.idle(Pages::Thp, Order::FullRandom);
    let other = lab.idle(Pages::Thp, Order::WindowRandom);
    // Rounds differ by 50 ns, the two of a round by 10 ± 1: unpaired, the interval would be 50 wide.
    lab.measure(base, 6, |round| latencies(&[150.0 + 10.0 * f64::from(round) + f64::from(round % 3) - 1.0; 3]));
    lab.measure(huge, 6, |round| latencies(&[140.0 + 10.0 * f64::from(round); 3]));
    lab.measure(other, 6, |_| latencies(&[130.0; 3]));
    let report = lab.report();
    let cost = metric(&report, "tlb_cost", &[("order", "full-random"), ("pages", "base"), ("against", "thp")]);
    assert!((cost.value - 10.0).abs() < 1e-9 && (cost.ci95.unwrap()[1] - 11.0).abs() < 1e-9, "{cost:?}");
    assert_eq!(report.metrics.iter().filter(|metric| metric.name == "tlb_cost").count(), 1);
}

#[test]
fn tlb_cost_is_against_the_largest_pages() {
    let mut lab = Lab::new();
    for (pages, ns) in [(Pages::Base, 160.0), (Pages::Thp, 150.0), (Pages::Huge1G, 145.0)] {
        let point = lab.idle(pages, Order::FullRandom);
        lab.measure(point, 6, |_| latencies(&[ns; 3]));
    }
    assert_eq!(metric(&lab.report(), "tlb_cost", &[("against", "1g")]).value, 15.0);
}

#[test]
fn one_round_bounds_a_difference_by_its_windows() {
    let mut lab = Lab::new();
    for (pages, ns) in [(Pages::Base, [158.0, 160.0, 163.0]), (Pages::Thp, [149.0, 150.0, 151.0])] {
        let point = lab.idle(pages, Order::FullRandom);
        lab.measure(point, 1, |_| latencies(&ns));
    }
    let report = lab.report();
    let cost = metric(&report, "tlb_cost", &[]);
    assert_eq!((cost.value, cost.range), (10.0, Some([7.0, 14.0])));
}

#[test]
fn the_numa_penalty_is_remote_less_local_and_may_be_negative() {
    let mut lab = Lab::new();
    for (to, ns) in [(0, 100.0), (1, 90.0)] {
        let thread = lab.chaser(to, Pages::Thp, Order::WindowRandom);
        let point = lab.point(Measure::MatrixLatency { from: 0, to }, vec![thread]);
        lab.measure(point, 6, |round| latencies(&[ns + f64::from(round); 3]));
    }
    let report = lab.report();
    let penalty = metric(&report, "numa_penalty", &[("from", "0"), ("to", "1")]);
    assert_eq!((penalty.value, penalty.ci95), (-10.0, Some([-10.0, -10.0])));
    let matrix = report.matrices.iter().find(|matrix| matrix.name == "matrix_latency").unwrap();
    assert_eq!((matrix.rows.as_slice(), matrix.columns.as_slice()), ([0].as_slice(), [0, 1].as_slice()));
    assert_eq!(report.metrics[matrix.cells[0][1].unwrap()].labels.get("to").unwrap(), "1");
}

#[test]
fn a_difference_that_has_no_meaning_here_says_why() {
    let gap = |lab: &Lab, name: &str| {
        let report = lab.report();
        let gap = report.unavailable.iter().find(|gap| gap.name == name).map(|gap| (gap.reason, gap.detail.clone()));
        gap.unwrap_or_else(|| panic!("no gap {name}"))
    };
    let mut lab = Lab::new();
    let base = lab.idle(Pages::Base, Order::FullRandom);
    lab.measure(base, 6, |_| latencies(&[150.0; 3]));
    assert_eq!(gap(&lab, "tlb_cost"), (Reason::NotApplicable, "every chase was on base pages".to_owned()));
    let huge = lab.idle(Pages::Thp, Order::FullRandom);
    lab.record.run.end = End::Interrupted { signal: "SIGINT".into() };
    assert_eq!(gap(&lab, "tlb_cost").0, Reason::OutOfTime);
    lab.measure(huge, 6, |_| latencies(&[140.0; 3]));
    assert!(lab.report().unavailable.iter().all(|gap| gap.name != "tlb_cost"));

    // Local memory alone; then remote memory that has no local one beside it.
    for (from, to, detail) in [(0, 0, "only local memory was measured"), (1, 0, "no local memory of node 1 was measured")] {
        let thread = lab.chaser(to, Pages::Thp, Order::WindowRandom);
        let point = lab.point(Measure::MatrixLatency { from, to }, vec![thread]);
        lab.measure(point, 6, |_| latencies(&[100.0; 3]));
        let (reason, said) = gap(&lab, "numa_penalty");
        assert_eq!(reason, Reason::NotApplicable);
        assert!(said.starts_with(detail), "{said}");
    }
    assert!(metric(&lab.report(), "matrix_latency", &[("stride", "128"), ("bytes", "536870912"), ("cpu", "0")]).value > 0.0);
}

#[test]
fn a_cell_that_was_not_measured_is_empty() {
    let mut lab = Lab::new();
    for to in [0, 1] {
        let threads = lab.streams(&[0, 1], Mix::Read);
        let point = lab.point(Measure::MatrixBandwidth { from: 0, to, mix: Mix::Read }, threads);
        if to == 0 {
            lab.measure(point, 6, |_| bandwidths(&[20e9; 3]));
        }
    }
    let report = lab.report();
    let matrix = report.matrices.iter().find(|matrix| matrix.name == "matrix_bandwidth").unwrap();
    assert!(matrix.cells[0][0].is_some() && matrix.cells[0][1].is_none());
    assert_eq!(matrix.labels.get("threads").unwrap(), "2");
    assert!(report.matrices.iter().any(|matrix| matrix.name == "matrix_bandwidth_dram"));
}

#[test]
fn a_node_that_may_not_be_used_has_no_column() {
    let mut lab = Lab::new();
    let thread = lab.chaser(1, Pages::Thp, Order::WindowRandom);
    let point = lab.point(Measure::MatrixLatency { from: 0, to: 1 }, vec![thread]);
    lab.measure(point, 6, |_| latencies(&[100.0; 3]));
    lab.record.machine.allowed_nodes = CpuList::from(vec![1]);
    let report = lab.report();
    assert_eq!((report.matrices[0].rows.as_slice(), report.matrices[0].columns.as_slice()), ([0].as_slice(), [1].as_slice()));
}

#[test]
fn latencies_by_cpu_have_a_row_for_each_and_penalties_name_nodes() {
    let mut lab = Lab::new();
    lab.record.plan.request.per_cpu = true;
    for (cpu, to, ns) in [(0, 0, 80.0), (0, 1, 130.0), (1, 0, 85.0), (1, 1, 140.0)] {
        let thread = memgauge_model::Thread { cpu, ..lab.chaser(to, Pages::Thp, Order::WindowRandom) };
        let point = lab.point(Measure::MatrixLatency { from: 0, to }, vec![thread]);
        lab.measure(point, 6, |_| latencies(&[ns; 3]));
    }
    let report = lab.report();
    let matrix = report.matrices.iter().find(|matrix| matrix.name == "matrix_latency").unwrap();
    assert_eq!((&matrix.rows[..], &matrix.columns[..]), (&[0, 1][..], &[0, 1][..]));
    let cell = |row: usize, column: usize| report.metrics[matrix.cells[row][column].unwrap()].value;
    assert!((cell(1, 0) - 85.0).abs() < 1e-9 && (cell(1, 1) - 140.0).abs() < 1e-9);
    let penalty = metric(&report, "numa_penalty", &[("cpu", "1"), ("from", "0"), ("to", "1")]);
    assert!((penalty.value - 55.0).abs() < 1e-9 && !penalty.labels.contains_key("scope"), "{penalty:?}");
}

#[test]
fn lines_in_flight_follow_littles_law() {
    let mut lab = Lab::new();
    let idle = lab.idle(Pages::Thp, Order::WindowRandom);
    let (one, all) = (lab.peak(&[0], Mix::Read), lab.peak(&[0, 1], Mix::Read));
    lab.measure(idle, 6, |_| latencies(&[80.0; 3]));
    [one, all].into_iter().for_each(|point| lab.measure(point, 6, |_| bandwidths(&[8e9; 3])));
    let report = lab.report();
    let lines = metric(&report, "lines_in_flight", &[("order", "window-random"), ("mix", "read"), ("threads", "1")]);
    assert!((lines.value - 10.0).abs() < 1e-9 && lines.unit == "lines");
    assert_eq!(report.metrics.iter().filter(|metric| metric.name == "lines_in_flight").count(), 1);
}
