//! All pairs of many CPUs: how a map of them is planned, what was found while it was made, and how it is shown.
//!
//! A thousand CPUs make half a million pairs. What a pair costs goes by how far apart its CPUs are, so pairs are taken together in
//! classes, of each of which a sample is measured, one pair at a time. Only a class whose sample is not uniform is filled, many
//! disjoint pairs at a time.

use crate::{ArenaId, C2cKind, Cpu, MetricId, PointId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How far apart two CPUs are, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Apart {
    /// Threads of one core.
    Core,
    /// Cores that share an L2.
    L2,
    /// Cores that share an L3.
    L3,
    /// Cores of one node that share neither.
    Node,
    /// Nodes of one package, at this distance by the firmware (10 is the same).
    Package(u32),
    /// Packages, at this distance.
    Far(u32),
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core => f.write_str("core"),
            Self::L2 => f.write_str("l2"),
            Self::L3 => f.write_str("l3"),
            Self::Node => f.write_str("node"),
            Self::Package(distance) => write!(f, "package-{distance}"),
            Self::Far(distance) => write!(f, "far-{distance}"),
        }
    }
}

/// How a map of all pairs is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MapPlan {
    /// What is transferred how.
    pub kind: C2cKind,
    /// The CPUs, rising.
    pub places: Vec<CpuPlace>,
    /// By the nodes' indices in [`CpuPlace::node`]: distance by the firmware.
    pub distances: Vec<Vec<u32>>,
    /// Every class that has pairs, the nearest first.
    pub classes: Vec<PairClass>,
    /// Memory for transfers that go on at once: a slot for each CPU whose lines live there.
    pub arenas: Vec<ArenaId>,
    /// Bytes of a slot.
    pub slot_bytes: u64,
    /// When a class is uniform, and how one that is not is filled.
    pub rule: MapRule,
}

/// Where a CPU is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuPlace {
    /// The CPU.
    pub cpu: Cpu,
    /// Its core.
    pub core: u32,
    /// Its L2 and L3, where they are described.
    pub l2: Option<u32>,
    /// Its L3.
    pub l3: Option<u32>,
    /// Its node, an index.
    pub node: u32,
    /// Its package, where it is described.
    pub package: Option<u32>,
    /// Where lines that it writes live in wide rounds: an arena and a slot of it.
    pub arena: ArenaId,
    /// The slot.
    pub slot: u32,
}

/// Pairs that are equally far apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairClass {
    /// How far.
    pub apart: Apart,
    /// Pairs, each counted once.
    pub pairs: u64,
    /// Pairs that are measured alone, in every round.
    pub sample: Vec<PointId>,
}

/// When a class is uniform, and how one that is not is filled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MapRule {
    /// A class is uniform if the medians of its sample spread by no more than this share of the lowest.
    pub spread: f64,
    /// It is, too, if the rounds don't tell its pairs apart: Kruskal and Wallis' H below its chi-square quantile at the level of which
    /// this is the standard normal quantile.
    pub level: f64,
    /// Length of a transfer in a wide round, ns.
    pub wide_ns: u64,
    /// Wide rounds, at most, for pairs that differ from what their CPUs' other pairs say.
    pub again: u32,
    /// Fill classes that are uniform, too?
    pub all: bool,
}

impl MapPlan {
    /// How far apart the CPUs at these indices are.
    #[must_use]
    pub fn apart(&self, one: usize, other: usize) -> Apart {
        let (a, b) = (&self.places[one], &self.places[other]);
        let same = |x: Option<u32>, y: Option<u32>| x.is_some() && x == y;
        if a.core == b.core {
            Apart::Core
        } else if same(a.l2, b.l2) {
            Apart::L2
        } else if same(a.l3, b.l3) {
            Apart::L3
        } else if a.node == b.node {
            Apart::Node
        } else {
            let distance = self.distances[a.node as usize][b.node as usize];
            if same(a.package, b.package) { Apart::Package(distance) } else { Apart::Far(distance) }
        }
    }
}

/// What the engine found and did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MapRecord {
    /// By class, in the plan's order.
    pub verdicts: Vec<ClassVerdict>,
    /// Wide rounds, in order.
    pub wide: Vec<WideRound>,
}

/// Was a class uniform?
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassVerdict {
    /// How far apart its CPUs are.
    pub apart: Apart,
    /// Pairs of the sample that have a value.
    pub sampled: u32,
    /// Lowest and highest median over rounds of these, ns; none without any.
    pub span_ns: Option<[f64; 2]>,
    /// Kruskal and Wallis' H over pairs; none where rounds or pairs are too few.
    pub h: Option<f64>,
    /// What it is held against.
    pub critical: Option<f64>,
    /// The verdict; none where nothing could be told.
    pub uniform: Option<bool>,
    /// Was it filled?
    pub filled: bool,
}

/// Why a wide round was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WideTurn {
    /// Every pair has its turn in one of these.
    First,
    /// Pairs that stand out, once more.
    Again,
    /// The first round once more: what drifted meanwhile.
    Repeat,
}

/// Disjoint pairs that were measured at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WideRound {
    /// Why.
    pub turn: WideTurn,
    /// When it began.
    pub start_ns: u64,
    /// Writer and reader of each pair.
    pub pairs: Vec<(Cpu, Cpu)>,
    /// Median over a pair's passes, ns; none where it could not be measured.
    pub ns: Vec<Option<f32>>,
    /// Pairs that were disturbed, as indices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<u32>,
    /// Passes of each pair.
    pub passes: u32,
}

impl WideRound {
    /// Every pair with its value, ns; none where that is disturbed, too.
    pub fn undisturbed(&self) -> impl Iterator<Item = ((Cpu, Cpu), Option<f64>)> {
        let mut disturbed = self.disturbed.iter().peekable();
        self.pairs.iter().zip(&self.ns).zip(0_u32..).map(move |((pair, ns), at)| {
            let bad = disturbed.next_if_eq(&&at).is_some();
            (*pair, ns.filter(|_| !bad).map(f64::from))
        })
    }
}

/// A map of all pairs: a view, beside the metrics of the classes and of the sampled pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairMap {
    /// What is transferred how.
    pub kind: C2cKind,
    /// Unit of the cells.
    pub unit: String,
    /// The CPUs of rows (writers) and columns (readers).
    pub cpus: Vec<Cpu>,
    /// The classes, the nearest first. A pair without a cell has its class's figure.
    pub classes: Vec<MapClass>,
    /// By row, where any class was filled: medians of pairs that were measured while others were (`concurrent`); 0.1 ns is their last
    /// digit. No metrics: they have no interval of their own but `within`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<Vec<Option<f32>>>,
    /// Cells that were disturbed in every turn they had.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub disturbed: u64,
    /// Half of the pairs measured twice in wide rounds differ by no more than this share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// What a pair takes while others are measured, over what it takes alone: median over the sampled pairs that were both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crowded: Option<f64>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A class of a map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MapClass {
    /// How far apart its CPUs are: `core`, `l2`, `l3`, `node`, `package-D`, `far-D`, D being the distance by the firmware.
    pub apart: String,
    /// Pairs, each counted once.
    pub pairs: u64,
    /// Its figure: the median over the sampled pairs, each measured alone.
    pub metric: Option<MetricId>,
    /// Was it uniform?
    pub verdict: ClassVerdict,
    /// Pairs that were measured in wide rounds.
    pub filled: u64,
    /// Lowest and highest of them, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled_ns: Option<[f64; 2]>,
    /// Where there and back were both measured: the median of how much they differ, as a share. None for a ping-pong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asymmetry: Option<f64>,
}
