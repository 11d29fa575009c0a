use crate::support::{Lab, metric};
use memgauge_model::{AccessBins, AccessHistogram, Block, HistogramBin, Job, Measure, Order, Pages, Reason, Thread};

fn lab() -> Lab {
    let mut lab = Lab::new();
    let Job::Chase { arena, ring } = lab.chaser(0, Pages::Thp, Order::WindowRandom).job else { return lab };
    let thread = Thread { cpu: 0, job: Job::TimedChase { arena, ring } };
    let point = lab.point(Measure::Access { node: 0 }, vec![thread]);
    lab.record.run.points[point].rounds = (0..6)
        .map(|round| {
            let step = f64::from(round);
            let percentiles = vec![(50.0, 120.0 + step), (99.9, 300.0), (100.0, 9000.0 + step)];
            let access = Some(AccessHistogram { count: 1000, cost_ns: 12.0, mean_ns: 125.0, percentiles, bins: None });
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

#[test]
fn the_spread_is_of_the_rounds_whose_percentiles_count() {
    let mut lab = lab();
    assert!(lab.report().histograms.is_empty());
    for (round, block) in (0..).zip(&mut lab.record.run.points.last_mut().unwrap().rounds) {
        let mut bins = AccessBins::new(3);
        bins.record_many(120, 10);
        bins.record_many(100 + round, 1);
        bins.record(5000);
        block.access.as_mut().unwrap().bins = Some(bins);
    }
    let report = lab.report();
    let [seen] = &report.histograms[..] else { panic!() };
    let bin = |from: u64, count| HistogramBin { from, to: from + 8, count };
    assert_eq!((&seen.bins, seen.beyond, seen.rounds), (&vec![bin(96, 4), bin(104, 2), bin(120, 60)], 6, 6));
    assert_eq!((seen.width, seen.end, seen.labels["cpu"].as_str()), (8, 4096, "0"));
}
