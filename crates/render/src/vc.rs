//! Metrics as Virtual Client names them: least, most and average over repeated runs (its columns stand in `docs/vc.md`).
//!
//! The names and units are those that it gives to what it reads from the Memory Latency Checker's output; so are the decimals of
//! a single figure. Only figures that were had stand in it.

use crate::mlc::{LABELLED_MIXES, curve, hops, remote, widest};
use memgauge_model::Report;
use serde::Serialize;
use std::collections::BTreeMap;

/// A metric over all runs that have it. The three numbers of a single run are equal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Row {
    metric: String,
    min: f64,
    max: f64,
    avg: f64,
    unit: &'static str,
}

const NS: &str = "nanoseconds";
const RATE: &str = "MBps";

/// A row a metric under a header.
pub fn csv(reports: &[&Report]) -> String {
    let mut text = "metric,min,max,avg,unit\n".to_owned();
    for Row { metric, min, max, avg, unit } in rows(reports) {
        // No name has a comma or a quote in it. `:?` keeps the `.0` of whole numbers, as the published table has them.
        text.push_str(&format!("{metric},{min:?},{max:?},{avg:?},{unit}\n"));
    }
    text
}

/// An object a metric.
pub fn json(reports: &[&Report]) -> String {
    crate::json::pretty(&rows(reports))
}

/// In order of name.
fn rows(reports: &[&Report]) -> Vec<Row> {
    let mut all: BTreeMap<String, (Vec<f64>, &'static str)> = BTreeMap::new();
    for report in reports {
        // The columns are given, so the name has to say it.
        let mark = if report.simulated { "SIMULATED " } else { "" };
        for (name, value, unit) in figures(report) {
            all.entry(format!("{mark}{name}")).or_insert_with(|| (Vec::new(), unit)).0.push(value);
        }
    }
    let row = |(metric, (values, unit)): (String, (Vec<f64>, &'static str))| {
        let (min, max) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(*v), hi.max(*v)));
        // Sums of equal values are not always a multiple of them.
        let avg = if min == max { min } else { values.iter().sum::<f64>() / values.len() as f64 };
        Row { metric, min, max, avg, unit }
    };
    all.into_iter().map(row).collect()
}

type Figure = (String, f64, &'static str);

fn figures(report: &Report) -> Vec<Figure> {
    let mut figures = matrices(report);
    for (label, mix) in LABELLED_MIXES {
        let named = [("peak_injection_bandwidth_at_", "peak_bandwidth_dram"), ("max_bandwidth_at_", "max_bandwidth_dram")];
        for (prefix, name) in named {
            let figure = widest(report, name, mix).map(|metric| (format!("{prefix}{label}"), rate(metric.value), RATE));
            figures.extend(figure);
        }
    }
    for (delay, latency, bandwidth) in report.curves.first().into_iter().flat_map(|one| curve(report, one)) {
        figures.push((format!("load_bandwidth_at_delay_{delay:05}"), rate(bandwidth), RATE));
        figures.extend(latency.map(|ns| (format!("loaded_latency_at_delay_{delay:05}"), rounded(ns, 100.0), NS)));
    }
    for (kind, label) in [("hit", "HIT"), ("hitm", "HITM")] {
        let name = format!("Local Socket L2->L2 {label} latency");
        figures.extend(hops(report, kind).map(|metric| (name, rounded(metric.value, 10.0), NS)));
    }
    for home in ["writer", "reader"] {
        figures.extend(remote(report, home).map(|(from, to, metric)| {
            let title = format!("Remote Socket L2->L2 HITM latency (data address homed in {home} socket)");
            (format!("{title}_nodes_{from}_{to}"), rounded(metric.value, 10.0), NS)
        }));
    }
    figures
}

/// Latency and bandwidth from node to node.
fn matrices(report: &Report) -> Vec<Figure> {
    let cells = |name: &'static str| {
        let view = report.matrices.iter().find(move |view| view.name == name);
        view.into_iter().flat_map(|view| {
            let rows = view.rows.iter().zip(&view.cells);
            rows.flat_map(|(row, cells)| view.columns.iter().zip(cells).filter_map(|(column, id)| Some((*row, *column, (*id)?))))
        })
    };
    let value = |id: usize| Some(report.metrics.get(id)?.value);
    let latencies = cells("matrix_latency")
        .filter_map(|(from, to, id)| Some((format!("idle-latency_nodes_{from}_{to}"), rounded(value(id)?, 10.0), NS)));
    let bandwidths = cells("matrix_bandwidth_dram")
        .filter_map(|(from, to, id)| Some((format!("memory_bandwidth_nodes_{from}_{to}"), rate(value(id)?), RATE)));
    latencies.chain(bandwidths).collect()
}

/// B/s in 10^6 B/s, one decimal.
fn rate(bytes: f64) -> f64 {
    rounded(bytes / 1e6, 10.0)
}

fn rounded(value: f64, by: f64) -> f64 {
    (value * by).round() / by
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlc::tests::build::Build;

    /// The names of the published table, by the figures of one node.
    fn run(by: f64) -> Report {
        Build::new()
            .latencies("window-random", &[&[86.9 * by]])
            .bandwidths(&[&[24155.2 * by]])
            .five("peak_bandwidth", [24431.7, 30875.7, 30999.4, 39615.9, 23221.1].map(|rate| rate * by))
            .curve(&[(0, Some(90.27 * by), 11414.6 * by), (20000, None, 520.9)])
            .transfer(0, 0, 0, "hit", 56.0 * by)
            .transfer(0, 0, 0, "hitm", 57.3 * by)
            .0
    }

    #[test]
    fn a_single_run_has_three_equal_numbers_under_the_published_names() {
        assert_eq!(
            csv(&[&run(1.0)]),
            "metric,min,max,avg,unit\n\
             Local Socket L2->L2 HIT latency,56.0,56.0,56.0,nanoseconds\n\
             Local Socket L2->L2 HITM latency,57.3,57.3,57.3,nanoseconds\n\
             idle-latency_nodes_0_0,86.9,86.9,86.9,nanoseconds\n\
             load_bandwidth_at_delay_00000,11414.6,11414.6,11414.6,MBps\n\
             load_bandwidth_at_delay_20000,520.9,520.9,520.9,MBps\n\
             loaded_latency_at_delay_00000,90.27,90.27,90.27,nanoseconds\n\
             memory_bandwidth_nodes_0_0,24155.2,24155.2,24155.2,MBps\n\
             peak_injection_bandwidth_at_1:1 Reads-Writes,39615.9,39615.9,39615.9,MBps\n\
             peak_injection_bandwidth_at_2:1 Reads-Writes,30999.4,30999.4,30999.4,MBps\n\
             peak_injection_bandwidth_at_3:1 Reads-Writes,30875.7,30875.7,30875.7,MBps\n\
             peak_injection_bandwidth_at_ALL Reads,24431.7,24431.7,24431.7,MBps\n\
             peak_injection_bandwidth_at_Stream-triad like,23221.1,23221.1,23221.1,MBps\n"
        );
    }

    #[test]
    fn several_runs_have_least_most_and_average() {
        let (one, two, three) = (run(1.0), run(2.0), run(1.5));
        let rows = rows(&[&one, &two, &three]);
        let hit = rows.iter().find(|row| row.metric.contains("HIT ")).unwrap();
        assert_eq!((hit.min, hit.max, hit.avg), (56.0, 112.0, 84.0));
        let parsed: serde_json::Value = serde_json::from_str(&json(&[&one, &two, &three])).unwrap();
        assert_eq!(
            parsed[0],
            serde_json::json!({"metric": "Local Socket L2->L2 HIT latency", "min": 56.0, "max": 112.0, "avg": 84.0, "unit": "nanoseconds"})
        );
        assert_eq!(parsed.as_array().unwrap().len(), rows.len());
    }

    #[test]
    fn every_row_of_a_simulated_run_is_marked() {
        let mut report = run(1.0);
        report.simulated = true;
        assert!(rows(&[&report]).iter().all(|row| row.metric.starts_with("SIMULATED ")));
    }

    #[test]
    fn remote_transfers_name_writer_and_reader() {
        let report = Build::new().transfer(2, 0, 2, "hitm", 107.61).transfer(2, 0, 0, "hitm", 171.4).0;
        let names = rows(&[&report]).into_iter().map(|row| (row.metric, row.min)).collect::<Vec<_>>();
        let name = |home: &str| format!("Remote Socket L2->L2 HITM latency (data address homed in {home} socket)_nodes_2_0");
        assert_eq!(names, [(name("reader"), 171.4), (name("writer"), 107.6)]);
    }
}
