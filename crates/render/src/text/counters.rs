//! Hardware counters in a line, where there are any: the document has them beside each figure.

use super::figures::title;
use super::page::{Page, count};
use crate::figure::number;
use crate::style::clean;
use memgauge_model::Metric;

/// Figures that hardware counters give are named so.
const PREFIX: &str = "counter_";

/// Is this a counter's figure?
pub fn is_counter(name: &str) -> bool {
    name.starts_with(PREFIX)
}

pub fn line(page: &mut Page) {
    let mut parts: Vec<String> = dram(page).into_iter().collect();
    parts.extend(misses(page));
    if !parts.is_empty() {
        parts.push("beside each figure: --format json or csv".to_owned());
        page.gap();
        page.parts("Counters", &parts);
    }
}

/// How far counted DRAM bytes are from the estimated ones, over all figures.
fn dram(page: &Page) -> Option<String> {
    let ratios: Vec<f64> = page.all("counter_dram_ratio").iter().map(|(_, metric)| metric.value).collect();
    let least = ratios.iter().copied().reduce(f64::min)?;
    let most = ratios.iter().copied().reduce(f64::max)?;
    let figures = count(ratios.len(), "figure");
    Some(format!("DRAM bytes counted are {least:.2}…{most:.2} of those estimated ({figures})"))
}

/// Misses an access of the first figure that has them.
fn misses(page: &Page) -> Option<String> {
    let of = |name: &str| page.all(name).first().map(|(_, metric)| *metric);
    let (dtlb, llc) = (of("counter_dtlb_misses"), of("counter_llc_misses"));
    let told = |metric: Option<&Metric>, what: &str| metric.map(|metric| format!("{} {what}", number(metric.value)));
    let figure = dtlb.or(llc)?.labels.get("of").map_or_else(String::new, |name| title(name));
    let both: Vec<String> = [told(dtlb, "dTLB misses"), told(llc, "LLC misses")].into_iter().flatten().collect();
    Some(clean(&format!("{figure}: {} an access", both.join(" and "))))
}
