//! Matrices that are not what a symmetric machine's would be: there and back differ, or one node's own memory does.

use super::evidence::{finding, percent, surely_above};
use memgauge_model::{Finding, Matrix, Metric, MetricId, Record, Report, Severity};

/// Of the smaller one, and for certain.
const WORTH: f64 = 0.1;

pub(super) fn find(_: &Record, report: &Report) -> Vec<Finding> {
    report.matrices.iter().filter_map(|matrix| judge(report, matrix)).collect()
}

/// Two cells that should be equal, and by how much the first is above the second at least.
struct Uneven {
    high: MetricId,
    low: MetricId,
    by: f64,
    what: String,
}

fn judge(report: &Report, matrix: &Matrix) -> Option<Finding> {
    let uneven: Vec<Uneven> = pairs(matrix).into_iter().filter_map(|(a, b, what)| compare(report, a, b, what)).collect();
    let worst = uneven.iter().max_by(|a, b| a.by.total_cmp(&b.by))?;
    let value = |id: MetricId| report.metrics[id].value / if matrix.unit == "B/s" { 1e9 } else { 1.0 };
    let unit = if matrix.unit == "B/s" { "GB/s" } else { &matrix.unit };
    let text = format!(
        "{}: {} differ by {} ({:.1} and {:.1} {unit}{}): look for {}",
        named(matrix),
        worst.what,
        percent(value(worst.high) / value(worst.low) - 1.0),
        value(worst.high),
        value(worst.low),
        if uneven.len() > 1 { format!("; {} pairs in all", uneven.len()) } else { String::new() },
        if transfers(matrix) {
            "unlike cores or clocks, or a busy CPU"
        } else {
            "unlike DIMMs, channels or links, or a busy node"
        }
    );
    let evidence = uneven.iter().flat_map(|pair| [pair.high, pair.low]).collect();
    Some(finding("asymmetric_matrix", Severity::Warning, text, evidence))
}

fn transfers(matrix: &Matrix) -> bool {
    matrix.name == "c2c_latency"
}

/// Its name; of transfers there are several matrices.
fn named(matrix: &Matrix) -> String {
    let told = |label: &&str| matrix.labels.get(*label).cloned();
    let words: Vec<String> = ["kind", "scope"].iter().filter(|_| transfers(matrix)).filter_map(told).collect();
    std::iter::once(matrix.name.clone()).chain(words).collect::<Vec<_>>().join(" ")
}

/// There and back, and each local cell with the first. Rows and columns may be different numbers (a node without CPUs).
fn pairs(matrix: &Matrix) -> Vec<(MetricId, MetricId, String)> {
    let cell = |from: u32, to: u32| {
        let row = matrix.rows.iter().position(|number| *number == from)?;
        let column = matrix.columns.iter().position(|number| *number == to)?;
        *matrix.cells.get(row)?.get(column)?
    };
    let mut pairs = Vec::new();
    let local = matrix.rows.iter().find_map(|first| Some((*first, cell(*first, *first)?)));
    for (at, &from) in matrix.rows.iter().enumerate() {
        for &to in &matrix.rows[at + 1..] {
            if let (Some(there), Some(back)) = (cell(from, to), cell(to, from)) {
                pairs.push((there, back, format!("{from} → {to} and {to} → {from}")));
            }
        }
        if let (Some((first, reference)), Some(own)) = (local, cell(from, from))
            && first != from
        {
            pairs.push((own, reference, format!("{from} → {from} and {first} → {first}")));
        }
    }
    pairs
}

fn compare(report: &Report, a: MetricId, b: MetricId, what: String) -> Option<Uneven> {
    let metric = |id: MetricId| -> Option<&Metric> { report.metrics.get(id) };
    // In a guest the host may have moved the CPUs between the two: that says nothing of the machine.
    if metric(a)?.labels.get("class") != metric(b)?.labels.get("class") {
        return None;
    }
    let above = |high: MetricId, low: MetricId| Some(surely_above(metric(high)?, metric(low)?)?).filter(|by| *by >= WORTH);
    let first = above(a, b).map(|by| (a, b, by));
    let (high, low, by) = first.or_else(|| above(b, a).map(|by| (b, a, by)))?;
    Some(Uneven { high, low, by, what })
}
