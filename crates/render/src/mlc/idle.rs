//! One dependent chase and nobody else.

use super::{Style, head};
use memgauge_model::{Histogram, Metric, Report};

/// The average of an access, in ticks of the clock and in ns.
#[must_use]
pub fn idle(report: &Report, style: &Style) -> String {
    // With a busy core beside it, where it was measured both ways.
    let figure = report.find("idle_latency", &[("keepalive", "yes")]).or_else(|| report.find("idle_latency", &[]));
    let figure = figure.map(|(_, metric)| metric);
    let text = head::of_latency(style, figure);
    let line = figure.zip(ticks(report, figure)).map(|(metric, ticks)| {
        format!("Each iteration took {ticks:.1} {} (\t{:.1}\tns)\n", style.version.clocks(), metric.value)
    });
    let spread = report.histograms.first().map(histogram);
    text + &line.unwrap_or_default() + &spread.unwrap_or_default()
}

/// A latency in ticks of the clock that it was timed with.
pub(super) fn ticks(report: &Report, latency: Option<&Metric>) -> Option<f64> {
    let hz = report.metrics.iter().find(|metric| metric.name == "clock_hz")?.value;
    Some(latency?.value * hz / 1e9)
}

/// The histogram behind the line of [`idle`]; empty bins are left out.
#[must_use]
pub(super) fn histogram(histogram: &Histogram) -> String {
    let mhz = histogram.clock_hz / 1e6;
    let mut text = format!("\nHistogram of latencies in base frequency cycles (@ base freq of {mhz:.0} MHz)\n");
    text.push_str("base_freq_range Occurrence_count\n");
    for bin in histogram.bins.iter().filter(|bin| bin.count > 0) {
        let (first, last) = (bin.from, bin.to.saturating_sub(1));
        text.push_str(&format!("[{first:03}-{last:03}]\t{}\n", bin.count));
    }
    if histogram.beyond > 0 {
        text.push_str(&format!("[>{}]\t{}\n", histogram.end, histogram.beyond));
    }
    text
}
