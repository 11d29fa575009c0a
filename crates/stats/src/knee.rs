//! The loaded-latency curve: flat region, knee, saturation, matched latency.
//!
//! The knee is where bandwidth per latency, B/L, is highest; L is first made
//! non-decreasing over B, so that one noisy point cannot be the knee, and
//! continued smoothly between the points.

mod bootstrap;
mod fit;
mod smooth;
#[cfg(test)]
mod tests;

use crate::rng::Rng;
use fit::Crossing;
use std::fmt;

/// The unloaded latency is the median of this many lowest-bandwidth points;
/// a curve has at least as many.
pub const LIGHTEST_POINTS: usize = 5;

/// An interval needs this many rounds, as that of a median does.
pub const MIN_ROUNDS: usize = 6;

/// Latency up to this multiple of the unloaded one is flat.
pub const FLAT: f64 = 1.10;

/// Bandwidth from this share of the highest on, beyond the knee, is saturated.
pub const SATURATED: f64 = 0.97;

/// The multiples of the unloaded latency at which bandwidth is given.
pub const MATCHED: [f64; 3] = [1.2, 1.5, 2.0];

/// One point of the curve as one round measured it, over the same windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// Bytes a second (any unit does; results come in the same).
    pub bandwidth: f64,
    /// Nanoseconds.
    pub latency: f64,
}

/// One point as estimated over rounds, with the monotone fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Its position within each round's points.
    pub column: usize,
    /// Median bandwidth over rounds.
    pub bandwidth: f64,
    /// Median latency over rounds, ns.
    pub latency: f64,
    /// Latency of the non-decreasing fit, ns.
    pub fitted: f64,
}

/// Ends of a 95 % percentile interval of the bootstrap over rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ends {
    /// Lower end, at most the estimate.
    pub lo: f64,
    /// Upper end, at least the estimate.
    pub hi: f64,
}

/// The region in which latency is at most [`FLAT`] × the unloaded one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flat {
    /// It reaches up to this bandwidth.
    pub to: f64,
    /// The curve ends flat: `to` is the highest bandwidth that was reached.
    pub whole_curve: bool,
}

/// Bandwidth at a multiple of the unloaded latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matched {
    /// The multiple.
    pub multiple: f64,
    /// Bandwidth, linear between points of the fit; `None` when the latency
    /// is not reached (or exceeded by the lightest load already).
    pub bandwidth: Option<f64>,
    /// Its interval; `None` below [`MIN_ROUNDS`] rounds, and when so many
    /// resamples don't reach the latency that an end is unknown.
    pub ends: Option<Ends>,
}

/// Where the curve bends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Knee {
    /// Here.
    Found {
        /// The best point's position within each round's points; the knee lies
        /// between its neighbours.
        column: usize,
        /// Bandwidth of the knee.
        bandwidth: f64,
        /// Fitted latency of the knee, ns.
        latency: f64,
        /// Interval of the knee's bandwidth; its lower end is the *safe
        /// maximum*. `None` below [`MIN_ROUNDS`] rounds.
        ends: Option<Ends>,
        /// The lowest measured bandwidth beyond the knee that is saturated.
        saturated_from: Option<f64>,
        /// Share of the resamples whose knee is their last point: near 0 when
        /// the knee is sure, towards 1 when the load hardly reached it. 0 when
        /// nothing was resampled.
        at_end: f64,
    },
    /// B/L still rises at the heaviest load, or latency stayed flat to the end:
    /// the load could not saturate the memory.
    NotSaturated {
        /// Highest bandwidth.
        reached: f64,
        /// Fitted latency there relative to the unloaded latency.
        latency_ratio: f64,
    },
}

impl Knee {
    /// The safe maximum: the lower end of the knee's interval.
    pub fn safe_maximum(&self) -> Option<f64> {
        match self {
            Self::Found { ends, .. } => ends.map(|ends| ends.lo),
            Self::NotSaturated { .. } => None,
        }
    }
}

/// A loaded-latency curve, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Points by ascending bandwidth.
    pub points: Vec<CurvePoint>,
    /// Unloaded latency L0 in ns: median of the five lowest-bandwidth points.
    pub unloaded: f64,
    /// Highest bandwidth.
    pub highest: f64,
    /// `None` when even the lightest load is not flat.
    pub flat: Option<Flat>,
    /// The knee.
    pub knee: Knee,
    /// Bandwidth at each multiple in [`MATCHED`].
    pub matched: [Matched; 3],
}

/// Why there is no curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveError {
    /// Fewer than [`LIGHTEST_POINTS`] points were measured in any round.
    TooFewPoints {
        /// How many were.
        have: usize,
    },
    /// A round has another number of points than the first.
    Ragged {
        /// Index of the round.
        round: usize,
    },
    /// A bandwidth or latency is not finite and above 0.
    NotPositive {
        /// Index of the round.
        round: usize,
        /// Index of the point.
        column: usize,
    },
}

impl fmt::Display for CurveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewPoints { have } => {
                write!(f, "{have} load points; a curve needs {LIGHTEST_POINTS}")
            }
            Self::Ragged { round } => {
                write!(f, "round {round} has another number of points than the first")
            }
            Self::NotPositive { round, column } => {
                write!(f, "round {round}, point {column}: not a positive number")
            }
        }
    }
}

impl std::error::Error for CurveError {}

/// Reads a loaded-latency curve.
///
/// `rounds[r][c]` is delay point `c` as round `r` measured it, `None` when it
/// is missing there; all rounds have the same points in the same order. A
/// point's estimate is the median over its rounds, of bandwidth and of latency.
/// A single published table is one round.
///
/// With six rounds or more the knee and the matched bandwidths get 95 %
/// percentile intervals from 1000 resamples of whole *rounds* with `seed`. A
/// resample whose knee is its last point counts with that bandwidth: the true
/// knee is not below it. Source: B. Efron, R. J. Tibshirani, "An Introduction to
/// the Bootstrap", chapter 13.
///
/// # Errors
///
/// [`CurveError`] when there is nothing to read a curve from.
pub fn analyze_curve(rounds: &[Vec<Option<LoadPoint>>], seed: u64) -> Result<Curve, CurveError> {
    check(rounds)?;
    let columns = bootstrap::Columns::new(rounds);
    let mut fitter = fit::Fitter::default();
    fitter.fit(columns.estimates(&vec![1; rounds.len()]));
    if fitter.points.len() < LIGHTEST_POINTS {
        let have = fitter.points.len();
        return Err(CurveError::TooFewPoints { have });
    }
    let resamples = if rounds.len() >= MIN_ROUNDS {
        bootstrap::resample(&columns, rounds.len(), &mut Rng::new(seed))
    } else {
        bootstrap::Resamples::default()
    };
    let unloaded = fitter.unloaded();
    let points = fitter.points;
    let highest = points[points.len() - 1].bandwidth;
    let flat = match fit::crossing(&points, FLAT * unloaded) {
        Crossing::Before => None,
        Crossing::At(to) => Some(Flat { to, whole_curve: false }),
        Crossing::Beyond => Some(Flat { to: highest, whole_curve: true }),
    };
    let matched = std::array::from_fn(|i| {
        let crossing = fit::crossing(&points, MATCHED[i] * unloaded);
        let bandwidth = crossing.bandwidth();
        Matched { multiple: MATCHED[i], bandwidth, ends: bandwidth.and_then(|b| bootstrap::ends(&resamples.matched[i], b)) }
    });
    Ok(Curve { knee: knee(&points, unloaded, flat, &resamples), unloaded, highest, flat, matched, points })
}

fn check(rounds: &[Vec<Option<LoadPoint>>]) -> Result<(), CurveError> {
    let Some(first) = rounds.first() else {
        return Err(CurveError::TooFewPoints { have: 0 });
    };
    let positive = |v: f64| v.is_finite() && v > 0.0;
    for (round, points) in rounds.iter().enumerate() {
        if points.len() != first.len() {
            return Err(CurveError::Ragged { round });
        }
        for (column, point) in points.iter().enumerate() {
            if point.is_some_and(|p| !positive(p.bandwidth) || !positive(p.latency)) {
                return Err(CurveError::NotPositive { round, column });
            }
        }
    }
    Ok(())
}

fn knee(points: &[CurvePoint], unloaded: f64, flat: Option<Flat>, resamples: &bootstrap::Resamples) -> Knee {
    let (at, last) = (fit::best(points), points[points.len() - 1]);
    // Points of a flat plateau differ by noise alone: a "knee" among them is none.
    if fit::is_end(points, at) || flat.is_some_and(|flat| flat.whole_curve) {
        return Knee::NotSaturated { reached: last.bandwidth, latency_ratio: last.fitted / unloaded };
    }
    let (bandwidth, latency) = smooth::peak(points, at);
    Knee::Found {
        column: points[at].column,
        bandwidth,
        latency,
        ends: bootstrap::ends(&resamples.knees, bandwidth),
        saturated_from: points[at + 1..].iter().map(|p| p.bandwidth).find(|&b| b >= SATURATED * last.bandwidth),
        at_end: resamples.at_end(),
    }
}
