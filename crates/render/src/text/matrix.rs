//! Matrices: CPUs of a node against memory of a node.

use super::figures::{self, title};
use super::page::Page;
use crate::figure::{spread, unit, value};
use crate::style::paint;
use crate::table::{Cell, Table};
use memgauge_model::Matrix;

pub fn section(page: &mut Page) {
    for matrix in &page.report.matrices {
        matrix_table(page, matrix);
        if !repeats(page, matrix) {
            figures::placement(page, &matrix.name);
        }
    }
}

/// Is it what the memory controller is estimated to see, and equal, cell by cell, to what the program moved? It is then told in a line.
fn repeats(page: &Page, matrix: &Matrix) -> bool {
    let told = |cells: &[Vec<Option<usize>>]| -> Vec<Option<(f64, Option<[f64; 2]>)>> {
        let metric =
            |cell: &Option<usize>| cell.and_then(|id| page.report.metrics.get(id)).map(|metric| (metric.value, metric.ci95));
        cells.iter().flatten().map(metric).collect()
    };
    let Some(name) = matrix.name.strip_suffix("_dram") else { return false };
    let of_program = page.report.matrices.iter().find(|other| other.name == name && other.labels == matrix.labels);
    of_program.is_some_and(|other| told(&other.cells) == told(&matrix.cells))
}

/// One matrix; a cell that could not be had is `–` and stands among what is not there.
pub fn matrix_table(page: &mut Page, matrix: &Matrix) {
    if repeats(page, matrix) {
        for id in matrix.cells.iter().flatten().flatten() {
            page.show(*id);
        }
        return page.line(&paint(page.style.dim, "  The memory controllers see the same, by estimate"));
    }
    let conditions = figures::conditions(page, &matrix.labels);
    page.gap();
    page.labelled(&title(&matrix.name), &paint(page.style.dim, &conditions));
    let mut head = vec![Cell::left(unit(&matrix.unit).0)];
    let by_cpu = matrix.labels.get("scope").is_some_and(|scope| scope == "cpu");
    let (row_name, column_name) = match matrix.name.starts_with("c2c") {
        true => ("from", "to"),
        false if by_cpu => ("CPU", "to node"),
        false => ("CPUs of node", "to node"),
    };
    for column in &matrix.columns {
        head.extend([Cell::right(format!("{column_name} {column}")), Cell::left("")]);
    }
    let mut table = Table::new(head);
    for (row, cells) in matrix.rows.iter().zip(&matrix.cells) {
        let mut line = vec![Cell::left(format!("{row_name} {row}")).styled(page.style.dim)];
        for cell in cells {
            match cell.and_then(|id| page.show(id)) {
                Some(metric) => {
                    line.extend([Cell::right(value(metric)).styled(page.style.figure), Cell::left(spread(metric))]);
                }
                None => line.extend([Cell::right("–"), Cell::left("")]),
            }
        }
        table.row(line);
    }
    page.table(&table);
}

#[cfg(test)]
mod tests {
    use crate::{Format, Style, render, sample};
    use memgauge_model::{Matrix, Report, What};

    fn two_nodes(dram: f64) -> Report {
        let mut report = sample::report(What::MatrixBandwidth);
        for (name, far) in [("matrix_bandwidth", 3e10), ("matrix_bandwidth_dram", dram)] {
            let cells = [(0, 0, 5e10), (0, 1, far)].map(|(from, to, value)| {
                let (from, to) = (from.to_string(), to.to_string());
                report.metrics.push(sample::metric(name, "B/s", value, &[("from", &from), ("to", &to), ("mix", "read")]));
                Some(report.metrics.len() - 1)
            });
            let labels = [("mix".to_owned(), "read".to_owned())].into();
            let (rows, columns) = (vec![0], vec![0, 1]);
            report.matrices.push(Matrix {
                name: name.into(),
                unit: "B/s".into(),
                rows,
                columns,
                labels,
                cells: vec![cells.to_vec()],
            });
        }
        report
    }

    #[test]
    fn an_estimate_that_is_the_same_is_told_in_a_line() {
        let same = render(&two_nodes(3e10), Format::Text, &Style::plain());
        assert!(same.contains("The memory controllers see the same"), "{same}");
        assert!(!same.contains("DRAM estimate") && same.matches("to node 1").count() == 1, "{same}");
        let other = render(&two_nodes(4e10), Format::Text, &Style::plain());
        assert!(other.contains("DRAM estimate") && other.matches("to node 1").count() == 2, "{other}");
    }
}
