//! Which delays a loaded curve is measured at.

use crate::isotonic::isotonic;

/// The lightest load: this share of the highest bandwidth.
const LIGHTEST: f64 = 0.03;

/// No delay beyond this unless the pilot went further (core cycles).
const LONGEST: f64 = 20_000.0;

/// How dense the delays lie from a share of the highest bandwidth on.
///
/// Light loads, since the unloaded latency is the median of the five lightest:
/// spread evenly, ten points would put it at 40 % load. Then the knee:
/// published curves have it between 0.78 and 0.99.
const DENSITIES: [(f64, f64); 3] = [(0.0, 4.0), (0.12, 1.0), (0.7, 2.0)];

/// Chooses `wanted` delays (core cycles) that lie evenly in *bandwidth*, but
/// twice as dense from 70 % of the highest bandwidth on, where the knee is, and
/// four times up to 12 %, where the unloaded latency comes from.
///
/// `pilot` holds measured (delay in core cycles, bandwidth in any unit) in any
/// order; it should include delay 0. Between two pilot delays 1/B is taken as
/// linear in the delay (see [`crate::burst`]), after a monotone fit.
///
/// The delays are distinct and ascending, the first is 0, and the last is that
/// of 3 % of the highest bandwidth, bounded by 20 000 or the longest pilot
/// delay. `None` when `wanted` is below 2, the pilot has fewer than two
/// distinct delays, or a bandwidth is not finite and above 0. Only where the
/// whole numbers up to the last delay run out are there fewer than `wanted`.
pub fn spaced_delays(pilot: &[(u64, f64)], wanted: usize) -> Option<Vec<u64>> {
    if wanted < 2 {
        return None;
    }
    let pace = Pace::fit(pilot)?;
    let (full, longest) = (pace.bandwidth(0.0), pace.longest());
    let effort = |delay: u64| effort(pace.bandwidth(delay as f64) / full);
    let (heavy, light) = (effort(0), effort(longest));
    let mut delays: Vec<u64> = (0..wanted)
        .map(|i| {
            let share = i as f64 / (wanted - 1) as f64;
            let target = share_of(heavy + (light - heavy) * share) * full;
            (libm::round(pace.delay(target)) as u64).min(longest)
        })
        .chain([0, longest])
        .collect();
    delays.sort_unstable();
    delays.dedup();
    thin(&mut delays, wanted);
    while delays.len() < wanted
        && let Some(at) = widest_gap(&delays, effort)
    {
        let (low, high) = (delays[at], delays[at + 1]);
        let middle = share_of((effort(low) + effort(high)) / 2.0) * full;
        let between = libm::round(pace.delay(middle)) as u64;
        delays.insert(at + 1, between.clamp(low + 1, high - 1));
    }
    Some(delays)
}

/// Bandwidth as a function of the delay: 1/B piecewise linear, non-decreasing.
struct Pace {
    /// (delay, 1/bandwidth), ascending in both.
    knots: Vec<(f64, f64)>,
    longest_pilot: f64,
}

impl Pace {
    fn fit(pilot: &[(u64, f64)]) -> Option<Self> {
        if !pilot.iter().all(|p| p.1.is_finite() && p.1 > 0.0) {
            return None;
        }
        let mut sorted = pilot.to_vec();
        sorted.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let groups: Vec<&[(u64, f64)]> = sorted.chunk_by(|a, b| a.0 == b.0).collect();
        if groups.len() < 2 {
            return None;
        }
        let weights: Vec<f64> = groups.iter().map(|g| g.len() as f64).collect();
        let slowness: Vec<f64> = groups.iter().map(|g| g.iter().map(|p| 1.0 / p.1).sum::<f64>() / g.len() as f64).collect();
        let fit = isotonic(&slowness, &weights)?;
        let knots: Vec<(f64, f64)> = groups.iter().map(|g| g[0].0 as f64).zip(fit).collect();
        let longest_pilot = knots.last()?.0;
        Some(Self { knots, longest_pilot })
    }

    fn bandwidth(&self, delay: f64) -> f64 {
        1.0 / interpolate(&self.knots, delay, |k| k)
    }

    /// The delay that gives `bandwidth`; where several do, the shortest.
    fn delay(&self, bandwidth: f64) -> f64 {
        if bandwidth >= self.bandwidth(0.0) {
            return 0.0;
        }
        interpolate(&self.knots, 1.0 / bandwidth, |(delay, slow)| (slow, delay)).max(0.0)
    }

    fn longest(&self) -> u64 {
        let limit = LONGEST.max(self.longest_pilot);
        let wanted = self.delay(LIGHTEST * self.bandwidth(0.0));
        // Not a number or infinite where the pilot saturates throughout.
        let longest = if wanted.is_finite() { wanted } else { limit };
        libm::round(longest.min(limit)) as u64
    }
}

/// y at `x` on the line through the knots (after `axes`): constant before the
/// first knot, on the last segment's slope beyond the last.
fn interpolate(knots: &[(f64, f64)], x: f64, axes: impl Fn((f64, f64)) -> (f64, f64)) -> f64 {
    let first = axes(knots[0]);
    if x <= first.0 {
        return first.1;
    }
    let end = knots.iter().position(|&k| axes(k).0 >= x).unwrap_or(knots.len() - 1);
    let ((x0, y0), (x1, y1)) = (axes(knots[end - 1]), axes(knots[end]));
    y0 + (x - x0) / (x1 - x0) * (y1 - y0)
}

/// The scale on which delays are even: the share of the highest bandwidth,
/// stretched by [`DENSITIES`].
fn effort(share: f64) -> f64 {
    segments().map(|(from, width, density)| (share - from).clamp(0.0, width) * density).sum()
}

/// The inverse of [`effort`].
fn share_of(effort: f64) -> f64 {
    let mut left = effort;
    let mut share = 0.0;
    for (_, width, density) in segments() {
        let taken = (left / density).clamp(0.0, width);
        share += taken;
        left -= taken * density;
    }
    share
}

/// (from, width, density) of each part of 0..=1.
fn segments() -> impl Iterator<Item = (f64, f64, f64)> {
    let ends = DENSITIES.iter().skip(1).map(|next| next.0).chain([1.0]);
    DENSITIES.iter().zip(ends).map(|(&(from, density), end)| (from, end - from, density))
}

/// Drops from the middle what rounding to both ends put beyond `wanted`.
fn thin(delays: &mut Vec<u64>, wanted: usize) {
    while delays.len() > wanted {
        delays.remove(delays.len() - 2);
    }
}

/// The gap that can take a delay and spans the most bandwidth; of equal ones
/// that with the most cycles.
fn widest_gap(delays: &[u64], effort: impl Fn(u64) -> f64) -> Option<usize> {
    let span = |at: usize| {
        let (low, high) = (delays[at], delays[at + 1]);
        (effort(low) - effort(high), high - low)
    };
    (0..delays.len() - 1).filter(|&at| span(at).1 > 1).max_by(|&a, &b| {
        let (a, b) = (span(a), span(b));
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 100 GB/s at most; paced alone it would be 30000/(d + 60).
    fn bandwidth(delay: u64) -> f64 {
        (30_000.0 / (delay as f64 + 60.0)).min(100.0)
    }

    fn pilot() -> Vec<(u64, f64)> {
        [0, 100, 250, 600, 2000, 9000].map(|d| (d, bandwidth(d))).to_vec()
    }

    #[test]
    fn delays_lie_evenly_in_bandwidth_and_densest_at_the_knee() {
        let delays = spaced_delays(&pilot(), 12).unwrap();
        assert_eq!(delays.len(), 12);
        assert_eq!(delays[0], 0);
        assert_eq!(*delays.last().unwrap(), 9940); // 30000/(d + 60) = 3
        let steps: Vec<f64> =
            delays.windows(2).map(|d| effort(bandwidth(d[0]) / 100.0) - effort(bandwidth(d[1]) / 100.0)).collect();
        let even = effort(1.0) - effort(0.03);
        for step in &steps {
            assert!((step * 11.0 / even - 1.0).abs() < 0.15, "{delays:?} {steps:?}");
        }
        let count = |test: &dyn Fn(f64) -> bool| delays.iter().filter(|&&d| test(bandwidth(d))).count();
        assert!(count(&|b| b > 70.0) >= 4, "{delays:?}");
        assert!(count(&|b| b < 12.1) >= 3, "{delays:?}");
    }

    #[test]
    fn ten_delays_show_the_unloaded_latency() {
        let delays = spaced_delays(&pilot(), 10).unwrap();
        assert!(bandwidth(delays[7]) < 13.0, "third lightest: {delays:?}");
    }

    #[test]
    fn effort_has_an_inverse() {
        for share in [0.0, 0.03, 0.12, 0.4, 0.7, 0.9, 1.0] {
            assert!((share_of(effort(share)) - share).abs() < 1e-12, "{share}");
        }
        assert!((effort(1.0) - (0.48 + 0.58 + 0.6)).abs() < 1e-12);
    }

    #[test]
    fn a_pilot_that_saturates_throughout_still_gives_delays() {
        let delays = spaced_delays(&[(0, 50.0), (100, 50.0)], 8).unwrap();
        assert_eq!(delays.len(), 8);
        assert_eq!((delays[0], delays[7]), (0, 20_000));
    }

    #[test]
    fn what_gives_no_pace_is_refused() {
        assert_eq!(spaced_delays(&pilot(), 1), None);
        assert_eq!(spaced_delays(&[(0, 1.0), (0, 2.0)], 5), None);
        assert_eq!(spaced_delays(&[(0, 1.0), (9, 0.0)], 5), None);
        assert_eq!(spaced_delays(&[(0, f64::NAN), (9, 1.0)], 5), None);
    }

    proptest! {
        #[test]
        fn delays_are_distinct_ascending_and_start_at_zero(
            pilot in prop::collection::vec((0_u64..30_000, 0.01..1e12), 2..12), wanted in 2_usize..40,
        ) {
            if let Some(delays) = spaced_delays(&pilot, wanted) {
                prop_assert!(delays.is_sorted_by(|a, b| a < b), "{:?}", delays);
                prop_assert_eq!(delays[0], 0);
                let last = *delays.last().unwrap();
                let room = usize::try_from(last).unwrap() + 1;
                prop_assert_eq!(delays.len(), wanted.min(room));
                prop_assert!(last <= 30_000);
            }
        }
    }
}
