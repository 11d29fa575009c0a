//! Scans: views of figures by region, and what the slow ones showed when they were measured again.

use crate::classes::{self, Selection};
use crate::draft::{Draft, Labels};
use crate::figures::{self, Case, Figure, assemble, lost};
use crate::labels::{self, set};
use crate::rounds::{self, Quantity, Series};
use memgauge_model::{
    AgainRecord, AgainRule, ArenaId, Avail, Measure, Metric, MetricId, Mix, Physical, PointId, Reason, Scan, ScanBin, ScanFence,
    ScanPlan, SlowRegion, units,
};
use memgauge_stats as stats;
use std::collections::{BTreeMap, BTreeSet};

/// Bins of a histogram at most: it should fit on a screen beside the rest.
const BINS: usize = 16;

/// A view for each node and mix, in the plan's order.
pub(crate) fn write(case: &Case<'_>, figures: &[Figure], draft: &mut Draft) -> Vec<Scan> {
    let plan = &case.record.plan;
    if plan.scans.is_empty() {
        return Vec::new();
    }
    let again = classes::select_again(case.record, &case.pairs);
    let mut scans = Vec::new();
    for scanned in &plan.scans {
        for mix in mixes(case, scanned) {
            scans.push(Scanned::new(case, figures, &again, scanned, mix).view(draft));
        }
    }
    scans
}

/// The mixes of a scan, in the order of its points.
fn mixes(case: &Case<'_>, scanned: &ScanPlan) -> Vec<Mix> {
    let mut mixes = Vec::new();
    for point in &case.record.plan.points {
        if let Measure::Scan { node, mix, .. } = point.measure
            && node == scanned.node
            && !mixes.contains(&mix)
        {
            mixes.push(mix);
        }
    }
    mixes
}

/// The regions of one node, by one mix.
struct Scanned<'a> {
    case: &'a Case<'a>,
    again: &'a [Selection<'a>],
    plan: &'a ScanPlan,
    mix: Mix,
    /// By region number.
    points: BTreeMap<u32, PointId>,
    /// The figures that there are, by point.
    figures: BTreeMap<PointId, &'a Figure>,
}

impl<'a> Scanned<'a> {
    fn new(case: &'a Case<'a>, figures: &'a [Figure], again: &'a [Selection<'a>], plan: &'a ScanPlan, mix: Mix) -> Self {
        let points = case.record.plan.points.iter().enumerate();
        let points: BTreeMap<u32, PointId> = points
            .filter_map(|(id, point)| match point.measure {
                Measure::Scan { node, region, mix: of } if node == plan.node && of == mix => Some((region, id)),
                _ => None,
            })
            .collect();
        let ours: BTreeSet<PointId> = points.values().copied().collect();
        let figures = figures.iter().filter(|figure| ours.contains(&figure.point)).map(|figure| (figure.point, figure)).collect();
        Self { case, again, plan, mix, points, figures }
    }

    fn view(&self, draft: &mut Draft) -> Scan {
        let regions: Vec<Option<MetricId>> = (0..rounds::count(self.plan.arenas.len()))
            .map(|region| Some(self.figures.get(self.points.get(&region)?)?.metric))
            .collect();
        let known: Vec<MetricId> = regions.iter().flatten().copied().collect();
        let by_value = |a: &&MetricId, b: &&MetricId| draft.metrics[**a].value.total_cmp(&draft.metrics[**b].value);
        let (slowest, fastest) = (known.iter().min_by(by_value).copied(), known.iter().max_by(by_value).copied());
        let values: Vec<f64> = known.iter().map(|id| draft.metrics[*id].value).collect();
        let mut pages: BTreeMap<String, u32> = BTreeMap::new();
        known.iter().for_each(|id| *pages.entry(kind(&draft.metrics[*id])).or_default() += 1);
        let found: Vec<(&AgainRecord, &AgainRule)> = self.found().collect();
        let mut slow: Vec<SlowRegion> = found.iter().flat_map(|(record, rule)| self.slow(record, rule, draft)).collect();
        let value = |slow: &SlowRegion| slow.first.map_or(f64::INFINITY, |id| draft.metrics[id].value);
        slow.sort_by(|a, b| value(a).total_cmp(&value(b)));
        Scan {
            node: self.plan.node,
            mix: self.mix.name().to_owned(),
            region_bytes: self.plan.region_bytes,
            scanned_bytes: self.plan.region_bytes.saturating_mul(known.len() as u64),
            available_bytes: self.plan.available_bytes,
            memory_bytes: self.plan.memory_bytes,
            pages,
            median: self.median(&known, draft),
            slowest,
            fastest,
            histogram: histogram(&values),
            fences: found.into_iter().map(|(record, rule)| fence(record, rule)).collect(),
            slow,
            guest_physical: self.case.record.machine.is_guest(),
            addresses: self.addresses(),
            regions,
        }
    }

    /// What the engine found, by kind of pages.
    fn found(&self) -> impl Iterator<Item = (&'a AgainRecord, &'a AgainRule)> {
        let (run, phases, at, mix) = (&self.case.record.run, &self.case.record.plan.phases, self.plan.phase, self.mix);
        let rule = phases.get(at).and_then(|phase| phase.held.as_ref());
        run.again
            .iter()
            .filter(move |record| record.phase == at && record.mix == mix)
            .filter_map(move |record| Some((record, rule?)))
    }

    /// The figure of the middle region of each round.
    fn median(&self, known: &[MetricId], draft: &mut Draft) -> Option<MetricId> {
        let all: Vec<&Series> =
            self.figures.values().map(|figure| &figure.series).filter(|series| self.trusted(series)).collect();
        let labels = shared(known.iter().map(|id| &draft.metrics[*id]));
        let remark = units::count(all.len() as u64, "region");
        middle("scan_median_bandwidth", labels, &rounds::middle(&all), remark, draft)
    }

    /// The slow regions of one kind of pages.
    fn slow(&self, record: &AgainRecord, rule: &AgainRule, draft: &mut Draft) -> Vec<SlowRegion> {
        let beside: Vec<(PointId, Series)> = record.controls.iter().map(|point| (*point, self.again_series(*point))).collect();
        let beside: Vec<&(PointId, Series)> = beside.iter().filter(|(_, series)| self.trusted(series)).collect();
        let series = rounds::middle(&beside.iter().map(|(_, series)| series).collect::<Vec<_>>());
        let known = beside.iter().filter_map(|(point, _)| self.figures.get(point)).map(|figure| &draft.metrics[figure.metric]);
        let labels = shared(known);
        let number = |(region, id): (&u32, &PointId)| beside.iter().any(|(point, _)| point == id).then(|| region.to_string());
        let remark = format!("regions {}", self.points.iter().filter_map(number).collect::<Vec<_>>().join(", "));
        let metric = middle("scan_control_bandwidth", labels, &series, remark, draft);
        record.slow.iter().filter_map(|point| self.one_slow(*point, rule, (&series, metric), draft)).collect()
    }

    fn one_slow(
        &self,
        point: PointId,
        rule: &AgainRule,
        (beside, controls): (&Series, Option<MetricId>),
        draft: &mut Draft,
    ) -> Option<SlowRegion> {
        let (&region, _) = self.points.iter().find(|(_, id)| **id == point)?;
        let physical = self.physical(*self.plan.arenas.get(usize::try_from(region).ok()?)?);
        let first = self.figures.get(&point);
        let pages = first.map_or_else(String::new, |first| kind(&draft.metrics[first.metric]));
        let series = self.again_series(point);
        let again = first.and_then(|first| self.again(first, &series, draft));
        let (mut ratio, mut slow) = (None, None);
        let shares = rounds::paired(&series, beside, |a, b| a / b, |a, b| [a[0] / b[1], a[1] / b[0]]);
        if let (Some(first), Some(again), Some(estimate)) = (first, again, rounds::estimate(&shares, "")) {
            let trusted = self.trusted(&first.series) && self.trusted(&series);
            slow = estimate.ci95.filter(|_| trusted).and_then(|interval| stayed(interval, rule.least));
            let labels = draft.metrics[again].labels.clone();
            ratio = draft.add(assemble("scan_again_ratio", "ratio", &labels, &shares, estimate));
        }
        let controls = controls.filter(|_| again.is_some());
        Some(SlowRegion { region, first: first.map(|first| first.metric), again, controls, ratio, stayed: slow, pages, physical })
    }

    /// The figure of a region that was measured again.
    fn again(&self, first: &Figure, series: &Series, draft: &mut Draft) -> Option<MetricId> {
        let selection = self.again.get(first.point)?;
        let estimate = rounds::estimate(series, &lost(self.case, selection, series))?;
        let mut labels = draft.metrics[first.metric].labels.clone();
        if let Some(class) = selection.class {
            set(&mut labels, "class", class.word());
        }
        let name = "scan_again_bandwidth";
        let title = labels::title(name, &labels);
        figures::reject_disturbed(self.case, series, &title, draft);
        let mut metric = assemble(name, Quantity::Bandwidth.unit(), &labels, series, estimate);
        figures::circumstances(self.case, first.point, &selection.blocks, &title, &mut metric, draft);
        draft.add(metric)
    }

    /// What a point gave when it was measured again; empty where it was not.
    fn again_series(&self, point: PointId) -> Series {
        let Some(selection) = self.again.get(point) else { return Series::default() };
        let limits = &self.case.record.plan.windows.limits;
        let mut series = Series::of_windows(&selection.blocks, limits, Quantity::Bandwidth, |window| Some(window.bytes_per_s()));
        series.exclude_changed(&selection.changed);
        series
    }

    /// Can it be judged by? Disturbance makes slow, too.
    fn trusted(&self, series: &Series) -> bool {
        !series.samples.is_empty()
            && !series.only_disturbed
            && series.excluded_share() <= self.case.record.plan.windows.limits.excluded_share
    }

    /// Where each region begins; nothing where none of it is known.
    fn addresses(&self) -> Vec<Option<u64>> {
        let lowest = |arena: &ArenaId| Some(self.physical(*arena).known()?.ranges.first()?[0]);
        let all: Vec<Option<u64>> = self.plan.arenas.iter().map(lowest).collect();
        if all.iter().any(Option::is_some) { all } else { Vec::new() }
    }

    fn physical(&self, arena: ArenaId) -> Avail<Physical> {
        let found = self.case.record.run.physical.iter().find(|place| place.arena == arena);
        found.map_or_else(
            || Avail::missing(Reason::OutOfTime, "the run was stopped before addresses were asked for"),
            |place| place.physical.clone(),
        )
    }
}

/// Is a region slow by this interval of its share of what ordinary ones have? Sure of either answer, or of none.
fn stayed([lo, hi]: [f64; 2], least: f64) -> Option<bool> {
    let slow = 1.0 - least;
    if hi <= slow {
        Some(true)
    } else if lo > slow {
        Some(false)
    } else {
        None
    }
}

/// The figure of the middle one of several regions, round by round.
fn middle(name: &str, labels: Labels, series: &Series, remark: String, draft: &mut Draft) -> Option<MetricId> {
    let mut metric = assemble(name, Quantity::Bandwidth.unit(), &labels, series, rounds::estimate(series, "")?);
    metric.remarks.push(remark);
    draft.add(metric)
}

/// Labels that all of them share.
fn shared<'m>(mut metrics: impl Iterator<Item = &'m Metric>) -> Labels {
    let mut labels = metrics.next().map(|metric| metric.labels.clone()).unwrap_or_default();
    labels.remove("region");
    metrics.for_each(|metric| labels.retain(|label, value| metric.labels.get(label) == Some(&*value)));
    labels
}

/// The kind of pages that a region got.
pub(crate) fn kind(metric: &Metric) -> String {
    let kind = metric.placement.as_ref().map_or("unknown", |placement| placement.kind.as_str());
    if kind.contains('+') || kind.starts_with("mixed") { "mixed".to_owned() } else { kind.to_owned() }
}

fn histogram(values: &[f64]) -> Vec<ScanBin> {
    let bins = stats::bins(values, BINS).unwrap_or_default();
    bins.into_iter().map(|bin| ScanBin { from: bin.from, to: bin.to, regions: rounds::count(bin.count) }).collect()
}

fn fence(record: &AgainRecord, rule: &AgainRule) -> ScanFence {
    ScanFence { pages: record.pages, regions: record.values, median: record.median, fence: record.fence, rule: *rule }
}
