//! Maximum bandwidth: the best over thread counts and delays, by a search whose winner is measured again.

use super::{placed, rfo_probe, streaming_cpus};
use crate::choices;
use crate::draft::Draft;
use memgauge_model::{Cpu, CpuList, DelayRef, Delays, MLC_DELAYS, Measure, NodeId, Refusal, Search, What};

/// Some machines are fastest when they are not pushed to the utmost.
const DELAYS: [u32; 5] = [0, 2, 8, 15, 50];
/// One round may lie in a bad allocation.
const ROUNDS: u32 = 2;

pub(super) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    let all = streaming_cpus(draft);
    let named_none = draft.request.load_cpus.as_ref().is_some_and(CpuList::is_empty);
    let all = if named_none { CpuList::from(vec![draft.roles.observer]) } else { all };
    let cores = draft.site.one_a_core(&all);
    let mut counts = vec![cores];
    if counts[0] != all {
        counts.push(all);
    }
    let counts: Vec<Vec<(Cpu, NodeId)>> = counts.iter().map(|cpus| placed(draft, cpus)).collect();
    let delays = match &draft.request.delays {
        Some(Delays::List(list)) => list.clone(),
        Some(Delays::Mlc) => MLC_DELAYS.to_vec(),
        Some(Delays::Auto) | None => DELAYS.to_vec(),
    };
    let mixes = choices::mixes(draft.request, What::Max);
    for &mix in &mixes {
        let mut candidates = Vec::new();
        for threads in &counts {
            for &delay in &delays {
                let streams = draft.streams(threads, mix, DelayRef::Fixed(delay));
                candidates.push(draft.point(Measure::Max { mix, delay }, streams, draft.timing.point_ns));
            }
        }
        draft.searches.push(Search { candidates, rounds: ROUNDS });
    }
    // Which thread count wins is not known yet, and a losing `1:1` is never measured again.
    counts.iter().for_each(|threads| rfo_probe(draft, threads, &mixes, false));
    Ok(())
}
