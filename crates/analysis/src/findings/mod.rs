//! What the figures mean together. A rule is one file here and one row below; it looks at the finished report and speaks
//! only where its evidence is there.

use memgauge_model::{Finding, Report};
use std::cmp::Reverse;

/// Looks at a report.
type Rule = fn(&Report) -> Vec<Finding>;

/// All rules, in the order in which findings of equal severity are shown.
const RULES: &[Rule] = &[];

/// What all rules find; the most severe first.
pub(crate) fn find(report: &Report) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(report)).collect();
    findings.sort_by_key(|finding| Reverse(finding.severity));
    findings
}
