//! What is measured: one file a command, and the default run made of them.

mod assigned;
mod c2c;
mod idle;
mod loaded;
mod matrix;
mod max;
mod peak;
mod prefetch;
mod scan;
pub(crate) mod sweep;

use crate::draft::Draft;
use crate::traffic;
use memgauge_model::{Cpu, CpuList, DelayRef, Measure, Mix, NodeId, Refusal, Smt, What};

/// Draws all points of the command.
pub(crate) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    match draft.request.what {
        What::Idle => idle::draw(draft)?,
        What::Peak => peak::draw(draft)?,
        What::Max => max::draw(draft)?,
        What::MatrixLatency => matrix::latency(draft)?,
        What::MatrixBandwidth => matrix::bandwidth(draft)?,
        What::Loaded => loaded::draw(draft)?,
        What::C2c => c2c::draw(draft)?,
        What::Sweep => sweep::draw(draft)?,
        What::Scan => scan::draw(draft)?,
        What::All => {
            idle::draw(draft)?;
            peak::draw(draft)?;
            matrix::latency(draft)?;
            matrix::bandwidth(draft)?;
            loaded::draw(draft)?;
            c2c::draw(draft)?;
            sweep::brief(draft);
        }
    }
    prefetch::draw(draft);
    Ok(())
}

/// CPUs of a bandwidth figure without an observer: those named, else all, by `--smt`.
fn streaming_cpus(draft: &Draft) -> CpuList {
    match &draft.request.load_cpus {
        Some(list) if list.is_empty() || draft.request.what == What::All => all_cpus(draft),
        Some(list) => list.clone(),
        None => all_cpus(draft),
    }
}

/// One thread alone, the observer's where it may be, then all; `--load-cpus none` leaves the one.
fn one_and_all(draft: &Draft) -> Vec<CpuList> {
    let alone = matches!(draft.request.what, What::Peak | What::Sweep);
    let named_none = draft.request.load_cpus.as_ref().is_some_and(CpuList::is_empty) && alone;
    let all = streaming_cpus(draft);
    let observer = draft.roles.observer;
    let lead = if draft.request.cpu.is_some() || all.contains(observer) { observer } else { all.first().unwrap_or(observer) };
    let mut counts = vec![CpuList::from(vec![lead])];
    if !named_none && all != counts[0] {
        counts.push(all);
    }
    counts
}

fn all_cpus(draft: &Draft) -> CpuList {
    let site = draft.site;
    if draft.request.smt == Smt::One { site.one_a_core(&site.cpus) } else { site.cpus.clone() }
}

/// Each CPU with the memory that it streams through: the node that was asked for, else the nearest.
fn placed(draft: &Draft, cpus: &CpuList) -> Vec<(Cpu, NodeId)> {
    cpus.iter().map(|cpu| (cpu, draft.request.node.unwrap_or_else(|| draft.site.memory_of(cpu)))).collect()
}

/// Where a mix stores plainly: what 8-bytes-a-line stores reach at these threads, and, unless a `write` figure at the same
/// threads stands beside it, what full-line stores do. Their ratio tells whether lines are read before they are written.
fn rfo_probe(draft: &mut Draft, threads: &[(Cpu, NodeId)], mixes: &[Mix], has_write: bool) {
    let plain = |mix: &Mix| mix.shape().stores > 0 && !mix.shape().nt;
    if !mixes.iter().any(plain) || !traffic::usual(draft.request) {
        return;
    }
    let reference = (!has_write).then_some(Mix::Write);
    for mix in std::iter::once(Mix::WritePartial).chain(reference) {
        let threads = draft.streams(threads, mix, DelayRef::Fixed(0));
        draft.point(Measure::RfoProbe, threads, draft.timing.point_ns);
    }
}
