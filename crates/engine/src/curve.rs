//! Delays of a loaded curve that the plan leaves to a pilot.

use crate::backend::{Bench, Failure, Task};
use crate::rounds::bandwidth_of;
use memgauge_model::{CurveRecord, DelayRef, Measure, Plan, PointId};
use memgauge_stats as stats;

/// Delays that stand in where a pilot can't tell: spread evenly in the logarithm.
const FALLBACK: [u32; 12] = [0, 50, 100, 200, 300, 500, 800, 1300, 2500, 5000, 9000, 20000];

/// Measures the pilot's delays in a point like the curve's, and spreads the curve's slots evenly over bandwidth.
pub fn pilot(plan: &Plan, curve: usize, like: PointId, bench: &mut dyn Bench) -> Result<CurveRecord, Failure> {
    let asked = &plan.curves[curve];
    let mut seen = Vec::new();
    for &delay in &asked.pilot {
        let block = bench.block(&Task { plan, point: like, delay, time_ns: asked.pilot_ns })?;
        if let Some(bandwidth) = bandwidth_of(&block, &plan.windows.limits) {
            seen.push((delay, bandwidth));
        }
    }
    let points: Vec<(u64, f64)> = seen.iter().map(|(delay, bandwidth)| (u64::from(*delay), *bandwidth)).collect();
    let delays = stats::spaced_delays(&points, asked.slots)
        .map(|delays| delays.into_iter().filter_map(|delay| u32::try_from(delay).ok()).collect())
        .filter(|delays: &Vec<u32>| delays.len() == asked.slots)
        .unwrap_or_else(|| fallback(asked.slots));
    Ok(CurveRecord { pilot: seen, delays })
}

/// The delay of a point; none while its curve's pilot has not run.
pub fn delay_of(plan: &Plan, point: PointId, curves: &[CurveRecord]) -> Option<u32> {
    match plan.points[point].measure {
        Measure::Loaded { delay: DelayRef::Fixed(delay), .. } | Measure::Max { delay, .. } => Some(delay),
        Measure::Loaded { curve, delay: DelayRef::Slot(slot) } => curves.get(curve)?.delays.get(slot).copied(),
        _ => Some(0),
    }
}

fn fallback(slots: usize) -> Vec<u32> {
    let step = |slot: usize| FALLBACK[slot * (FALLBACK.len() - 1) / slots.saturating_sub(1).max(1)];
    let mut delays: Vec<u32> = (0..slots).map(step).collect();
    // More slots than fallbacks: the rest follow on, so that no two points are the same.
    for at in 1..delays.len() {
        if delays[at] <= delays[at - 1] {
            delays[at] = delays[at - 1] + 1;
        }
    }
    delays
}

#[cfg(test)]
mod tests {
    #[test]
    fn fallbacks_are_distinct_and_rising() {
        for slots in 1..40 {
            let delays = super::fallback(slots);
            assert_eq!(delays.len(), slots);
            assert!(delays.is_sorted_by(|a, b| a < b), "{delays:?}");
        }
    }
}
