//! Too good to be true, by a sweep: what is called memory's and is a cache's.
//!
//! A latency is held against the last-level cache's by the sweep, in an order that pays for no more page walks than its own; a
//! bandwidth against the same at half the size, and against the last-level cache's at as many threads.

use crate::as_found::AsFound;
use crate::draft::Draft;
use crate::figures::{Case, Figure};
use crate::{labels, sweeps};
use memgauge_model::{FoundCache, Machine, Metric, MetricId, Order, Sweep, units};

/// Memory takes so many times what its last-level cache takes, at least.
const LATENCY: f64 = 1.3;
/// Memory gives so much of what its last-level cache gives, at most, where it is not the threads that limit both.
const BANDWIDTH: f64 = 0.7;
/// Memory gives the same at twice the size, within this.
const CHANGE: f64 = 0.05;

/// What the sweep says of the figures that claim to be memory's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// They are.
    Memory(String),
    /// Some are a cache's, and rejected.
    Cache(String),
    /// It can't tell, for this reason.
    Unknown(String),
}

/// Judges latencies; none without a sweep or a claim.
pub(crate) fn latencies(case: &Case<'_>, sweeps: &[Sweep], draft: &mut Draft) -> Option<Verdict> {
    if case.record.plan.request.names_sizes() {
        // The figure names the level that it was asked to measure.
        return None;
    }
    let sweep = sweeps.iter().find(|sweep| sweep.name == "sweep_latency" && is_order(sweep, Order::SplitRandom))?;
    let claims: Vec<MetricId> = (0..draft.metrics.len()).filter(|id| claims_memory(&draft.metrics[*id], sweep)).collect();
    let largest = sweep.points.iter().rev().find_map(|point| Some((point.at, draft.metrics.get(point.metric?)?.value)));
    let (largest, beyond) = largest.filter(|_| !claims.is_empty())?;
    let Some((bytes, cache)) = last_level(&case.record.machine, sweep, draft) else {
        let why = format!("the latency shows no end of the last-level cache up to {}", units::bytes(largest));
        return Some(Verdict::Unknown(why));
    };
    if beyond < LATENCY * cache {
        let why =
            format!("{beyond:.0} ns at {} is little more than the {cache:.0} ns of the last-level cache", units::bytes(largest));
        return Some(Verdict::Unknown(why));
    }
    let limit = LATENCY * cache;
    let mut verdict = None;
    for id in claims {
        let metric = &draft.metrics[id];
        let [lo, hi] = metric.ci95.or(metric.range).unwrap_or([metric.value; 2]);
        let ratio = metric.value / cache;
        let told = format!("{ratio:.1} × the latency of the last-level cache, which ends at {}", units::bytes(bytes));
        if hi < limit {
            let fault = format!("a cache's, not memory's: {told}");
            let title = labels::title(&metric.name, &metric.labels);
            draft.metrics[id].remarks.push(fault.clone());
            draft.reject(fault.clone(), title);
            verdict = Some(Verdict::Cache(fault));
        } else if lo >= limit && verdict.is_none() {
            verdict = Some(Verdict::Memory(told));
        }
    }
    verdict.or_else(|| Some(Verdict::Unknown(format!("the interval holds {LATENCY} × the latency of the last-level cache"))))
}

fn is_order(sweep: &Sweep, order: Order) -> bool {
    sweep.labels.get("order").is_some_and(|word| word == order.word())
}

/// An idle latency of the same CPU, memory and pages that pays for no more page walks.
fn claims_memory(metric: &Metric, sweep: &Sweep) -> bool {
    let same = |label: &str| metric.labels.get(label) == sweep.labels.get(label);
    let order = metric.labels.get("order").is_some_and(|order| order == Order::WindowRandom.word());
    metric.name == "idle_latency" && order && ["cpu", "node", "pages"].into_iter().all(same)
}

/// Size and latency at the end of the last level, where the sweep has found that.
fn last_level(machine: &Machine, sweep: &Sweep, draft: &Draft) -> Option<(u64, f64)> {
    let found = |cache: &&FoundCache| cache.found.is_some();
    let last = sweep.caches.iter().rfind(found)?;
    let cpu = sweep.labels.get("cpu")?.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size is a whole number of bytes")]
    let bytes = draft.metrics[last.found?].value as u64;
    // An inner level's end says nothing of the last one's.
    let declared = sweeps::declared(machine, cpu);
    let is_last = match declared.last() {
        Some((name, size)) => last.level == *name || (last.level == "?" && bytes > *size),
        None => true,
    };
    let at = sweep.points.iter().find(|point| point.at == bytes).filter(|_| is_last)?;
    Some((bytes, draft.metrics.get(at.metric?)?.value))
}

/// Judges the bandwidths of a sweep's level of memory; none without any.
pub(crate) fn bandwidths(
    case: &Case<'_>,
    figures: &[Figure],
    sweeps: &[Sweep],
    caches: &AsFound,
    draft: &mut Draft,
) -> Option<Verdict> {
    let mut verdicts = Vec::new();
    // Where the last cache's end was not found, nobody knows what is its.
    let last = |sweep: &Sweep| sweep.caches.iter().rfind(|cache| cache.declared.is_some()).is_some_and(|c| c.found.is_some());
    let found = sweeps.iter().any(last);
    for (labels, group) in sweeps::groups(figures, "sweep_bandwidth", &["bytes", "class"], draft) {
        let of = |level: &str| {
            let is = |metric: &Metric| {
                metric.name == "level_bandwidth"
                    && metric.labels.get("level").is_some_and(|have| have == level)
                    && labels.iter().all(|(label, value)| metric.labels.get(label) == Some(value))
            };
            draft.metrics.iter().position(is)
        };
        let Some(memory) = of("memory") else { continue };
        if let Some(fault) = changes(case, &group, caches, draft) {
            let title = labels::title("level_bandwidth", &draft.metrics[memory].labels);
            draft.metrics[memory].remarks.push(fault.clone());
            draft.reject(fault.clone(), title);
            verdicts.push(Verdict::Cache(fault));
            continue;
        }
        let cache = ["L4", "L3", "L2"].into_iter().find_map(of);
        let share = cache.map(|cache| draft.metrics[memory].value / draft.metrics[cache].value);
        verdicts.push(match share {
            _ if !found => Verdict::Unknown("the end of the last-level cache was not found".to_owned()),
            Some(share) if share <= BANDWIDTH => Verdict::Memory(format!("{share:.2} × the last-level cache's")),
            // Its own lines in flight may limit a thread in either; stores past the caches never see one.
            Some(share) => Verdict::Unknown(format!("{share:.2} × the last-level cache's: the threads may limit both")),
            None => Verdict::Unknown("no last-level cache's stands beside it".to_owned()),
        });
    }
    let weight = |verdict: &Verdict| match verdict {
        Verdict::Cache(_) => 0,
        Verdict::Unknown(_) => 1,
        Verdict::Memory(_) => 2,
    };
    verdicts.into_iter().min_by_key(weight)
}

/// Would the bandwidth fall, surely and by more than memory's does, from the largest size to twice that? What a cache still holds of a walk is
/// in inverse proportion to its size, so half of the fall from half the size is yet to come.
fn changes(case: &Case<'_>, group: &[(u64, &Figure)], caches: &AsFound, draft: &Draft) -> Option<String> {
    let (whole, whole_figure) = group.last()?;
    let (half, half_figure) = group.iter().find(|(bytes, _)| *bytes == whole / 2)?;
    if caches.level(case, half_figure).as_deref() != Some("memory") {
        return None;
    }
    let ([lo, _], [_, hi]) = (draft.metrics[half_figure.metric].ci95?, draft.metrics[whole_figure.metric].ci95?);
    (lo > hi * (1.0 + 2.0 * CHANGE)).then(|| {
        let [from, to] = [*half, *whole].map(units::bytes);
        format!("partly a cache's: falls by {:.0} % or more from {from} to {to}", (1.0 - hi / lo) * 100.0)
    })
}
