//! Resampling of whole rounds.

use super::fit::{self, Crossing, Fitter};
use super::{Ends, LIGHTEST_POINTS, LoadPoint, MATCHED, smooth};
use crate::rng::Rng;

/// Resamples of one curve.
const RESAMPLES: usize = 1000;

/// The delay points, each with its rounds sorted once: a resample is then a
/// count per round, and its medians need no further sorting.
pub(super) struct Columns(Vec<Column>);

struct Column {
    /// (bandwidth, round), ascending.
    bandwidths: Vec<(f64, usize)>,
    /// (latency, round), ascending.
    latencies: Vec<(f64, usize)>,
}

impl Columns {
    pub fn new(rounds: &[Vec<Option<LoadPoint>>]) -> Self {
        let width = rounds.first().map_or(0, Vec::len);
        let sorted = |column: usize, part: fn(LoadPoint) -> f64| {
            let mut values: Vec<(f64, usize)> =
                rounds.iter().enumerate().filter_map(|(round, points)| points[column].map(|p| (part(p), round))).collect();
            values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            values
        };
        Self(
            (0..width)
                .map(|column| Column { bandwidths: sorted(column, |p| p.bandwidth), latencies: sorted(column, |p| p.latency) })
                .collect(),
        )
    }

    /// The medians over rounds when round `r` is counted `times[r]` times;
    /// points without any round are left out.
    pub fn estimates<'a>(&'a self, times: &'a [u32]) -> impl Iterator<Item = (usize, LoadPoint)> + 'a {
        self.0.iter().enumerate().filter_map(|(index, column)| {
            let total = column.bandwidths.iter().map(|&(_, round)| times[round]).sum();
            let median = |values: &'a [(f64, usize)]| {
                let counted = values.iter().map(|&(value, round)| (value, times[round]));
                fit::counted_median(counted, total)
            };
            (total > 0).then(|| {
                let point = LoadPoint { bandwidth: median(&column.bandwidths), latency: median(&column.latencies) };
                (index, point)
            })
        })
    }
}

/// What the resamples gave, each list ascending.
#[derive(Default)]
pub(super) struct Resamples {
    /// Bandwidth of the knee.
    pub knees: Vec<f64>,
    /// Bandwidth at each multiple: 0 where the lightest load is above it
    /// already, infinity where it is not reached.
    pub matched: [Vec<f64>; 3],
    ended: usize,
}

impl Resamples {
    /// Share of the resamples whose knee is their last point.
    pub fn at_end(&self) -> f64 {
        self.ended as f64 / self.knees.len().max(1) as f64
    }
}

/// Draws the resamples. One that lacks so many points that it is no curve is
/// left out.
pub(super) fn resample(columns: &Columns, rounds: usize, rng: &mut Rng) -> Resamples {
    let mut out = Resamples::default();
    let mut fitter = Fitter::default();
    let mut times = vec![0_u32; rounds];
    for _ in 0..RESAMPLES {
        times.fill(0);
        for _ in 0..rounds {
            times[rng.below(rounds as u64) as usize] += 1;
        }
        fitter.fit(columns.estimates(&times));
        if fitter.points.len() < LIGHTEST_POINTS {
            continue;
        }
        let best = fit::best(&fitter.points);
        let at_end = fit::is_end(&fitter.points, best);
        out.ended += usize::from(at_end);
        out.knees.push(if at_end { fitter.points[best].bandwidth } else { smooth::peak(&fitter.points, best).0 });
        let unloaded = fitter.unloaded();
        for (values, multiple) in out.matched.iter_mut().zip(MATCHED) {
            values.push(match fit::crossing(&fitter.points, multiple * unloaded) {
                Crossing::Before => 0.0,
                Crossing::At(bandwidth) => bandwidth,
                Crossing::Beyond => f64::INFINITY,
            });
        }
    }
    out.knees.sort_unstable_by(f64::total_cmp);
    for values in &mut out.matched {
        values.sort_unstable_by(f64::total_cmp);
    }
    out
}

/// The 2.5th and 97.5th percentile of ascending resamples, outwards to a
/// resample's value and to the estimate itself; `None` when there are none or
/// an end is unknown.
pub(super) fn ends(ascending: &[f64], estimate: f64) -> Option<Ends> {
    let outside = ascending.len().checked_sub(1)? / 40;
    let lo = ascending[outside].min(estimate);
    let hi = ascending[ascending.len() - 1 - outside].max(estimate);
    (lo > 0.0 && hi.is_finite()).then_some(Ends { lo, hi })
}
