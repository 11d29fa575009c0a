//! Other processes of this machine kept CPUs busy while we measured. Those on CPUs of ours show as waiting; all of them may
//! use memory and caches.

use super::evidence::finding;
use memgauge_model::{Finding, Record, Report, Severity};
use std::collections::BTreeMap;

/// Ticks of the system's counters are 10 ms almost everywhere.
const TICKS_PER_S: f64 = 100.0;
/// CPUs: what a machine does by itself stays far below.
const MUCH: f64 = 0.5;

pub(super) fn find(record: &Record, _: &Report) -> Vec<Finding> {
    let Some(cpus) = others(record).filter(|cpus| *cpus >= MUCH) else { return Vec::new() };
    let text = format!(
        "other processes kept {cpus:.1} of the machine's {} CPUs busy during the run: figures may hold their share of memory and caches; see who it is (top), and measure without them",
        record.machine.online_cpus.len()
    );
    vec![finding("neighbours", Severity::Warning, text, Vec::new())]
}

/// CPUs that others kept busy, on average; none where the system does not tell.
fn others(record: &Record) -> Option<f64> {
    let rise = |key: &str| {
        let ticks = |counters: &BTreeMap<String, u64>| counters.get(key).copied();
        Some(ticks(&record.after)?.saturating_sub(ticks(&record.before)?))
    };
    let others = rise("stat.busy_ticks")?.saturating_sub(rise("self.cpu_ticks")?);
    let cpus = others as f64 / TICKS_PER_S / record.command.seconds;
    cpus.is_finite().then_some(cpus)
}
