//! Without noise, figures are what the machine does; on machines of any size.

use crate::support::{ask, done, small};
use memgauge_engine::simulated::{Description, Noise, names, preset};
use memgauge_model::*;
use std::time::{Duration, Instant};

fn quiet(name: &str) -> Description {
    Description { noise: Noise::default(), ..preset(name).unwrap() }
}

/// Every figure within a thousandth of its truth.
fn hold(description: &Description, what: What) -> Report {
    let done = done(description, &ask(what, 1));
    assert_eq!(done.report.status.state, State::Complete, "{:?}", done.report.status);
    assert!(done.report.simulated && done.record.plan.simulated && done.report.machine.simulated);
    let truths = done.truths();
    assert!(!truths.is_empty());
    for truth in truths {
        let metric = truth.find(&done.report).unwrap_or_else(|| panic!("{truth:?} is not there"));
        assert!((metric.value / truth.value - 1.0).abs() < 1e-3, "{truth:?}: {}", metric.value);
    }
    done.report
}

#[test]
fn idle_latencies_peaks_matrices_and_transfers_are_what_is_described() {
    for what in [What::Idle, What::Peak, What::MatrixLatency, What::MatrixBandwidth, What::C2c] {
        hold(&small("", ""), what);
    }
    for name in names() {
        hold(&quiet(name), What::MatrixLatency);
    }
}

#[test]
fn penalties_and_translation_costs_are_what_is_described() {
    let report = hold(&quiet("icelake-2s"), What::MatrixLatency);
    let (_, penalty) = report.find("numa_penalty", &[("from", "0"), ("to", "1")]).unwrap();
    // The link, and next to nothing of queueing.
    assert!((penalty.value - 54.0).abs() < 0.5, "{}", penalty.value);
    let report = hold(&quiet("icelake-2s"), What::Idle);
    let (_, cost) = report.find("tlb_cost", &[("order", "full-random")]).unwrap();
    let pages = preset("icelake-2s").unwrap().pages;
    assert!((0.8..1.0).contains(&(cost.value / (pages.l2_ns + pages.walk_ns))), "{}", cost.value);
}

#[test]
fn loads_that_nobody_watches_have_bandwidths_alone_and_say_so() {
    let delays = Some(Delays::List(vec![0, 1000]));
    let request = Request { no_observer: true, delays, ..ask(What::Loaded, 1) };
    let done = done(&small("", ""), &request);
    let report = &done.report;
    assert_eq!((report.curves[0].cpu, report.curves[0].points.len()), (None, 2));
    assert!(report.metrics.iter().all(|metric| metric.name != "loaded_latency"));
    for (point, delay) in [0, 1000].into_iter().enumerate() {
        let (_, metric) = report.find("loaded_bandwidth", &[("delay", &delay.to_string())]).unwrap();
        let truth = done.machine.expected(&done.record.plan, point, delay).unwrap();
        assert_eq!(truth.latency_ns, None);
        assert!((metric.value / truth.load_bytes_per_s - 1.0).abs() < 1e-3, "{truth:?}: {}", metric.value);
        assert_eq!((metric.labels["observer"].as_str(), metric.labels.get("cpu")), ("none", None));
    }
    assert!(report.unavailable.iter().any(|gap| gap.name == "knee_bandwidth" && gap.detail == "nobody watched"));
}

/// In each round: no less than its share, and not a window more.
#[test]
fn what_is_counted_is_what_was_asked_for() {
    let count = |request: &Request, of: fn(&Window) -> f64| {
        let done = done(&small("", ""), request);
        let mut all = Vec::new();
        for (point, record) in done.record.plan.points.iter().zip(&done.record.run.points) {
            let Some(Quota::Hops(wanted) | Quota::Bytes(wanted)) = point.quota else { continue };
            for block in &record.rounds {
                let each = of(&block.windows[0]);
                all.push((block.windows.iter().map(of).sum::<f64>() - wanted as f64) / each);
            }
        }
        assert!(!all.is_empty() && all.iter().all(|over| (-0.01..1.01).contains(over)), "{all:?}");
    };
    let hops = |window: &Window| window.hops as f64;
    for accesses in [0, 3_000_000] {
        count(&Request { accesses: Some(accesses), ..ask(What::Idle, 1) }, hops);
        let delays = Some(Delays::List(vec![0, 1000]));
        count(&Request { accesses: Some(accesses), delays, ..ask(What::Loaded, 1) }, hops);
    }
    let scan = Request { passes: Some(12), limit: Some(4 << 30), node: Some(0), ..ask(What::Scan, 1) };
    count(&scan, |window| window.load_bytes_per_s * window.ns / 1e9);
}

#[test]
fn far_memory_and_its_links_show_in_the_matrices() {
    let report = hold(&quiet("cxl-2s"), What::MatrixBandwidth);
    let cell = |from: &str, to: &str| report.find("matrix_bandwidth", &[("from", from), ("to", to)]).unwrap().1.value;
    assert!(cell("0", "0") > cell("0", "1") && cell("0", "1") > cell("1", "2") && cell("1", "2") > cell("0", "2"));
    assert!(report.matrices[0].rows == [0, 1] && report.matrices[0].columns == [0, 1, 2]);
    // The link to the other socket and the device itself are the limits.
    assert!((0.85..1.0).contains(&(cell("0", "1") / 68e9)), "{}", cell("0", "1"));
    assert!((0.85..1.0).contains(&(cell("0", "2") / 8e9)), "{}", cell("0", "2"));
}

#[test]
fn caches_are_found_within_one_size_of_the_described_ones() {
    for name in ["icelake-2s", "graviton"] {
        let mut description = preset(name).unwrap();
        description.noise = Noise { window: 0.01, correlation: 0.8, allocation: 0.004, placement: None };
        let request = Request { load_cpus: Some(CpuList::default()), pages: Some(Pages::Thp), ..ask(What::Sweep, 3) };
        let done = done(&description, &request);
        // One order alone tells: page walks rise with the size, too.
        let sweep = done.report.sweeps.iter().find(|sweep| !sweep.caches.is_empty()).unwrap();
        let levels: Vec<(&str, Option<bool>)> = sweep.caches.iter().map(|cache| (cache.level.as_str(), cache.same)).collect();
        assert_eq!(levels, [("L1", Some(true)), ("L2", Some(true)), ("L3", Some(true))], "{name}");
    }
}

#[test]
fn the_knee_lies_within_a_twentieth_of_the_true_one_on_every_machine_that_saturates() {
    for name in names() {
        let description = preset(name).unwrap();
        let mut truth = None;
        for seed in 0..3 {
            let done = done(&description, &Request { smt: Smt::One, ..ask(What::Loaded, seed) });
            let (_, knee) =
                done.report.find("knee_bandwidth", &[]).unwrap_or_else(|| panic!("{name}: {:?}", done.report.unavailable));
            let truth = *truth.get_or_insert_with(|| done.true_knee());
            assert!((knee.value / truth - 1.0).abs() < 0.05, "{name} {seed}: {} for {truth}", knee.value);
        }
    }
}

/// What a kernel of AArch64 may be built with; no such machine is at hand.
#[test]
fn base_pages_of_64_kib_and_huge_ones_of_512_mib_are_planned_and_measured_as_such() {
    let mut description = quiet("graviton");
    (description.pages.base_kib, description.pages.thp_kib) = (64, 512 << 10);
    for what in [What::Idle, What::Peak, What::MatrixLatency, What::C2c] {
        let report = hold(&description, what);
        assert_eq!(report.machine.memory.page_bytes, 64 << 10);
        for arena in &report.plan.arenas {
            let unit = if arena.pages == Pages::Thp { 512 << 20 } else { 64 << 10 };
            assert_eq!((arena.page_bytes, arena.bytes % unit), (unit, 0), "{what:?}: {arena:?}");
        }
    }
}

/// 16 nodes with 128 CPUs each.
fn giant() -> Description {
    let mut description = preset("spr-snc4").unwrap();
    let nodes = NodeGroupOf(&description).sixteen();
    description.nodes = nodes;
    description.links = ["0-7", "8-15"].map(|nodes| link(&description, nodes, nodes, true)).to_vec();
    description.links.push(link(&description, "0-7", "8-15", false));
    description
}

struct NodeGroupOf<'a>(&'a Description);

impl NodeGroupOf<'_> {
    fn sixteen(&self) -> Vec<memgauge_engine::simulated::NodeGroup> {
        let mut group = self.0.nodes[0].clone();
        (group.count, group.per_package, group.cores[0].1) = (16, 8, 64);
        group.memory = group.memory.map(|memory| memgauge_engine::simulated::Memory { gib: 1024, ..memory });
        vec![group]
    }
}

fn link(description: &Description, from: &str, to: &str, each: bool) -> memgauge_engine::simulated::Link {
    memgauge_engine::simulated::Link { from: from.into(), to: to.into(), each, ..description.links[0].clone() }
}

#[test]
fn a_default_run_of_2048_cpus_on_16_nodes_takes_seconds() {
    let begun = Instant::now();
    let done = done(&giant(), &ask(What::All, 5));
    assert_eq!(done.report.machine.online_cpus.len(), 2048);
    assert!(matches!(done.record.run.end, End::Complete), "{:?}", done.record.run.end);
    let latencies = done.report.matrices.iter().find(|matrix| matrix.name == "matrix_latency").unwrap();
    assert_eq!((latencies.rows.len(), latencies.columns.len()), (16, 16));
    assert!(latencies.cells.iter().flatten().all(Option::is_some));
    // A bound on hangs, not a speed: debug builds and busy machines keep it.
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_one_another() {
    let description = preset("hybrid-desktop").unwrap();
    let run = |seed| done(&description, &ask(What::Idle, seed)).record.run;
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).points, run(2).points);
}
