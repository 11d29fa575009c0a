//! Core to core: two cores for each ordered pair of nodes, or every ordered pair of CPUs.

mod chosen;
mod map;

use crate::draft::Draft;
use memgauge_model::{C2cKind, C2cMethod, C2cScope, C2cVia, Cpu, Job, Measure, NodeId, Refusal, Thread, What};

/// The largest window of lines, and the smallest that still has lines enough for a pass.
const LARGEST: u64 = 256 << 10;
const SMALLEST: u64 = 16 << 10;
/// Where no size of an L2 is known.
const UNKNOWN: u64 = 128 << 10;
/// What the writer reads to push lines out of its L2, over that L2's size; where that is not known; and at most.
const PUSH_FACTOR: u64 = 2;
const PUSH_UNKNOWN: u64 = 4 << 20;
const PUSH_LARGEST: u64 = 32 << 20;

pub(super) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    if draft.request.method == Some(C2cMethod::Pingpong) && draft.request.via.is_some() {
        let detail = "says where a chase's lines are, and a ping-pong has none";
        return Err(Refusal::new("--via", draft.request.typed("--via"), detail, "leave out --via or --method pingpong"));
    }
    let chosen = chosen::pair(draft)?;
    if map::is_wanted(draft) {
        return map::draw(draft);
    }
    let pairs = if let Some(pair) = chosen {
        vec![pair]
    } else if draft.request.all_pairs {
        pairs_of_cpus(draft)
    } else {
        pairs_of_nodes(draft)
    };
    if pairs.is_empty() {
        let (detail, remedy) = if draft.request.all_pairs {
            ("a transfer needs two CPUs, and only one is allowed", "allow another CPU (taskset, cpuset)")
        } else {
            ("a transfer needs two cores, and only one is allowed", "allow another core (taskset, cpuset)")
        };
        if draft.request.what == What::All {
            draft.missing("c2c_latency", &[], detail, remedy);
            return Ok(());
        }
        return Err(Refusal::new("", "", detail, remedy));
    }
    let begin = draft.points.len();
    for pair in &pairs {
        for home in homes(draft, pair) {
            for kind in chosen::kinds(draft) {
                for via in ways(draft, pair, home, kind) {
                    transfer(draft, pair, home, kind, via);
                }
            }
        }
    }
    if draft.points.len() == begin {
        let detail = draft.unavailable.last().map_or_else(String::new, |gap| gap.detail.clone());
        return Err(Refusal::new("--via", draft.request.typed("--via"), detail, "use --via l2"));
    }
    if draft.request.what == What::C2c {
        again(draft, begin);
    }
    Ok(())
}

struct Pair {
    scope: C2cScope,
    from: u32,
    to: u32,
    writer: Cpu,
    reader: Cpu,
}

/// One pair of CPUs for each ordered pair of nodes; never two threads of one core.
fn pairs_of_nodes(draft: &Draft) -> Vec<Pair> {
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
            pairs.extend(reader.map(|reader| Pair { scope: C2cScope::Node, from, to, writer, reader }));
        }
    }
    pairs
}

/// Every CPU with every other, threads of one core too; with `--cpu` those that it is part of.
fn pairs_of_cpus(draft: &Draft) -> Vec<Pair> {
    let cpus = &draft.site.cpus;
    let wanted = |a: Cpu, b: Cpu| a != b && draft.request.cpu.is_none_or(|cpu| cpu == a || cpu == b);
    let of = |writer: Cpu| {
        let readers = cpus.iter().filter(move |reader| wanted(writer, *reader));
        readers.map(move |reader| Pair { scope: C2cScope::Cpu, from: writer, to: reader, writer, reader })
    };
    cpus.iter().flat_map(of).collect()
}

/// Where the lines live: with the writer, and across nodes also with the reader.
fn homes(draft: &Draft, pair: &Pair) -> Vec<NodeId> {
    if let Some(node) = draft.request.node.filter(|_| draft.request.what == What::C2c) {
        return vec![node];
    }
    if let Some(toucher) = draft.request.touch_cpu {
        return vec![draft.site.memory_of(toucher)];
    }
    let mut homes = vec![draft.site.memory_of(pair.writer)];
    if pair.scope == C2cScope::Node && draft.site.nodes.contains(pair.to) && !homes.contains(&pair.to) {
        homes.push(pair.to);
    }
    homes
}

/// From where the reader takes the lines: the one way that was asked for; else from the owner's L2, and a pair of nodes with
/// the line near its writer also by the other ways. What a pair lacks is said.
fn ways(draft: &mut Draft, pair: &Pair, home: NodeId, kind: C2cKind) -> Vec<C2cVia> {
    let pushed = draft.request.push.map(|_| C2cVia::L3);
    let asked = draft.request.via.or(draft.request.third.map(|_| C2cVia::Third)).or(pushed);
    let wanted: &[C2cVia] = match (asked, kind.method()) {
        (Some(_), C2cMethod::Pingpong) => &[],
        (Some(C2cVia::L2), _) | (None, C2cMethod::Pingpong) => &[C2cVia::L2],
        (Some(C2cVia::L3), _) => &[C2cVia::L3],
        (Some(C2cVia::Third), _) => &[C2cVia::Third],
        (None, _) if draft.request.what == What::C2c && !draft.request.all_pairs && home == draft.site.memory_of(pair.writer) => {
            C2cVia::ALL
        }
        (None, _) => &[C2cVia::L2],
    };
    wanted.iter().copied().filter(|via| lacks(draft, pair, home, kind, *via).is_none()).collect()
}

/// Why this way can't be had here, said.
fn lacks(draft: &mut Draft, pair: &Pair, home: NodeId, kind: C2cKind, via: C2cVia) -> Option<()> {
    let (detail, remedy) = match via {
        C2cVia::L2 => return None,
        C2cVia::L3 if l3_of(draft, pair.writer).is_some() => return None,
        C2cVia::L3 => ("the kernel names no L3 of the writer's CPU", "none where caches are not described"),
        C2cVia::Third if third(draft, pair).is_some() => return None,
        C2cVia::Third => {
            ("no third CPU on another core shares the writer's L3", "allow another core under that L3 (taskset, cpuset)")
        }
    };
    let numbered = [("from", pair.from), ("to", pair.to), ("home", home)].map(|(label, number)| (label, number.to_string()));
    let words = [("scope", pair.scope.word()), ("kind", kind.word()), ("method", kind.method().word()), ("via", via.word())];
    let labels: Vec<(&str, String)> = numbered.into_iter().chain(words.map(|(label, word)| (label, word.to_owned()))).collect();
    draft.missing("c2c_latency", &labels, detail, remedy);
    Some(())
}

fn l3_of<'a>(draft: &Draft<'a>, cpu: Cpu) -> Option<&'a memgauge_model::CpuList> {
    draft.site.machine.caches.l3.iter().map(|cache| &cache.cpus).find(|cpus| cpus.contains(cpu))
}

/// A CPU under the writer's L3 that is on neither end's core.
fn third(draft: &Draft, pair: &Pair) -> Option<Cpu> {
    if draft.request.third.is_some() {
        return draft.request.third;
    }
    let near = l3_of(draft, pair.writer)?;
    let apart = |cpu: &Cpu| !draft.site.same_core(*cpu, pair.writer) && !draft.site.same_core(*cpu, pair.reader);
    near.iter().filter(|cpu| draft.site.cpus.contains(*cpu)).find(apart)
}

fn transfer(draft: &mut Draft, pair: &Pair, home: NodeId, kind: C2cKind, via: C2cVia) {
    let push = match draft.request.push {
        Some(asked) => chosen::whole_pages(asked),
        None if via == C2cVia::L3 => push(draft, pair),
        None => 0,
    };
    let behind = push + draft.request.extra_reads.map_or(0, chosen::whole_pages);
    let arena = draft.window(home, (pair.writer, pair.reader), window(draft, pair), behind);
    let between = if via == C2cVia::Third { third(draft, pair) } else { None };
    let cpus = [pair.writer, pair.reader].into_iter().chain(between);
    let threads = cpus.map(|cpu| Thread { cpu, job: Job::C2c { arena, kind } }).collect();
    let measure = Measure::C2c { from: pair.from, to: pair.to, home, kind, scope: pair.scope, via, repeat: false };
    draft.point(measure, threads, draft.timing.c2c_ns);
}

/// The first pair once more: what has drifted in a round shows between the two. By a ping-pong, which minds neighbours
/// most, where one was asked for.
fn again(draft: &mut Draft, begin: usize) {
    let kinds = [C2cKind::Cas, C2cKind::Hitm];
    let of = |wanted: C2cKind| {
        let found =
            draft.points[begin..].iter().find(|point| matches!(point.measure, Measure::C2c { kind, .. } if kind == wanted));
        found.cloned()
    };
    let Some(point) = kinds.into_iter().find_map(of) else { return };
    if let Measure::C2c { from, to, home, kind, scope, via, .. } = point.measure {
        draft.point(Measure::C2c { from, to, home, kind, scope, via, repeat: true }, point.threads, point.time_ns);
    }
}

/// Not beyond half the L2 of either end, or the lines leave it on their own.
fn window(draft: &Draft, pair: &Pair) -> u64 {
    if let Some(asked) = chosen::window_bytes(draft) {
        return asked;
    }
    let ends = [pair.writer, pair.reader].into_iter().filter_map(|cpu| l2_bytes(draft, cpu));
    let half = ends.min().map_or(UNKNOWN, |size| size / 2).clamp(SMALLEST, LARGEST);
    half / 4096 * 4096
}

fn push(draft: &Draft, pair: &Pair) -> u64 {
    let bytes = l2_bytes(draft, pair.writer).map_or(PUSH_UNKNOWN, |size| size.saturating_mul(PUSH_FACTOR));
    bytes.min(PUSH_LARGEST).next_multiple_of(4096)
}

fn l2_bytes(draft: &Draft, cpu: Cpu) -> Option<u64> {
    let sizes = draft.site.machine.caches.l2.iter().filter(|cache| cache.cpus.contains(cpu));
    sizes.filter_map(|cache| cache.size.known().copied()).min()
}
