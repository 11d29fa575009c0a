//! `memgauge idle`.

use super::figures;
use super::histogram;
use super::page::Page;
use super::summary;
use memgauge_model::Metric;

pub fn section(page: &mut Page) {
    summary::idle(page);
    figures::placement(page, "idle_latency");
    figures::table(page, "idle_latency");
    figures::table(page, "access_latency");
    histogram::section(page);
}

/// The headline: window-random on THP, kept awake; else the nearest thing to it that was measured.
pub fn headline<'a>(page: &mut Page<'a>) -> Option<&'a Metric> {
    let wishes: [&[(&str, &str)]; 4] = [
        &[("order", "window-random"), ("pages", "thp"), ("keepalive", "yes")],
        &[("order", "window-random"), ("pages", "thp")],
        &[("order", "window-random")],
        &[],
    ];
    wishes.iter().find_map(|wanted| page.find("idle_latency", wanted))
}
