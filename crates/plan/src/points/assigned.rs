//! Load threads that were told by themselves what to do: each has its own mix, order, buffers, nodes and delay.

use crate::draft::Draft;
use crate::traffic;
use memgauge_model::{ArenaId, Cpu, DelayRef, Job, LOAD_BLOCK_LINES, Thread};

/// The observer chases through a buffer of the size that its own line says, where it has one.
pub(super) fn observe(draft: &mut Draft, arena: ArenaId) {
    if let Some(own) = traffic::of(draft.request, draft.roles.observer) {
        draft.sketches[arena].exact = Some(own.bytes);
    }
}

/// The threads that load; where a line names no delay, at the curve's.
pub(super) fn streams(draft: &mut Draft, delay: DelayRef) -> Vec<Thread> {
    let cpus: Vec<Cpu> = draft.roles.loads.iter().collect();
    cpus.into_iter().filter_map(|cpu| thread(draft, cpu, delay)).collect()
}

fn thread(draft: &mut Draft, cpu: Cpu, delay: DelayRef) -> Option<Thread> {
    let own = traffic::of(draft.request, cpu)?;
    let streams = own.mix.shape().streams().max(1);
    let node = own.node.unwrap_or_else(|| draft.site.memory_of(cpu));
    let arena = draft.assigned((cpu, node), streams, own.bytes, false);
    let second = own.second.map(|second| (draft.assigned((cpu, second.node), streams, own.bytes, true), second.percent));
    let manner = memgauge_model::Manner { second, ..traffic::manner(draft.request, own.mix) };
    let job = Job::Stream {
        arena,
        part: None,
        mix: own.mix,
        isa: draft.choices.isa,
        block_lines: own.random.then_some(LOAD_BLOCK_LINES),
        delay: own.delay.map_or(delay, DelayRef::Fixed),
        manner,
    };
    Some(Thread { cpu, job })
}
