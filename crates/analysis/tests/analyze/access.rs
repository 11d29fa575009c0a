use crate::support::{Lab, metric};
use memgauge_model::{AccessHistogram, Block, Job, Measure, Order, Pages, Reason, Thread};

fn lab() -> Lab {
    let mut lab = Lab::new();
    let Job::Chase { arena, ring } = lab.chaser(0, Pages::Thp, Order::WindowRandom).job else { return lab };
    let thread = Thread { cpu: 0, job: Job::TimedChase { arena, ring } };
    let point = lab.point(Measure::Access { node: 0 }, vec![thread]);
    lab.record.run.points[point].rounds = (0..6)
        .map(|round| {
            let step = f64::from(round);
            let percentiles = vec![(50.0, 120.0 + step), (99.9, 300.0), (100.0, 9000.0 + step)];
            let access = Some(AccessHistogram { count: 1000, cost_ns: 12.0, mean_ns: 125.0, percentiles });
            Block { round, settled: true, access, ..Block::default() }
        })
        .collect();
    lab
}

#[test]
fn percentiles_are_figures_of_their_own() {
    let report = lab().report();
    let at = |percentile| metric(&report, "access_latency", &[("percentile", percentile), ("keepalive", "no")]);
    assert_eq!((at("50").value, at("50").ci95), (122.5, Some([120.0, 125.0])));
    assert_eq!(at("99.9").value, 300.0);
    assert_eq!(at("max").value, 9002.5);
    assert_eq!(at("50").remarks, ["6000 accesses; 12.0 ns of timing subtracted from each"]);
}

#[test]
fn a_coarse_clock_tells_no_percentiles() {
    let mut lab = lab();
    lab.record.run.clock.quantum_ns = 18.0;
    let report = lab.report();
    assert!(report.find("access_latency", &[]).is_none());
    let gap = report.unavailable.iter().find(|gap| gap.name == "access_latency").unwrap();
    assert_eq!((gap.reason, gap.detail.as_str()), (Reason::NotSupported, "the clock steps by 18.0 ns, the median is 122.5 ns"));
}
