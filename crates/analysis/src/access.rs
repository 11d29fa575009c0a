//! Single accesses: percentiles of latency.

use crate::draft::{Draft, gap};
use crate::figures::{Case, assemble, circumstances, lost, reject_disturbed};
use crate::rounds::{self, Quantity, Sample, Series};
use crate::{absent, labels};
use memgauge_model::{AccessBins, AccessHistogram, Histogram, Measure, PointId, Reason, units};

const NAME: &str = "access_latency";

/// A step of the clock above this share of the median leaves nothing to tell percentiles by.
const COARSE: f64 = 0.1;

/// Writes a figure for each percentile, or says why there is none.
pub(crate) fn write(case: &Case<'_>, point: PointId, draft: &mut Draft) {
    let selection = &case.selections[point];
    let mut common = labels::of_point(case.record, &case.record.plan.points[point]);
    let title = labels::title(NAME, &common);
    if let Some(class) = selection.class {
        labels::set(&mut common, "class", class.word());
    }
    let median = series(case, point, 50.0);
    reject_disturbed(case, &median, &title, draft);
    let Some(estimate) = rounds::estimate(&median, "") else {
        return absent::figure(case, point, NAME, &common, &median, draft);
    };
    let quantum = case.record.run.clock.quantum_ns;
    // An unknown quantum must not pass.
    if !quantum.is_finite() || quantum > COARSE * estimate.value {
        let detail = format!("the clock steps by {quantum:.1} ns, the median is {:.1} ns", estimate.value);
        return draft.miss(gap(NAME, &common, Reason::NotSupported, detail, "a machine with a finer clock"));
    }
    for percent in percents(case, point) {
        let series = series(case, point, percent);
        let Some(estimate) = rounds::estimate(&series, &lost(case, selection, &series)) else { continue };
        let mut labels = common.clone();
        labels::set(&mut labels, "percentile", word(percent));
        let mut metric = assemble(NAME, Quantity::Latency.unit(), &labels, &series, estimate);
        circumstances(case, point, &case.selections[point].blocks, &title, &mut metric, draft);
        metric.remarks.extend(cost(case, point));
        draft.add(metric);
    }
}

/// How they are spread, where that was counted: rounds in which the percentiles count, too.
pub(crate) fn histograms(case: &Case<'_>) -> Vec<Histogram> {
    let points = case.record.plan.points.iter().enumerate();
    points
        .filter(|(_, planned)| matches!(planned.measure, Measure::Access { .. }))
        .filter_map(|(at, _)| spread(case, at))
        .collect()
}

fn spread(case: &Case<'_>, point: PointId) -> Option<Histogram> {
    let selection = &case.selections[point];
    let windows = windows(case, point);
    let seen: Vec<(&AccessHistogram, &AccessBins)> = selection
        .blocks
        .iter()
        .filter(|block| whole(&windows, block.round))
        .filter_map(|block| block.access.as_ref().and_then(|seen| Some((seen, seen.bins.as_ref()?))))
        .collect();
    let (_, first) = seen.first()?;
    let mut all = AccessBins::new(first.width_log2);
    seen.iter().for_each(|(_, bins)| all.merge(bins));
    let mut labels = labels::of_point(case.record, &case.record.plan.points[point]);
    if let Some(class) = selection.class {
        labels::set(&mut labels, "class", class.word());
    }
    let costs: Vec<f64> = seen.iter().map(|(seen, _)| seen.cost_ns).collect();
    Some(Histogram {
        name: NAME.to_owned(),
        labels,
        clock_hz: case.record.run.clock.hz,
        width: 1 << all.width_log2,
        cost_ns: memgauge_stats::median(&costs)?,
        rounds: u32::try_from(seen.len()).unwrap_or(u32::MAX),
        bins: all.filled(),
        end: AccessBins::END,
        beyond: all.beyond,
    })
}

/// The percentile of every round.
fn series(case: &Case<'_>, point: PointId, percent: f64) -> Series {
    let blocks = &case.selections[point].blocks;
    let windows = windows(case, point);
    let samples = blocks.iter().filter(|block| whole(&windows, block.round)).filter_map(|block| {
        let typical = value(block.access.as_ref()?, percent)?;
        Some(Sample { round: block.round, typical, undisturbed: None })
    });
    Series {
        samples: samples.collect(),
        windows: windows.windows,
        excluded: windows.excluded,
        seen: windows.seen,
        ..Series::default()
    }
}

/// Windows only tell what was disturbed: each has mean latencies, not single ones.
fn windows(case: &Case<'_>, point: PointId) -> Series {
    let limits = &case.record.plan.windows.limits;
    Series::of_windows(&case.selections[point].blocks, limits, Quantity::Latency, |_| Some(1.0))
}

/// Has the round any undisturbed window? Where there are no windows at all, nothing speaks against it.
fn whole(windows: &Series, round: u32) -> bool {
    windows.windows == 0 && windows.excluded == 0 || windows.in_round(round).is_some()
}

fn value(seen: &AccessHistogram, percent: f64) -> Option<f64> {
    let found = seen.percentiles.iter().find(|(at, _)| at.total_cmp(&percent).is_eq());
    found.map(|(_, ns)| *ns).filter(|ns| ns.is_finite())
}

/// Percentiles that any round has, rising.
fn percents(case: &Case<'_>, point: PointId) -> Vec<f64> {
    let blocks = &case.selections[point].blocks;
    let mut all: Vec<f64> = blocks
        .iter()
        .filter_map(|block| block.access.as_ref())
        .flat_map(|seen| seen.percentiles.iter().map(|(percent, _)| *percent))
        .filter(|percent| percent.is_finite())
        .collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// The label's word: `50`, `99.9`, `max`.
fn word(percent: f64) -> String {
    if percent >= 100.0 { "max".to_owned() } else { percent.to_string() }
}

/// What timing one access costs, and how many there were.
fn cost(case: &Case<'_>, point: PointId) -> Option<String> {
    let seen: Vec<&AccessHistogram> = case.selections[point].blocks.iter().filter_map(|block| block.access.as_ref()).collect();
    let costs: Vec<f64> = seen.iter().map(|seen| seen.cost_ns).collect();
    let accesses = seen.iter().fold(0_u64, |sum, seen| sum.saturating_add(seen.count));
    memgauge_stats::median(&costs)
        .map(|cost| format!("{}; {cost:.1} ns of timing subtracted from each", units::count(accesses, "access")))
}
