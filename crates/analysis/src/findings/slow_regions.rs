//! Regions of a node's memory that are slow, and were when they were measured again beside ordinary ones. Of many regions the
//! lowest are low by chance, too: the first time alone proves nothing.

use super::evidence::{finding, percent};
use crate::scans;
use memgauge_model::{Finding, Metric, MetricId, Record, Report, Scan, Severity, SlowRegion, units};
use std::collections::BTreeMap;

/// Of the scanned bytes: from here on much of what a program gets is slow.
const MUCH: f64 = 0.1;
/// Below this few programs will meet it.
const LITTLE: f64 = 0.01;

pub(super) fn find(_: &Record, report: &Report) -> Vec<Finding> {
    report.scans.iter().filter_map(|scan| judge(report, scan)).collect()
}

fn judge(report: &Report, scan: &Scan) -> Option<Finding> {
    let slow: Vec<&SlowRegion> = scan.slow.iter().filter(|region| region.stayed == Some(true)).collect();
    let share = |region: &SlowRegion| Some(report.metrics.get(region.ratio?)?.value);
    let worst = slow.iter().copied().min_by(|a, b| share(a).unwrap_or(1.0).total_cmp(&share(b).unwrap_or(1.0)))?;
    let metric = |id: Option<MetricId>| -> Option<&Metric> { report.metrics.get(id?) };
    let (again, controls) = (metric(worst.again)?, metric(worst.controls)?);
    let bytes = scan.region_bytes.saturating_mul(slow.len() as u64);
    let part = bytes as f64 / scan.scanned_bytes.max(1) as f64;
    let usual = usual(report, scan, worst);
    let other_pages = usual.as_ref().is_some_and(|usual| slow.iter().all(|region| region.pages != *usual));
    let severity = match part {
        _ if other_pages => Severity::Info,
        part if part >= MUCH => Severity::Critical,
        part if part < LITTLE => Severity::Info,
        _ => Severity::Warning,
    };
    let remedy = match (other_pages, scan.guest_physical) {
        (true, _) => {
            format!("their pages are {}, most regions' {}: that may be all", worst.pages, usual.unwrap_or_default())
        }
        (false, true) => "the host may back them by other pages or by another node: look there".to_owned(),
        (false, false) => "look for corrected errors of their modules (EDAC, rasdaemon), for unlike DIMMs, for a channel or link with less, and at who else uses that memory".to_owned(),
    };
    let text = format!(
        "{} of the {} scanned on node {} ({}) stay slow when measured again: region {} has {} less than ordinary ones at the same time ({:.1} against {:.1} GB/s, {}): {remedy}",
        units::bytes(bytes),
        units::bytes(scan.scanned_bytes),
        scan.node,
        percent_of(part),
        worst.region,
        percent(1.0 - share(worst)?),
        again.value / 1e9,
        controls.value / 1e9,
        scan.mix,
    );
    let evidence = slow.iter().flat_map(|region| [region.first, region.again, region.controls, region.ratio]).flatten();
    let mut evidence: Vec<MetricId> = evidence.collect();
    evidence.sort_unstable();
    evidence.dedup();
    Some(finding("slow_regions", severity, text, evidence))
}

/// The kind of pages that most of its like have. Small pages among huge ones are slow by their page walks, wherever they lie.
fn usual(report: &Report, scan: &Scan, region: &SlowRegion) -> Option<String> {
    let metric = |id: &MetricId| report.metrics.get(*id);
    let asked = region.first.as_ref().and_then(metric)?.labels.get("pages");
    let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
    for like in scan.regions.iter().flatten().filter_map(metric).filter(|metric| metric.labels.get("pages") == asked) {
        *kinds.entry(scans::kind(like)).or_default() += 1;
    }
    kinds.into_iter().max_by_key(|(_, regions)| *regions).map(|(kind, _)| kind)
}

/// A share that may be a small one.
fn percent_of(share: f64) -> String {
    if share < LITTLE { format!("{:.2} %", share * 100.0) } else { percent(share) }
}
