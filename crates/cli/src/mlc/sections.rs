//! One section: its text, what stands beside it on stderr.

use super::argv::Mode;
use crate::say;
use memgauge_model::{Holds, Order, Plan, Prefetch, Report, Request, State, units};
use memgauge_render::mlc::{self, Style};
use std::collections::BTreeMap;

/// How the names of what sections print begin.
const SECTIONS: [&str; 7] = ["matrix_", "peak_", "max_", "idle_", "loaded_", "c2c_", "scan_"];

/// Its text.
pub fn text(mode: Mode, report: &Report, style: &Style) -> String {
    let render = match mode {
        Mode::LatencyMatrix => mlc::latency_matrix,
        Mode::BandwidthMatrix => mlc::bandwidth_matrix,
        Mode::Peak => mlc::peak,
        Mode::Max => mlc::max,
        Mode::Idle => mlc::idle,
        Mode::Loaded => mlc::loaded,
        Mode::C2c if report.plan.request.writer.is_some() => mlc::c2c_pair,
        Mode::C2c => mlc::c2c,
        Mode::Scan => mlc::scan,
    };
    render(report, style)
}

/// The same where prefetchers can't be switched off after all.
pub fn at_random(request: &Request) -> Request {
    Request { order: Some(Order::WindowRandom), prefetch: Prefetch::Auto, ..request.clone() }
}

/// The memory that it takes, in one line: buffers of threads that stream, by what each has, buffers of those that chase, and all that is held
/// at once.
pub fn budget(plan: &Plan) -> String {
    let mut kinds: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    let mut chased = Vec::new();
    for arena in &plan.arenas {
        match arena.holds {
            Holds::Streams { streams, bytes } => *kinds.entry((streams, bytes)).or_default() += 1,
            Holds::Chase { bytes, .. } => chased.push(bytes),
            Holds::C2c { .. } | Holds::Region { .. } => {}
        }
    }
    let streams = kinds.iter().map(|((streams, bytes), threads)| {
        let each = if *streams > 1 { format!("{streams} × ") } else { String::new() };
        format!("{} of {each}{}", units::count(*threads, "load buffer"), units::bytes(*bytes))
    });
    chased.sort_unstable();
    chased.dedup();
    let chases = chased.iter().map(|bytes| format!("latency buffer of {}", units::bytes(*bytes)));
    let most = plan.budget.buffers + plan.budget.page_tables + plan.budget.program;
    let all = format!("{} at most at once; about {}", units::bytes(most), units::span(plan.estimate.total_ns()));
    format!("memory: {}", streams.chain(chases).chain([all]).collect::<Vec<_>>().join(", "))
}

/// `-B`: where it would stand in the text is not published.
fn by_thread(report: &Report) {
    for metric in report.metrics.iter().filter(|metric| metric.name == "thread_bandwidth") {
        let told = |label: &str| metric.labels.get(label).map_or("", String::as_str);
        say::line(&format!("delay {:0>5}, CPU {}: {:.1} MB/sec", told("delay"), told("cpu"), metric.value / 1e6));
    }
}

/// What the text has no place for.
pub fn beside(report: &Report) {
    if report.status.state == State::Rejected {
        say::line(&format!("rejected: {}", report.status.reasons.join("; ")));
    }
    if report.status.reasons.iter().any(|reason| reason.contains("checksum mismatch")) {
        say::line("Checksum mismatch. Data corruption detected. Exiting..");
    }
    by_thread(report);
    for finding in &report.findings {
        say::line(&finding.text);
    }
    // Of the section's own figures: counters, knees and the like have no place in it.
    let own = |name: &str| SECTIONS.iter().any(|section| name.starts_with(section));
    let gaps = report.unavailable.iter().filter(|gap| own(&gap.name));
    gaps.for_each(|gap| say::line(&format!("{}: {}", gap.name, gap.detail)));
    let relative = |metric: &memgauge_model::Metric| Some(metric.half_width()? / metric.value).filter(|half| half.is_finite());
    let widest = report.metrics.iter().filter_map(relative);
    if let Some(half) = widest.reduce(f64::max) {
        say::line(&format!("95 % intervals are within {:.1} % of each figure; --json FILE has each", half * 100.0));
    }
}
