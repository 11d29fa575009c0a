//! Page walks that huge pages would save.

use super::evidence::{finding, label, named, percent};
use memgauge_model::{Finding, Record, Report, Severity};

/// Of the latency on base pages.
const WORTH: f64 = 0.05;

pub(super) fn find(_: &Record, report: &Report) -> Vec<Finding> {
    let costs = named(report, "tlb_cost").filter_map(|(id, cost)| {
        let [low, _] = cost.ci95?;
        let wanted =
            [("pages", "base"), ("order", label(cost, "order")), ("cpu", label(cost, "cpu")), ("node", label(cost, "node"))];
        let (base_id, base) = named(report, "idle_latency").find(|(_, metric)| metric.is(&wanted))?;
        (low / base.value >= WORTH).then_some((id, cost, base_id, base))
    });
    costs
        .map(|(id, cost, base_id, base)| {
            let text = format!(
                "{:.0} of the {:.0} ns that a {} access takes on base pages ({}) are page walks that {} pages save: give big, randomly read buffers huge pages (madvise MADV_HUGEPAGE, hugetlbfs)",
                cost.value,
                base.value,
                label(cost, "order"),
                percent(cost.value / base.value),
                label(cost, "against")
            );
            finding("tlb_cost", Severity::Info, text, vec![id, base_id])
        })
        .collect()
}
