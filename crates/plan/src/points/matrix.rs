//! Matrices: from each node with CPUs to each node with memory.

use super::{rfo_probe, streaming_cpus};
use crate::checks::value;
use crate::choices;
use crate::draft::Draft;
use memgauge_model::{Cpu, CpuList, DelayRef, Job, Measure, Mix, NodeId, Refusal, Smt, Thread, What};

pub(super) fn latency(draft: &mut Draft) -> Result<(), Refusal> {
    for from in draft.site.cpu_nodes() {
        for cpu in rows(draft, from) {
            for to in columns(draft) {
                let (arena, ring) = draft.chase(cpu, to, draft.choices.headline());
                let threads = vec![Thread { cpu, job: Job::Chase { arena, ring } }];
                draft.point(Measure::MatrixLatency { from, to }, threads, draft.timing.point_ns);
            }
        }
    }
    some_rows(draft)
}

/// The CPUs of a node that have rows: one, or each of them (by `--smt` one of each core); with `--cpu` that one alone.
fn rows(draft: &Draft, from: NodeId) -> Vec<Cpu> {
    let own = draft.site.own_cpus(from);
    if !draft.request.per_cpu {
        let observer = own.iter().copied().find(|cpu| *cpu == draft.roles.observer);
        return observer.or_else(|| own.first().copied()).into_iter().collect();
    }
    if let Some(asked) = draft.request.cpu {
        return own.iter().copied().filter(|cpu| *cpu == asked).collect();
    }
    let all: CpuList = own.iter().copied().collect();
    if draft.request.smt == Smt::One { draft.site.one_a_core(&all) } else { all }.iter().collect()
}

pub(super) fn bandwidth(draft: &mut Draft) -> Result<(), Refusal> {
    if let Some(list) = draft.request.load_cpus.as_ref().filter(|list| list.is_empty() && draft.request.what != What::All) {
        let typed = value(draft.request, "--load-cpus", if list.is_empty() { "none".to_owned() } else { list.to_string() });
        return Err(Refusal::new("--load-cpus", typed, "a bandwidth matrix needs threads", "name CPUs, or leave it out"));
    }
    let mixes =
        if draft.request.what == What::All { vec![Mix::Read] } else { choices::mixes(draft.request, What::MatrixBandwidth) };
    let all = streaming_cpus(draft);
    for from in draft.site.cpu_nodes() {
        let cpus = all.intersection(&draft.site.own_cpus(from).iter().copied().collect::<CpuList>());
        if cpus.is_empty() {
            continue;
        }
        for to in columns(draft) {
            let threads: Vec<(Cpu, NodeId)> = cpus.iter().map(|cpu| (cpu, to)).collect();
            for &mix in &mixes {
                let streams = draft.streams(&threads, mix, DelayRef::Fixed(0));
                draft.point(Measure::MatrixBandwidth { from, to, mix }, streams, draft.timing.point_ns);
            }
            let has_write = mixes.contains(&Mix::Write) || mixes.contains(&Mix::R1W1);
            rfo_probe(draft, &threads, &mixes, has_write);
        }
    }
    some_rows(draft)
}

/// A node that was named is the only column, except in the default run, whose matrices are of the whole machine.
fn columns(draft: &Draft) -> Vec<NodeId> {
    match draft.request.node.filter(|_| draft.request.what != What::All) {
        Some(node) => vec![node],
        None => draft.site.nodes.iter().collect(),
    }
}

fn some_rows(draft: &Draft) -> Result<(), Refusal> {
    match draft.points.is_empty() {
        true => Err(Refusal::new("", "", "no allowed CPU belongs to any node", "use memgauge idle and memgauge peak")),
        false => Ok(()),
    }
}
