//! Latencies of single accesses: a log-linear histogram of clock ticks.

/// Buckets of an octave, as a power of two.
const SUB_BITS: u32 = 7;
const SUB: usize = 1 << SUB_BITS;

/// Ticks from 2^40 on (18 minutes at 1 GHz) share the last bucket.
const TOP_BITS: u32 = 40;
const BUCKETS: usize = SUB * (TOP_BITS - SUB_BITS + 1) as usize;

/// Counts of tick values in buckets whose width is at most 1/128 of their
/// value: exact below 256 ticks, a midpoint within 0.4 % of any value below
/// 2^40. Minimum and maximum are exact everywhere.
///
/// 34 KiB, allocated once in [`Histogram::new`]; [`Histogram::record`]
/// allocates nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
    total: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// The percentiles of a [`Histogram`], in its ticks.
///
/// A percentile is `None` when there are too few values to tell it from the
/// maximum (p99.9 needs 1000).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentiles {
    /// Number of values.
    pub count: u64,
    /// Exact minimum.
    pub min: u64,
    /// Exact mean.
    pub mean: f64,
    /// Median.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p99_9: Option<u64>,
    /// 99.99th percentile.
    pub p99_99: Option<u64>,
    /// Exact maximum.
    pub max: u64,
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self { counts: vec![0; BUCKETS].into_boxed_slice(), total: 0, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Counts one value. No allocation, no branch on what was counted before.
    #[inline]
    pub fn record(&mut self, ticks: u64) {
        if let Some(count) = self.counts.get_mut(bucket_of(ticks)) {
            *count += 1;
        }
        self.total += 1;
        self.sum += u128::from(ticks);
        self.min = self.min.min(ticks);
        self.max = self.max.max(ticks);
    }

    /// Adds all of `other`'s values.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forgets all values; keeps the memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.total, self.sum, self.min, self.max) = (0, 0, u64::MAX, 0);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The non-empty buckets, ascending: (lowest value, highest value, count).
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.counts.iter().enumerate().filter(|&(_, &count)| count > 0).map(|(index, &count)| {
            let (low, high) = span_of(index);
            (low, high, count)
        })
    }

    /// The nearest-rank percentile in hundredths of a per cent (p99.9 is 9990):
    /// the value that at least that share of the values does not exceed, as
    /// the midpoint of its bucket, kept inside minimum and maximum.
    ///
    /// `None` when empty, when `hundredths` is above 10 000, and below 10 000
    /// when no value would lie beyond it.
    pub fn percentile(&self, hundredths: u64) -> Option<u64> {
        const WHOLE: u128 = 10_000;
        let part = u128::from(hundredths);
        let beyond = WHOLE.checked_sub(part)?;
        let total = u128::from(self.total);
        if total == 0 || (beyond > 0 && total * beyond < WHOLE) {
            return None;
        }
        if beyond == 0 {
            return Some(self.max);
        }
        let rank = (total * part).div_ceil(WHOLE).max(1);
        let mut seen = 0;
        for (low, high, count) in self.buckets() {
            seen += u128::from(count);
            if seen >= rank {
                return Some((low + (high - low) / 2).clamp(self.min, self.max));
            }
        }
        None
    }

    /// The usual percentiles; `None` when empty.
    pub fn percentiles(&self) -> Option<Percentiles> {
        (self.total > 0).then(|| Percentiles {
            count: self.total,
            min: self.min,
            mean: self.sum as f64 / self.total as f64,
            p50: self.percentile(5_000),
            p90: self.percentile(9_000),
            p99: self.percentile(9_900),
            p99_9: self.percentile(9_990),
            p99_99: self.percentile(9_999),
            max: self.max,
        })
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// The first 128 values have a bucket each; from there every octave has 128.
#[inline]
fn bucket_of(ticks: u64) -> usize {
    let ticks = ticks.min((1 << TOP_BITS) - 1);
    let octave = (ticks | SUB as u64).ilog2() - SUB_BITS;
    // Below 128: octave 0 and the value itself. Else the leading one of the
    // shifted value adds the one octave that the first bucket row takes.
    octave as usize * SUB + (ticks >> octave) as usize
}

/// Lowest and highest value of a bucket.
fn span_of(index: usize) -> (u64, u64) {
    let octave = (index / SUB).saturating_sub(1);
    let low = ((index - octave * SUB) as u64) << octave;
    (low, low + ((1 << octave) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        values.into_iter().for_each(|v| histogram.record(v));
        histogram
    }

    #[test]
    fn buckets_join_without_a_gap() {
        let mut next = 0;
        for index in 0..BUCKETS {
            let (low, high) = span_of(index);
            assert_eq!(low, next);
            assert_eq!((bucket_of(low), bucket_of(high)), (index, index));
            next = high + 1;
        }
        assert_eq!(next, 1 << TOP_BITS);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let p = of(1..=100).percentiles().unwrap();
        assert_eq!((p.p50, p.p90, p.p99), (Some(50), Some(90), Some(99)));
        assert_eq!((p.p99_9, p.p99_99), (None, None));
        assert_eq!((p.min, p.max, p.mean, p.count), (1, 100, 50.5, 100));
        let many = of((0..10_000).map(|i| 1 + i / 100)).percentiles().unwrap();
        assert_eq!((many.p99_9, many.p99_99), (Some(100), Some(100)));
    }

    #[test]
    fn nothing_and_one_value() {
        assert_eq!(Histogram::new().percentiles(), None);
        assert_eq!(Histogram::new().percentile(5_000), None);
        assert_eq!(of([7]).percentile(10_000), Some(7));
        assert_eq!(of([7]).percentile(5_000), None);
        assert_eq!(of([7]).percentile(10_001), None);
    }

    #[test]
    fn the_largest_tick_keeps_the_maximum_exact() {
        let histogram = of([10, u64::MAX, u64::MAX]);
        assert_eq!(histogram.percentile(10_000), Some(u64::MAX));
        // Beyond 2^40 a percentile can only say "the last bucket".
        assert_eq!(histogram.percentile(6_000), Some((1 << 40) - (1 << 31) - 1));
    }

    proptest! {
        #[test]
        fn every_percentile_is_within_the_bound(
            values in prop::collection::vec(0_u64..(1 << 40), 1..200), hundredths in 0_u64..10_000,
        ) {
            let histogram = of(values.iter().copied());
            let mut ascending = values;
            ascending.sort_unstable();
            if let Some(got) = histogram.percentile(hundredths) {
                let rank = (ascending.len() as u64 * hundredths).div_ceil(10_000).max(1);
                let exact = ascending[rank as usize - 1];
                prop_assert!(got.abs_diff(exact) as f64 <= exact as f64 * 0.004);
            }
        }

        #[test]
        fn merging_is_recording_together(
            a in prop::collection::vec(any::<u64>(), 0..50),
            b in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let mut merged = of(a.iter().copied());
            merged.merge(&of(b.iter().copied()));
            prop_assert_eq!(merged, of(a.into_iter().chain(b)));
        }
    }
}
