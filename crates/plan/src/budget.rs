//! The memory budget that is shown before anything is allocated.

use crate::capacity::Load;
use crate::draft::Draft;
use crate::sizes::Sized;
use memgauge_model::{Budget, NodeBudget, Phase};

pub(crate) fn budget(draft: &Draft, sized: &Sized, phases: &[Phase]) -> Budget {
    let loads: Vec<Load> = phases.iter().map(|phase| Load::of(phase.arenas.iter().map(|arena| &sized.arenas[*arena]))).collect();
    let largest = loads.iter().max_by_key(|load| load.mapped);
    let nodes = draft.site.nodes.iter().filter_map(|node| {
        let needed = loads.iter().filter_map(|load| load.nodes.get(&node).copied()).max()?;
        let (available, _) = sized.limits.nodes.get(&node).copied()?;
        Some(NodeBudget { node, needed, available })
    });
    Budget {
        buffers: largest.map_or(0, |load| load.mapped),
        page_tables: largest.map_or(0, |load| load.tables),
        program: sized.limits.program,
        nodes: nodes.collect(),
        cgroup_left: sized.limits.cgroup.map(|(_, left)| left),
    }
}
