//! Core to core, short form: each kind once a pair of nodes, between two cores of them.

use crate::draft::Draft;
use memgauge_model::{C2cKind, Cpu, Job, Measure, NodeId, Refusal, Thread, What};

/// The largest window of lines, and the smallest that still has lines enough for a pass.
const LARGEST: u64 = 256 << 10;
const SMALLEST: u64 = 16 << 10;
/// Where no size of an L2 is known.
const UNKNOWN: u64 = 128 << 10;

pub(super) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    let pairs = pairs(draft);
    if pairs.is_empty() {
        let detail = "a transfer needs two cores, and only one is allowed";
        let remedy = "allow another core (taskset, cpuset)";
        if draft.request.what == What::All {
            draft.missing("c2c_latency", &[], detail, remedy);
            return Ok(());
        }
        return Err(Refusal::new("", "", detail, remedy));
    }
    for pair in &pairs {
        for home in homes(draft, pair) {
            for kind in C2cKind::ALL.into_iter().filter(|kind| draft.request.method.is_none_or(|m| kind.method() == m)) {
                let arena = draft.window(home, pair.writer, pair.reader, window(draft, pair));
                let thread = |cpu| Thread { cpu, job: Job::C2c { arena, kind } };
                let threads = vec![thread(pair.writer), thread(pair.reader)];
                let measure = Measure::C2c { from: pair.from, to: pair.to, home, kind };
                draft.point(measure, threads, draft.timing.c2c_ns);
            }
        }
    }
    Ok(())
}

struct Pair {
    from: NodeId,
    to: NodeId,
    writer: Cpu,
    reader: Cpu,
}

/// One pair of CPUs for each ordered pair of nodes; never two threads of one core.
fn pairs(draft: &Draft) -> Vec<Pair> {
    let site = draft.site;
    let nodes = site.cpu_nodes();
    let first_of = |node: NodeId| {
        let own = site.own_cpus(node);
        own.iter().copied().find(|cpu| *cpu == draft.roles.observer).or_else(|| own.first().copied())
    };
    let mut pairs = Vec::new();
    for &from in &nodes {
        for &to in &nodes {
            let Some(writer) = first_of(from) else { continue };
            let other = |cpu: &Cpu| !site.same_core(*cpu, writer);
            let reader = if from == to { site.own_cpus(to).iter().copied().find(other) } else { first_of(to).filter(other) };
            pairs.extend(reader.map(|reader| Pair { from, to, writer, reader }));
        }
    }
    pairs
}

/// Where the lines live: with the writer, and across nodes also with the reader.
fn homes(draft: &Draft, pair: &Pair) -> Vec<NodeId> {
    if let Some(node) = draft.request.node.filter(|_| draft.request.what == What::C2c) {
        return vec![node];
    }
    let mut homes = vec![draft.site.memory_of(pair.writer)];
    if draft.site.nodes.contains(pair.to) && !homes.contains(&pair.to) {
        homes.push(pair.to);
    }
    homes
}

/// Not beyond half the L2 of either end, or the lines leave it on their own.
fn window(draft: &Draft, pair: &Pair) -> u64 {
    let l2 = draft.site.machine.caches.l2.iter();
    let ends = l2.filter(|cache| cache.cpus.contains(pair.writer) || cache.cpus.contains(pair.reader));
    let smallest = ends.filter_map(|cache| cache.size.known().copied()).min();
    let half = smallest.map_or(UNKNOWN, |size| size / 2).clamp(SMALLEST, LARGEST);
    half / 4096 * 4096
}
