//! Latency against the bandwidth of others, delay by delay.

use super::matrix::end;
use super::{Style, curve, head};
use memgauge_model::{Curve, Report};

/// A row a delay: core cycles between bursts, ns (0.00 where nobody chased), 10^6 B/s of all together.
#[must_use]
pub fn loaded(report: &Report, style: &Style) -> String {
    let name = "loaded_bandwidth_dram";
    let any = report.metrics.iter().find(|metric| metric.name == name);
    let mut text = head::of_bandwidth(style, any, "load_bytes", true);
    text.push_str("Measuring Loaded Latencies for the system\n");
    text.push_str(head::threads(style));
    text.push_str(head::traffic(style, report, name));
    text.push_str("Inject\tLatency\tBandwidth\nDelay\t(ns)\tMB/sec\n==========================\n");
    report.curves.iter().take(1).for_each(|one| rows(report, one, &mut text));
    text + end(style)
}

fn rows(report: &Report, one: &Curve, text: &mut String) {
    for (delay, latency, bandwidth) in curve(report, one) {
        text.push_str(&format!(" {delay:05}\t{:6.2}\t{:9.1}\n", latency.unwrap_or(0.0), bandwidth / 1e6));
    }
}
