//! What hardware counters saw beside the figures, under names of their own: a counted byte is no application byte.
//!
//! Counters cover a block whole, from its first window to its last, disturbed ones included: a round's value is one reading.

mod absent;

use crate::draft::Draft;
use crate::dram;
use crate::figures::{Case, Figure, assemble};
use crate::rounds::{self, Series};
use crate::{jobs, labels};
use memgauge_model::{Block, Count, Counted, CounterEvent, CounterScope, Job, Metric, Point, PointId, Window};
use std::collections::BTreeSet;

/// Writes counters beside each figure that has any; where there are none at all, why.
pub(crate) fn write(case: &Case<'_>, figures: &[Figure], draft: &mut Draft) {
    for figure in figures.iter().filter(|figure| case.record.plan.points[figure.point].has_counters()) {
        for counted in [Counted::DramRead, Counted::DramWrite, Counted::DramTotal] {
            // The observer's latency and the loads' bandwidth are of the same moment: one of them carries it.
            if figure.name != "loaded_latency" {
                let series = Series::of_blocks(blocks(case, figure), |block| dram_rate(case, block, counted));
                push(case, figure, counted.figure(), "B/s", &[counted], &series, draft);
            }
        }
        ratio(case, figure, draft);
        for counted in [Counted::DtlbMisses, Counted::LlcMisses] {
            let point = &case.record.plan.points[figure.point];
            let series = Series::of_blocks(blocks(case, figure), |block| per_access(case, point, block, figure, counted));
            push(case, figure, counted.figure(), "1/access", &[counted], &series, draft);
        }
    }
    absent::write(case, draft);
}

/// Counted DRAM bytes over estimated ones. Far above 1: other processes' traffic, prefetches in vain, or a wrong estimate.
fn ratio(case: &Case<'_>, figure: &Figure, draft: &mut Draft) {
    let bandwidth = figure.name.ends_with("_bandwidth");
    let Some(estimate) = estimated(case, figure.point).filter(|_| bandwidth) else { return };
    let series = Series::of_blocks(blocks(case, figure), |block| Some(dram_bytes(case, block)? / estimate(block)?));
    let counted = [Counted::DramRead, Counted::DramWrite, Counted::DramTotal];
    push(case, figure, "counter_dram_ratio", "ratio", &counted, &series, draft);
}

/// DRAM bytes a second that a block's counters saw, reads and writes; none where not both were counted.
///
/// The hook for [`dram::traffic`]: where the RFO probe leaves a range, this over the application's bytes is the factor, if
/// nothing else uses the memory. The rule rests on the probe alone so far, since it holds on every machine.
pub(crate) fn dram_bytes(case: &Case<'_>, block: &Block) -> Option<f64> {
    let rate = |counted| dram_rate(case, block, counted);
    rate(Counted::DramTotal).or_else(|| Some(rate(Counted::DramRead)? + rate(Counted::DramWrite)?))
}

fn dram_rate(case: &Case<'_>, block: &Block, counted: Counted) -> Option<f64> {
    let counters = block.counters.as_ref().filter(|counters| counters.system_ns > 0.0)?;
    let of_kind = kind(case, &counters.system, counted);
    // A sum without one of its controllers is none.
    if of_kind.is_empty() || of_kind.len() != planned(case, counted) {
        return None;
    }
    let bytes = of_kind.iter().map(|count| Some(count.scaled()? * case.record.plan.counters[count.event].bytes));
    let bytes: f64 = bytes.sum::<Option<f64>>()?;
    Some(bytes * 1e9 / counters.system_ns)
}

/// How many counters of a kind are open on all their CPUs together.
fn planned(case: &Case<'_>, counted: Counted) -> usize {
    let plan = &case.record.plan.counters;
    let used = case.record.run.counters.used.iter().filter_map(|event| plan.get(*event));
    let cpus = |event: &CounterEvent| match &event.scope {
        CounterScope::System { cpus } => cpus.len(),
        CounterScope::Thread { .. } => 0,
    };
    used.filter(|event| event.counts == counted).map(cpus).sum()
}

/// Estimated DRAM bytes a second of a block's windows, disturbed ones included, as the counters have them.
fn estimated<'c>(case: &'c Case<'_>, point: PointId) -> Option<impl Fn(&Block) -> Option<f64> + 'c> {
    let plan = &case.record.plan;
    let streams = jobs::streams(plan, &plan.points[point])?;
    let factor = dram::traffic(case, point, &streams).factor;
    Some(move |block: &Block| {
        let ns: f64 = block.windows.iter().map(|window| window.ns).sum();
        let bytes = |window: &Window| window.observer_bytes_per_s + window.load_bytes_per_s * factor;
        let all: f64 = block.windows.iter().map(|window| bytes(window) * window.ns).sum();
        (all > 0.0 && ns > 0.0).then_some(all / ns)
    })
}

/// Misses of the threads that a figure is of, over their accesses: hops of the chase, lines of the streams.
fn per_access(case: &Case<'_>, point: &Point, block: &Block, figure: &Figure, counted: Counted) -> Option<f64> {
    let counters = block.counters.as_ref()?;
    let streams = figure.name.ends_with("_bandwidth");
    let (mut misses, mut accesses) = (0.0, 0.0);
    for (thread, counts) in point.threads.iter().zip(&counters.threads) {
        let wanted = if streams { matches!(thread.job, Job::Stream { .. }) } else { thread.job.chases() };
        if !wanted {
            continue;
        }
        misses += kind(case, &counts.counts, counted).first()?.scaled()?;
        #[expect(clippy::cast_precision_loss, reason = "accesses of a block stay below 2^52")]
        let done = counts.accesses as f64;
        accesses += done;
    }
    (accesses > 0.0).then(|| misses / accesses)
}

fn kind<'b>(case: &Case<'_>, counts: &'b [Count], counted: Counted) -> Vec<&'b Count> {
    let plan = &case.record.plan.counters;
    counts.iter().filter(|count| plan.get(count.event).is_some_and(|event| event.counts == counted)).collect()
}

fn blocks<'c, 'a>(case: &'c Case<'a>, figure: &Figure) -> &'c [&'a Block] {
    &case.selections[figure.point].blocks
}

fn push(case: &Case<'_>, of: &Figure, name: &str, unit: &str, counted: &[Counted], series: &Series, draft: &mut Draft) {
    let Some(estimate) = rounds::estimate(series, "") else { return };
    let mut with = draft.metrics[of.metric].labels.clone();
    labels::set(&mut with, "of", of.name);
    let mut metric: Metric = assemble(name, unit, &with, series, estimate);
    metric.remarks.extend(by(case, blocks(case, of), counted));
    draft.add(metric);
}

/// By which events, and whether they had their hardware counters all the time.
fn by(case: &Case<'_>, blocks: &[&Block], counted: &[Counted]) -> Vec<String> {
    let plan = &case.record.plan.counters;
    let all = blocks.iter().filter_map(|block| block.counters.as_ref());
    let counts: Vec<&Count> = all
        .flat_map(|counters| counters.system.iter().chain(counters.threads.iter().flat_map(|thread| &thread.counts)))
        .filter(|count| plan.get(count.event).is_some_and(|event| counted.contains(&event.counts)))
        .collect();
    let names: BTreeSet<String> = counts.iter().map(|count| name(&plan[count.event])).collect();
    let mut remarks = vec![format!("by {}", names.into_iter().collect::<Vec<_>>().join(", "))];
    let share = |count: &&Count| count.running_ns * 100 / count.enabled_ns.max(1);
    if let Some(least) = counts.iter().copied().filter(|count| count.shared()).map(|count| share(&count)).min() {
        remarks.push(format!("scaled: more events than hardware counters, each counted {least} % of the time or more"));
    }
    remarks
}

/// A PMU without its number, and the event.
fn name(event: &CounterEvent) -> String {
    let family = event.pmu.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    format!("{family} {}", event.event)
}
