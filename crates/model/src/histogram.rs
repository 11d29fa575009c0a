//! Single accesses, counted by clock ticks.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts of accesses in bins of equal width, what timing costs taken off each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessBins {
    /// A bin's width is two to this power, clock ticks.
    pub width_log2: u32,
    /// Accesses of each bin, from 0 ticks on; they end at [`AccessBins::END`].
    pub counts: Vec<u64>,
    /// Accesses of that many ticks or more.
    pub beyond: u64,
}

impl AccessBins {
    /// Ticks at which the bins end.
    pub const END: u64 = 4096;
    /// The widest bin: one for all.
    pub const WIDEST_LOG2: u32 = Self::END.trailing_zeros();

    /// Empty bins of `1 << width_log2` ticks, [`AccessBins::WIDEST_LOG2`] at most. All that is ever allocated is allocated here.
    #[must_use]
    pub fn new(width_log2: u32) -> Self {
        let width_log2 = width_log2.min(Self::WIDEST_LOG2);
        let counts = (0..Self::END >> width_log2).map(|_| 0).collect();
        Self { width_log2, counts, beyond: 0 }
    }

    /// Counts an access of so many ticks.
    #[inline]
    pub fn record(&mut self, ticks: u64) {
        self.record_many(ticks, 1);
    }

    /// Counts `count` of them.
    #[inline]
    pub fn record_many(&mut self, ticks: u64, count: u64) {
        let bin = usize::try_from(ticks >> self.width_log2).ok().and_then(|bin| self.counts.get_mut(bin));
        let bin = bin.unwrap_or(&mut self.beyond);
        *bin = bin.saturating_add(count);
    }

    /// Adds what `other`, of the same width, counted.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        self.beyond = self.beyond.saturating_add(other.beyond);
    }

    /// Forgets all counts; keeps the memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.beyond = 0;
    }

    /// Bins that hold anything, rising.
    #[must_use]
    pub fn filled(&self) -> Vec<HistogramBin> {
        let bin = |(at, count): (u64, u64)| HistogramBin { from: at << self.width_log2, to: (at + 1) << self.width_log2, count };
        (0..).zip(self.counts.iter().copied()).filter(|(_, count)| *count > 0).map(bin).collect()
    }
}

/// How a figure's single accesses are spread: a view of all undisturbed rounds together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Histogram {
    /// The metric's name.
    pub name: String,
    /// The metric's labels, but for the percentile.
    pub labels: BTreeMap<String, String>,
    /// Ticks a second.
    pub clock_hz: f64,
    /// Ticks of every bin.
    pub width: u64,
    /// What timing costs, ns; taken off each access.
    pub cost_ns: f64,
    /// Rounds that are in it.
    pub rounds: u32,
    /// Bins that hold anything, rising.
    pub bins: Vec<HistogramBin>,
    /// Ticks at which the bins end.
    pub end: u64,
    /// Accesses of that many ticks or more.
    pub beyond: u64,
}

/// A bin: accesses of `from` ≤ ticks < `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistogramBin {
    /// Its first tick.
    pub from: u64,
    /// The first tick beyond it.
    pub to: u64,
    /// Accesses.
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_access_lies_in_one_bin() {
        for width_log2 in 0..=AccessBins::WIDEST_LOG2 {
            let mut bins = AccessBins::new(width_log2);
            let all = [0, 1, 7, 8, 159, 160, 4095, 4096, u64::MAX];
            all.iter().for_each(|ticks| bins.record(*ticks));
            let filled = bins.filled();
            for bin in &filled {
                let inside = all.iter().filter(|ticks| (bin.from..bin.to).contains(ticks)).count();
                assert_eq!((bin.count, bin.to - bin.from), (inside as u64, 1 << width_log2));
            }
            let sum = filled.iter().map(|bin| bin.count).sum::<u64>();
            assert_eq!((sum, bins.beyond), (7, 2), "{width_log2}");
        }
    }

    #[test]
    fn merging_is_counting_together() {
        let (mut one, mut other) = (AccessBins::new(3), AccessBins::new(3));
        one.record(8);
        other.record_many(15, 4);
        other.record(9000);
        one.merge(&other);
        assert_eq!((one.filled(), one.beyond), (vec![HistogramBin { from: 8, to: 16, count: 5 }], 1));
        one.clear();
        assert_eq!(one, AccessBins::new(3));
    }
}
