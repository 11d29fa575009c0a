//! Sweeps: views of figures over working sets and over threads, the caches that show in them, and what limits the threads.

use crate::draft::{Draft, Labels};
use crate::figures::{Case, Figure};
use crate::labels::set;
use crate::{jobs, rounds};
use memgauge_model::{Bound, Cache, FoundCache, Machine, Metric, MetricId, Order, Sweep, SweepOver, SweepPoint};
use memgauge_stats as stats;
use std::collections::{BTreeMap, BTreeSet};

/// Threads that reach this share of their number's worth of the first one are limited by their cores.
const OWN_SHARE: f64 = 0.9;
/// Nothing worth mentioning comes on top of this share of the most.
const ALL_THERE: f64 = 0.95;
/// A declared size and an edge more than this factor apart have nothing to do with each other, where their numbers differ.
const NEAR: f64 = 4.0;

/// Views of all sweeps, latencies first.
pub(crate) fn write(case: &Case<'_>, figures: &[Figure], draft: &mut Draft) -> Vec<Sweep> {
    let mut sweeps = Vec::new();
    let latencies = groups(figures, "sweep_latency", &["bytes", "class"], draft);
    // Page walks rise with the size, too: where an order that amortises them was measured, it alone tells where caches end.
    let is_best = |labels: &Labels| labels.get("order").is_some_and(|order| order == Order::SplitRandom.word());
    let has_best = latencies.keys().any(is_best);
    for (labels, group) in latencies {
        let tells = !has_best || is_best(&labels);
        let caches = if tells { caches(case, &group, &labels, draft) } else { Vec::new() };
        sweeps.push(view(&group, labels, SweepOver::Bytes, caches, None));
    }
    for (labels, group) in groups(figures, "sweep_bandwidth", &["bytes", "class"], draft) {
        sweeps.push(view(&group, labels, SweepOver::Bytes, Vec::new(), None));
    }
    for (labels, group) in groups(figures, "sweep_bandwidth", &["threads", "cpus", "class"], draft) {
        // The working sets of which more than one number of threads was measured: all of them, but only the largest, which is
        // memory's, tells what limits.
        let largest = figures.iter().filter(|figure| figure.name == "sweep_bandwidth").map(|figure| bytes(draft, figure)).max();
        if group.len() > 1 && group.first().map(|(_, figure)| bytes(draft, figure)) == largest {
            let bound = bound(&group, draft);
            sweeps.push(view(&group, labels, SweepOver::Threads, Vec::new(), bound));
        }
    }
    sweeps
}

/// Figures that differ in `varying` labels alone, by the first of those.
type Groups<'a> = BTreeMap<Labels, Vec<(u64, &'a Figure)>>;

pub(crate) fn groups<'a>(figures: &'a [Figure], name: &str, varying: &[&str], draft: &Draft) -> Groups<'a> {
    let mut groups = Groups::new();
    for figure in figures.iter().filter(|figure| figure.name == name) {
        let mut labels = draft.metrics[figure.metric].labels.clone();
        let Some(at) = labels.get(varying[0]).and_then(|at| at.parse().ok()) else { continue };
        varying.iter().for_each(|label| drop(labels.remove(*label)));
        groups.entry(labels).or_default().push((at, figure));
    }
    groups.values_mut().for_each(|group| group.sort_by_key(|(at, _)| *at));
    groups
}

fn bytes(draft: &Draft, figure: &Figure) -> u64 {
    draft.metrics[figure.metric].labels.get("bytes").and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

fn view(group: &[(u64, &Figure)], labels: Labels, over: SweepOver, caches: Vec<FoundCache>, bound: Option<Bound>) -> Sweep {
    let name = group.first().map_or("", |(_, figure)| figure.name).to_owned();
    let points = group.iter().map(|(at, figure)| SweepPoint { at: *at, metric: Some(figure.metric) }).collect();
    Sweep { name, over, labels, points, caches, bound }
}

/// Edges of the latency beside the declared caches of the CPU that chased.
fn caches(case: &Case<'_>, group: &[(u64, &Figure)], labels: &Labels, draft: &mut Draft) -> Vec<FoundCache> {
    let Some(chaser) =
        group.first().and_then(|(_, figure)| jobs::chaser(&case.record.plan, &case.record.plan.points[figure.point]))
    else {
        return Vec::new();
    };
    let declared = declared(&case.record.machine, chaser.cpu);
    let sizes: Vec<u64> = group.iter().map(|(bytes, _)| *bytes).collect();
    let numbers: BTreeSet<u32> =
        group.iter().flat_map(|(_, figure)| figure.series.samples.iter().map(|sample| sample.round)).collect();
    let by_round: Vec<Vec<Option<f64>>> =
        numbers.iter().map(|round| group.iter().map(|(_, figure)| figure.series.in_round(*round)).collect()).collect();
    let edges = stats::edges(&sizes, &by_round, case.record.command.seed).unwrap_or_default();
    let partners = partners(&edges.iter().map(|edge| sizes[edge.last]).collect::<Vec<_>>(), &declared);
    let mut caches: Vec<(u64, FoundCache)> = Vec::new();
    for (at, (edge, partner)) in edges.iter().zip(&partners).enumerate() {
        let declared = partner.map(|partner| &declared[partner]);
        let level = declared.map_or("?", |(level, _)| *level).to_owned();
        let of = &draft.metrics[group[edge.last].1.metric];
        let metric = cache_size(of, labels, &sizes, edge, (at + 1, &level), numbers.len());
        let found = draft.add(metric);
        let same = declared.map(|(_, bytes)| place(&sizes, *bytes).abs_diff(edge.last) <= 1);
        caches.push((sizes[edge.last], FoundCache { level, found, declared: declared.map(|(_, bytes)| *bytes), same }));
    }
    for (at, (level, bytes)) in declared.iter().enumerate() {
        if !partners.contains(&Some(at)) {
            let cache = FoundCache { level: (*level).to_owned(), found: None, declared: Some(*bytes), same: None };
            caches.push((*bytes, cache));
        }
    }
    caches.sort_by_key(|(bytes, _)| *bytes);
    caches.into_iter().map(|(_, cache)| cache).collect()
}

/// The size at which a level ends. The true one lies between that size and the next, so the interval reaches to the latter.
fn cache_size(
    of: &Metric,
    labels: &Labels,
    sizes: &[u64],
    edge: &stats::Edge,
    (number, level): (usize, &str),
    rounds: usize,
) -> Metric {
    let bytes = |at: usize| sizes[at.min(sizes.len() - 1)] as f64;
    let [lo, hi] = edge.ends.unwrap_or([edge.last; 2]);
    let span = Some([bytes(lo), bytes(hi + 1)]);
    let mut labels = labels.clone();
    set(&mut labels, "edge", number);
    set(&mut labels, "level", level);
    let interval = edge.ends.is_some();
    let mut remarks = vec![format!("latency rises from {:.1} to {:.1} ns", edge.levels[0], edge.levels[1])];
    if edge.stable < 0.975 {
        remarks.push(format!("in {:.0} % of resamples", edge.stable * 100.0));
    }
    Metric {
        name: "cache_size".to_owned(),
        unit: "B".to_owned(),
        labels,
        value: bytes(edge.last),
        ci95: span.filter(|_| interval),
        range: span.filter(|_| !interval),
        range_reason: (!interval).then(|| format!("{rounds} rounds, an interval needs 6; it reaches to the next size")),
        undisturbed: None,
        undisturbed_ci95: None,
        best: None,
        samples: rounds::count(rounds),
        remarks,
        ..of.clone()
    }
}

/// The data and unified caches that this CPU uses, by name, as far as their sizes are declared.
pub(crate) fn declared(machine: &Machine, cpu: u32) -> Vec<(&'static str, u64)> {
    let caches = &machine.caches;
    let levels = [("L1", &caches.l1), ("L2", &caches.l2), ("L3", &caches.l3), ("L4", &caches.l4)];
    let size =
        |level: &[Cache]| level.iter().find(|cache| cache.cpus.contains(cpu)).and_then(|cache| cache.size.known().copied());
    levels.iter().filter_map(|(name, level)| Some((*name, size(level)?))).filter(|(_, size)| *size > 0).collect()
}

/// Which declared cache each edge is: in order where there are as many of both, else the nearest within reach.
fn partners(edges: &[u64], declared: &[(&str, u64)]) -> Vec<Option<usize>> {
    if edges.len() == declared.len() {
        return (0..edges.len()).map(Some).collect();
    }
    let apart = |a: u64, b: u64| a.max(b) as f64 / a.min(b).max(1) as f64;
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for (edge, bytes) in edges.iter().enumerate() {
        pairs.extend(declared.iter().enumerate().map(|(cache, (_, size))| (apart(*bytes, *size), edge, cache)));
    }
    pairs.retain(|(apart, ..)| *apart <= NEAR);
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut partners = vec![None; edges.len()];
    for (_, edge, cache) in pairs {
        if partners[edge].is_none() && !partners.contains(&Some(cache)) {
            partners[edge] = Some(cache);
        }
    }
    partners
}

/// The last size that a cache of so many bytes holds.
fn place(sizes: &[u64], bytes: u64) -> usize {
    sizes.partition_point(|size| *size <= bytes).saturating_sub(1)
}

/// What limits the most threads, by how their bandwidth compares with that of one; nothing is concluded from ranges.
fn bound(group: &[(u64, &Figure)], draft: &Draft) -> Option<Bound> {
    let value = |metric: MetricId| draft.metrics[metric].value;
    let (one, one_figure) = group.first()?;
    let (all, all_figure) = group.last()?;
    if group.iter().any(|(_, figure)| draft.metrics[figure.metric].ci95.is_none()) {
        return None;
    }
    let most = group.iter().map(|(_, figure)| value(figure.metric)).fold(0.0, f64::max);
    let each = value(one_figure.metric) / *one as f64;
    if value(all_figure.metric) >= OWN_SHARE * each * *all as f64 {
        return Some(Bound::Cores);
    }
    let (threads, _) = group.iter().find(|(_, figure)| value(figure.metric) >= ALL_THERE * most)?;
    Some(if threads < all { Bound::Memory { threads: *threads } } else { Bound::Both })
}
