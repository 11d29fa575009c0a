//! Blocks that shall hold a count, not a time: how long one takes is known by its last one, or by a brief one that is tried.

use super::State;
use crate::backend::{Bench, Failure, Task};
use memgauge_model::{Block, Measure, Plan, PointId, Quota};

impl State<'_> {
    /// The time of a task's windows: the planned one, or what its point's quota takes at the pace that it was seen at.
    pub(super) fn time_of(&self, bench: &mut dyn Bench, task: &Task<'_>) -> Result<u64, Failure> {
        let planned = &self.plan.points[task.point];
        // Transfers count for themselves.
        let Some(quota) = planned.quota.filter(|_| !matches!(planned.measure, Measure::C2c { .. })) else {
            return Ok(task.time_ns);
        };
        let known = self.last_like(task.point).and_then(|block| pace(block, quota));
        let pace = match known {
            Some(pace) => Some(pace),
            None => match bench.block(&Task { time_ns: self.plan.windows.min_ns, ..*task }) {
                Ok(tried) => pace(&tried, quota),
                // It fails again, and is then told.
                Err(Failure::Point { .. }) => None,
                Err(other) => return Err(other),
            },
        };
        Ok(pace.map_or(task.time_ns, |pace| whole_windows(self.plan, quota, pace)))
    }

    /// The point's last block; before its first that of another region, of which there are too many to try each.
    fn last_like(&self, point: PointId) -> Option<&Block> {
        let measure = |point: PointId| &self.plan.points[point].measure;
        let like = |other: &PointId| match (measure(point), measure(*other)) {
            (Measure::Scan { node, mix, .. }, Measure::Scan { node: its, mix: other, .. }) => (node, mix) == (its, other),
            _ => false,
        };
        let last = |point: PointId| self.run.points[point].rounds.last();
        last(point).or_else(|| (0..self.plan.points.len()).filter(like).find_map(last))
    }
}

/// Of what is counted, so much in a nanosecond.
fn pace(block: &Block, quota: Quota) -> Option<f64> {
    let ns: f64 = block.windows.iter().map(|window| window.ns).sum();
    #[expect(clippy::cast_precision_loss, reason = "hops of a block stay below 2^52")]
    let done = match quota {
        Quota::Hops(_) => block.windows.iter().map(|window| window.hops as f64).sum::<f64>(),
        Quota::Bytes(_) => block.windows.iter().map(|window| window.load_bytes_per_s * window.ns / 1e9).sum(),
    };
    Some(done / ns).filter(|pace| pace.is_finite() && *pace > 0.0)
}

fn whole_windows(plan: &Plan, quota: Quota, pace: f64) -> u64 {
    let (Quota::Hops(count) | Quota::Bytes(count)) = quota;
    #[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "ns of a block")]
    let ns = (count as f64 / pace).ceil() as u64;
    let window = plan.windows.min_ns.max(1);
    ns.div_ceil(window).max(1).saturating_mul(window)
}
