//! Loaded curves: a view of their points, and what the curve says.

use crate::draft::{Draft, Labels, gap};
use crate::figures::{Case, Figure};
use crate::jobs;
use crate::{labels, rounds};
use memgauge_model::{BurstFit, Curve, CurvePlan, CurvePoint, CurveShape, Measure, Metric, PointId, Reason, units};
use memgauge_stats::{self as stats, Knee, LoadPoint, burst::BURST_BYTES, knee::Ends};
use std::collections::BTreeSet;

/// Worst residual of the burst fit that still says: paced as planned.
const FIT_WITHIN: f64 = 0.03;
/// Departure of the fitted clock from the spin's that is worth a line.
const CLOCK_WITHIN: f64 = 0.05;

/// Views of all curves.
pub(crate) fn write(case: &Case<'_>, figures: &[Figure], draft: &mut Draft) -> Vec<Curve> {
    case.record.plan.curves.iter().enumerate().map(|(at, plan)| curve(case, figures, at, plan, draft)).collect()
}

fn curve(case: &Case<'_>, figures: &[Figure], at: usize, plan: &CurvePlan, draft: &mut Draft) -> Curve {
    let columns = columns(case, figures, at);
    let points = columns.iter().map(|column| CurvePoint {
        delay: column.delay,
        latency: column.latency.map(|figure| figure.metric),
        bandwidth: column.bandwidth.map(|figure| figure.metric),
    });
    let threads = rounds::count(plan.loads.len());
    Curve {
        mix: plan.mix.name().to_owned(),
        cpu: plan.observer,
        node: plan.node,
        threads,
        points: points.collect(),
        shape: shape(case, &columns, at, draft),
        burst_fit: burst_fit(case, &columns, at, draft),
    }
}

/// A delay of the curve.
struct Column<'a> {
    point: PointId,
    delay: u32,
    latency: Option<&'a Figure>,
    bandwidth: Option<&'a Figure>,
}

/// The curve's points whose delay is known, by rising delay.
fn columns<'a>(case: &Case<'_>, figures: &'a [Figure], at: usize) -> Vec<Column<'a>> {
    let find = |point, name| figures.iter().find(|figure| figure.point == point && figure.name == name);
    let planned = case.record.plan.points.iter().enumerate();
    let mut columns: Vec<Column<'a>> = planned
        .filter(|(_, point)| matches!(point.measure, Measure::Loaded { curve, .. } if curve == at))
        .filter_map(|(point, planned)| {
            let delay = labels::delay(case.record, planned)?;
            let (latency, bandwidth) = (find(point, "loaded_latency"), find(point, "loaded_bandwidth"));
            Some(Column { point, delay, latency, bandwidth })
        })
        .collect();
    columns.sort_by_key(|column| column.delay);
    columns
}

fn shape(case: &Case<'_>, columns: &[Column<'_>], at: usize, draft: &mut Draft) -> Option<CurveShape> {
    let labels = curve_labels(case, columns, at);
    let seed = case.record.command.seed;
    if case.record.plan.curves[at].observer.is_none() {
        gaps(&labels, Reason::NotApplicable, "nobody watched", "leave --no-observer out", draft);
        return None;
    }
    let curve = match stats::analyze_curve(&by_round(columns), seed) {
        Ok(curve) => curve,
        Err(why) => {
            gaps(&labels, Reason::NotApplicable, &why.to_string(), "ask for more delays (--delays auto)", draft);
            return None;
        }
    };
    let Some(flat) = curve.flat else {
        gaps(&labels, Reason::NotApplicable, "the lightest loads disagree by more than 10 %", "measure again", draft);
        return None;
    };
    let over_idle = curve.points.last().map_or(1.0, |last| last.fitted / curve.unloaded);
    let mut shape = CurveShape {
        idle_ns: curve.unloaded,
        flat_to: flat.to,
        knee: None,
        safe: None,
        saturated_from: None,
        at_factor: curve.matched.iter().map(|matched| (matched.multiple, matched.bandwidth)).collect(),
        reached: (curve.highest, over_idle),
    };
    match curve.knee {
        Knee::NotSaturated { reached, latency_ratio } => {
            let detail = format!("reached {} GB/s at {latency_ratio:.2} × idle", units::gb_per_s(reached));
            gaps(&labels, Reason::NotSaturated, &detail, "load with more CPUs (--load-cpus)", draft);
        }
        Knee::Found { column, bandwidth, ends, saturated_from, at_end, .. } => {
            shape.saturated_from = saturated_from;
            if let Some(from) = columns.get(column).and_then(|column| column.bandwidth) {
                let knee = knee(draft.metrics[from.metric].clone(), &labels, bandwidth, ends, at_end);
                let safe = ends.map(|ends| safe(&knee, ends));
                shape.knee = draft.add(knee);
                shape.safe = safe.and_then(|safe| draft.add(safe));
                if shape.safe.is_none() {
                    let detail = "it is the lower end of the knee's interval, which needs 6 rounds";
                    draft.miss(gap("safe_bandwidth", &labels, Reason::OutOfTime, detail, "let the run finish"));
                }
            }
        }
    }
    Some(shape)
}

/// What every round measured, all with the same columns.
fn by_round(columns: &[Column<'_>]) -> Vec<Vec<Option<LoadPoint>>> {
    let figures = || columns.iter().filter_map(|column| column.latency.zip(column.bandwidth));
    let numbers: BTreeSet<u32> =
        figures().flat_map(|(latency, _)| latency.series.samples.iter().map(|sample| sample.round)).collect();
    let point = |column: &Column<'_>, round| {
        let latency = column.latency?.series.in_round(round)?;
        let bandwidth = column.bandwidth?.series.in_round(round)?;
        Some(LoadPoint { bandwidth, latency })
    };
    numbers.into_iter().map(|round| columns.iter().map(|column| point(column, round)).collect()).collect()
}

/// The bandwidth of the knee's point, with the interval of the knee.
fn knee(of: Metric, labels: &Labels, bandwidth: f64, ends: Option<Ends>, at_end: f64) -> Metric {
    let range = ends.is_none().then(|| of.range.or(of.ci95)).flatten();
    let mut remarks = of.remarks;
    if at_end > 0.0 {
        remarks.push(format!("the heaviest load in {:.0} % of resamples", at_end * 100.0));
    }
    Metric {
        name: "knee_bandwidth".to_owned(),
        labels: labels.clone(),
        value: bandwidth,
        ci95: ends.map(|ends| [ends.lo, ends.hi]),
        range: range.map(|[lo, hi]| [lo.min(bandwidth), hi.max(bandwidth)]),
        range_reason: ends.is_none().then(|| of.range_reason.unwrap_or_else(|| "that of its point".to_owned())),
        undisturbed: None,
        undisturbed_ci95: None,
        best: None,
        remarks,
        ..of
    }
}

fn safe(knee: &Metric, ends: Ends) -> Metric {
    Metric {
        name: "safe_bandwidth".to_owned(),
        value: ends.lo,
        ci95: None,
        range: Some([ends.lo, knee.value.max(ends.lo)]),
        range_reason: Some("the lower end of the knee's interval, up to the knee".to_owned()),
        ..knee.clone()
    }
}

/// The curve's labels, with the class that all its points are of.
fn curve_labels(case: &Case<'_>, columns: &[Column<'_>], at: usize) -> Labels {
    let mut labels = labels::of_curve(&case.record.plan, at);
    if let Some(class) = columns.iter().find_map(|column| case.selections[column.point].class) {
        labels::set(&mut labels, "class", class.word());
    }
    labels
}

fn gaps(labels: &Labels, reason: Reason, detail: &str, remedy: &str, draft: &mut Draft) {
    draft.miss(gap("knee_bandwidth", labels, reason, detail, remedy));
    draft.miss(gap("safe_bandwidth", labels, reason, detail, remedy));
}

/// Fits the clock and the cost of a burst to what the load threads alone moved.
fn burst_fit(case: &Case<'_>, columns: &[Column<'_>], at: usize, draft: &mut Draft) -> Option<BurstFit> {
    let plan = &case.record.plan.curves[at];
    let limits = &case.record.plan.windows.limits;
    let points: Vec<(f64, f64)> = columns
        .iter()
        .filter_map(|column| {
            let blocks = &case.selections[column.point].blocks;
            let loads = rounds::Series::of_windows(blocks, limits, rounds::Quantity::Bandwidth, |w| Some(w.load_bytes_per_s));
            Some((f64::from(column.delay), stats::median(&loads.typical())?))
        })
        .collect();
    // A burst is four steps of the loop: 256 bytes of every stream, more of one that is read ahead of the others.
    let manner = jobs::streams(&case.record.plan, &case.record.plan.points[columns.first()?.point])?;
    let used = if manner.partial { 8.0 } else { f64::from(plan.mix.shape().bytes_per_line) };
    let step = f64::from(plan.mix.shape().loads + plan.mix.shape().stores) * used / 64.0;
    let told = !case.record.plan.request.assignments.is_empty();
    if told || manner.flush {
        let why = if told { "load threads are told by themselves what to do" } else { "flushes come between bursts" };
        let remedy = "measure without --assign and --flush";
        draft.miss(gap("burst_fit", &curve_labels(case, columns, at), Reason::NotApplicable, why.to_owned(), remedy));
        return None;
    }
    let fit = stats::fit_bursts(&points, plan.loads.len() as f64 * BURST_BYTES * step);
    let spins = columns.iter().flat_map(|column| &case.selections[column.point].blocks).map(|block| block.core_hz);
    let spins: Vec<f64> = spins.filter(|hz| hz.is_finite() && *hz > 0.0).collect();
    let fit = fit.map(|fit| BurstFit {
        f: fit.clock_hz,
        t0: fit.burst_cycles,
        residual: fit.worst_residual,
        spin_hz: stats::median(&spins),
    });
    match fit.map_or_else(|| Err("fewer than three delays paced the load".to_owned()), judged) {
        Ok((fit, note)) => {
            note.into_iter().for_each(|note| draft.note(format!("load under {}: {note}", plan.mix.name())));
            Some(fit)
        }
        Err(why) => {
            let remedy = "ask for long delays (--delays mlc), on a quieter machine";
            draft.miss(gap("burst_fit", &curve_labels(case, columns, at), Reason::NotApplicable, why, remedy));
            None
        }
    }
}

/// Does the formula describe the load? If so, what speaks against its clock; else why not.
fn judged(fit: BurstFit) -> Result<(BurstFit, Option<String>), String> {
    if fit.residual > FIT_WITHIN {
        return Err(format!("bandwidth departs from its pacing by up to {:.1} %", fit.residual * 100.0));
    }
    // Less by more than the fit's own error would be a burst that takes no time.
    if fit.t0 < -FIT_WITHIN * stats::burst::LONG_DELAY {
        return Err(format!("a burst would take {:.0} cycles, less than none", fit.t0));
    }
    let off = fit.spin_hz.map(|spin| (spin, fit.f / spin - 1.0)).filter(|(_, off)| off.abs() > CLOCK_WITHIN);
    let note = off.map(|(spin, _)| {
        let (f, spin) = (fit.f / 1e9, spin / 1e9);
        format!("the burst fit's clock of {f:.2} GHz is not that of the spin, {spin:.2} GHz: the loads ran at another one")
    });
    Ok((fit, note))
}
