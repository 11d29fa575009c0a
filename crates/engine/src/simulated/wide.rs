//! Many transfers at once: they crowd each other.

use super::Simulated;
use crate::backend::{Failure, Wide, WideTask};
use crate::simulated::noise::longer;
use crate::simulated::transfer;

/// Starting a thread, ns.
const START_NS: u64 = 20_000;
/// Passes of a pair, and the steps of one.
const PASSES: (u64, u64) = (50, 2000);
const PASS_STEPS: f64 = 400.0;

/// What the task's pairs take together.
pub fn run(machine: &mut Simulated, task: &WideTask<'_>) -> Result<Wide, Failure> {
    let length_ns = task.map.rule.wide_ns;
    machine.now_ns += START_NS * 2 * task.pairs.len() as u64 + 2 * length_ns;
    let slow = machine.drift.window(machine.now_ns, length_ns);
    let seats = (machine.layout.cpus.len() / 2).saturating_sub(1).max(1);
    let crowd = 1.0 + machine.description.transfer.crowd * (task.pairs.len() - 1) as f64 / seats as f64;
    let mut one = |&(writer, reader): &(usize, usize)| {
        let places = &task.map.places;
        let alone = transfer::pair_ns(
            &machine.description,
            &machine.layout,
            task.map.kind,
            places.get(writer)?.cpu,
            places.get(reader)?.cpu,
        )?;
        Some((longer(longer(alone * crowd, slow), machine.drift.apart()), false))
    };
    let passes = ((length_ns as f64 / (task.expected_ns.max(1.0) * PASS_STEPS)) as u64).clamp(PASSES.0, PASSES.1);
    let ns = task.pairs.iter().map(&mut one).collect();
    Ok(Wide { ns, passes: u32::try_from(passes).unwrap_or(u32::MAX) })
}
