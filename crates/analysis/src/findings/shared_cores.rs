//! CPUs that are not whole cores: hidden siblings by the sharing probe, or a host that gives our CPUs' time to others.

use super::evidence::{finding, named, percent};
use crate::notes::{STOLEN_MUCH, stolen_share};
use memgauge_model::{Finding, MetricId, Record, Report, Severity};

pub(super) fn find(record: &Record, report: &Report) -> Vec<Finding> {
    hidden_siblings(record, report).into_iter().chain(time_sharing(record)).collect()
}

fn hidden_siblings(record: &Record, report: &Report) -> Option<Finding> {
    let shared: Vec<_> = record.machine.sharing_probes.iter().filter(|probe| probe.shared).collect();
    let worst = shared.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
    let (a, b) = worst.pair;
    let text = format!(
        "CPUs {a} and {b} do {} of the work of two cores together: they share a core, which the topology hides ({} of {} pairs tried); place threads by cores, of which there {} {}",
        percent(worst.ratio),
        shared.len(),
        record.machine.sharing_probes.len(),
        if record.machine.cores.len() == 1 { "is" } else { "are" },
        record.machine.cores.len()
    );
    let evidence: Vec<MetricId> = named(report, "peak_bandwidth").map(|(id, _)| id).collect();
    Some(finding("hidden_siblings", Severity::Warning, text, evidence))
}

fn time_sharing(record: &Record) -> Option<Finding> {
    let share = stolen_share(record).filter(|share| *share > STOLEN_MUCH)?;
    let text = format!(
        "the host gave {} of our CPUs' time to others (steal): typical figures are those of a shared machine, undisturbed ones those of this machine alone; measure when the host is idle, or on dedicated CPUs",
        percent(share)
    );
    Some(finding("time_sharing", Severity::Warning, text, Vec::new()))
}
