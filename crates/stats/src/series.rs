//! Windows in the order of time: how dependent they are, and whether warm-up is over.

use crate::{moments, rank};

/// Two medians of windows that differ by less than this are the same.
const SETTLED_WITHIN: f64 = 0.02;

/// Lag-1 autocorrelation: Σ(xₜ − m)(xₜ₊₁ − m) / Σ(xₜ − m)².
///
/// It is biased low in short series (by about (1 + 4ρ)/n). `None` below three
/// values, when all are equal, and when one is NaN or infinite.
pub fn lag1_autocorrelation(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let centre = moments::mean(values)?;
    let off: Vec<f64> = values.iter().map(|v| v - centre).collect();
    let squares: Vec<f64> = off.iter().map(|d| d * d).collect();
    let products: Vec<f64> = off.windows(2).map(|pair| pair[0] * pair[1]).collect();
    let total = moments::sum(&squares);
    (total > 0.0).then(|| moments::sum(&products) / total)
}

/// How many independent values `n` values with lag-1 autocorrelation `rho` are
/// worth: n(1 − ρ)/(1 + ρ), the AR(1) rule.
///
/// Never more than `n`: a negative ρ is counted as none, since it is mostly
/// noise of the estimate. `rho` of 1 or above gives 0.
pub fn effective_n(n: usize, rho: f64) -> f64 {
    let rho = rho.clamp(0.0, 1.0);
    n as f64 * (1.0 - rho) / (1.0 + rho)
}

/// Whether warm-up may end: the medians of the last three and of the previous
/// three windows differ by less than 2 % of the last three's.
///
/// False below six windows, and when one of those six is NaN or infinite.
/// Bounds in time are the caller's.
pub fn settled(windows: &[f64]) -> bool {
    let Some(six) = windows.last_chunk::<6>() else {
        return false;
    };
    match (rank::median(&six[..3]), rank::median(&six[3..])) {
        (Some(before), Some(last)) => before == last || (last - before).abs() < SETTLED_WITHIN * last.abs(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn autocorrelation_by_hand() {
        // mean 3; deviations -2 -1 0 1 2; products 2 + 0 + 0 + 2; squares 10
        assert_eq!(lag1_autocorrelation(&[1.0, 2.0, 3.0, 4.0, 5.0]), Some(0.4));
        let alternating = [1.0, -1.0, 1.0, -1.0];
        assert_eq!(lag1_autocorrelation(&alternating), Some(-0.75));
        assert_eq!(lag1_autocorrelation(&[2.0; 8]), None);
        assert_eq!(lag1_autocorrelation(&[1.0, 2.0]), None);
        assert_eq!(lag1_autocorrelation(&[1.0, f64::NAN, 2.0]), None);
    }

    #[test]
    fn dependent_windows_are_worth_less() {
        assert_eq!(effective_n(100, 0.0), 100.0);
        assert!((effective_n(190, 0.9) - 10.0).abs() < 1e-9);
        assert_eq!(effective_n(50, -0.5), 50.0);
        assert_eq!(effective_n(50, 1.0), 0.0);
    }

    #[test]
    fn warm_up_ends_when_two_medians_agree() {
        assert!(!settled(&[100.0; 5]));
        assert!(settled(&[100.0; 6]));
        assert!(settled(&[900.0, 100.0, 500.0, 101.0, 100.0, 101.0, 900.0]));
        assert!(!settled(&[98.0, 98.0, 98.0, 100.0, 100.0, 100.0]));
        assert!(settled(&[98.1, 98.1, 98.1, 100.0, 100.0, 100.0]));
        assert!(!settled(&[100.0, 100.0, 100.0, 100.0, f64::NAN, 100.0]));
        assert!(settled(&[0.0; 6]));
    }
}
