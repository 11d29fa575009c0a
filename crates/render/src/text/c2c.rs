//! `memgauge c2c`.

use super::page::Page;
use super::summary;
use super::{figures, heat, map, matrix};

/// Figures of single pairs that are listed one by one; the maps show more.
const LISTED: usize = 48;

pub fn section(page: &mut Page) {
    if let Some(map) = &page.report.map {
        map::section(page, map);
        return;
    }
    let of_cpus = |scope: Option<&String>| scope.is_some_and(|scope| scope == "cpu");
    let pairs = page.all("c2c_latency").len();
    if page.report.plan.request.all_pairs || pairs > LISTED {
        figures::placement(page, "c2c_latency");
    } else {
        summary::c2c(page);
        figures::placement(page, "c2c_latency");
    }
    for matrix in page.report.matrices.iter().filter(|matrix| matrix.name == "c2c_latency") {
        if of_cpus(matrix.labels.get("scope")) {
            heat::map(page, matrix);
        } else if matrix.rows.len() > 1 {
            matrix::matrix_table(page, matrix);
        }
    }
    if pairs <= LISTED {
        figures::table(page, "c2c_latency");
    }
}
