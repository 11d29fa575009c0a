//! What limits reads: the lines that a core keeps in flight (Little's law), or the memory that all share.

use super::evidence::{finding, label, named, percent};
use memgauge_model::{Finding, Metric, MetricId, Record, Report, Severity};

/// All threads together reach this share of what so many single ones would: each is limited by its own core.
const CORES: f64 = 0.9;
/// Below this they wait for one another.
const MEMORY: f64 = 0.7;

pub(super) fn find(_: &Record, report: &Report) -> Vec<Finding> {
    // Single threads carry no placement class: only the labels that both have are compared.
    let one = |metric: &Metric| metric.is(&[("mix", "read"), ("threads", "1")]);
    // A buffer that all share is a cache's.
    let reads = || {
        named(report, "peak_bandwidth").filter(|(_, metric)| label(metric, "mix") == "read" && label(metric, "buffer").is_empty())
    };
    let Some((one_id, single)) = reads().find(|(_, metric)| one(metric)) else { return Vec::new() };
    let alike = |metric: &Metric| ["pages", "isa", "bytes"].iter().all(|name| label(metric, name) == label(single, name));
    let together = reads().filter(|(_, metric)| !one(metric) && alike(metric));
    together.filter_map(|(id, all)| judge(report, (one_id, single), (id, all))).collect()
}

fn judge(report: &Report, (one_id, one): (MetricId, &Metric), (all_id, all): (MetricId, &Metric)) -> Option<Finding> {
    let threads: f64 = label(all, "threads").parse().ok()?;
    let ([one_low, one_high], [all_low, all_high]) = (one.ci95?, all.ci95?);
    let lines = named(report, "lines_in_flight").find(|(_, metric)| metric.value > 0.0);
    let flight = lines
        .map_or(String::new(), |(_, lines)| format!(" (about {:.0} lines in flight, prefetched ones included)", lines.value));
    let share = all.value / (threads * one.value);
    let text = if all_low / (threads * one_high) >= CORES {
        format!(
            "{threads:.0} threads read {} of {threads:.0} times what one reads{flight}: the cores are the limit, not the memory; more of them would get more",
            percent(share)
        )
    } else if one_low > 0.0 && all_high / (threads * one_low) <= MEMORY {
        format!(
            "{threads:.0} threads read {:.2} times what one reads{flight}: the memory (or the way to it) is the limit; fewer threads get as much",
            all.value / one.value
        )
    } else {
        return None;
    };
    let evidence = [one_id, all_id].into_iter().chain(lines.map(|(id, _)| id)).collect();
    Some(finding("concurrency", Severity::Info, text, evidence))
}
