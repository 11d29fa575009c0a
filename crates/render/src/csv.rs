//! CSV: one row a figure, one column a label (RFC 4180 with line feeds; its columns stand in `docs/csv.md`).
//!
//! The columns of [`COLUMNS`] come first and are the same in every document. Behind them stands every label that any figure of
//! this document has, sorted. A figure that could not be had is a row without a value that says why.

use memgauge_model::{Metric, Missing, Report, State};
use std::collections::{BTreeMap, BTreeSet};

/// A column: what it says of a figure, and what of one that could not be had.
struct Column {
    name: &'static str,
    figure: fn(&Metric) -> String,
    missing: fn(&Missing) -> String,
}

const fn both(name: &'static str, figure: fn(&Metric) -> String, missing: fn(&Missing) -> String) -> Column {
    Column { name, figure, missing }
}

const fn had(name: &'static str, figure: fn(&Metric) -> String) -> Column {
    both(name, figure, |_| String::new())
}

const fn not_had(name: &'static str, missing: fn(&Missing) -> String) -> Column {
    both(name, |_| String::new(), missing)
}

/// In the order in which they stand. New ones are added at the end only.
const COLUMNS: [Column; 19] = [
    both("name", |metric| metric.name.clone(), |missing| missing.name.clone()),
    had("unit", |metric| metric.unit.clone()),
    had("value", |metric| metric.value.to_string()),
    had("ci_lo", |metric| end(metric.ci95, 0)),
    had("ci_hi", |metric| end(metric.ci95, 1)),
    had("range_lo", |metric| end(metric.range, 0)),
    had("range_hi", |metric| end(metric.range, 1)),
    had("range_reason", |metric| metric.range_reason.clone().unwrap_or_default()),
    had("undisturbed", |metric| number(metric.undisturbed)),
    had("undisturbed_lo", |metric| end(metric.undisturbed_ci95, 0)),
    had("undisturbed_hi", |metric| end(metric.undisturbed_ci95, 1)),
    had("best", |metric| number(metric.best)),
    had("samples", |metric| metric.samples.to_string()),
    had("windows", |metric| metric.windows.to_string()),
    had("excluded", |metric| metric.excluded.to_string()),
    had("remarks", |metric| list(&metric.remarks)),
    not_had("unavailable", |missing| missing.reason.word().to_owned()),
    not_had("detail", |missing| missing.detail.clone()),
    not_had("remedy", |missing| missing.remedy.clone()),
];

/// Of the whole document, so the same in every row: a row that is cut out still says whether it can be relied on.
const STATE: &str = "state";
/// Likewise: whether a described machine made it.
const SIMULATED: &str = "simulated";

/// The whole report.
pub fn report(report: &Report) -> String {
    let of_figures = report.metrics.iter().map(|metric| &metric.labels);
    let all = of_figures.chain(report.unavailable.iter().map(|missing| &missing.labels));
    let names = all.flat_map(BTreeMap::keys).collect::<BTreeSet<_>>();
    let labels =
        |of: &BTreeMap<String, String>| names.iter().map(|name| of.get(*name).cloned().unwrap_or_default()).collect::<Vec<_>>();
    let simulated = if report.simulated { "yes" } else { "no" };
    let whole = || [state(report.status.state), simulated].map(str::to_owned);
    let mut text = String::new();
    line(&mut text, fixed().map(str::to_owned).chain(names.iter().map(|name| header(name))));
    for metric in &report.metrics {
        line(&mut text, COLUMNS.iter().map(|column| (column.figure)(metric)).chain(whole()).chain(labels(&metric.labels)));
    }
    for missing in &report.unavailable {
        line(&mut text, COLUMNS.iter().map(|column| (column.missing)(missing)).chain(whole()).chain(labels(&missing.labels)));
    }
    text
}

/// The columns before the labels.
fn fixed() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|column| column.name).chain([STATE, SIMULATED])
}

/// A label's column is called as the label, unless that name is taken.
fn header(label: &str) -> String {
    let taken = label.starts_with("label.") || fixed().any(|name| name == label);
    if taken { format!("label.{label}") } else { label.to_owned() }
}

/// The state as the document has it.
fn state(state: State) -> &'static str {
    match state {
        State::Complete => "complete",
        State::Partial => "partial",
        State::Imported => "imported",
        State::Rejected => "rejected",
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// One end of an interval.
fn end(pair: Option<[f64; 2]>, which: usize) -> String {
    number(pair.map(|pair| pair[which]))
}

/// Sentences may hold any separator, so several of them are a JSON array of strings; none is an empty cell.
fn list(texts: &[String]) -> String {
    // Strings always serialise.
    if texts.is_empty() { String::new() } else { serde_json::to_string(texts).unwrap_or_default() }
}

fn line(text: &mut String, fields: impl Iterator<Item = String>) {
    text.push_str(&fields.map(quoted).collect::<Vec<_>>().join(","));
    text.push('\n');
}

fn quoted(field: String) -> String {
    if field.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use memgauge_model::{Reason, What};
    use proptest::prelude::*;

    type Rows = Vec<BTreeMap<String, String>>;

    /// RFC 4180 as a reader does it: rows by the names of their columns.
    fn parsed(text: &str) -> Rows {
        let mut lines = vec![vec![String::new()]];
        let mut rest = text.chars().peekable();
        let mut within = false;
        while let Some(c) = rest.next() {
            let row = lines.last_mut().unwrap();
            match c {
                '"' if !within => within = true,
                '"' if rest.next_if_eq(&'"').is_none() => within = false,
                ',' if !within => row.push(String::new()),
                '\n' if !within => lines.push(vec![String::new()]),
                c => row.last_mut().unwrap().push(c),
            }
        }
        assert_eq!(lines.pop(), Some(vec![String::new()]), "the text ends with a line feed");
        let names = lines.remove(0);
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        let row = |fields: Vec<String>| {
            assert_eq!(fields.len(), names.len());
            names.iter().cloned().zip(fields).filter(|(_, field)| !field.is_empty()).collect()
        };
        lines.into_iter().map(row).collect()
    }

    /// The labels of a row, by their own names.
    fn labels(row: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let labels = row.iter().filter(|(name, _)| !fixed().any(|column| column == name.as_str()));
        labels.map(|(name, value)| (name.strip_prefix("label.").unwrap_or(name).to_owned(), value.clone())).collect()
    }

    #[test]
    fn a_row_a_figure_and_a_row_for_what_is_missing() {
        let text = report(&sample::idle());
        let lines = text.lines().collect::<Vec<_>>();
        insta::assert_snapshot!(lines[0], @"name,unit,value,ci_lo,ci_hi,range_lo,range_hi,range_reason,undisturbed,undisturbed_lo,undisturbed_hi,best,samples,windows,excluded,remarks,unavailable,detail,remedy,state,simulated,cpu,keepalive,node,order,pages,stride");
        insta::assert_snapshot!(lines[1], @"idle_latency,ns,137.4,136.026,138.774,,,,136.713,136.026,137.4,134.65200000000002,6,240,2,,,,,complete,no,0,yes,0,window-random,thp,128");
        insta::assert_snapshot!(lines[lines.len() - 1], @r#"access_latency,,,,,,,,,,,,,,,,not_supported,"the clock steps by 20 ns, more than 10 % of the median",none on this machine,complete,no,,,,full-random,,"#);
        let rows = parsed(&text);
        assert_eq!(rows.len(), sample::idle().metrics.len() + sample::idle().unavailable.len());
        assert_eq!(rows[2]["remarks"], r#"["not settled"]"#);
    }

    /// Whatever breaks tables, and names that are taken.
    fn hostile() -> impl Strategy<Value = String> {
        const PARTS: &[&str] =
            &[",", "\"", "\"\"", "\n", "\r\n", ";", "=", "\\", " ", "'", "\t", "|", "x", "ä", "value", "label.", "state"];
        proptest::collection::vec(proptest::sample::select(PARTS), 1..5).prop_map(|parts| parts.concat())
    }

    fn hostile_labels() -> impl Strategy<Value = BTreeMap<String, String>> {
        proptest::collection::btree_map(hostile(), hostile(), 0..4)
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            figures in proptest::collection::vec((hostile_labels(), proptest::collection::vec(hostile(), 0..3), any::<[f64; 2]>()), 0..4),
            missing in proptest::collection::vec((hostile_labels(), hostile(), hostile()), 0..3),
        ) {
            let mut document = sample::report(What::Idle);
            for (labels, remarks, [value, lo]) in figures {
                let mut metric = sample::metric(&format!("{value},\""), "\n", value, &[]);
                (metric.labels, metric.remarks, metric.ci95) = (labels, remarks, Some([lo, value]));
                document.metrics.push(metric);
            }
            document.unavailable.extend(missing.into_iter().map(|(labels, detail, remedy)| Missing {
                name: "a\r\nb".to_owned(), labels, reason: Reason::OutOfTime, detail, remedy,
            }));
            let rows = parsed(&report(&document));
            prop_assert_eq!(rows.len(), document.metrics.len() + document.unavailable.len());
            for (row, metric) in rows.iter().zip(&document.metrics) {
                prop_assert_eq!((&row["name"], &row["unit"]), (&metric.name, &metric.unit));
                prop_assert_eq!(&labels(row), &metric.labels);
                let numbers = ["ci_lo", "value", "ci_hi"].map(|name| row[name].parse::<f64>().unwrap().to_bits());
                let [lo, hi] = metric.ci95.unwrap();
                prop_assert_eq!(numbers, [lo, metric.value, hi].map(f64::to_bits));
                let remarks = row.get("remarks").map(|text| serde_json::from_str::<Vec<String>>(text).unwrap());
                prop_assert_eq!(&remarks.unwrap_or_default(), &metric.remarks);
            }
            for (row, missing) in rows.iter().skip(document.metrics.len()).zip(&document.unavailable) {
                prop_assert_eq!(&labels(row), &missing.labels);
                let texts = ["name", "unavailable", "detail", "remedy"].map(|name| row[name].as_str());
                prop_assert_eq!(texts, [missing.name.as_str(), "out_of_time", &missing.detail, &missing.remedy]);
            }
        }
    }
}
