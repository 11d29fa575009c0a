//! From each node with CPUs to each node with memory.

use super::{Style, head};
use memgauge_model::{Metric, Report};
use std::collections::{BTreeMap, BTreeSet};

/// Idle latencies, ns; a row a CPU where they were measured so.
#[must_use]
pub fn latency_matrix(report: &Report, style: &Style) -> String {
    let name = "matrix_latency";
    let any = report.metrics.iter().find(|metric| metric.name == name);
    let by_cpu = any.is_some_and(|metric| metric.is(&[("scope", "cpu")]));
    let sequential = any.is_some_and(|metric| metric.is(&[("order", "sequential")]));
    let order = match (style.version.names_order(), sequential) {
        (false, _) => "",
        (true, true) => " for sequential access",
        (true, false) => " for random access",
    };
    let cores = if by_cpu { " for all cores" } else { "" };
    let mut text = head::of_latency(style, any);
    text.push_str(&format!("Measuring idle latencies{order} (in ns){cores}...\n\t\tNuma node\n"));
    let cell = |metric: &Metric| format!("{:6.1}", metric.value);
    text.push_str(&if by_cpu { table("CPU", 6, &cells(report, name, "cpu"), cell) } else { nodes(report, name, cell) });
    text + end(style)
}

/// Bandwidths, 10^6 B/s.
#[must_use]
pub fn bandwidth_matrix(report: &Report, style: &Style) -> String {
    let name = "matrix_bandwidth_dram";
    let any = report.metrics.iter().find(|metric| metric.name == name);
    let mut text = head::of_bandwidth(style, any, "bytes", false);
    text.push_str("Measuring Memory Bandwidths between nodes within system \n");
    text.push_str("Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)\n");
    text.push_str(head::threads(style));
    text.push_str(head::traffic(style, report, name));
    text.push_str("\t\tNuma node\n");
    let width = style.version.bandwidth_width();
    text.push_str(&nodes(report, name, |metric| format!("{:width$.1}", metric.value / 1e6)));
    text + end(style)
}

/// Between the sections of a whole run stands an empty line.
pub(super) fn end(style: &Style) -> &'static str {
    if style.whole_run() { "\n" } else { "" }
}

/// By row and column: the figure; every row has every column, so that there are as many values as headers.
type Cells<'a> = BTreeMap<u32, BTreeMap<u32, Option<&'a Metric>>>;

fn nodes(report: &Report, name: &str, cell: impl Fn(&Metric) -> String) -> String {
    let mut cells = cells(report, name, "from");
    // The view knows rows and columns of which no figure could be had, too.
    if let Some(view) = report.matrices.iter().find(|view| view.name == name) {
        let columns: BTreeSet<u32> = view.columns.iter().chain(cells.values().flat_map(BTreeMap::keys)).copied().collect();
        for row in view.rows.iter().copied().chain(cells.keys().copied()).collect::<BTreeSet<_>>() {
            let row = cells.entry(row).or_default();
            for column in &columns {
                row.entry(*column).or_default();
            }
        }
    }
    table("Numa node", 8, &cells, cell)
}

/// The first figure of each row and column.
fn cells<'a>(report: &'a Report, name: &str, row: &str) -> Cells<'a> {
    let of = |metric: &Metric, label: &str| metric.labels.get(label)?.parse::<u32>().ok();
    let figures = report.metrics.iter().filter(|metric| metric.name == name);
    let placed = figures.filter_map(|metric| Some((of(metric, row)?, of(metric, "to")?, metric))).collect::<Vec<_>>();
    let columns: BTreeSet<u32> = placed.iter().map(|(_, column, _)| *column).collect();
    let mut cells = Cells::new();
    for (row, column, metric) in placed {
        let row = cells.entry(row).or_insert_with(|| columns.iter().map(|column| (*column, None)).collect());
        row.entry(column).or_default().get_or_insert(metric);
    }
    cells
}

/// Header, then a row a line; a TAB ends every cell.
fn table(corner: &str, width: usize, cells: &Cells<'_>, cell: impl Fn(&Metric) -> String) -> String {
    let columns: BTreeSet<&u32> = cells.values().flat_map(BTreeMap::keys).collect();
    let mut text = format!("{corner}\t");
    columns.iter().for_each(|column| text.push_str(&format!("{column:6}\t")));
    text.push('\n');
    for (row, cells) in cells {
        text.push_str(&format!("{row:width$}\t"));
        let cell = |metric: &Option<&Metric>| metric.map_or_else(|| format!("{:>6}", "-"), &cell);
        cells.values().for_each(|metric| text.push_str(&format!("{}\t", cell(metric))));
        text.push('\n');
    }
    text
}
