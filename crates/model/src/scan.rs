//! A scan of a node's memory, region by region: what is planned, what was found while measuring, and how it is shown.

use crate::{ArenaId, Avail, MetricId, Mix, NodeId, Pages, PointId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The regions of one node; they are mapped at once and held until the last of them is measured, so no two of them are the
/// same memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScanPlan {
    /// The node.
    pub node: NodeId,
    /// The phase, an index into [`crate::Plan::phases`], that holds them.
    pub phase: usize,
    /// Bytes of a region.
    pub region_bytes: u64,
    /// By region number, from 0: its arena. [`crate::Measure::Scan`] names regions by these numbers.
    pub arenas: Vec<ArenaId>,
    /// Bytes of the node that could be had when the plan was made: what is available of ordinary memory, and free huge pages of
    /// its pools.
    pub available_bytes: u64,
    /// Bytes of all memory of the node.
    pub memory_bytes: u64,
    /// Bytes of the last-level caches of the CPUs that read, memory-side caches of the node included; none where no size is known.
    pub cache_bytes: Option<u64>,
}

/// Points of a held phase that are measured again after its rounds: those whose value lies below the fence of their like, and as
/// many ordinary ones. Of many values the lowest are low by chance, too; ordinary ones show what measuring again does to them.
///
/// Points are alike when they have the same mix and their arenas the same pages asked for. The fence is
/// median − max(`k` · 1.4826 · MAD, `least` · median) over the values of at least five points.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgainRule {
    /// Robust standard deviations below the median.
    pub k: f64,
    /// Below the median at least by this share of it.
    pub least: f64,
    /// Slow points of a kind that are measured again at most: the slowest.
    pub most: u32,
    /// Ordinary points beside them at least, where there are so many.
    pub controls: u32,
    /// Rounds that they get; the blocks stand in [`crate::PointRecord::again`].
    pub rounds: u32,
}

/// What the engine found when all points of a held phase had their rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgainRecord {
    /// The phase.
    pub phase: usize,
    /// The mix of these points.
    pub mix: Mix,
    /// The pages that were asked for.
    pub pages: Pages,
    /// Points that have a value: the median over rounds of the median over undisturbed windows, of the placement class in which
    /// most blocks of all these points lie.
    pub values: u32,
    /// Median of the values, B/s; none without values.
    pub median: Option<f64>,
    /// The fence, B/s; none for fewer than five values.
    pub fence: Option<f64>,
    /// All points below it, the lowest first.
    pub slow: Vec<PointId>,
    /// Of those, how many from the beginning were measured again.
    pub measured: u32,
    /// Ordinary points that were measured again beside them, drawn by lot.
    pub controls: Vec<PointId>,
}

/// Where the memory of a held arena lies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArenaPhysical {
    /// The arena.
    pub arena: ArenaId,
    /// When all was filled.
    pub physical: Avail<Physical>,
}

/// Where memory lies, by `/proc/self/pagemap`. In a guest these are addresses as the guest sees them, which say nothing of the
/// modules of its host ([`crate::Machine::is_guest`]).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Physical {
    /// Physical addresses [from, to), bytes, rising; no two touch. Of very many only the largest are kept.
    pub ranges: Vec<[u64; 2]>,
    /// Ranges that were left out.
    pub left_out: u64,
    /// Bytes in those.
    pub left_out_bytes: u64,
    /// Base pages that were not in memory.
    pub absent: u64,
}

impl Physical {
    /// Keeps the largest `most` ranges.
    #[must_use]
    pub fn at_most(mut self, most: usize) -> Self {
        let bytes = |range: &[u64; 2]| range[1] - range[0];
        if self.ranges.len() > most {
            self.ranges.sort_by_key(|range| (std::cmp::Reverse(bytes(range)), range[0]));
            let rest = self.ranges.split_off(most);
            self.left_out += rest.len() as u64;
            self.left_out_bytes += rest.iter().map(bytes).sum::<u64>();
            self.ranges.sort_unstable();
        }
        self
    }
}

/// A scan as it is shown: a view of `scan_bandwidth` figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scan {
    /// The node.
    pub node: NodeId,
    /// The mix.
    pub mix: String,
    /// Bytes of a region.
    pub region_bytes: u64,
    /// Its figure, by region number; none where it could not be had.
    pub regions: Vec<Option<MetricId>>,
    /// The lowest physical address of each, by region number, as the guest sees it in a guest; none where it is hidden.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<Option<u64>>,
    /// Bytes of all regions that have a figure.
    pub scanned_bytes: u64,
    /// Bytes of the node that could be had before.
    pub available_bytes: u64,
    /// Bytes of all memory of the node.
    pub memory_bytes: u64,
    /// Regions by the kind of pages that they got: `1g`, `2m`, `thp`, `base`; `mixed` where it is not one kind.
    pub pages: BTreeMap<String, u32>,
    /// The figure of the middle region of each round.
    pub median: Option<MetricId>,
    /// The slowest region's figure.
    pub slowest: Option<MetricId>,
    /// The fastest region's figure.
    pub fastest: Option<MetricId>,
    /// How the figures are spread, in bins of one round width.
    pub histogram: Vec<ScanBin>,
    /// By kind of pages asked for: below what a region is slow.
    pub fences: Vec<ScanFence>,
    /// Regions below their fence, the slowest first.
    pub slow: Vec<SlowRegion>,
    /// Are physical addresses those that a guest sees?
    pub guest_physical: bool,
}

/// A bin of a histogram: regions with `from` ≤ B/s < `to`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScanBin {
    /// Lower end, B/s.
    pub from: f64,
    /// Upper end, not part of it, B/s.
    pub to: f64,
    /// Regions.
    pub regions: u32,
}

/// Below what a region is slow among its like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScanFence {
    /// The pages that were asked for.
    pub pages: Pages,
    /// Regions that have a value.
    pub regions: u32,
    /// Their median, B/s.
    pub median: Option<f64>,
    /// The fence, B/s; none for fewer than five regions.
    pub fence: Option<f64>,
    /// How it was made.
    pub rule: AgainRule,
}

/// A region below its fence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlowRegion {
    /// Its number.
    pub region: u32,
    /// Its figure among all regions.
    pub first: Option<MetricId>,
    /// Its figure when it was measured again; none where it was not.
    pub again: Option<MetricId>,
    /// What ordinary regions had at the same time.
    pub controls: Option<MetricId>,
    /// The one over the other, round by round.
    pub ratio: Option<MetricId>,
    /// Was it slow again, against those? None where it was not measured again or the figures leave it open.
    pub stayed: Option<bool>,
    /// The kind of pages that it got, as in [`Scan::pages`].
    pub pages: String,
    /// Where it lies.
    pub physical: Avail<Physical>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_ranges_are_kept_in_order_and_the_rest_is_counted() {
        let ranges = vec![[0, 10], [20, 21], [30, 60], [70, 72]];
        let kept = Physical { ranges, ..Physical::default() }.at_most(2);
        assert_eq!(kept, Physical { ranges: vec![[0, 10], [30, 60]], left_out: 2, left_out_bytes: 3, absent: 0 });
        assert_eq!(kept.clone().at_most(2), kept);
    }

    #[test]
    fn known_and_unknown_places_survive_json() {
        for place in [Avail::Known(Physical::default()), Avail::missing(crate::Reason::NoPermission, "hidden")] {
            let text = serde_json::to_string(&place).unwrap();
            assert_eq!(serde_json::from_str::<Avail<Physical>>(&text).unwrap(), place, "{text}");
        }
    }
}
