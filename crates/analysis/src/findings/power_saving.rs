//! An uncore that saves power: an idle machine answers later than one with a busy core.

use super::evidence::{finding, label, named, percent, surely_above, twin};
use memgauge_model::{Finding, Record, Report, Severity};

/// Below, nobody would notice.
const WORTH: f64 = 0.05;

pub(super) fn find(_: &Record, report: &Report) -> Vec<Finding> {
    let alone = named(report, "idle_latency").filter(|(_, metric)| label(metric, "keepalive") == "no");
    let pairs = alone.filter_map(|(id, alone)| Some((id, alone, twin(report, alone, &[("keepalive", "yes")])?)));
    let sure = pairs.filter(|(_, alone, (_, awake))| surely_above(alone, awake).is_some_and(|share| share > 0.0));
    sure.filter(|(_, alone, (_, awake))| alone.value / awake.value - 1.0 >= WORTH)
        .map(|(id, alone, (awake_id, awake))| {
            let text = format!(
                "an idle access takes {:.0} ns when no other core works and {:.0} ns beside one busy core ({} more): the uncore saves power; for steady latency keep its frequency up (BIOS power profile, uncore frequency limits, energy_performance_preference)",
                alone.value,
                awake.value,
                percent(alone.value / awake.value - 1.0)
            );
            finding("power_saving", Severity::Warning, text, vec![id, awake_id])
        })
        .collect()
}
