//! What was seen: raw windows, conditions, events. A record replays: analysis needs nothing but it.

use crate::{
    AccessBins, AgainRecord, ArenaPhysical, BlockCounters, CounterState, DisturbanceLimits, Machine, MapRecord, NodeId, Pages,
    Plan, PointId, PrefetchState, Reason,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The program.
    pub tool: Tool,
    /// The call.
    pub command: Command,
    /// The machine as read before the run.
    pub machine: Machine,
    /// What was planned.
    pub plan: Plan,
    /// Volatile counters of the system before the run.
    pub before: BTreeMap<String, u64>,
    /// The same, after it.
    pub after: BTreeMap<String, u64>,
    /// What the engine measured and decided.
    pub run: Run,
}

/// The program that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// `memgauge`.
    pub name: String,
    /// Version.
    pub version: String,
    /// Build: target and profile.
    pub build: String,
}

/// The call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Command {
    /// Arguments as typed, without the program's name.
    pub argv: Vec<String>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Wall time of the run, s.
    pub seconds: f64,
    /// Environment variables that concern wording or colour, as they stood.
    pub environment: BTreeMap<String, String>,
}

/// What the engine measured and decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The clock that everything was timed with.
    pub clock: ClockFacts,
    /// How it ended.
    pub end: End,
    /// By point, in the plan's order; a point may have no rounds.
    pub points: Vec<PointRecord>,
    /// Delays that pilots found, by curve.
    pub curves: Vec<CurveRecord>,
    /// Winners of searches.
    pub searches: Vec<SearchRecord>,
    /// What was slow in phases that were held, and was measured again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<AgainRecord>,
    /// Where the memory of held phases lies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub physical: Vec<ArenaPhysical>,
    /// What became of a map of all pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<MapRecord>,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// Time spent, by kind, ns: `map`, `touch`, `link`, `warmup`, `measure`, `probe`, `unmap`.
    pub spent_ns: BTreeMap<String, u64>,
    /// What was done about hardware prefetchers.
    pub prefetch: PrefetchState,
    /// Which hardware counters could be used.
    #[serde(default)]
    pub counters: CounterState,
    /// Were two runs on this host at once?
    pub concurrent: bool,
}

/// The clock that everything was timed with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockFacts {
    /// `tsc`, `cntvct` or `monotonic_raw`.
    pub source: String,
    /// Ticks a second, calibrated against CLOCK_MONOTONIC_RAW at the start.
    pub hz: f64,
    /// The same at the end; drift is their difference.
    pub hz_after: f64,
    /// The smallest step, ns.
    pub quantum_ns: f64,
    /// One start and stop with nothing between, ns.
    pub cost_ns: f64,
    /// Core clock of the first thread's CPU, by the dependent-add spin, Hz.
    pub core_hz: f64,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum End {
    /// All that was planned.
    Complete,
    /// A signal stopped it; what was measured stands.
    Interrupted {
        /// `SIGINT` or `SIGTERM`.
        signal: String,
    },
    /// Something failed on the way; what was measured stands.
    Failed {
        /// What failed.
        reason: String,
    },
}

/// What one point gave.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PointRecord {
    /// By round, in the order in which they were measured. Repeated blocks stand beside the ones that they repeat.
    pub rounds: Vec<Block>,
    /// Blocks that were measured again after all rounds, because this point or others like it were slow ([`crate::AgainRule`]). No
    /// part of the point's own figure. Their rounds are counted from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<Block>,
}

/// One block of one round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Block {
    /// The round, from 0.
    pub round: u32,
    /// Its place in that round's random order.
    pub position: u32,
    /// Start, ns since the run's start.
    pub start_ns: u64,
    /// Delay between bursts that was in force, core cycles.
    pub delay: Option<u32>,
    /// Was this one repeated because the placement class changed in it or too much of it was disturbed? Then it doesn't count.
    pub superseded: bool,
    /// Ping-pong of the class pair before, ns half a round trip.
    pub class_before_ns: Option<f64>,
    /// The same after.
    pub class_after_ns: Option<f64>,
    /// The reference chase of the leading thread's CPU before, ns a hop: dependent loads from memory, always alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_before_ns: Option<f64>,
    /// The same after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_after_ns: Option<f64>,
    /// Placement of each arena in use, before and after.
    pub placements: Vec<PlacementPair>,
    /// Windows before measuring.
    pub warmup_windows: u32,
    /// Did the warm-up settle within its time?
    pub settled: bool,
    /// Core clock by the reference spin, Hz: median over the block, of the leading thread.
    pub core_hz: f64,
    /// Windows, in order of time.
    pub windows: Vec<Window>,
    /// Passes of a core-to-core transfer, ns a hop or half a round trip each; empty for other jobs.
    pub passes_ns: Vec<f64>,
    /// Single accesses.
    pub access: Option<AccessHistogram>,
    /// Hardware counters, where any could be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<BlockCounters>,
}

/// One window of all threads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Window {
    /// Length, ns, without the gaps for asking the kernel.
    pub ns: f64,
    /// Hops of the observer in chunks wholly inside.
    pub hops: u64,
    /// Time of those chunks, ns.
    pub hop_ns: f64,
    /// Application bytes a second of the load threads together.
    pub load_bytes_per_s: f64,
    /// The same by load thread, in the point's order, where the plan asks for that ([`crate::Plan::tells_threads`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<f64>,
    /// Application bytes a second of the observer (64 B a hop).
    pub observer_bytes_per_s: f64,
    /// What was noticed.
    pub signs: Signs,
}

/// What was noticed in a window: the worst over its threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Signs {
    /// Involuntary switches.
    #[serde(default, skip_serializing_if = "is_default")]
    pub switches: u64,
    /// Run-queue wait, ns.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait_ns: u64,
    /// Does this kernel tell the wait? Then it says how long a switch took.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waits_told: bool,
    /// Counted chunk gaps, ns.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gap_ns: f64,
    /// Largest deviation of the reference spin, as a fraction.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spin: f64,
    /// Was any thread on another CPU than its own?
    #[serde(default, skip_serializing_if = "is_default")]
    pub wrong_cpu: bool,
    /// Major faults.
    #[serde(default, skip_serializing_if = "is_default")]
    pub major_faults: u64,
    /// Minor faults.
    #[serde(default, skip_serializing_if = "is_default")]
    pub minor_faults: u64,
    /// Did a load stop before the window's end, or start after its beginning?
    #[serde(default, skip_serializing_if = "is_default")]
    pub uncovered: bool,
    /// By how much the reference chase beside the block was slower than is usual in the run, as a fraction.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reference: f64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A reason for which a window doesn't count. Never the measured value itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disturbance {
    /// An involuntary switch.
    Switch,
    /// Run-queue wait.
    Wait,
    /// Not on its CPU.
    WrongCpu,
    /// Chunk gaps.
    Gaps,
    /// The core clock moved.
    Spin,
    /// A page came from disk.
    MajorFault,
    /// Not every load ran throughout.
    Uncovered,
    /// Somebody else used the memory.
    Neighbour,
}

impl Disturbance {
    /// In plain words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Switch => "involuntary context switch",
            Self::Wait => "waited for its CPU",
            Self::WrongCpu => "ran on another CPU",
            Self::Gaps => "stood still (interrupts, steal)",
            Self::Spin => "core clock moved",
            Self::MajorFault => "page read from disk",
            Self::Uncovered => "a load did not run throughout",
            Self::Neighbour => "a neighbour used the memory (reference chase)",
        }
    }
}

impl Window {
    /// Latency, ns a hop; none without hops.
    #[must_use]
    pub fn latency_ns(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "hops of a window stay far below 2^52")]
        (self.hops > 0).then(|| self.hop_ns / self.hops as f64)
    }

    /// Application bytes a second, the observer's included.
    #[must_use]
    pub fn bytes_per_s(&self) -> f64 {
        self.load_bytes_per_s + self.observer_bytes_per_s
    }

    /// Every reason for which this window doesn't count.
    pub fn disturbances(&self, limits: &DisturbanceLimits) -> impl Iterator<Item = Disturbance> + use<> {
        let signs = &self.signs;
        #[expect(clippy::cast_precision_loss, reason = "waits of a window stay far below 2^52 ns")]
        let waited = signs.wait_ns as f64 > limits.wait_share * self.ns;
        [
            // Where the wait is told it weighs the switch: a kernel thread's ten microseconds disturb no window.
            (signs.switches > 0 && !signs.waits_told, Disturbance::Switch),
            (waited, Disturbance::Wait),
            (signs.wrong_cpu, Disturbance::WrongCpu),
            (signs.gap_ns > limits.gap_share * self.ns, Disturbance::Gaps),
            (signs.spin > limits.spin, Disturbance::Spin),
            (signs.major_faults > 0, Disturbance::MajorFault),
            (signs.uncovered, Disturbance::Uncovered),
            (signs.reference > limits.reference, Disturbance::Neighbour),
        ]
        .into_iter()
        .filter_map(|(seen, what)| seen.then_some(what))
    }

    /// Does it count?
    #[must_use]
    pub fn undisturbed(&self, limits: &DisturbanceLimits) -> bool {
        self.disturbances(limits).next().is_none()
    }
}

/// Placement of an arena before and after a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacementPair {
    /// Index into the plan's arenas.
    pub arena: usize,
    /// When it had been filled.
    pub before: Placement,
    /// When the phase ended; none while it lives.
    pub after: Option<Placement>,
}

/// Where an arena's pages are, by the kernel's own answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Placement {
    /// The node that was asked for.
    pub node: NodeId,
    /// Pages that were asked about.
    pub pages: u64,
    /// Of those, on that node.
    pub on_node: u64,
    /// What was asked for.
    pub asked: Pages,
    /// What was got: `base`, `thp`, `2m`, `1g`, `hugetlb-<bytes>`, or `mixed` with the share of huge pages in percent.
    pub kind: String,
    /// Who answered: `move_pages`, `get_mempolicy`, `numa_maps`, or `none`.
    pub verified: String,
    /// How it was placed: `mbind` or `first touch`.
    pub method: String,
}

/// Single accesses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessHistogram {
    /// Accesses.
    pub count: u64,
    /// Cost of timing one, by a ring in L1, ns; already subtracted below.
    pub cost_ns: f64,
    /// Mean, ns.
    pub mean_ns: f64,
    /// Percentiles as (percent, ns): 50, 90, 99, 99.9, 99.99, 100.
    pub percentiles: Vec<(f64, f64)>,
    /// How many accesses took how many ticks, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<AccessBins>,
}

/// Delays that a pilot found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CurveRecord {
    /// Pilot points: delay in core cycles, bandwidth in B/s.
    pub pilot: Vec<(u32, f64)>,
    /// Delays by slot.
    pub delays: Vec<u32>,
}

/// The winner of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    /// Median bandwidth of each candidate, B/s, in the plan's order.
    pub seen: Vec<(PointId, f64)>,
    /// The best one; its rounds are the result.
    pub winner: PointId,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, ns since the run's start.
    pub at_ns: u64,
    /// What.
    pub what: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// mbind was refused; first touch by a thread on the node took its place.
    BindRefused {
        /// The error number.
        errno: i32,
    },
    /// The placement class changed during a block, which was repeated.
    ClassChanged {
        /// The point.
        point: PointId,
        /// Before, ns.
        before_ns: f64,
        /// After, ns.
        after_ns: f64,
    },
    /// Too many of a block's windows were disturbed, so it was measured again.
    Disturbed {
        /// The point.
        point: PointId,
    },
    /// Other pages than asked for were got.
    PagesDiffer {
        /// The arena.
        arena: usize,
        /// What was got.
        got: String,
    },
    /// Warm-up did not settle.
    NotSettled {
        /// The point.
        point: PointId,
    },
    /// A point could not be measured.
    PointFailed {
        /// The point.
        point: PointId,
        /// The kind of reason.
        reason: Reason,
        /// What was tried and what was seen.
        detail: String,
    },
    /// The windows of this round were shortened so that the run keeps its time.
    Shortened {
        /// The round.
        round: u32,
        /// The share of the planned length.
        share: f64,
    },
    /// Another run holds the host's lock.
    Concurrent,
    /// The whole run's time was over long before its rounds were.
    OutOfTime {
        /// Rounds that were made.
        rounds: u32,
    },
}
