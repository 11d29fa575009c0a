//! The host moved the vCPUs while we measured, or they were in different places in different rounds.

use super::evidence::finding;
use memgauge_model::{EventKind, Finding, MetricId, Record, Report, Severity};
use std::collections::BTreeSet;

pub(super) fn find(record: &Record, report: &Report) -> Vec<Finding> {
    let moved = record.run.events.iter().filter(|event| matches!(event.what, EventKind::ClassChanged { .. })).count();
    let labelled =
        || report.metrics.iter().enumerate().filter_map(|(id, metric)| Some((id, metric.labels.get("class")?.as_str())));
    let classes: BTreeSet<&str> = labelled().map(|(_, class)| class).filter(|class| matches!(*class, "near" | "far")).collect();
    if moved == 0 && classes.len() < 2 {
        return Vec::new();
    }
    let how = match moved {
        0 => "the host had the CPUs in two placements in different rounds".to_owned(),
        1 => "the host moved the CPUs once within a block".to_owned(),
        many => format!("the host moved the CPUs {many} times within a block"),
    };
    let text = format!(
        "{how}: figures that use several CPUs hold for the placement class in their label; compare equal classes only, and have the vCPUs pinned on the host for steady ones"
    );
    let evidence: Vec<MetricId> = labelled().map(|(id, _)| id).collect();
    vec![finding("moved_cpus", Severity::Warning, text, evidence)]
}
