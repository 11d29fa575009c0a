//! Values that lie too low among their like, and how all of them are spread.

use crate::rank::{all_finite, mad, median};

/// What turns a median absolute deviation into the standard deviation of normal data.
const NORMAL: f64 = 1.4826;

/// Values below this are low: the median − max(`k` · 1.4826 · MAD, `least` · median).
///
/// The median and the MAD stay what they are while fewer than half of the values are odd, which mean and standard deviation do not.
/// `least`, a fraction, keeps the smallest differences from being called odd where nearly all values are alike (then the MAD is
/// next to nothing).
///
/// `None` for fewer than five values, from which no spread can be told; where one is not finite or the median is not positive; or
/// where `k` or `least` is negative or not finite.
///
/// Source: B. Iglewicz, D. C. Hoaglin, "How to Detect and Handle Outliers", ASQC (1993), with a floor.
pub fn low_fence(values: &[f64], k: f64, least: f64) -> Option<f64> {
    let right = |x: f64| x.is_finite() && x >= 0.0;
    if values.len() < 5 || !right(k) || !right(least) {
        return None;
    }
    let centre = median(values).filter(|centre| *centre > 0.0)?;
    Some(centre - (k * NORMAL * mad(values)?).max(least * centre))
}

/// A bin of a histogram: how many values lie in `from` ≤ value < `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Lower end.
    pub from: f64,
    /// Upper end, not part of it.
    pub to: f64,
    /// Values.
    pub count: usize,
}

/// The values in at most `most` bins of one width, 1, 2 or 5 times a power of ten, that begin at multiples of it; empty bins between
/// others included.
///
/// Values that are all equal share one bin. `None` when `values` is empty, negative or not wholly finite, or `most` is below 2.
pub fn bins(values: &[f64], most: usize) -> Option<Vec<Bin>> {
    if values.is_empty() || most < 2 || !all_finite(values) || values.iter().any(|v| *v < 0.0) {
        return None;
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let width = width(low, high, most);
    let at = |value: f64| libm::floor(value / width);
    let first = at(low);
    let mut counts = vec![0; (at(high) - first) as usize + 1]; // at most `most`, by the width
    for value in values {
        counts[(at(*value) - first) as usize] += 1;
    }
    let bin = |(n, count): (usize, usize)| {
        let from = first + n as f64;
        Bin { from: from * width, to: (from + 1.0) * width, count }
    };
    Some(counts.into_iter().enumerate().map(bin).collect())
}

/// The least such width with which no more than `most` bins reach from `low` to `high`. Bins narrower than a thousandth of the
/// largest value would show differences that nobody can measure.
fn width(low: f64, high: f64, most: usize) -> f64 {
    let finest = (high / 1000.0).max(f64::MIN_POSITIVE);
    let mut decade = libm::pow(10.0, libm::floor(libm::log10(finest)));
    loop {
        for step in [1.0, 2.0, 5.0] {
            let width = decade * step;
            let reach = libm::floor(high / width) - libm::floor(low / width);
            if width >= finest && reach < most as f64 {
                return width;
            }
        }
        decade *= 10.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_slow_among_many_lies_below_the_fence_and_the_others_do_not() {
        let mut values = vec![100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8, 98.9];
        values.push(80.0);
        let fence = low_fence(&values, 5.0, 0.03).unwrap();
        assert_eq!(values.iter().filter(|value| **value < fence).count(), 1, "fence {fence}");
    }

    #[test]
    fn two_fifths_that_are_slow_do_not_hide_each_other() {
        let values = [100.0, 100.5, 101.0, 100.2, 99.9, 100.1, 60.0, 61.0, 60.5, 60.2];
        // The MAD is a third of a unit and not half of the gap.
        let fence = low_fence(&values, 5.0, 0.03).unwrap();
        assert!(fence > 61.0, "fence {fence}");
    }

    #[test]
    fn where_all_are_alike_small_differences_are_not_odd() {
        let values = [100.0, 100.0, 100.0, 100.0, 100.0, 99.0];
        assert_eq!(low_fence(&values, 5.0, 0.03), Some(97.0));
    }

    #[test]
    fn too_few_values_have_no_fence() {
        assert_eq!(low_fence(&[1.0, 2.0, 3.0, 4.0], 5.0, 0.03), None);
        assert_eq!(low_fence(&[0.0; 6], 5.0, 0.03), None);
        assert_eq!(low_fence(&[1.0, 2.0, 3.0, 4.0, f64::NAN], 5.0, 0.03), None);
        assert_eq!(low_fence(&[1.0; 6], -1.0, 0.03), None);
    }

    #[test]
    fn bins_begin_at_round_figures_and_keep_the_empty_ones() {
        let got = bins(&[80e9, 84e9, 84.5e9, 85e9], 8).unwrap();
        let shown: Vec<_> = got.iter().map(|bin| (bin.from / 1e9, bin.to / 1e9, bin.count)).collect();
        let want = [(80.0, 81.0, 1), (81.0, 82.0, 0), (82.0, 83.0, 0), (83.0, 84.0, 0), (84.0, 85.0, 2), (85.0, 86.0, 1)];
        assert_eq!(shown, want);
    }

    #[test]
    fn equal_values_share_a_bin_and_no_values_have_none() {
        assert_eq!(bins(&[7.0; 4], 10).unwrap().iter().map(|bin| bin.count).collect::<Vec<_>>(), [4]);
        assert_eq!(bins(&[0.0], 10).unwrap().len(), 1);
        assert_eq!(bins(&[], 10), None);
        assert_eq!(bins(&[-1.0], 10), None);
        assert_eq!(bins(&[1.0], 1), None);
    }

    proptest! {
        #[test]
        fn every_value_is_in_a_bin(values in prop::collection::vec(0.0..1e12, 1..60), most in 2usize..30) {
            let got = bins(&values, most).unwrap();
            prop_assert!(got.len() <= most);
            prop_assert_eq!(got.iter().map(|bin| bin.count).sum::<usize>(), values.len());
            prop_assert!(got.first().unwrap().count > 0 && got.last().unwrap().count > 0);
        }
    }
}
