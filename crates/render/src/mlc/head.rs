//! What stands before the sections: banner, echo, buffers, warnings.

use super::Style;
use memgauge_model::{Metric, Report};

const PREFETCH_WARNING: &str = "*** Unable to modify prefetchers (try executing 'modprobe msr')\n\
                                *** So, enabling random access for latency measurements\n";

/// The first lines. Honest about who speaks, and still found by the pattern that readers look for. No version of ours stands in
/// it: `0.1.0` reads as two decimals.
#[must_use]
pub fn banner(style: &Style) -> String {
    let who = if style.simulated { "memgauge, SIMULATED" } else { "memgauge" };
    let mut text = format!("{who}, output format of Intel(R) Memory Latency Checker - v{}\n", style.version);
    if style.whole_run() {
        text.push_str(warning(style));
    } else {
        text.push_str("Command line parameters:");
        style.args.iter().for_each(|arg| text.push_str(&format!(" {}", visible(arg))));
        text.push_str(" \n\n");
    }
    text
}

/// Before a section that chases alone.
pub(super) fn of_latency(style: &Style, buffer: Option<&Metric>) -> String {
    if style.whole_run() {
        return String::new();
    }
    let bytes = buffer.and_then(|metric| bytes(metric, "bytes"));
    let line = bytes.map_or_else(String::new, |mib| format!("Using buffer size of {mib:.3}MiB\n"));
    line + warning(style)
}

/// Before a section that streams. `gap`: does an empty line follow?
pub(super) fn of_bandwidth(style: &Style, buffer: Option<&Metric>, label: &str, gap: bool) -> String {
    if style.whole_run() {
        return String::new();
    }
    let line = |mib: f64| {
        let writes = format!(" and an additional {mib:.3}MiB/thread for writes");
        format!("Using buffer size of {mib:.3}MiB/thread for reads{}\n", if style.has('R') { "" } else { &writes })
    };
    let line = buffer.and_then(|metric| bytes(metric, label)).map_or_else(String::new, line);
    // The one published output with -R has no empty line here.
    line + warning(style) + if gap && !style.has('R') { "\n" } else { "" }
}

/// Which threads of a core load. Where CPUs were named, neither sentence would be true.
pub(super) fn threads(style: &Style) -> &'static str {
    match style {
        _ if ['k', 'm', 'o'].iter().any(|letter| style.has(*letter)) => "",
        _ if style.has('X') => "Using only one thread from each core if Hyper-threading is enabled\n",
        _ => "Using all the threads from each core if Hyper-threading is enabled\n",
    }
}

/// The line on the traffic type: only where reads are what nobody asked for.
pub(super) fn traffic(style: &Style, report: &Report, name: &str) -> &'static str {
    let reads = report.metrics.iter().filter(|metric| metric.name == name).all(|metric| metric.is(&[("mix", "read")]));
    if style.has('R') || style.has('W') || !reads { "" } else { "Using Read-only traffic type\n" }
}

fn warning(style: &Style) -> &'static str {
    if style.prefetch_warning { PREFETCH_WARNING } else { "" }
}

fn bytes(metric: &Metric, label: &str) -> Option<f64> {
    metric.labels.get(label)?.parse::<u64>().ok().map(|bytes| (bytes / 1024) as f64 / 1024.0)
}

/// An argument as one word of one line.
fn visible(arg: &str) -> String {
    arg.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
