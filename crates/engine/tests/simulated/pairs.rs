//! Maps of all pairs of a thousand CPUs: classes, uniform or not, and what is filled.

use crate::support::{Done, ask, done};
use memgauge_engine::simulated::Description;
use memgauge_model::*;
use std::time::{Duration, Instant};

/// Four packages of 128 cores with two threads each.
fn thousand(step_ns: f64, noise: f64) -> Description {
    let text = format!(
        r#"
name = "thousand"
flags = ["sse2", "avx2"]
[[cores]]
ghz = 2.5
threads = 2
lines = 20
l1 = {{ kib = 32, ns = 1.6, gb_per_s = 200 }}
l2 = {{ kib = 1024, ns = 5, gb_per_s = 80 }}
[l3]
mib = 32
cores = 8
ns = 18
gb_per_s = 30
[[nodes]]
count = 4
cores = [["uniform", 128]]
memory = {{ gib = 256, ns = 100, channels = 12, gb_per_s = 38.4 }}
[[links]]
from = "0-3"
to = "0-3"
ns = 60
gb_per_s = 120
each = true
[transfer]
core_ns = 8
l2_ns = 8
l3_ns = 24
package_ns = 90
far_ns = 190
step_ns = {step_ns}
crowd = 0.12
[noise]
window = {noise}
"#
    );
    Description::read(&text).unwrap()
}

fn mapped(description: &Description, method: Option<C2cMethod>) -> (Done, PairMap) {
    let begun = Instant::now();
    let done = done(description, &Request { all_pairs: true, method, ..ask(What::C2c, 3) });
    assert!(matches!(done.record.run.end, End::Complete), "{:?}", done.record.run.end);
    assert_eq!(done.report.status.state, State::Complete, "{:?}", done.report.status);
    // A bound on hangs, not a speed.
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    let map = done.report.map.clone().unwrap();
    (done, map)
}

/// Of the machine's own time.
fn took_s(done: &Done) -> f64 {
    let wide = done.record.run.map.iter().flat_map(|map| &map.wide).map(|wide| wide.start_ns).max().unwrap_or(0);
    let alone = done.record.run.points.iter().flat_map(|point| &point.rounds).map(|block| block.start_ns).max().unwrap_or(0);
    wide.max(alone) as f64 / 1e9
}

#[test]
fn classes_that_are_alike_have_one_figure_each_and_nothing_is_filled() {
    let (done, map) = mapped(&thousand(0.0, 0.01), None);
    let seen: Vec<(&str, u64)> = map.classes.iter().map(|class| (class.apart.as_str(), class.pairs)).collect();
    // 512 cores; 64 L3s of 16 threads; 4 nodes of 256.
    let (l3, node, far) = (64 * (120 - 8), 4 * 256 * 255 / 2 - 64 * 120, 6 * 256 * 256);
    assert_eq!(seen, [("core", 512), ("l3", l3), ("node", node), ("far-16", far)]);
    assert_eq!(map.cpus.len(), 1024);
    assert!(map.cells.is_empty() && map.classes.iter().all(|class| class.filled == 0), "{:?}", map.classes);
    for (class, ns) in map.classes.iter().zip([8.0, 24.0, 90.0, 190.0]) {
        let metric = &done.report.metrics[class.metric.unwrap()];
        assert!((metric.value / (ns * 1.35) - 1.0).abs() < 0.01, "{class:?}: {}", metric.value);
        assert_eq!((metric.labels["apart"].as_str(), class.verdict.uniform), (class.apart.as_str(), Some(true)));
    }
    assert!(took_s(&done) < 60.0, "{} s", took_s(&done));
}

#[test]
fn a_class_that_is_not_alike_is_filled_and_its_cells_are_what_is_described() {
    let (done, map) = mapped(&thousand(0.4, 0.005), None);
    let filled: Vec<(&str, bool)> = map.classes.iter().map(|class| (class.apart.as_str(), class.filled > 0)).collect();
    assert_eq!(filled, [("core", false), ("l3", true), ("node", true), ("far-16", false)]);
    assert!(map.classes[1..3].iter().all(|class| class.filled == class.pairs));
    let plan = done.record.plan.map.as_ref().unwrap();
    let mut off = Vec::new();
    for (one, row) in map.cells.iter().enumerate() {
        for (other, cell) in row.iter().enumerate() {
            let wanted = one != other && [Apart::L3, Apart::Node].contains(&plan.apart(one, other));
            assert_eq!(cell.is_some(), wanted, "{one} {other}");
            if let Some(ns) = cell {
                let truth = done.machine.expected_pair(map.kind, map.cpus[one], map.cpus[other]).unwrap();
                off.push(f64::from(*ns) / truth - 1.0);
            }
        }
    }
    // Wide rounds crowd: up to 12 % by the description, and each pair is in another round.
    assert!(off.iter().all(|off| (-0.03..0.17).contains(off)), "{:?}", off.iter().copied().fold(0.0, f64::max));
    assert!(map.crowded.is_some_and(|factor| (1.0..1.13).contains(&factor)) && map.within.is_some_and(|within| within < 0.02));
    assert!(took_s(&done) < 60.0, "{} s", took_s(&done));
}

#[test]
fn a_chase_goes_there_and_back() {
    let mut description = thousand(0.4, 0.005);
    // One package of 32 cores is enough.
    (description.nodes[0].count, description.nodes[0].cores[0].1) = (1, 32);
    description.links.clear();
    let (done, map) = mapped(&description, Some(C2cMethod::Chase));
    assert_eq!((map.kind, map.cpus.len()), (C2cKind::Hitm, 64));
    let node = map.classes.iter().find(|class| class.apart == "node").unwrap();
    assert!(node.filled == node.pairs && node.asymmetry.is_some_and(|differ| differ < 0.03), "{node:?}");
    let wide = &done.record.run.map.as_ref().unwrap().wide;
    let there = wide.iter().filter(|wide| wide.turn == WideTurn::First).flat_map(|wide| &wide.pairs).count();
    assert_eq!(there as u64, 2 * map.classes.iter().map(|class| class.filled).sum::<u64>());
    assert!(wide.iter().any(|wide| wide.turn == WideTurn::Repeat));
}
