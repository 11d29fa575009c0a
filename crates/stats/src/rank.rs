//! Rank statistics: median, quantile, median absolute deviation.

/// The median; the mean of the two middle values when `values.len()` is even.
///
/// `None` when `values` is empty or holds a NaN or an infinity.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The `p`-quantile (0 ≤ p ≤ 1) by linear interpolation of order statistics:
/// Hyndman and Fan's type 7 (R's and NumPy's default), with
/// h = (n − 1)·p and value x⌊h⌋ + (h − ⌊h⌋)·(x⌊h⌋₊₁ − x⌊h⌋).
///
/// `None` when `values` is empty or holds a NaN or an infinity, or when `p`
/// is outside 0..=1.
///
/// Source: R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages",
/// The American Statistician 50 (1996).
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(values)?, p)
}

/// The median absolute deviation from the median, *not* scaled to a standard
/// deviation (multiply by 1.4826 for normal data).
///
/// `None` when `values` is empty or holds a NaN or an infinity.
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median(&deviations)
}

/// A sorted copy by total order, or `None` when empty or not wholly finite.
pub(crate) fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || !all_finite(values) {
        return None;
    }
    let mut copy = values.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    Some(copy)
}

/// [`quantile`] of values that are finite and already ascending.
pub(crate) fn quantile_of_sorted(ascending: &[f64], p: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    let h = ascending.len().checked_sub(1)? as f64 * p;
    let below = h as usize; // h ≥ 0: truncation is floor
    let low = *ascending.get(below)?;
    let high = ascending.get(below + 1).copied().unwrap_or(low);
    // Rounding may overshoot by one unit in the last place; an estimate never
    // leaves the values that it lies between.
    Some((low + (h - below as f64) * (high - low)).clamp(low, high))
}

/// Whether every value is finite.
pub(crate) fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|v| v.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_equal_numpy() {
        // numpy.quantile([7.1, 3.4, 9.9, 1.2, 5.5, 8.8, 2.3], p)
        let values = [7.1, 3.4, 9.9, 1.2, 5.5, 8.8, 2.3];
        for (p, want) in [(0.0, 1.2), (0.1, 1.86), (0.25, 2.85), (0.5, 5.5), (0.9, 9.24), (1.0, 9.9)] {
            let got = quantile(&values, p).unwrap();
            assert!((got - want).abs() < 1e-12, "p = {p}: {got}");
        }
    }

    #[test]
    fn an_even_count_takes_the_middle_of_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
    }

    #[test]
    fn what_is_not_a_measured_value_is_refused() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
        assert_eq!(quantile(&[1.0, f64::INFINITY], 0.1), None);
        assert_eq!(quantile(&[1.0], 1.1), None);
        assert_eq!(quantile(&[1.0], f64::NAN), None);
        assert_eq!(mad(&[f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn quantiles_rise_with_p_and_stay_inside(
            values in prop::collection::vec(-1e12..1e12, 1..40),
            a in 0.0..=1.0, b in 0.0..=1.0,
        ) {
            let (a, b): (f64, f64) = (f64::min(a, b), f64::max(a, b));
            let (low, high) = (quantile(&values, a).unwrap(), quantile(&values, b).unwrap());
            prop_assert!(low <= high);
            prop_assert!(quantile(&values, 0.0).unwrap() <= low);
            prop_assert!(high <= quantile(&values, 1.0).unwrap());
        }
    }
}
