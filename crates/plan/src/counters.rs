//! Which hardware counters are read beside the figures.

use memgauge_model::{CounterEvent, Machine, Point};

/// All that the machine lists, where any point is cut into windows: blocks of those have counters. Whether they may be
/// opened the engine finds out.
pub(crate) fn plan(machine: &Machine, points: &[Point]) -> Vec<CounterEvent> {
    if !points.iter().any(Point::has_counters) {
        return Vec::new();
    }
    let known = [&machine.counters.dram, &machine.counters.core];
    known.into_iter().filter_map(|events| events.known()).flatten().cloned().collect()
}
