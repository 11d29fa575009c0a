//! A cache that holds surely less, or more, than it is declared to.

use super::evidence::{finding, percent};
use memgauge_model::{Finding, FoundCache, Metric, MetricId, Record, Report, Severity, units};

pub(super) fn find(_: &Record, report: &Report) -> Vec<Finding> {
    let caches = report.sweeps.iter().flat_map(|sweep| &sweep.caches).filter(|cache| cache.same == Some(false));
    let mut findings: Vec<Finding> = caches.filter_map(|cache| one(report, cache)).collect();
    // Several sweeps may show the same.
    findings.dedup_by(|a, b| a.text == b.text);
    findings
}

fn one(report: &Report, cache: &FoundCache) -> Option<Finding> {
    let (id, declared): (MetricId, u64) = (cache.found?, cache.declared?);
    let metric: &Metric = report.metrics.get(id)?;
    let [lo, hi] = metric.ci95?;
    let cpu = metric.labels.get("cpu").map_or("?", String::as_str);
    let (level, share) = (&cache.level, metric.value / declared as f64);
    let [found, lo_text, hi_text] = [metric.value, lo, hi].map(size);
    let seen = format!("the {level} that CPU {cpu} has ends at {found} [{lo_text}…{hi_text}], {}", percent(share));
    let of = format!("of the {} that are declared", units::bytes(declared));
    let text = if hi < declared as f64 {
        format!(
            "{seen} {of}: others hold the rest (neighbours on the host, cache allocation); size what must stay in cache by what is found"
        )
    } else if lo > declared as f64 {
        format!(
            "{seen} {of}: the machine tells less than there is, and buffers sized by that may lie in cache; name a larger --buffer"
        )
    } else {
        return None;
    };
    Some(finding("cache_share", Severity::Info, text, vec![id]))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size is a whole number of bytes")]
fn size(bytes: f64) -> String {
    units::bytes(bytes as u64)
}
