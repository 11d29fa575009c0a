//! Peak bandwidth of each mix, by one thread and by all; every thread on its own node's memory unless a node is named.

use super::{placed, rfo_probe, streaming_cpus};
use crate::choices;
use crate::draft::Draft;
use memgauge_model::{CpuList, DelayRef, Measure, Mix, Refusal, What};

pub(super) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    let named_none = draft.request.load_cpus.as_ref().is_some_and(CpuList::is_empty) && draft.request.what == What::Peak;
    let all = streaming_cpus(draft);
    let observer = draft.roles.observer;
    let lead = if draft.request.cpu.is_some() || all.contains(observer) { observer } else { all.first().unwrap_or(observer) };
    let mut counts = vec![CpuList::from(vec![lead])];
    if !named_none && all != counts[0] {
        counts.push(all);
    }
    let mixes = choices::mixes(draft.request, What::Peak);
    for cpus in counts {
        let threads = placed(draft, &cpus);
        for &mix in &mixes {
            let streams = draft.streams(&threads, mix, DelayRef::Fixed(0));
            draft.point(Measure::Peak { mix }, streams, draft.timing.point_ns);
        }
        let has_write = mixes.contains(&Mix::Write) || mixes.contains(&Mix::R1W1);
        rfo_probe(draft, &threads, &mixes, has_write);
    }
    Ok(())
}
