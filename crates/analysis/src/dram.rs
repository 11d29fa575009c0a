//! What the memory controller is estimated to see of application bytes.
//!
//! A load counts 1. A plain store counts 2 where the line is read for ownership first, which the probe tells at the same
//! threads; a non-temporal store counts 1, except where it is only a hint. What can't be told is a range. What hardware
//! counters saw stands beside it ([`crate::counters::dram_bytes`]) and changes nothing here.

use crate::figures::Case;
use crate::jobs::{self, Streams};
use crate::rounds::{Quantity, Series};
use memgauge_model::{Isa, Measure, Mix, MixShape, PointId};
use memgauge_stats::{Factor, median, rfo_factor};

/// DRAM bytes for each application byte of the load threads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Traffic {
    /// The estimate: a plain store counts 2, a non-temporal one 1.
    pub factor: f64,
    /// Least and most, where it can't be told.
    pub bounds: Option<[f64; 2]>,
    /// What it rests on, where it rests on something.
    pub remark: Option<String>,
}

impl Traffic {
    /// Certainly no less than this.
    pub fn least(&self) -> f64 {
        self.bounds.map_or(self.factor, |[least, _]| least)
    }
}

/// What the streams of `point` cost the memory controller.
pub(crate) fn traffic(case: &Case<'_>, point: PointId, streams: &Streams<'_>) -> Traffic {
    if !streams.alike() {
        return mixed(case, point, streams);
    }
    if streams.partial {
        // Whole lines travel for the 8 bytes of each that are used, and no store goes without the rest of its line.
        let factor = 8.0 * with_reads(&streams.mix.shape());
        return Traffic { factor, bounds: None, remark: Some("lines: 8 bytes of each 64 are used".to_owned()) };
    }
    let shape = streams.mix.shape();
    if shape.stores == 0 {
        return Traffic { factor: 1.0, bounds: None, remark: None };
    }
    let with_reads = with_reads(&shape);
    let exact = |factor, remark| Traffic { factor, bounds: None, remark };
    if shape.nt {
        return match streams.isa {
            Isa::Neon | Isa::Portable => Traffic {
                factor: 1.0,
                bounds: Some([1.0, with_reads]),
                remark: Some("nt: a hint on this instruction set".to_owned()),
            },
            Isa::Sse2 | Isa::Avx2 | Isa::Avx512 => exact(1.0, None),
        };
    }
    let Some(ratio) = probed(case, point, streams) else {
        return exact(with_reads, Some("rfo: not probed".to_owned()));
    };
    match rfo_factor(ratio, 1.0) {
        Some(Factor::Range) => Traffic {
            factor: with_reads,
            bounds: Some([1.0, with_reads]),
            remark: Some(format!("rfo: may be skipped (full lines {ratio:.2} times as fast)")),
        },
        Some(Factor::Two) => exact(with_reads, Some(format!("rfo: factor 2 by probe ({ratio:.2})"))),
        None => exact(with_reads, Some("rfo: not probed".to_owned())),
    }
}

/// Of threads with mixes of their own: by the share of each in what all of them move.
fn mixed(case: &Case<'_>, point: PointId, streams: &Streams<'_>) -> Traffic {
    let windows = || case.selections[point].blocks.iter().flat_map(|block| &block.windows);
    let moved = |at: usize| windows().filter_map(|window| window.threads.get(at)).sum::<f64>();
    let each: Vec<(f64, Traffic)> =
        (0..).zip(&streams.mixes).map(|(at, mix)| (moved(at), alone(case, point, streams, *mix))).collect();
    let all = each.iter().map(|(bytes, _)| bytes).sum::<f64>();
    let mean = |of: fn(&Traffic) -> f64| match all > 0.0 {
        true => each.iter().map(|(bytes, traffic)| bytes / all * of(traffic)).sum::<f64>(),
        false => each.iter().map(|(_, traffic)| of(traffic)).sum::<f64>() / each.len().max(1) as f64,
    };
    let bounds = [mean(Traffic::least), mean(|traffic| traffic.bounds.map_or(traffic.factor, |[_, most]| most))];
    let mut remarks: Vec<String> = each.iter().filter_map(|(_, traffic)| traffic.remark.clone()).collect();
    remarks.sort();
    remarks.dedup();
    Traffic {
        factor: mean(|traffic| traffic.factor),
        bounds: each.iter().any(|(_, traffic)| traffic.bounds.is_some()).then_some(bounds),
        remark: (!remarks.is_empty()).then(|| remarks.join(", ")),
    }
}

/// As if all threads streamed this mix.
fn alone(case: &Case<'_>, point: PointId, streams: &Streams<'_>, mix: Mix) -> Traffic {
    traffic(case, point, &Streams { mix, mixes: vec![mix], ..streams.clone() })
}

/// DRAM bytes over application bytes when each stored line is read first. Factors are of lines: the partial store of the
/// probe uses 8 of 64.
fn with_reads(shape: &MixShape) -> f64 {
    let (loads, stores) = (f64::from(shape.loads), f64::from(shape.stores));
    (loads + 2.0 * stores) / (loads + stores)
}

/// Line rate of full-line plain stores over that of 8-bytes-a-line stores: same threads, same class, paired by round.
fn probed(case: &Case<'_>, point: PointId, streams: &Streams<'_>) -> Option<f64> {
    let partial = line_rates(case, point, streams, |mix| mix == Mix::WritePartial)?;
    let full = line_rates(case, point, streams, |mix| matches!(mix, Mix::Write | Mix::R1W1))?;
    let beside = |(round, rate): &(u32, f64)| Some(rate / partial.iter().find(|(other, _)| other == round)?.1);
    let paired: Vec<f64> = full.iter().filter_map(beside).collect();
    let middle = |rates: &[(u32, f64)]| median(&rates.iter().map(|(_, rate)| *rate).collect::<Vec<_>>());
    median(&paired).or_else(|| Some(middle(&full)? / middle(&partial)?))
}

/// Lines a second by round, of the first point of this mix at these threads, undelayed and of the class of `like`.
fn line_rates(case: &Case<'_>, like: PointId, streams: &Streams<'_>, wanted: impl Fn(Mix) -> bool) -> Option<Vec<(u32, f64)>> {
    let plan = &case.record.plan;
    let class = case.selections[like].class;
    plan.points.iter().zip(&case.selections).find_map(|(point, selection)| {
        let (Measure::RfoProbe | Measure::Peak { .. } | Measure::MatrixBandwidth { .. }) = point.measure else { return None };
        let same_class = selection.class == class || selection.class.is_none() || class.is_none();
        let own = jobs::streams(plan, point).filter(|own| same_class && wanted(own.mix) && own.placed_like(streams))?;
        let bytes = f64::from(own.mix.shape().bytes_per_line);
        let limits = &plan.windows.limits;
        let series = Series::of_windows(&selection.blocks, limits, Quantity::Bandwidth, |w| Some(w.load_bytes_per_s / bytes));
        let rates: Vec<(u32, f64)> = series.samples.iter().map(|sample| (sample.round, sample.typical)).collect();
        (!rates.is_empty()).then_some(rates)
    })
}
