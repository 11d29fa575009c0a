//! CSV: one row a figure, the same columns in every document (RFC 4180, line feeds).
//!
//! The labels that the contract names have a column each; `labels` holds all of them, so that one which has no column is
//! not lost. A figure that could not be had is a row without a value whose `unavailable` says why.

use memgauge_model::{Metric, Missing, Report, State};
use std::collections::BTreeMap;

/// Columns before the labels.
const BEFORE: [&str; 2] = ["name", "unit"];
/// Labels with a column. New ones are added at the end of this list only.
const LABELS: [&str; 20] = [
    "cpu",
    "node",
    "order",
    "stride",
    "pages",
    "bytes",
    "keepalive",
    "mix",
    "threads",
    "cpus",
    "isa",
    "from",
    "to",
    "delay",
    "scope",
    "kind",
    "method",
    "home",
    "class",
    "percentile",
];
/// Columns after the labels.
const AFTER: [&str; 17] = [
    "labels",
    "value",
    "ci_lo",
    "ci_hi",
    "range_lo",
    "range_hi",
    "range_reason",
    "undisturbed",
    "undisturbed_lo",
    "undisturbed_hi",
    "best",
    "samples",
    "windows",
    "excluded",
    "remarks",
    "unavailable",
    "state",
];

/// The whole report.
pub fn report(report: &Report) -> String {
    let mut text = String::new();
    line(&mut text, BEFORE.iter().chain(&LABELS).chain(&AFTER).map(|name| (*name).to_owned()));
    let state = state_word(report.status.state);
    for metric in &report.metrics {
        line(&mut text, figure(metric, state));
    }
    for missing in &report.unavailable {
        line(&mut text, absent(missing, state));
    }
    text
}

/// The state as the document has it.
fn state_word(state: State) -> &'static str {
    match state {
        State::Complete => "complete",
        State::Partial => "partial",
        State::Rejected => "rejected",
    }
}

fn figure(metric: &Metric, state: &str) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let [lo, hi] = split(metric.ci95);
    let [range_lo, range_hi] = split(metric.range);
    let [undisturbed_lo, undisturbed_hi] = split(metric.undisturbed_ci95);
    let mut row = vec![metric.name.clone(), metric.unit.clone()];
    row.extend(labels(&metric.labels));
    row.extend([Some(metric.value), lo, hi, range_lo, range_hi].map(number));
    row.push(metric.range_reason.clone().unwrap_or_default());
    row.extend([metric.undisturbed, undisturbed_lo, undisturbed_hi, metric.best].map(number));
    row.extend([metric.samples, metric.windows, metric.excluded].map(|count| count.to_string()));
    row.extend([metric.remarks.join("; "), String::new(), state.to_owned()]);
    row
}

fn absent(missing: &Missing, state: &str) -> Vec<String> {
    let mut row = vec![missing.name.clone(), String::new()];
    row.extend(labels(&missing.labels));
    row.resize(BEFORE.len() + LABELS.len() + AFTER.len() - 2, String::new());
    row.extend([format!("{}: {}", missing.reason.word(), missing.detail), state.to_owned()]);
    row
}

/// A column each, then all together.
fn labels(labels: &BTreeMap<String, String>) -> Vec<String> {
    let all = labels.iter().map(|(label, value)| format!("{label}={value}")).collect::<Vec<_>>().join(";");
    let each = LABELS.iter().map(|label| labels.get(*label).cloned().unwrap_or_default());
    each.chain([all]).collect()
}

fn split(pair: Option<[f64; 2]>) -> [Option<f64>; 2] {
    pair.map_or([None, None], |[lo, hi]| [Some(lo), Some(hi)])
}

fn line(text: &mut String, fields: impl IntoIterator<Item = String>) {
    let fields = fields.into_iter().map(quoted).collect::<Vec<_>>();
    text.push_str(&fields.join(","));
    text.push('\n');
}

fn quoted(field: String) -> String {
    if field.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_row_a_figure_and_a_row_for_what_is_missing() {
        let report = report(&sample::idle());
        let rows = report.lines().collect::<Vec<_>>();
        assert!(rows[0].starts_with("name,unit,cpu,node,order,"));
        let columns = rows[0].split(',').count();
        let (figures, absent) = rows.split_at(rows.len() - 1);
        assert!(figures.iter().all(|row| row.split(',').count() == columns), "{report}");
        // Its reason holds a comma, and so is quoted.
        assert_eq!(absent[0].split(',').count(), columns + 1, "{report}");
        insta::assert_snapshot!(rows[1], @"idle_latency,ns,0,0,window-random,128,thp,,yes,,,,,,,,,,,,,,cpu=0;keepalive=yes;node=0;order=window-random;pages=thp;stride=128,137.4,136.026,138.774,,,,136.713,136.026,137.4,134.65200000000002,6,240,2,,,complete");
        insta::assert_snapshot!(rows[rows.len() - 1], @r#"access_latency,,,,full-random,,,,,,,,,,,,,,,,,,order=full-random,,,,,,,,,,,,,,,"not_supported: the clock steps by 20 ns, more than 10 % of the median",complete"#);
    }

    #[test]
    fn quotes_and_commas_survive() {
        assert_eq!(quoted("a \"b\", c".to_owned()), "\"a \"\"b\"\", c\"");
    }
}
