//! What is measured: one file a command, and the default run made of them.

mod c2c;
mod idle;
mod loaded;
mod matrix;
mod max;
mod peak;

use crate::draft::Draft;
use memgauge_model::{Cpu, CpuList, DelayRef, Job, Measure, Mix, NodeId, Refusal, Smt, What};

/// More pairs than these are not probed: each takes milliseconds, and by then the guest's pattern is known.
const SHARING_PAIRS: usize = 64;

/// Draws all points of the command.
pub(crate) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    match draft.request.what {
        What::Idle => idle::draw(draft),
        What::Peak => peak::draw(draft),
        What::Max => max::draw(draft),
        What::MatrixLatency => matrix::latency(draft),
        What::MatrixBandwidth => matrix::bandwidth(draft),
        What::Loaded => loaded::draw(draft),
        What::C2c => c2c::draw(draft),
        What::All => {
            idle::draw(draft)?;
            peak::draw(draft)?;
            matrix::latency(draft)?;
            matrix::bandwidth(draft)?;
            loaded::draw(draft)?;
            c2c::draw(draft)
        }
    }
}

/// Pairs that a guest may have put on one core without saying so: whoever runs beside the observer, and both ends of a
/// transfer.
pub(crate) fn sharing(draft: &Draft) -> Vec<(Cpu, Cpu)> {
    if !draft.site.machine.is_guest() {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    for point in &draft.points {
        let lead = match point.threads.first() {
            Some(lead) if !matches!(lead.job, Job::Stream { .. } | Job::KeepAlive) => lead.cpu,
            _ => continue,
        };
        for thread in &point.threads[1..] {
            let pair = (lead, thread.cpu);
            // Pairs that are known to share need no probe.
            if !draft.site.same_core(pair.0, pair.1) && pairs.len() < SHARING_PAIRS && !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    pairs
}

/// CPUs of a bandwidth figure without an observer: those named, else all, by `--smt`.
fn streaming_cpus(draft: &Draft) -> CpuList {
    match &draft.request.load_cpus {
        Some(list) if list.is_empty() || draft.request.what == What::All => all_cpus(draft),
        Some(list) => list.clone(),
        None => all_cpus(draft),
    }
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
    if !mixes.iter().any(plain) {
        return;
    }
    let reference = (!has_write).then_some(Mix::Write);
    for mix in std::iter::once(Mix::WritePartial).chain(reference) {
        let threads = draft.streams(threads, mix, DelayRef::Fixed(0));
        draft.point(Measure::RfoProbe, threads, draft.timing.point_ns);
    }
}
