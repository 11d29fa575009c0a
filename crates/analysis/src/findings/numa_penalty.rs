//! What memory of another node costs.

use super::evidence::{finding, label, named, percent, twin};
use memgauge_model::{Finding, MetricId, Record, Report, Severity};

/// Of the local latency: below, placement hardly matters.
const WORTH: f64 = 0.1;
/// From here on it is most of what a careless program pays.
const MUCH: f64 = 0.5;

pub(super) fn find(_: &Record, report: &Report) -> Vec<Finding> {
    let mut sure: Vec<(f64, MetricId, MetricId)> = Vec::new();
    for (id, penalty) in named(report, "numa_penalty") {
        let from = label(penalty, "from");
        let local = named(report, "matrix_latency").find(|(_, metric)| metric.is(&[("from", from), ("to", from)]));
        let (Some([low, _]), Some((local_id, local))) = (penalty.ci95, local) else { continue };
        let share = low / local.value;
        if share >= WORTH {
            sure.push((share, id, local_id));
        }
    }
    let Some(&(_, worst, local)) = sure.iter().max_by(|a, b| a.0.total_cmp(&b.0)) else { return Vec::new() };
    let (penalty, local) = (&report.metrics[worst], &report.metrics[local]);
    let (from, to) = (label(penalty, "from"), label(penalty, "to"));
    let share = penalty.value / local.value;
    let bandwidth = bandwidth_lost(report, from, to);
    let text = format!(
        "memory of node {to} is {:.0} ns ({}) farther for the CPUs of node {from} than their own{}: bind threads and their memory to one node (numactl --cpunodebind={from} --membind={from})",
        penalty.value,
        percent(share),
        bandwidth.map_or(String::new(), |(share, _)| format!(", and reads {} of the bandwidth", percent(share)))
    );
    let severity = if share >= MUCH { Severity::Critical } else { Severity::Warning };
    let mut evidence: Vec<MetricId> = sure.iter().flat_map(|(_, penalty, local)| [*penalty, *local]).collect();
    evidence.extend(bandwidth.iter().flat_map(|(_, ids)| ids));
    evidence.sort_unstable();
    evidence.dedup();
    vec![finding("numa_penalty", severity, text, evidence)]
}

/// Remote over local bandwidth of the same threads.
fn bandwidth_lost(report: &Report, from: &str, to: &str) -> Option<(f64, [MetricId; 2])> {
    let (remote_id, remote) = named(report, "matrix_bandwidth").find(|(_, metric)| metric.is(&[("from", from), ("to", to)]))?;
    let (local_id, local) = twin(report, remote, &[("to", from)])?;
    (local.value > 0.0).then(|| (remote.value / local.value, [remote_id, local_id]))
}
