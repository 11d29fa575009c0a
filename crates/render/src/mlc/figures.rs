//! Which figures of a report the sections take.

use memgauge_model::{Curve, Metric, MetricId, Report};

/// The five mixes of the peak sections, as they are called there, and by their names here.
pub(crate) const LABELLED_MIXES: [(&str, &str); 5] = [
    ("ALL Reads", "read"),
    ("3:1 Reads-Writes", "3:1"),
    ("2:1 Reads-Writes", "2:1"),
    ("1:1 Reads-Writes", "1:1"),
    ("Stream-triad like", "2:1-nt-two"),
];

/// The figure of a mix at the most threads.
pub(crate) fn widest<'a>(report: &'a Report, name: &str, mix: &str) -> Option<&'a Metric> {
    let threads = |metric: &&Metric| metric.labels.get("threads").and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
    report.metrics.iter().filter(|metric| metric.name == name && metric.is(&[("mix", mix)])).max_by_key(threads)
}

/// What the memory controller is estimated to see of a bandwidth: the twin with the same labels, or itself if it is that one.
pub(crate) fn dram(report: &Report, id: MetricId) -> Option<&Metric> {
    let metric = report.metrics.get(id)?;
    if metric.name.ends_with("_dram") {
        return Some(metric);
    }
    report.metrics.iter().find(|twin| twin.labels == metric.labels && twin.name.strip_suffix("_dram") == Some(&metric.name))
}

/// The points of a curve in rising delay: delay, latency (none without an observer), bandwidth at the controller, B/s.
pub(crate) fn curve<'a>(report: &'a Report, curve: &'a Curve) -> impl Iterator<Item = (u32, Option<f64>, f64)> + 'a {
    curve.points.iter().filter_map(|point| {
        let bandwidth = point.bandwidth.and_then(|id| dram(report, id))?;
        let latency = point.latency.and_then(|id| report.metrics.get(id));
        Some((point.delay, latency.map(|metric| metric.value), bandwidth.value))
    })
}

/// Transfers by chase between nodes, of one kind.
fn chases<'a>(report: &'a Report, kind: &'static str) -> impl Iterator<Item = (u32, u32, &'a Metric)> + 'a {
    let wanted = move |metric: &&Metric| {
        let plain = !metric.labels.contains_key("via") && !metric.is(&[("scope", "cpu")]);
        metric.name == "c2c_latency" && plain && metric.is(&[("kind", kind), ("method", "chase")])
    };
    report.metrics.iter().filter(wanted).filter_map(|metric| {
        let number = |label: &str| metric.labels.get(label)?.parse::<u32>().ok();
        Some((number("from")?, number("to")?, metric))
    })
}

/// The transfer inside the lowest node that has one.
pub(crate) fn hops<'a>(report: &'a Report, kind: &'static str) -> Option<&'a Metric> {
    chases(report, kind).filter(|(from, to, _)| from == to).min_by_key(|(from, ..)| *from).map(|(.., metric)| metric)
}

/// Modified lines from node to node: writer, reader, figure; of those whose memory is the writer's, or the reader's.
pub(crate) fn remote<'a>(report: &'a Report, home: &'static str) -> impl Iterator<Item = (u32, u32, &'a Metric)> + 'a {
    chases(report, "hitm").filter(move |(from, to, metric)| {
        let at = if home == "writer" { from } else { to };
        from != to && metric.labels.get("home").is_some_and(|home| *home == at.to_string())
    })
}
