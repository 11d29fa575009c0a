//! What the figures mean together. A rule is one file here and one row below; it looks at the record and the finished report
//! and speaks only where its evidence is there: a difference counts where the 95 % intervals don't touch *and* it is worth
//! something. Ranges are no intervals: nothing is concluded from them.

mod asymmetry;
mod cache_share;
mod clock_drift;
mod concurrency;
mod core_clock;
mod evidence;
mod moved_cpus;
mod neighbours;
mod nt_stores;
mod numa_penalty;
mod power_saving;
mod prefetch_state;
mod shared_cores;
mod slow_regions;
mod tlb_cost;

use memgauge_model::{Finding, Record, Report};
use std::cmp::Reverse;

/// Looks at a run.
type Rule = fn(&Record, &Report) -> Vec<Finding>;

/// All rules, in the order in which findings of equal severity are shown.
const RULES: &[Rule] = &[
    clock_drift::find,
    core_clock::find,
    neighbours::find,
    moved_cpus::find,
    shared_cores::find,
    slow_regions::find,
    numa_penalty::find,
    power_saving::find,
    tlb_cost::find,
    cache_share::find,
    prefetch_state::find,
    nt_stores::find,
    concurrency::find,
    asymmetry::find,
];

/// What all rules find; the most severe first.
pub(crate) fn find(record: &Record, report: &Report) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(record, report)).collect();
    findings.sort_by_key(|finding| Reverse(finding.severity));
    findings
}
