//! Bandwidth of five mixes, all accesses local: undelayed, and at the best injection rate.

use super::{LABELLED_MIXES, Style, head, widest};
use memgauge_model::Report;

const UNIT: &str = "Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)\n";

/// Everybody injects as fast as possible, 10^6 B/s.
#[must_use]
pub fn peak(report: &Report, style: &Style) -> String {
    let heading = format!("Measuring {} Memory Bandwidths for the system\n", style.version.peak());
    section(report, style, "peak_bandwidth_dram", &heading, 1)
}

/// The best of several injection rates, 10^6 B/s.
#[must_use]
pub fn max(report: &Report, style: &Style) -> String {
    let heading = "Measuring Maximum Memory Bandwidths for the system\n\
                   Will take several minutes to complete as multiple injection rates will be tried to get the best bandwidth\n";
    section(report, style, "max_bandwidth_dram", heading, 2)
}

fn section(report: &Report, style: &Style, name: &str, heading: &str, decimals: usize) -> String {
    let any = report.metrics.iter().find(|metric| metric.name == name);
    let mut text = head::of_bandwidth(style, any, "bytes", true);
    text.push_str(heading);
    text.push_str(UNIT);
    text.push_str(head::threads(style));
    text.push_str("Using traffic with the following read-write ratios\n");
    for (label, mix) in LABELLED_MIXES {
        if let Some(metric) = widest(report, name, mix) {
            text.push_str(&format!("{label:17}:\t{:7.decimals$}\t\n", metric.value / 1e6));
        }
    }
    text + "\n"
}
