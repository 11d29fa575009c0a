//! Order-statistic interval of a median, and when to stop adding rounds.

use crate::rank;

/// The numbers of rounds at which the stop rule looks.
///
/// Looking after each round would stop on a lucky one; at these four the
/// binomial steps leave enough room that the interval still covers 95 %.
pub const LOOKS: [usize; 4] = [6, 9, 13, 19];

/// The coverage that an interval must at least have.
const COVERAGE: f64 = 0.95;

/// An interval for the median, in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end: an observed value.
    pub lo: f64,
    /// Upper end: an observed value.
    pub hi: f64,
    /// Probability, exact for independent rounds, that it holds the median;
    /// at least 0.95 (0.96875 for six values).
    pub coverage: f64,
}

/// What the stop rule says; see [`look`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Look {
    /// Go on until there are `next` rounds.
    Continue {
        /// The number of rounds at which to look again.
        next: usize,
    },
    /// The wanted precision is reached: stop.
    Reached {
        /// The interval at this look.
        interval: Interval,
        /// Half its width relative to the median.
        half_width: f64,
    },
    /// The last look has passed without reaching it: stop and say so.
    Exhausted {
        /// The interval as it is.
        interval: Interval,
        /// Half its width relative to the median.
        half_width: f64,
    },
    /// A value is NaN or infinite: nothing can be said.
    Invalid,
}

/// The shortest symmetric pair of order statistics that holds the median with
/// at least 95 %, by the binomial distribution with p = 1/2: the k-th lowest
/// and k-th highest value with the largest k such that
/// P(k ≤ X ≤ n − k) ≥ 0.95. Six values: minimum and maximum (96.9 %).
///
/// `values` holds one value a *round* (independent allocations), in any order.
/// It needs no assumption on their distribution. The interval always contains
/// the sample median. `None` below six values, where the caller prints a
/// range, and when a value is NaN or infinite.
///
/// Source: the sign-test interval, e.g. W. J. Conover, "Practical
/// Nonparametric Statistics", 3rd ed., section 3.2.
pub fn order_interval(values: &[f64]) -> Option<Interval> {
    let ascending = rank::sorted(values)?;
    let n = ascending.len();
    let (k, coverage) = tightest_rank(n)?;
    Some(Interval { lo: ascending[k - 1], hi: ascending[n - k], coverage })
}

/// Looks at the values of the rounds so far, one value a round, in any order.
///
/// Decides only at the numbers in [`LOOKS`]; in between it says
/// [`Look::Continue`] whatever the values are. `precision` is the wanted half
/// width of the 95 % interval relative to the median, as a fraction (1 % is
/// 0.01).
pub fn look(values: &[f64], precision: f64) -> Look {
    if !rank::all_finite(values) {
        return Look::Invalid;
    }
    let next = next_look(values.len());
    if let Some(next) = next
        && !LOOKS.contains(&values.len())
    {
        return Look::Continue { next };
    }
    let Some((interval, half_width)) = relative_half_width(values) else {
        return Look::Invalid;
    };
    match next {
        _ if half_width <= precision => Look::Reached { interval, half_width },
        Some(next) => Look::Continue { next },
        None => Look::Exhausted { interval, half_width },
    }
}

/// The next number of rounds above `rounds` at which to look, `None` from the
/// last look on.
pub fn next_look(rounds: usize) -> Option<usize> {
    LOOKS.into_iter().find(|&at| at > rounds)
}

/// The interval and half its width relative to the median: 0 for a point, and
/// infinite when the median is 0 and the interval is not a point.
fn relative_half_width(values: &[f64]) -> Option<(Interval, f64)> {
    let interval = order_interval(values)?;
    let half = (interval.hi - interval.lo) / 2.0;
    let median = rank::median(values)?.abs();
    let relative = if half == 0.0 { 0.0 } else { half / median };
    Some((interval, relative))
}

/// The largest k with P(k ≤ X ≤ n − k) ≥ 0.95 for X ~ Bin(n, 1/2), and that
/// probability; `None` when only k = 0 would do.
fn tightest_rank(n: usize) -> Option<(usize, f64)> {
    let middle = n / 2;
    // C(n, n/2) / 2^n as a product of ratios: 2^-n itself would underflow.
    // For odd n it equals that of n + 1.
    let mut term = (1..=n.div_ceil(2)).fold(1.0, |product, i| product * (2 * i - 1) as f64 / (2 * i) as f64);
    let mut coverage = if n.is_multiple_of(2) { term } else { 2.0 * term };
    let mut k = middle;
    while coverage < COVERAGE && k > 0 {
        term *= k as f64 / (n - k + 1) as f64;
        coverage += 2.0 * term;
        k -= 1;
    }
    (k > 0).then_some((k, coverage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranks_and_coverage_equal_the_binomial() {
        // scipy.stats.binom.cdf: 1 - 2 * cdf(k - 1, n, 0.5)
        for (n, k, coverage) in [
            (6, 1, 0.96875),
            (7, 1, 0.984375),
            (8, 1, 0.9921875),
            (9, 2, 0.9609375),
            (13, 3, 0.9775390625),
            (19, 5, 0.9807891845703125),
            (50, 18, 0.9671608624357315),
        ] {
            let (rank, got) = tightest_rank(n).unwrap();
            assert_eq!(rank, k, "n = {n}");
            assert!((got - coverage).abs() < 1e-13, "n = {n}: {got}");
        }
        // scipy.stats.binom.ppf(0.025, 5000, 0.5) = 2431
        let (k, coverage) = tightest_rank(5000).unwrap();
        assert!((k == 2431 || k == 2430) && (0.95..0.952).contains(&coverage));
    }

    #[test]
    fn fewer_than_six_values_have_no_interval() {
        for n in 0..6 {
            assert_eq!(order_interval(&vec![1.0; n]), None);
        }
        let six = order_interval(&[5.0, 1.0, 4.0, 2.0, 6.0, 3.0]).unwrap();
        assert_eq!((six.lo, six.hi), (1.0, 6.0));
        assert_eq!(order_interval(&[1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN]), None);
    }

    #[test]
    fn the_rule_decides_only_at_its_looks() {
        let even = [100.0; 25];
        assert_eq!(look(&even[..0], 0.01), Look::Continue { next: 6 });
        assert_eq!(look(&even[..5], 0.01), Look::Continue { next: 6 });
        assert!(matches!(look(&even[..6], 0.01), Look::Reached { .. }));
        assert_eq!(look(&even[..7], 0.01), Look::Continue { next: 9 });
        let wide: Vec<f64> = (0..25).map(|i| 100.0 + 10.0 * f64::from(i % 5)).collect();
        assert_eq!(look(&wide[..6], 0.01), Look::Continue { next: 9 });
        assert_eq!(look(&wide[..13], 0.01), Look::Continue { next: 19 });
        assert!(matches!(look(&wide[..19], 0.01), Look::Exhausted { .. }));
        assert!(matches!(look(&wide, 0.01), Look::Exhausted { .. }));
        assert_eq!(look(&[1.0, f64::NAN], 0.01), Look::Invalid);
    }

    #[test]
    fn the_half_width_is_relative_to_the_median() {
        let values = [98.0, 99.0, 100.0, 100.0, 101.0, 102.0];
        assert!(matches!(look(&values, 0.02), Look::Reached { half_width, .. } if half_width == 0.02));
        assert!(matches!(look(&values, 0.0199), Look::Continue { next: 9 }));
        let around_zero = [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0];
        assert!(matches!(look(&around_zero, 0.5), Look::Continue { .. }));
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_median(values in prop::collection::vec(-1e9..1e9, 6..60)) {
            let interval = order_interval(&values).unwrap();
            let median = rank::median(&values).unwrap();
            prop_assert!(interval.lo <= median && median <= interval.hi);
            prop_assert!((0.95..1.0).contains(&interval.coverage));
        }
    }
}
