//! `memgauge c2c`.

use super::figures;
use super::page::Page;
use super::summary;

pub fn section(page: &mut Page) {
    summary::c2c(page);
    figures::placement(page, "c2c_latency");
    figures::table(page, "c2c_latency");
}
