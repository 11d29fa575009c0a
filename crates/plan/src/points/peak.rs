//! Peak bandwidth of each mix, by one thread and by all; every thread on its own node's memory unless a node is named.

use super::{one_and_all, placed, rfo_probe};
use crate::choices;
use crate::draft::Draft;
use memgauge_model::{DelayRef, Measure, Mix, Refusal, What};

pub(super) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    let mixes = choices::mixes(draft.request, What::Peak);
    for cpus in one_and_all(draft) {
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
