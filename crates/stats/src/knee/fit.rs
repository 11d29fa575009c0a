//! One curve: sort by bandwidth, fit, find the best point and crossings.

use super::{CurvePoint, LIGHTEST_POINTS, LoadPoint};
use crate::isotonic;

/// Fits curves into reused buffers.
#[derive(Default)]
pub(super) struct Fitter {
    /// The last curve that was fitted, by ascending bandwidth.
    pub points: Vec<CurvePoint>,
    blocks: Vec<isotonic::Block>,
    fitted: Vec<f64>,
}

impl Fitter {
    pub fn fit(&mut self, estimates: impl Iterator<Item = (usize, LoadPoint)>) {
        self.points.clear();
        self.points.extend(estimates.map(|(column, p)| CurvePoint {
            column,
            bandwidth: p.bandwidth,
            latency: p.latency,
            fitted: p.latency,
        }));
        self.points.sort_unstable_by(|a, b| {
            a.bandwidth.total_cmp(&b.bandwidth).then(a.latency.total_cmp(&b.latency)).then(a.column.cmp(&b.column))
        });
        // A function of bandwidth has one latency at equal bandwidths.
        for tied in self.points.chunk_by_mut(|a, b| a.bandwidth == b.bandwidth) {
            let mean = tied.iter().map(|p| p.latency).sum::<f64>() / tied.len() as f64;
            tied.iter_mut().for_each(|p| p.fitted = mean);
        }
        let pairs = self.points.iter().map(|p| (p.fitted, 1.0));
        isotonic::pool(pairs, &mut self.blocks, &mut self.fitted);
        for (point, &fitted) in self.points.iter_mut().zip(&self.fitted) {
            point.fitted = fitted;
        }
    }

    /// L0: the median latency of the lowest-bandwidth points; there are at
    /// least [`LIGHTEST_POINTS`].
    pub fn unloaded(&self) -> f64 {
        let mut lightest = [0.0; LIGHTEST_POINTS];
        for (latency, point) in lightest.iter_mut().zip(&self.points) {
            *latency = point.latency;
        }
        lightest.sort_unstable_by(f64::total_cmp);
        lightest[LIGHTEST_POINTS / 2]
    }
}

/// Index of the highest B/L; of equal ones the lowest bandwidth.
pub(super) fn best(points: &[CurvePoint]) -> usize {
    let efficiency = |p: &CurvePoint| p.bandwidth / p.fitted;
    let mut best = 0;
    for (i, point) in points.iter().enumerate() {
        if efficiency(point) > efficiency(&points[best]) {
            best = i;
        }
    }
    best
}

/// Whether point `at` has the highest bandwidth of all.
pub(super) fn is_end(points: &[CurvePoint], at: usize) -> bool {
    points.last().is_none_or(|p| p.bandwidth <= points[at].bandwidth)
}

/// Where the fitted curve reaches a latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Crossing {
    /// Already above it at the lightest load.
    Before,
    /// At this bandwidth.
    At(f64),
    /// Not at all.
    Beyond,
}

impl Crossing {
    pub fn bandwidth(self) -> Option<f64> {
        match self {
            Self::At(bandwidth) => Some(bandwidth),
            Self::Before | Self::Beyond => None,
        }
    }
}

/// The lowest bandwidth at which the fit, linear between points, reaches `level`.
pub(super) fn crossing(points: &[CurvePoint], level: f64) -> Crossing {
    let after = points.partition_point(|p| p.fitted < level);
    if after == points.len() {
        return Crossing::Beyond;
    }
    let Some(below) = after.checked_sub(1) else {
        return Crossing::Before;
    };
    let (a, b) = (points[below], points[after]);
    let part = (level - a.fitted) / (b.fitted - a.fitted);
    Crossing::At(a.bandwidth + part * (b.bandwidth - a.bandwidth))
}

/// The median of values that are ascending and counted: (value, times).
pub(super) fn counted_median(ascending: impl Iterator<Item = (f64, u32)>, total: u32) -> f64 {
    let (lower, upper) = (total.saturating_sub(1) / 2, total / 2);
    let mut seen = 0;
    let mut low = None;
    for (value, times) in ascending {
        seen += times;
        if low.is_none() && seen > lower {
            low = Some(value);
        }
        if seen > upper {
            let low = low.unwrap_or(value);
            return (low + (value - low) * 0.5).clamp(low, value);
        }
    }
    f64::NAN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank;

    #[test]
    fn a_counted_median_is_the_median_of_the_copies() {
        for counts in [[1, 1, 1, 1], [0, 2, 1, 1], [3, 0, 0, 1], [1, 0, 1, 0], [0, 0, 0, 5]] {
            let values = [1.0, 2.0, 4.0, 8.0];
            let copies: Vec<f64> = values.iter().zip(counts).flat_map(|(&v, n)| std::iter::repeat_n(v, n as usize)).collect();
            let got = counted_median(values.into_iter().zip(counts), counts.iter().sum());
            assert_eq!(Some(got), rank::median(&copies), "{counts:?}");
        }
    }
}
