//! What all rules need: figures that differ in one label, and whether they differ for certain.

use memgauge_model::{Finding, Metric, MetricId, Report, Severity};

/// A figure and where it stands.
pub(super) type Named<'a> = (MetricId, &'a Metric);

/// All figures of a name.
pub(super) fn named<'a>(report: &'a Report, name: &'a str) -> impl Iterator<Item = Named<'a>> {
    report.metrics.iter().enumerate().filter(move |(_, metric)| metric.name == name)
}

/// A figure's label; empty where it has none.
pub(super) fn label<'a>(metric: &'a Metric, name: &str) -> &'a str {
    metric.labels.get(name).map_or("", String::as_str)
}

/// The figure that differs from `metric` in these labels alone, where it has `wanted`.
pub(super) fn twin<'a>(report: &'a Report, metric: &Metric, wanted: &[(&str, &str)]) -> Option<Named<'a>> {
    let mut labels = metric.labels.clone();
    wanted.iter().for_each(|(label, value)| {
        labels.insert((*label).to_owned(), (*value).to_owned());
    });
    report.metrics.iter().enumerate().find(|(_, other)| other.name == metric.name && other.labels == labels)
}

/// By how much `a` is above `b`, at least: the lower end of `a`'s interval over the upper end of `b`'s, less 1. None where
/// either has no interval; at most 0 where they touch.
pub(super) fn surely_above(a: &Metric, b: &Metric) -> Option<f64> {
    let ([low, _], [_, high]) = (a.ci95?, b.ci95?);
    (high > 0.0).then(|| low / high - 1.0)
}

/// A finding in full.
pub(super) fn finding(id: &str, severity: Severity, text: String, evidence: Vec<MetricId>) -> Finding {
    Finding { id: id.to_owned(), severity, text, evidence }
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
