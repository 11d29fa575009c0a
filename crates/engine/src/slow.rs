//! Which points of a held phase are slow among their like.

use crate::rounds::{in_most, value_of};
use memgauge_model::{AgainRule, Block, Job, Mix, Pages, Plan, PointId, PointRecord};
use memgauge_stats as stats;
use std::collections::BTreeMap;

/// Points of one mix in arenas of one kind of pages.
pub struct Kind {
    pub mix: Mix,
    pub pages: Pages,
    /// Points that have a value.
    pub values: usize,
    /// Their median, B/s.
    pub median: Option<f64>,
    /// Below this a value is low, B/s; none for fewer than five.
    pub fence: Option<f64>,
    /// Points below it, the lowest first.
    pub slow: Vec<PointId>,
    /// All others that have a value.
    pub ordinary: Vec<PointId>,
}

/// The streaming ones of these points, by kind.
pub fn kinds(plan: &Plan, points: &[PointId], records: &[PointRecord], rule: AgainRule) -> Vec<Kind> {
    let mut alike: BTreeMap<(Mix, Pages), Vec<PointId>> = BTreeMap::new();
    for &point in points {
        if let Some(Job::Stream { arena, mix, .. }) = plan.points[point].threads.first().map(|thread| &thread.job) {
            alike.entry((*mix, plan.arenas[*arena].pages)).or_default().push(point);
        }
    }
    alike.into_iter().map(|((mix, pages), points)| kind(plan, (mix, pages), &points, records, rule)).collect()
}

fn kind(plan: &Plan, (mix, pages): (Mix, Pages), points: &[PointId], records: &[PointRecord], rule: AgainRule) -> Kind {
    let blocks = |point: PointId| records[point].rounds.iter().filter(|block| !block.superseded);
    // In one class for all: a region that was mostly measured while two CPUs were near each other isn't slower than others.
    let all: Vec<&Block> = points.iter().flat_map(|point| blocks(*point)).collect();
    let of_most = in_most(&all);
    let value = |point: PointId| {
        let counted = blocks(point).filter(|block| of_most(block));
        let measure = &plan.points[point].measure;
        stats::median(&counted.filter_map(|block| value_of(block, &plan.windows.limits, measure)).collect::<Vec<_>>())
    };
    let mut values: Vec<(PointId, f64)> = points.iter().filter_map(|point| Some((*point, value(*point)?))).collect();
    values.sort_by(|a, b| a.1.total_cmp(&b.1));
    let only: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let fence = stats::low_fence(&only, rule.k, rule.least);
    let low = values.iter().take_while(|(_, value)| fence.is_some_and(|fence| *value < fence)).count();
    let mut slow: Vec<PointId> = values.iter().map(|(point, _)| *point).collect();
    let ordinary = slow.split_off(low);
    Kind { mix, pages, values: values.len(), median: stats::median(&only), fence, slow, ordinary }
}
