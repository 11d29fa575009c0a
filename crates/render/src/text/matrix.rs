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
        figures::placement(page, &matrix.name);
    }
}

/// One matrix; a cell that could not be had is `–` and stands among what is not there.
pub fn matrix_table(page: &mut Page, matrix: &Matrix) {
    let conditions = figures::conditions(page, &matrix.labels);
    page.gap();
    page.labelled(&title(&matrix.name), &paint(page.style.dim, &conditions));
    let mut head = vec![Cell::left(unit(&matrix.unit).0)];
    let by_cpu = matrix.labels.get("scope").is_some_and(|scope| scope == "cpu");
    let (row_name, column_name) = match matrix.name.starts_with("c2c") {
        true => ("from", "to"),
        false if by_cpu => ("CPU", "memory of node"),
        false => ("CPUs of node", "memory of node"),
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
