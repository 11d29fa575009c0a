//! Sums, means and variances in a fixed order.

/// The sum from first to last with Neumaier's compensation: the error does
/// not grow with the length, and the order of additions is the slice's.
///
/// Source: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation
/// endlicher Summen", ZAMM 54 (1974).
pub fn sum(values: &[f64]) -> f64 {
    let mut total = 0.0_f64;
    let mut lost = 0.0_f64;
    for &value in values {
        let next = total + value;
        lost += if total.abs() >= value.abs() { (total - next) + value } else { (value - next) + total };
        total = next;
    }
    total + lost
}

/// The arithmetic mean. `None` when empty or not wholly finite.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !crate::rank::all_finite(values) {
        return None;
    }
    Some(sum(values) / values.len() as f64)
}

/// The unbiased sample variance (n − 1), in two passes.
///
/// `None` below two values or when not wholly finite.
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: Vec<f64> = values.iter().map(|v| (v - centre) * (v - centre)).collect();
    Some(sum(&squares) / (values.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_terms_survive_large_ones() {
        assert_eq!(sum(&[1.0, 1e100, 1.0, -1e100]), 2.0);
    }

    #[test]
    fn mean_and_variance_equal_numpy() {
        // numpy.var([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16], ddof=1) = 30
        let values = [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0];
        assert_eq!(mean(&values), Some(1e9 + 10.0));
        assert_eq!(variance(&values), Some(30.0));
        assert_eq!(variance(&[1.0]), None);
        assert_eq!(mean(&[f64::NAN]), None);
    }
}
