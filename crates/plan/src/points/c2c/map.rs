//! All pairs of many CPUs: classes by how far apart they are, and a sample of each.

use super::{Pair, SMALLEST, again, transfer};
use crate::draft::Draft;
use memgauge_model::{
    Apart, ArenaId, C2cKind, C2cMethod, C2cScope, C2cVia, Cpu, CpuList, CpuPlace, MapPlan, MapRule, NodeId, PairClass, Refusal,
    units,
};
use std::collections::{BTreeMap, BTreeSet};

/// Up to so many CPUs every pair is measured alone.
const FEW: usize = 16;
/// Pairs of a class that are measured alone, at most.
const SAMPLE: u64 = 12;
/// Half of the golden ratio's multiples lie in each half of the unit interval, a third in each third, and so on: picks that are spread
/// whatever their number.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// A line to hand over by, and one for a ping-pong, each with its neighbour.
const LINES: u64 = 256;
/// Below this a spread is of no consequence to anybody.
const SPREAD: f64 = 0.05;
/// The standard normal quantile of 0.99: one uniform class in a hundred may be filled for nothing.
const LEVEL: f64 = 2.326_348;
/// Pairs that stand out are measured again in so many wide rounds at most.
const AGAIN: u32 = 64;

/// Is the machine too large for each pair to be measured alone?
pub(super) fn is_wanted(draft: &Draft) -> bool {
    let request = draft.request;
    request.all_pairs && !request.full_pairs && request.cpu.is_none() && draft.site.cpus.len() > FEW
}

pub(super) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    let request = draft.request;
    let others = [
        ("--via", request.via.is_some_and(|via| via != C2cVia::L2)),
        ("--push", request.push.is_some()),
        ("--extra-reads", request.extra_reads.is_some()),
    ];
    if let Some((flag, _)) = others.iter().find(|(_, given)| *given) {
        let problem = format!(
            "{} CPUs have too many pairs for each to be measured alone, and at once lines stay in L2",
            draft.site.cpus.len()
        );
        let remedy = "use --all-pairs --full, or --cpu for the pairs of one CPU";
        return Err(Refusal::new(flag, request.typed(flag), problem, remedy));
    }
    // The one that neither end's place among the cores of its package changes with the direction.
    let kind = if draft.request.method == Some(C2cMethod::Chase) { C2cKind::Hitm } else { C2cKind::Cas };
    let nodes = draft.site.cpu_nodes();
    let slot_bytes = if kind == C2cKind::Hitm { SMALLEST + LINES } else { LINES };
    let places = places(draft, &nodes, slot_bytes);
    let distances = nodes.iter().map(|from| nodes.iter().map(|to| distance(draft, *from, *to)).collect()).collect();
    let arenas: Vec<ArenaId> = {
        let mut arenas: Vec<ArenaId> = places.iter().map(|place| place.arena).collect();
        arenas.sort_unstable();
        arenas.dedup();
        arenas
    };
    let rule = MapRule { spread: SPREAD, level: LEVEL, wide_ns: draft.timing.c2c_ns, again: AGAIN, all: false };
    let mut map = MapPlan { kind, places, distances, classes: Vec::new(), arenas, slot_bytes, rule };
    let begin = draft.points.len();
    for (apart, pairs) in by_class(&map) {
        let sample = sample(draft, &map, &pairs);
        map.classes.push(PairClass { apart, pairs: pairs.len() as u64, sample });
    }
    again(draft, begin);
    note(draft, &map);
    draft.map = Some(map);
    Ok(())
}

/// Where each CPU is, and where the lines that it writes live.
fn places(draft: &mut Draft, nodes: &[NodeId], slot_bytes: u64) -> Vec<CpuPlace> {
    let cpus = draft.site.cpus.clone();
    let mut by_home: BTreeMap<NodeId, Vec<Cpu>> = BTreeMap::new();
    cpus.iter().for_each(|cpu| by_home.entry(draft.site.memory_of(cpu)).or_default().push(cpu));
    let mut lines: BTreeMap<Cpu, (ArenaId, u32)> = BTreeMap::new();
    for (home, users) in &by_home {
        let arena = draft.slots_of_lines(*home, slot_bytes * users.len() as u64, users);
        lines.extend(users.iter().zip(0..).map(|(cpu, slot)| (*cpu, (arena, slot))));
    }
    let machine = draft.site.machine;
    let index = |groups: &[CpuList]| -> BTreeMap<Cpu, u32> {
        groups.iter().zip(0..).flat_map(|(cpus, at)| cpus.iter().map(move |cpu| (cpu, at))).collect()
    };
    let caches = |level: &[memgauge_model::Cache]| index(&level.iter().map(|cache| cache.cpus.clone()).collect::<Vec<_>>());
    let (core, package) = (index(&machine.cores), index(&machine.packages));
    let (l2, l3) = (caches(&machine.caches.l2), caches(&machine.caches.l3));
    let cores = u32::try_from(machine.cores.len()).unwrap_or(u32::MAX);
    let place = |cpu: Cpu| {
        let node = draft.site.node_of(cpu).and_then(|node| nodes.iter().position(|other| *other == node)).unwrap_or(0);
        let (arena, slot) = lines.get(&cpu).copied().unwrap_or_default();
        CpuPlace {
            cpu,
            // A CPU of which the kernel tells no core has one of its own.
            core: core.get(&cpu).copied().unwrap_or(cores.saturating_add(cpu)),
            l2: l2.get(&cpu).copied(),
            l3: l3.get(&cpu).copied(),
            node: u32::try_from(node).unwrap_or(0),
            package: package.get(&cpu).copied(),
            arena,
            slot,
        }
    };
    cpus.iter().map(place).collect()
}

fn distance(draft: &Draft, from: NodeId, to: NodeId) -> u32 {
    let said = draft.site.machine.node(from).and_then(|node| node.distances.get(&to).copied());
    said.unwrap_or(if from == to { 10 } else { 20 })
}

/// Unordered pairs by how far apart they are, as indices into the places.
fn by_class(map: &MapPlan) -> BTreeMap<Apart, Vec<(u32, u32)>> {
    let mut classes: BTreeMap<Apart, Vec<(u32, u32)>> = BTreeMap::new();
    for (other, second) in (0..map.places.len()).zip(0_u32..) {
        for (one, first) in (0..other).zip(0_u32..) {
            classes.entry(map.apart(one, other)).or_default().push((first, second));
        }
    }
    classes
}

/// Points for a few of a class's pairs, spread over all of them; a chase there and back, which a ping-pong is by itself.
fn sample(draft: &mut Draft, map: &MapPlan, pairs: &[(u32, u32)]) -> Vec<usize> {
    let begin = draft.points.len();
    let count = pairs.len() as u64;
    for at in picks(count) {
        let (one, other) = pairs[at];
        let (one, other) = (map.places[one as usize].cpu, map.places[other as usize].cpu);
        let back = (map.kind.method() == C2cMethod::Chase).then_some((other, one));
        for (writer, reader) in [Some((one, other)), back].into_iter().flatten() {
            let pair = Pair { scope: C2cScope::Cpu, from: writer, to: reader, writer, reader };
            let home = draft.site.memory_of(writer);
            transfer(draft, &pair, home, map.kind, C2cVia::L2);
        }
    }
    (begin..draft.points.len()).collect()
}

/// Which of `count` pairs, rising.
fn picks(count: u64) -> Vec<usize> {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index below a count of pairs"
    )]
    let spread = |k: u64| ((k as f64 + 0.5) * GOLDEN % 1.0 * count as f64) as usize;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut picks = BTreeSet::new();
    for k in 0..SAMPLE.min(count as u64) {
        let mut at = spread(k);
        while !picks.insert(at) {
            at = (at + 1) % count;
        }
    }
    picks.into_iter().collect()
}

fn note(draft: &mut Draft, map: &MapPlan) {
    let cpus = map.places.len() as u64;
    let pairs: u64 = map.classes.iter().map(|class| class.pairs).sum();
    let words: Vec<String> = map.classes.iter().map(|class| format!("{} ({})", class.apart, class.pairs)).collect();
    let ways = if map.kind.method() == C2cMethod::Chase { 2 } else { 1 };
    let longest = (cpus - 1 + cpus % 2) * ways * 2 * map.rule.wide_ns;
    draft.notes.push(format!(
        "{pairs} pairs in {}: {}; a sample of each is measured one pair at a time, and a class whose sample is not uniform is filled \
         with up to {} pairs at once, which takes {} s more at most; --all-pairs --full measures every pair alone",
        units::count(map.classes.len() as u64, "class"),
        words.join(", "),
        cpus / 2,
        longest.div_ceil(1_000_000_000)
    ));
}
