//! From points to figures.

use crate::classes::{self, ByPair, Selection};
use crate::draft::{Draft, Labels};
use crate::dram::{self, Traffic};
use crate::jobs::{self, Chaser, Streams};
use crate::rounds::{self, Estimate, Quantity, Series};
use crate::{absent, access, labels, placement, plausibility};
use memgauge_model::{Block, C2cScope, CpuList, End, Job, Measure, Metric, MetricId, Point, PointId, Record, Window, units};
use std::collections::BTreeMap;

/// The record with the blocks chosen that count.
#[derive(Debug)]
pub(crate) struct Case<'a> {
    pub record: &'a Record,
    pub pairs: ByPair,
    /// By point.
    pub selections: Vec<Selection<'a>>,
}

impl<'a> Case<'a> {
    /// Chooses the blocks that count.
    pub fn new(record: &'a Record) -> Self {
        let pairs = classes::by_pair(record);
        let selections = classes::select(record, &pairs);
        Self { record, pairs, selections }
    }
}

/// A figure that was measured, with its rounds for what is derived from it.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub point: PointId,
    pub name: &'static str,
    pub metric: MetricId,
    pub series: Series,
}

/// Writes the figures of all points; what could not be had goes to the gaps.
pub(crate) fn measured(case: &Case<'_>, draft: &mut Draft) -> Vec<Figure> {
    let mut figures = Vec::new();
    // Of a brief sweep's sizes each has a window or two: they are judged together.
    let mut brief: BTreeMap<&'static str, Series> = BTreeMap::new();
    absent::searches(case, draft);
    for (point, planned) in case.record.plan.points.iter().enumerate() {
        if absent::is_candidate(case.record, point) {
            continue;
        }
        if let Measure::Access { .. } = planned.measure {
            access::write(case, point, draft);
            continue;
        }
        for &(name, quantity) in labels::names(planned) {
            let writer = Writer::new(case, point, name, quantity);
            let series = writer.series();
            match planned.brief {
                Some(_) => brief.entry(name).or_default().count_with(&series),
                None => reject_disturbed(case, &series, &writer.title, draft),
            }
            figures.extend(writer.write(series, draft));
        }
    }
    brief.iter().for_each(|(name, all)| reject_disturbed(case, all, name, draft));
    figures
}

/// What a figure is made of.
pub(crate) struct Writer<'a> {
    case: &'a Case<'a>,
    point: PointId,
    planned: &'a Point,
    selection: &'a Selection<'a>,
    name: &'static str,
    quantity: Quantity,
    labels: Labels,
    title: String,
    chaser: Option<Chaser<'a>>,
    streams: Option<Streams<'a>>,
}

impl<'a> Writer<'a> {
    fn new(case: &'a Case<'a>, point: PointId, name: &'static str, quantity: Quantity) -> Self {
        let plan = &case.record.plan;
        let (planned, selection) = (&plan.points[point], &case.selections[point]);
        let mut labels = labels::of_point(case.record, planned);
        let title = labels::title(name, &labels);
        if let Some(class) = selection.class {
            labels::set(&mut labels, "class", class.word());
        }
        let (chaser, streams) = (jobs::chaser(plan, planned), jobs::streams(plan, planned));
        Self { case, point, planned, selection, name, quantity, labels, title, chaser, streams }
    }

    fn write(&self, series: Series, draft: &mut Draft) -> Option<Figure> {
        absent::other_classes(self.selection, self.name, &self.labels, draft);
        if let Measure::Peak { .. } | Measure::Max { .. } | Measure::MatrixBandwidth { .. } | Measure::Loaded { .. } =
            self.planned.measure
            && self.quantity == Quantity::Bandwidth
        {
            absent::other_classes(self.selection, &labels::dram_name(self.name), &self.labels, draft);
        }
        let Some(estimate) = rounds::estimate(&series, &lost(self.case, self.selection, &series)) else {
            absent::figure(self.case, self.point, self.name, &self.labels, &series, draft);
            return None;
        };
        let mut metric = assemble(self.name, self.quantity.unit(), &self.labels, &series, estimate);
        self.circumstances(&mut metric, draft);
        let dram = self.judge(&mut metric, draft);
        self.threads(draft);
        let id = draft.add(metric)?;
        if let Some(dram) = dram {
            draft.add(dram);
        }
        Some(Figure { point: self.point, name: self.name, metric: id, series })
    }

    fn series(&self) -> Series {
        let (blocks, limits) = (&self.selection.blocks, &self.case.record.plan.windows.limits);
        let mut series = match (&self.planned.measure, self.quantity) {
            (Measure::C2c { .. }, _) => Series::of_passes(blocks, limits),
            (_, Quantity::Latency) => Series::of_windows(blocks, limits, self.quantity, memgauge_model::Window::latency_ns),
            (_, Quantity::Bandwidth) => Series::of_windows(blocks, limits, self.quantity, |w| Some(w.bytes_per_s())),
        };
        series.exclude_changed(&self.selection.changed);
        series
    }

    /// Placement and remarks.
    fn circumstances(&self, metric: &mut Metric, draft: &mut Draft) {
        circumstances(self.case, self.point, &self.selection.blocks, &self.title, metric, draft);
        match &self.planned.measure {
            Measure::Idle { keepalive_reason: Some(reason), .. } => metric.remarks.push(format!("keepalive: {reason}")),
            Measure::Idle { .. } if self.case.record.plan.request.keepalive_cpus.is_some() => {
                let busy = self.planned.threads.iter().filter(|thread| thread.job == Job::KeepAlive).map(|thread| thread.cpu);
                metric.remarks.push(format!("kept awake by CPUs {}", busy.collect::<CpuList>()));
            }
            Measure::Max { delay, .. } => metric.remarks.push(format!("delay {delay}")),
            Measure::C2c { scope, .. } => {
                if let [writer, reader, third @ ..] = &self.planned.threads[..] {
                    if *scope == C2cScope::Node {
                        metric.remarks.push(format!("CPU {} to CPU {}", writer.cpu, reader.cpu));
                    }
                    metric.remarks.extend(third.first().map(|third| format!("read by CPU {} between", third.cpu)));
                    if self.case.record.machine.core_of(writer.cpu).contains(reader.cpu) {
                        metric.remarks.push("two threads of one core".to_owned());
                    }
                }
            }
            _ => {}
        }
    }

    /// Is it too good? Gives the twin of a bandwidth, which the memory controller's limit applies to.
    fn judge(&self, metric: &mut Metric, draft: &mut Draft) -> Option<Metric> {
        let (node, touched) = match (&self.streams, self.chaser, self.quantity) {
            (Some(streams), _, Quantity::Bandwidth) => (streams.by_thread.first()?.1.node, streams.touched()),
            (_, Some(chaser), Quantity::Latency) => (chaser.arena.node, vec![(chaser.cpu, chaser.bytes)]),
            _ => return None,
        };
        let swept = self.planned.measure.span().is_some();
        let scanned = matches!(self.planned.measure, Measure::Scan { .. });
        let asked = swept || self.case.record.plan.request.names_sizes();
        let (level, of_memory) = plausibility::name_level(self.case, node, &touched, asked, &self.title, draft);
        metric.remarks.extend(level);
        let streams = self.streams.as_ref().filter(|_| self.quantity == Quantity::Bandwidth)?;
        let removed = plausibility::loop_removed(&self.selection.blocks, streams.threads(), &self.title, draft);
        metric.remarks.extend(removed);
        if swept || scanned {
            // Most of a sweep's figures are of caches, which no memory controller sees; a scan's differ in their place alone.
            let claims = of_memory && (scanned || plausibility::beyond_all(&self.case.record.machine, &touched));
            let app = if claims { metric.value } else { 0.0 };
            metric.remarks.extend(plausibility::above_theoretical(self.case, app, &self.title, draft));
            return None;
        }
        let traffic = dram::traffic(self.case, self.point, streams);
        let mut twin = self.twin(metric, &traffic)?;
        if of_memory {
            let least = self.scaled(traffic.least());
            let least = rounds::estimate(&least, "").map_or(0.0, |estimate| estimate.value);
            let fault = plausibility::above_theoretical(self.case, least, &self.title, draft);
            metric.remarks.extend(fault.clone());
            twin.remarks.extend(fault);
        }
        Some(twin)
    }

    /// Each thread's own bandwidth, where that was asked for.
    fn threads(&self, draft: &mut Draft) {
        let plan = &self.case.record.plan;
        let Some(streams) = self.streams.as_ref().filter(|_| self.quantity == Quantity::Bandwidth && plan.request.per_thread)
        else {
            return;
        };
        for (at, ((cpu, _), mix)) in streams.by_thread.iter().zip(&streams.mixes).enumerate() {
            let own = |window: &Window| window.threads.get(at).copied();
            let mut series = Series::of_windows(&self.selection.blocks, &plan.windows.limits, self.quantity, own);
            series.exclude_changed(&self.selection.changed);
            let Some(estimate) = rounds::estimate(&series, &lost(self.case, self.selection, &series)) else { continue };
            let mut labels = self.labels.clone();
            labels::set(&mut labels, "of", self.name);
            labels::set(&mut labels, "cpu", cpu);
            labels::set(&mut labels, "mix", mix.name());
            draft.add(assemble("thread_bandwidth", self.quantity.unit(), &labels, &series, estimate));
        }
    }

    /// Rounds of what the controller sees when each load byte counts `factor`; the observer only loads.
    fn scaled(&self, factor: f64) -> Series {
        let limits = &self.case.record.plan.windows.limits;
        Series::of_windows(&self.selection.blocks, limits, self.quantity, |window| {
            Some(window.observer_bytes_per_s + window.load_bytes_per_s * factor)
        })
    }

    fn twin(&self, of: &Metric, traffic: &Traffic) -> Option<Metric> {
        let mut series = self.scaled(traffic.factor);
        series.exclude_changed(&self.selection.changed);
        let estimate = rounds::estimate(&series, &lost(self.case, self.selection, &series))?;
        let mut twin = assemble(&labels::dram_name(self.name), of.unit.as_str(), &self.labels, &series, estimate);
        twin.placement.clone_from(&of.placement);
        twin.remarks.clone_from(&of.remarks);
        twin.remarks.extend(traffic.remark.clone());
        if let Some(bounds) = traffic.bounds {
            // Each end with its own uncertainty: the figure may lie anywhere between.
            let ends = bounds.map(|factor| {
                let estimate = rounds::estimate(&self.scaled(factor), "");
                estimate.map_or([twin.value; 2], |e| e.ci95.or(e.range).unwrap_or([e.value; 2]))
            });
            twin.range = rounds::span(&[ends[0][0], ends[1][1], twin.value]);
            twin.range_reason.clone_from(&traffic.remark);
            (twin.ci95, twin.undisturbed_ci95) = (None, None);
        }
        Some(twin)
    }
}

/// A metric without its circumstances.
pub(crate) fn assemble(name: &str, unit: &str, labels: &Labels, series: &Series, estimate: Estimate) -> Metric {
    let within = estimate.within_allocation.then(|| "within_allocation".to_owned());
    let disturbed = series.only_disturbed.then(|| "every window was disturbed: this is what they show".to_owned());
    Metric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        labels: labels.clone(),
        value: estimate.value,
        ci95: estimate.ci95,
        range: estimate.range,
        range_reason: estimate.range_reason,
        undisturbed: estimate.undisturbed,
        undisturbed_ci95: estimate.undisturbed_ci95,
        best: series.best,
        samples: rounds::count(series.samples.len()),
        windows: series.windows,
        excluded: series.excluded,
        placement: None,
        remarks: within.into_iter().chain(disturbed).collect(),
    }
}

/// Where the memory was, and whether warm-up settled.
pub(crate) fn circumstances(
    case: &Case<'_>,
    point: PointId,
    blocks: &[&Block],
    title: &str,
    metric: &mut Metric,
    draft: &mut Draft,
) {
    let found = placement::of_blocks(blocks);
    placement::note(&found, draft);
    found.faults.iter().for_each(|fault| draft.reject(fault.clone(), title));
    let pages_matter = match case.record.plan.points[point].measure {
        Measure::C2c { .. } => false,
        // A scan takes what pages it can get, and names them by region.
        Measure::Scan { .. } => case.record.plan.request.pages.is_some(),
        _ => true,
    };
    if pages_matter {
        found.lost.iter().for_each(|fault| draft.reject(fault.clone(), title));
    }
    metric.placement = found.placement;
    metric.remarks.extend(found.remarks);
    // Blocks without a warm-up have nothing to settle.
    let unsettled = blocks.iter().filter(|block| block.warmup_windows > 0 && !block.settled).count();
    if unsettled > 0 {
        let all = units::count(blocks.len() as u64, "round");
        metric.remarks.push(format!("not settled: warm-up ended by time in {unsettled} of {all}"));
    }
}

/// Rejects a figure of which too many windows were disturbed.
pub(crate) fn reject_disturbed(case: &Case<'_>, series: &Series, title: &str, draft: &mut Draft) {
    if series.excluded_share() > case.record.plan.windows.limits.excluded_share {
        draft.disturbed(series, title);
    }
}

/// What became of the rounds that a figure lacks.
pub(crate) fn lost(case: &Case<'_>, selection: &Selection<'_>, series: &Series) -> String {
    let mut why = Vec::new();
    for (class, rounds) in &selection.others {
        why.push(format!("{rounds} in class {}", class.word()));
    }
    if !selection.changed.is_empty() {
        why.push(format!("class changed in {}", selection.changed.len()));
    }
    let empty = selection.blocks.len() - series.samples.len().min(selection.blocks.len());
    if empty > 0 {
        why.push(format!("{empty} wholly disturbed"));
    }
    match &case.record.run.end {
        End::Complete => {}
        End::Interrupted { signal } => why.push(format!("interrupted by {signal}")),
        End::Failed { .. } => why.push("the run failed".to_owned()),
    }
    why.join(", ")
}
