//! Isotonic regression by pooling adjacent violators.

/// The non-decreasing sequence nearest to `values` in weighted least squares.
///
/// `weights` are above 0, one a value. The weighted mean is kept (to
/// rounding). `None` when the lengths differ, a value is not finite, or a
/// weight is not finite and above 0; an empty input gives an empty fit.
///
/// Source: M. Ayer et al., "An empirical distribution function for sampling
/// with incomplete information", Ann. Math. Statist. 26 (1955); the one-pass
/// stack form runs in linear time.
pub fn isotonic(values: &[f64], weights: &[f64]) -> Option<Vec<f64>> {
    let usable =
        values.len() == weights.len() && crate::rank::all_finite(values) && weights.iter().all(|w| w.is_finite() && *w > 0.0);
    if !usable {
        return None;
    }
    let mut fit = Vec::with_capacity(values.len());
    let mut blocks = Vec::with_capacity(values.len());
    pool(values.iter().copied().zip(weights.iter().copied()), &mut blocks, &mut fit);
    Some(fit)
}

/// Neighbours that were pooled: their common value, weight and number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    value: f64,
    weight: f64,
    len: usize,
}

/// [`isotonic`] on checked (value, weight) pairs into reused buffers, for
/// callers that fit a thousand resamples.
pub(crate) fn pool(pairs: impl Iterator<Item = (f64, f64)>, blocks: &mut Vec<Block>, fit: &mut Vec<f64>) {
    blocks.clear();
    for (value, weight) in pairs {
        let mut last = Block { value, weight, len: 1 };
        while let Some(before) = blocks.pop_if(|before| before.value >= last.value) {
            last = merge(before, last);
        }
        blocks.push(last);
    }
    fit.clear();
    for block in &*blocks {
        fit.extend(std::iter::repeat_n(block.value, block.len));
    }
}

fn merge(a: Block, b: Block) -> Block {
    let weight = a.weight + b.weight;
    // The shift form gives exactly `a.value` when both are equal.
    Block { value: a.value + (b.value - a.value) * (b.weight / weight), weight, len: a.len + b.len }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moments;
    use proptest::prelude::*;

    #[test]
    fn violators_are_pooled() {
        // scikit-learn: IsotonicRegression().fit_transform(range(7), y)
        let y = [1.0, 2.0, 6.0, 4.0, 5.0, 9.0, 3.0];
        let fit = isotonic(&y, &[1.0; 7]).unwrap();
        assert_eq!(fit, [1.0, 2.0, 5.0, 5.0, 5.0, 6.0, 6.0]);
    }

    #[test]
    fn weights_pull_the_pooled_value() {
        let fit = isotonic(&[4.0, 1.0, 9.0], &[1.0, 2.0, 1.0]).unwrap();
        assert_eq!(fit, [2.0, 2.0, 9.0]);
        assert_eq!(isotonic(&[3.0, 2.0, 1.0], &[1.0; 3]).unwrap(), [2.0; 3]);
    }

    #[test]
    fn unusable_input_is_refused() {
        assert_eq!(isotonic(&[1.0], &[]), None);
        assert_eq!(isotonic(&[1.0], &[0.0]), None);
        assert_eq!(isotonic(&[f64::NAN], &[1.0]), None);
        assert_eq!(isotonic(&[], &[]), Some(Vec::new()));
    }

    proptest! {
        #[test]
        fn the_fit_rises_keeps_the_mean_and_is_idempotent(
            pairs in prop::collection::vec((-1e6..1e6, 0.1..10.0), 1..60),
        ) {
            let (values, weights): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let fit = isotonic(&values, &weights).unwrap();
            prop_assert!(fit.is_sorted());
            let weighted = |v: &[f64]| {
                let terms: Vec<f64> = v.iter().zip(&weights).map(|(v, w)| v * w).collect();
                moments::sum(&terms)
            };
            prop_assert!((weighted(&fit) - weighted(&values)).abs() < 1e-3);
            prop_assert_eq!(isotonic(&fit, &weights).unwrap(), fit);
        }
    }
}
