//! The clock and the fixed cost behind paced bursts, fitted from long delays.

/// Application bytes of one burst of one stream: four lines.
pub const BURST_BYTES: f64 = 256.0;

/// From this delay on (core cycles) a load is paced by its delay alone.
pub const LONG_DELAY: f64 = 1000.0;

/// Points at or below this share of the highest bandwidth are taken for
/// unsaturated when there are too few long delays.
const UNSATURATED: f64 = 0.5;

/// A fit needs this many points: two parameters and one to disagree.
const MIN_POINTS: usize = 3;

/// B = bytes·f/(d + t0), fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurstFit {
    /// Core clock of the load threads in Hz.
    pub clock_hz: f64,
    /// Cost of a burst itself in core cycles: bandwidth at d = 0 were there no
    /// queueing.
    pub burst_cycles: f64,
    /// Largest |B_fit/B − 1| over the points used.
    pub worst_residual: f64,
    /// How many points were used.
    pub points: usize,
}

impl BurstFit {
    /// Bandwidth in bytes a second that the fit expects at `delay` core cycles.
    pub fn bandwidth(&self, delay: f64, bytes_per_burst: f64) -> f64 {
        bytes_per_burst * self.clock_hz / (delay + self.burst_cycles)
    }
}

/// Fits B = N·256·f/(d + t0) to `points` of (delay in core cycles, bandwidth of
/// the *load threads alone* in bytes a second).
///
/// `bytes_per_burst` is what all load threads move between two delays:
/// threads × streams × [`BURST_BYTES`]. Used are the points with d ≥ 1000; with
/// fewer than three of those, the points up to half the highest bandwidth.
///
/// N·256/B = d/f + t0/f is linear in d, and an equal relative error of B
/// weighs a point by 1/y² with y = N·256/B; so this is one weighted linear
/// regression. The formula holds on published MLC tables once the observer's
/// own 64 B a hop are taken off.
///
/// `None` with fewer than three usable points or two distinct delays, when an
/// input is not finite and positive, and when the fitted clock is not positive.
pub fn fit_bursts(points: &[(f64, f64)], bytes_per_burst: f64) -> Option<BurstFit> {
    let sane = |&(delay, bandwidth): &(f64, f64)| delay.is_finite() && delay >= 0.0 && bandwidth.is_finite() && bandwidth > 0.0;
    if !points.iter().all(sane) || !bytes_per_burst.is_finite() || bytes_per_burst <= 0.0 {
        return None;
    }
    let used = paced_by_delay(points);
    if used.len() < MIN_POINTS {
        return None;
    }
    let (per_cycle, at_zero) = relative_line(&used, bytes_per_burst)?;
    if per_cycle <= 0.0 {
        return None;
    }
    let mut fit =
        BurstFit { clock_hz: 1.0 / per_cycle, burst_cycles: at_zero / per_cycle, worst_residual: 0.0, points: used.len() };
    fit.worst_residual = used
        .iter()
        .map(|&(delay, bandwidth)| (fit.bandwidth(delay, bytes_per_burst) / bandwidth - 1.0).abs())
        .fold(0.0, f64::max);
    Some(fit)
}

fn paced_by_delay(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let keep = |test: &dyn Fn(&(f64, f64)) -> bool| points.iter().copied().filter(test).collect();
    let long: Vec<_> = keep(&|p| p.0 >= LONG_DELAY);
    if long.len() >= MIN_POINTS {
        return long;
    }
    let highest = points.iter().map(|p| p.1).fold(0.0, f64::max);
    keep(&|p| p.1 <= UNSATURATED * highest)
}

/// Slope and intercept of y = bytes/B over d, weighted by 1/y².
fn relative_line(points: &[(f64, f64)], bytes: f64) -> Option<(f64, f64)> {
    let weights: Vec<f64> = points.iter().map(|p| (p.1 / bytes) * (p.1 / bytes)).collect();
    let total = |term: &dyn Fn(f64, f64) -> f64| {
        let terms: Vec<f64> = points.iter().zip(&weights).map(|(&(d, b), w)| w * term(d, bytes / b)).collect();
        crate::moments::sum(&terms)
    };
    let weight = total(&|_, _| 1.0);
    let (mean_d, mean_y) = (total(&|d, _| d) / weight, total(&|_, y| y) / weight);
    // Around the means: the textbook normal equations cancel badly here.
    let spread = total(&|d, _| (d - mean_d) * (d - mean_d));
    let shared = total(&|d, y| (d - mean_d) * (y - mean_y));
    let slope = shared / spread;
    (spread > 0.0 && slope.is_finite()).then_some((slope, mean_y - slope * mean_d))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(delays: &[f64]) -> Vec<(f64, f64)> {
        // 15 threads at 2.6 GHz whose burst costs 90 cycles.
        let bandwidth = |d: f64| 15.0 * 256.0 * 2.6e9 / (d + 90.0);
        delays.iter().map(|&d| (d, bandwidth(d))).collect()
    }

    #[test]
    fn an_exact_curve_gives_back_its_clock_and_cost() {
        let mut points = exact(&[0.0, 100.0, 1000.0, 1700.0, 5000.0, 20000.0]);
        points[0].1 /= 2.0; // saturated: must not count
        let fit = fit_bursts(&points, 15.0 * BURST_BYTES).unwrap();
        assert!((fit.clock_hz / 2.6e9 - 1.0).abs() < 1e-12);
        assert!((fit.burst_cycles - 90.0).abs() < 1e-6);
        assert!(fit.worst_residual < 1e-12);
        assert_eq!(fit.points, 4);
    }

    #[test]
    fn without_long_delays_the_unsaturated_points_serve() {
        let points = exact(&[0.0, 100.0, 200.0, 300.0, 500.0]);
        let fit = fit_bursts(&points, 15.0 * BURST_BYTES).unwrap();
        assert_eq!(fit.points, 4);
        assert!((fit.clock_hz / 2.6e9 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_worst_residual_is_that_of_the_outlier() {
        let mut points = exact(&[1000.0, 2000.0, 3000.0, 5000.0, 9000.0, 20000.0]);
        points[3].1 *= 1.05;
        let fit = fit_bursts(&points, 15.0 * BURST_BYTES).unwrap();
        assert!((0.03..0.05).contains(&fit.worst_residual), "{fit:?}");
    }

    #[test]
    fn a_relative_error_weighs_the_same_at_every_delay() {
        let mut points = exact(&[1000.0, 1700.0, 5000.0, 20000.0]);
        for (point, error) in points.iter_mut().zip([1.03, 0.98, 1.02, 0.97]) {
            point.1 *= error;
        }
        let fit = fit_bursts(&points, 15.0 * BURST_BYTES).unwrap();
        // numpy.polyfit(d, y, 1, w=1 / y) with y = 15 * 256 / B
        assert!((fit.clock_hz / 2_555_701_323.133_98 - 1.0).abs() < 1e-9);
        assert!((fit.burst_cycles - 49.824_625_955_2).abs() < 1e-5);
        assert!((fit.worst_residual - 0.028_644_810_996_6).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        let bytes = 15.0 * BURST_BYTES;
        assert_eq!(fit_bursts(&exact(&[1000.0, 2000.0]), bytes), None);
        assert_eq!(fit_bursts(&exact(&[2000.0; 5]), bytes), None);
        assert_eq!(fit_bursts(&exact(&[1e3, 2e3, 3e3]), 0.0), None);
        let rising = [(1e3, 1e9), (2e3, 2e9), (3e3, 3e9)];
        assert_eq!(fit_bursts(&rising, bytes), None);
        let broken = [(1e3, 1e9), (2e3, f64::NAN), (3e3, 3e8), (4e3, 2e8)];
        assert_eq!(fit_bursts(&broken, bytes), None);
    }
}
