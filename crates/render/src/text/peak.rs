//! `memgauge peak` and `memgauge max`.

use super::figures;
use super::page::Page;
use super::summary;

pub fn peak(page: &mut Page) {
    summary::peak(page);
    figures::placement(page, "peak_bandwidth");
    figures::table(page, "peak_bandwidth");
}

pub fn max(page: &mut Page) {
    figures::placement(page, "max_bandwidth");
    figures::table(page, "max_bandwidth");
}
