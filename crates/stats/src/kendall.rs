//! Kendall's rank correlation.

use std::cmp::Ordering;

/// Kendall's τ-b of paired values: (concordant − discordant) pairs over
/// √((pairs − ties in x)(pairs − ties in y)), between −1 and 1.
///
/// `None` when the lengths differ, below two pairs, when one side is constant,
/// and when a value is NaN or infinite. Quadratic in the length: meant for
/// tens to hundreds of values.
///
/// Source: M. G. Kendall, "The treatment of ties in ranking problems",
/// Biometrika 33 (1945).
pub fn tau_b(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || !crate::rank::all_finite(x) || !crate::rank::all_finite(y) {
        return None;
    }
    let (mut balance, mut untied_x, mut untied_y) = (0_i64, 0_u64, 0_u64);
    for i in 0..x.len() {
        for j in 0..i {
            let dx = sign(x[i], x[j]);
            let dy = sign(y[i], y[j]);
            balance += dx * dy;
            untied_x += dx.unsigned_abs();
            untied_y += dy.unsigned_abs();
        }
    }
    if untied_x == 0 || untied_y == 0 {
        return None;
    }
    let scale = libm::sqrt(untied_x as f64) * libm::sqrt(untied_y as f64);
    Some((balance as f64 / scale).clamp(-1.0, 1.0))
}

/// −1, 0 or 1; the values are finite, so they compare.
fn sign(a: f64, b: f64) -> i64 {
    match a.partial_cmp(&b) {
        Some(Ordering::Greater) => 1,
        Some(Ordering::Less) => -1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tau_equals_scipy() {
        // scipy.stats.kendalltau([12, 2, 1, 12, 2], [1, 4, 7, 1, 0])
        let tau = tau_b(&[12.0, 2.0, 1.0, 12.0, 2.0], &[1.0, 4.0, 7.0, 1.0, 0.0]).unwrap();
        assert!((tau - -0.471_404_520_791_031_7).abs() < 1e-12, "{tau}");
    }

    #[test]
    fn order_and_reverse_are_one_and_minus_one() {
        let up = [1.0, 2.0, 3.0, 4.0];
        let down = [9.0, 7.0, 5.0, 1.0];
        assert_eq!(tau_b(&up, &up), Some(1.0));
        assert_eq!(tau_b(&up, &down), Some(-1.0));
    }

    #[test]
    fn no_order_has_no_correlation() {
        assert_eq!(tau_b(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(tau_b(&[1.0], &[1.0]), None);
        assert_eq!(tau_b(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(tau_b(&[1.0, f64::NAN], &[1.0, 2.0]), None);
    }
}
