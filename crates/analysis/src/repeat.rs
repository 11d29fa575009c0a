//! The pair that is measured first and last in each round: whether the machine was the same at both ends.

use crate::draft::Draft;
use crate::figures::{Case, lost};
use crate::labels;
use crate::rounds::{self, Estimate, Series};
use memgauge_model::{Measure, PointId};

/// Says what both turns gave.
pub(crate) fn write(case: &Case<'_>, draft: &mut Draft) {
    let points = &case.record.plan.points;
    let repeats = |point: &PointId| matches!(points[*point].measure, Measure::C2c { repeat: true, .. });
    for again in (0..points.len()).filter(repeats) {
        let Some(early) = (0..again).find(|early| points[*early].threads == points[again].threads) else { continue };
        if let (Some(first), Some(last)) = (estimate(case, early), estimate(case, again)) {
            draft.note(note(case, early, again, &first, &last));
        }
    }
}

/// As a figure's: over the blocks that count.
fn estimate(case: &Case<'_>, point: PointId) -> Option<Estimate> {
    let selection = &case.selections[point];
    let mut series = Series::of_passes(&selection.blocks, &case.record.plan.windows.limits);
    series.exclude_changed(&selection.changed);
    rounds::estimate(&series, &lost(case, selection, &series))
}

fn note(case: &Case<'_>, early: PointId, again: PointId, first: &Estimate, last: &Estimate) -> String {
    let labels = labels::of_point(case.record, &case.record.plan.points[early]);
    let told = |label: &str| labels.get(label).cloned().unwrap_or_default();
    let spread = |estimate: &Estimate| {
        let ends = estimate.ci95.or(estimate.range);
        ends.map_or_else(String::new, |[low, high]| format!(" ({low:.1}…{high:.1})"))
    };
    let verdict = match (first.ci95, last.ci95) {
        _ if case.selections[early].class != case.selections[again].class => "in another placement class, so they say nothing",
        (Some([low, high]), Some([from, to])) if from > high || to < low => {
            "they differ: clocks, or who else works here, drifted between"
        }
        (Some(_), Some(_)) => "the same within their intervals",
        _ => "too few rounds to compare",
    };
    let pair = format!("{} {} → {} {}", told("scope"), told("from"), told("to"), told("kind"));
    format!(
        "{pair}, first and last in each round: {:.1} ns{} and {:.1} ns{}: {verdict}",
        first.value,
        spread(first),
        last.value,
        spread(last)
    )
}
