//! Which blocks had a neighbour: known when all are measured, by the reference chases beside them.

use memgauge_model::{Block, Cpu, Plan, PointRecord};
use memgauge_stats as stats;
use std::collections::BTreeMap;

/// Readings of a CPU below which nothing can be called usual.
const ENOUGH: usize = 6;
/// What is usual: a neighbour may be there for most of a run.
const USUAL: f64 = 0.25;

/// Notes in every window by how much the reference chase beside its block was slower than is usual for that CPU in this run.
pub fn mark(plan: &Plan, points: &mut [PointRecord]) {
    let leaders: Vec<Option<Cpu>> = plan.points.iter().map(|point| Some(point.threads.first()?.cpu)).collect();
    let mut readings: BTreeMap<Cpu, Vec<f64>> = BTreeMap::new();
    for (leader, point) in leaders.iter().zip(&*points) {
        if let Some(cpu) = leader {
            readings.entry(*cpu).or_default().extend(blocks(point).flat_map(beside).flatten());
        }
    }
    let usual = |cpu: &Cpu| {
        let of_cpu = readings.get(cpu).filter(|of_cpu| of_cpu.len() >= ENOUGH)?;
        stats::quantile(of_cpu, USUAL).filter(|usual| *usual > 0.0)
    };
    for (leader, point) in leaders.iter().zip(points) {
        let Some(usual) = leader.as_ref().and_then(usual) else { continue };
        for block in point.rounds.iter_mut().chain(&mut point.again) {
            let slowest = beside(block).into_iter().flatten().fold(usual, f64::max);
            block.windows.iter_mut().for_each(|window| window.signs.reference = slowest / usual - 1.0);
        }
    }
}

fn blocks(point: &PointRecord) -> impl Iterator<Item = &Block> {
    point.rounds.iter().chain(&point.again)
}

fn beside(block: &Block) -> [Option<f64>; 2] {
    [block.reference_before_ns, block.reference_after_ns]
}
