//! Lines from cache to cache.

use super::idle::ticks;
use super::{Style, head, hops, remote};
use memgauge_model::Report;
use std::collections::{BTreeMap, BTreeSet};

/// Inside a node, and from node to node where there are several, ns.
#[must_use]
pub fn c2c(report: &Report, style: &Style) -> String {
    let mut text = head::of_latency(style, None);
    text.push_str("Measuring cache-to-cache transfer latency (in ns)...\n");
    for (kind, label) in [("hit", "HIT "), ("hitm", "HITM")] {
        if let Some(metric) = hops(report, kind) {
            text.push_str(&format!("Local Socket L2->L2 {label} latency\t{:.1}\n", metric.value));
        }
    }
    for home in ["writer", "reader"] {
        text.push_str(&table(report, style, home));
    }
    text
}

fn table(report: &Report, style: &Style, home: &'static str) -> String {
    let cells: BTreeMap<(u32, u32), f64> = remote(report, home).map(|(from, to, metric)| ((from, to), metric.value)).collect();
    if cells.is_empty() {
        return String::new();
    }
    let nodes: BTreeSet<u32> = cells.keys().flat_map(|(from, to)| [*from, *to]).collect();
    let path = style.version.remote();
    let mut text = format!("Remote Socket {path} HITM latency (data address homed in {home} socket)\n");
    text.push_str("\t\t\tReader Numa Node\nWriter Numa Node");
    nodes.iter().for_each(|node| text.push_str(&format!("{node:6}\t")));
    text.push('\n');
    for writer in &nodes {
        text.push_str(&format!("{writer:13}\t"));
        let value = |reader: &u32| cells.get(&(*writer, *reader)).map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
        nodes.iter().for_each(|reader| text.push_str(&format!("{:>6}\t", value(reader))));
        text.push('\n');
    }
    text
}

/// One pair of CPUs that were named: the first transfer by chase.
#[must_use]
pub fn c2c_pair(report: &Report, style: &Style) -> String {
    let chase = |metric: &&memgauge_model::Metric| metric.name == "c2c_latency" && metric.is(&[("method", "chase")]);
    let figure = report.metrics.iter().find(chase);
    let mut text = head::of_latency(style, None);
    text.push_str("Measuring cache-to-cache transfer latency (in ns)...\n");
    if let Some((metric, ticks)) = figure.zip(ticks(report, figure)) {
        text.push_str(&format!("Latency = {ticks:.1} {} ({:.1} ns)\n", style.version.clocks(), metric.value));
    }
    text
}
