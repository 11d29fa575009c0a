//! Who does what, where, how long; decided before anything is allocated.
//!
//! A plan is a list of *points*. A point is one block of simultaneous work — pinned threads, each with one job — and
//! what its result is called. Points that need memory name *arenas*; points and arenas are grouped in *phases*, so that
//! a machine with many nodes never holds more than one phase's arenas at once. A *round* maps every phase's arenas afresh
//! and measures every point once, in random order; only a phase that is *held* keeps its arenas through all of its rounds.

use crate::{
    AgainRule, C2cMethod, C2cScope, C2cVia, CounterEvent, Cpu, CpuList, Isa, Manner, MapPlan, Mix, NodeId, Order, Pages,
    PrefetchPlan, Request, ScanPlan,
};
use serde::{Deserialize, Serialize};

/// Index into [`Plan::points`].
pub type PointId = usize;
/// Index into [`Plan::arenas`].
pub type ArenaId = usize;

/// A plan that the engine can run without asking anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Is it one for a machine that is only described?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// What was asked.
    pub request: Request,
    /// The observer's CPU, where there is an observer.
    pub observer: Option<Cpu>,
    /// CPUs that load in the loaded curve.
    pub loads: CpuList,
    /// The memory that the main figures target.
    pub target: NodeId,
    /// All points.
    pub points: Vec<Point>,
    /// All arenas.
    pub arenas: Vec<Arena>,
    /// Groups of arenas and the points that use them.
    pub phases: Vec<Phase>,
    /// Loaded curves, whose delays may be found by a pilot.
    pub curves: Vec<CurvePlan>,
    /// Candidates of which only the best is measured again.
    pub searches: Vec<Search>,
    /// Nodes whose memory is scanned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scans: Vec<ScanPlan>,
    /// A map of all pairs of many CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<MapPlan>,
    /// What is done about hardware prefetchers.
    pub prefetch: PrefetchPlan,
    /// Hardware counters that are read beside the figures, as far as they can be opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<CounterEvent>,
    /// How rounds are counted and when they end.
    pub rounds: RoundRule,
    /// How windows are cut and judged.
    pub windows: WindowRule,
    /// Memory that the plan needs.
    pub budget: Budget,
    /// Time that the plan needs.
    pub estimate: Estimate,
    /// What the user should know of the choices made: one line each.
    pub notes: Vec<String>,
    /// Reasons known beforehand for which the result is rejected (`--share-core`).
    pub rejected: Vec<String>,
    /// Figures that were asked for and can't be had here.
    pub unavailable: Vec<crate::Missing>,
}

impl Plan {
    /// Is each load thread's bandwidth kept? It is where somebody wants to see it, and where threads do different things.
    #[must_use]
    pub fn tells_threads(&self) -> bool {
        self.request.per_thread || !self.request.assignments.is_empty()
    }
}

/// One block of simultaneous work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// What its result is.
    pub measure: Measure,
    /// One pinned thread each. The first thread leads: it decides when warm-up is over.
    pub threads: Vec<Thread>,
    /// Length of this point's windows together, in one round, ns.
    pub time_ns: u64,
    /// What those windows hold together, where that was asked for and not a time, which is then a guess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<Quota>,
    /// Label `class` wanted: a ping-pong between these two CPUs stands before and after the block.
    pub class_pair: Option<(Cpu, Cpu)>,
    /// Measured in the first so many rounds alone, and at once: its threads have gone through their working set, and nobody
    /// waits for their pace to settle. None: in all rounds, after a warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<u32>,
}

/// What a point's windows hold together, in one round; whole windows, so that it is this and at most a window more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quota {
    /// Hops of the chase that leads; of transfers those of the reader.
    Hops(u64),
    /// Application bytes of all streams.
    Bytes(u64),
}

/// What a point's result is; analysis turns it into names and labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "figure", rename_all = "snake_case")]
pub enum Measure {
    /// Idle latency.
    Idle {
        /// Memory's node.
        node: NodeId,
        /// Is this the headline's twin without/with keep-alive? The state as a label: `yes` or `no`.
        keepalive: bool,
        /// Why there is no keep-alive, if there should be one.
        keepalive_reason: Option<String>,
    },
    /// Single accesses, each timed: percentiles.
    Access {
        /// Memory's node.
        node: NodeId,
    },
    /// Bandwidth of a mix.
    Peak {
        /// The mix.
        mix: Mix,
    },
    /// A candidate of a search.
    Max {
        /// The mix.
        mix: Mix,
        /// Delay between bursts, core cycles.
        delay: u32,
    },
    /// A cell of the latency matrix.
    MatrixLatency {
        /// Node of the CPU.
        from: NodeId,
        /// Node of the memory.
        to: NodeId,
    },
    /// A cell of the bandwidth matrix.
    MatrixBandwidth {
        /// Node of the CPUs.
        from: NodeId,
        /// Node of the memory.
        to: NodeId,
        /// The mix.
        mix: Mix,
    },
    /// A point of a loaded curve.
    Loaded {
        /// Index into [`Plan::curves`].
        curve: usize,
        /// Where the delay comes from.
        delay: DelayRef,
    },
    /// A core-to-core transfer.
    C2c {
        /// Node of the writer.
        from: NodeId,
        /// Node of the reader.
        to: NodeId,
        /// Node where the line lives.
        home: NodeId,
        /// What is transferred how.
        kind: C2cKind,
        /// Between which ends: what `from` and `to` number.
        #[serde(default)]
        scope: C2cScope,
        /// Where the lines are when the reader comes.
        #[serde(default)]
        via: C2cVia,
        /// An early pair once more, at the end of the round: tells drift, is no figure of its own.
        #[serde(default)]
        repeat: bool,
    },
    /// Latency of a working set.
    SweepLatency {
        /// Memory's node.
        node: NodeId,
        /// The working set.
        span: Span,
        /// Is a thread on another core there to keep the uncore awake?
        keepalive: bool,
    },
    /// Bandwidth of a working set of each thread.
    SweepBandwidth {
        /// The mix.
        mix: Mix,
        /// The working set of each thread, all its arrays together.
        span: Span,
    },
    /// Bandwidth of one region of a node's memory.
    Scan {
        /// Memory's node.
        node: NodeId,
        /// The region's number among the node's, from 0.
        region: u32,
        /// The mix.
        mix: Mix,
    },
    /// Bandwidth of 8-bytes-a-line stores (mix `write-partial`), for the RFO factor of the plain-store figures at these
    /// threads and arenas. Where no `write` figure at the same threads stands beside it, a second probe with the mix `write`
    /// gives the full-line stores that it is held against; the threads' jobs say which is which.
    RfoProbe,
    /// A chase that tells, beside the others and the idle figures in the same memory, whether prefetching is on. Its ring
    /// says which one it is.
    PrefetchProbe,
}

/// The part of its arenas that a point works on, from their beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Span {
    /// Bytes of each thread.
    pub bytes: u64,
    /// Does each thread go once through all of it before it starts, so that the caches hold what they can? Far beyond the caches
    /// that takes long and changes nothing.
    pub settle: bool,
}

impl Measure {
    /// The part of its arenas that the point works on; none is all of them. Points of a phase that have a span are measured in the
    /// order of its size, all others before them at random.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::SweepLatency { span, .. } | Self::SweepBandwidth { span, .. } => Some(*span),
            _ => None,
        }
    }
}

/// A delay that is known, or that the pilot finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DelayRef {
    /// This one, core cycles.
    Fixed(u32),
    /// The curve's n-th delay, once found.
    Slot(usize),
}

/// A kind of core-to-core transfer; the method follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum C2cKind {
    /// Chase over lines that the owner loaded clean.
    Hit,
    /// Chase over lines that the owner modified.
    Hitm,
    /// Ping-pong by stores.
    Store,
    /// Ping-pong by compare-and-swap.
    Cas,
}

impl std::str::FromStr for C2cKind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|kind| kind.word() == text).ok_or(())
    }
}

impl C2cKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Hit, Self::Hitm, Self::Store, Self::Cas];

    /// The method of this kind.
    #[must_use]
    pub fn method(self) -> C2cMethod {
        match self {
            Self::Hit | Self::Hitm => C2cMethod::Chase,
            Self::Store | Self::Cas => C2cMethod::Pingpong,
        }
    }

    /// The label's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Hitm => "hitm",
            Self::Store => "store",
            Self::Cas => "cas",
        }
    }
}

/// A pinned thread and its job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Thread {
    /// The CPU that it is pinned to.
    pub cpu: Cpu,
    /// What it does.
    pub job: Job,
}

/// What a thread does during a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "job", rename_all = "snake_case")]
pub enum Job {
    /// Dependent loads through ring number `ring` of a chase arena.
    Chase {
        /// The arena.
        arena: ArenaId,
        /// Index into the arena's rings.
        ring: usize,
    },
    /// Dependent loads, each fenced and timed alone.
    TimedChase {
        /// The arena.
        arena: ArenaId,
        /// Index into the arena's rings.
        ring: usize,
    },
    /// Streams.
    Stream {
        /// The thread's own arena, one that it has a part of, or one that several threads read.
        arena: ArenaId,
        /// The part, of an arena that holds a region; none where all of the arena is the thread's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<u32>,
        /// The mix.
        mix: Mix,
        /// The instruction set.
        isa: Isa,
        /// Random order of lines inside blocks of this many lines (a power of two); none is sequential.
        block_lines: Option<u32>,
        /// Delay between bursts.
        delay: DelayRef,
        /// What is unusual about it.
        #[serde(default, skip_serializing_if = "Manner::is_usual")]
        manner: Manner,
    },
    /// Keeps the uncore awake: a busy loop that touches no memory.
    KeepAlive,
    /// Owns or reads lines in a core-to-core transfer; the first thread is the writer, the second the reader, a third reads
    /// the lines between the two.
    C2c {
        /// The arena that both share.
        arena: ArenaId,
        /// What is transferred how.
        kind: C2cKind,
    },
}

impl Job {
    /// The arenas that it needs: none, one, or a second one beside it.
    pub fn arenas(&self) -> impl Iterator<Item = ArenaId> + use<> {
        let second = match self {
            Self::Stream { manner, .. } => manner.second.map(|(arena, _)| arena),
            _ => None,
        };
        let first = match self {
            Self::Chase { arena, .. } | Self::TimedChase { arena, .. } | Self::Stream { arena, .. } | Self::C2c { arena, .. } => {
                Some(*arena)
            }
            Self::KeepAlive => None,
        };
        first.into_iter().chain(second)
    }

    /// Is it a chase, of any kind, through memory of this thread alone?
    #[must_use]
    pub fn chases(&self) -> bool {
        matches!(self, Self::Chase { .. } | Self::TimedChase { .. })
    }
}

/// A mapping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arena {
    /// Whose memory.
    pub node: NodeId,
    /// Page kind that is asked for.
    pub pages: Pages,
    /// Bytes of one page of that kind.
    pub page_bytes: u64,
    /// The CPU whose thread touches it first (a CPU of the node where there is one).
    pub toucher: Cpu,
    /// What it is for.
    pub holds: Holds,
    /// Bytes of the mapping, whole pages.
    pub bytes: u64,
    /// Is it left to the first touch, by the toucher, where its pages come from? Else it is bound to its node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_touch: bool,
}

/// What an arena is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "holds", rename_all = "snake_case")]
pub enum Holds {
    /// A chase buffer of `bytes`; all rings link through different words of the same lines.
    Chase {
        /// Bytes that the rings span.
        bytes: u64,
        /// The rings.
        rings: Vec<RingPlan>,
    },
    /// The streams of one thread: `streams` arrays of `bytes` each, the k-th begins k·(2 MiB + 4096 + 64) past its place.
    Streams {
        /// Arrays.
        streams: u32,
        /// Bytes of each.
        bytes: u64,
    },
    /// A region that several threads stream through, a part each: `parts` of equal length (whole 4 KiB; the last one has the
    /// rest), each cut into as many arrays of equal length as the mix has.
    Region {
        /// Parts.
        parts: u32,
        /// Bytes of all of them.
        bytes: u64,
    },
    /// Lines for a core-to-core transfer.
    C2c {
        /// Bytes of the window.
        bytes: u64,
        /// Bytes behind it that the writer reads to push the lines out of its own caches; 0 where nothing does.
        #[serde(default)]
        push: u64,
    },
}

impl Holds {
    /// Bytes of a thread's part, of a region; none of anything else.
    #[must_use]
    pub fn part(&self) -> Option<u64> {
        match self {
            Self::Region { parts, bytes } => Some(bytes / u64::from((*parts).max(1))),
            Self::Chase { .. } | Self::Streams { .. } | Self::C2c { .. } => None,
        }
    }
}

/// A ring of a chase arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RingPlan {
    /// The order.
    pub order: Order,
    /// Bytes between nodes.
    pub stride: u64,
    /// Is it linked when a point is measured, over that point's span, and not over the whole buffer beforehand?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grows: bool,
    /// Bytes of the buffer that it spans, where that is less than all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Nodes that are shuffled together in the window-random order, where those are not the usual 4096.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
}

/// Nodes that are shuffled together in an order by windows: 512 KiB at 128 B; in the split-random one at 64 B, of which every other
/// node has its turn.
const WINDOW_NODES: u64 = 4096;

impl RingPlan {
    /// Bytes in which nodes are shuffled together, in an order by windows.
    #[must_use]
    pub fn window(&self) -> Option<u64> {
        let nodes = match self.order {
            Order::WindowRandom => self.block.map_or(WINDOW_NODES, u64::from),
            Order::SplitRandom => 2 * WINDOW_NODES,
            Order::FullRandom | Order::Sequential => return None,
        };
        Some(nodes.saturating_mul(self.stride))
    }

    /// Bytes that it spans of a buffer of so many.
    #[must_use]
    pub fn spans(&self, buffer: u64) -> u64 {
        self.bytes.map_or(buffer, |bytes| bytes.min(buffer))
    }
}

/// Arenas that live together and the points that use them. Each point is in one phase; an arena that points of several
/// phases use is in each of those, and is prepared afresh in each.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Phase {
    /// Mapped at its beginning, unmapped at its end.
    pub arenas: Vec<ArenaId>,
    /// Measured while they live.
    pub points: Vec<PointId>,
    /// Its place in a round.
    #[serde(default)]
    pub turn: Turn,
    /// Does it keep its arenas through all rounds of its points, before the rounds of all others? What is then measured again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<AgainRule>,
}

/// When in a round a phase has its turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Turn {
    /// Before all others.
    First,
    /// Shuffled.
    #[default]
    Any,
    /// After all others.
    Last,
}

/// A loaded curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurvePlan {
    /// The mix of the loads.
    pub mix: Mix,
    /// The observer; none where nobody watches.
    pub observer: Option<Cpu>,
    /// Memory of observer and loads.
    pub node: NodeId,
    /// The loads.
    pub loads: CpuList,
    /// Points whose delay the pilot finds; 0 where all are fixed.
    pub slots: usize,
    /// Delays that the pilot tries, in a point like the curve's.
    pub pilot: Vec<u32>,
    /// Pilot windows of each of those, ns.
    pub pilot_ns: u64,
}

/// Candidates; each is a point, the best by bandwidth is measured for all rounds and is the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Search {
    /// The candidates.
    pub candidates: Vec<PointId>,
    /// Rounds that the search takes.
    pub rounds: u32,
}

/// When rounds end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundRule {
    /// Rounds after which the precision is looked at; the last is the most.
    pub looks: Vec<u32>,
    /// Wanted half-width over the median, as a fraction; none: the first look ends the run.
    pub precision: Option<f64>,
    /// The whole run's time, ns, that later rounds shrink their windows to keep (never below `min_windows`); none: no limit.
    pub whole_ns: Option<u64>,
}

/// How windows are cut and judged. The limits are those of `docs/method.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowRule {
    /// The shortest window, ns; also at least 1000 clock quanta and 20 bursts a thread.
    pub min_ns: u64,
    /// Windows of a point and round at least.
    pub min_windows: u32,
    /// Warm-up at least, ns.
    pub warmup_min_ns: u64,
    /// Warm-up at most, ns.
    pub warmup_max_ns: u64,
    /// Hops of the observer between two stamps.
    pub hops_per_stamp: u32,
    /// What makes a window disturbed.
    pub limits: DisturbanceLimits,
}

/// What makes a window disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DisturbanceLimits {
    /// Run-queue wait over the window's length.
    pub wait_share: f64,
    /// A chunk's gap beyond the median chunk, ns, that counts.
    pub gap_ns: u64,
    /// Counted gaps over the window's length.
    pub gap_share: f64,
    /// Deviation of the reference spin, as a fraction.
    pub spin: f64,
    /// Slowness of the reference chase beside the block, as a fraction.
    #[serde(default = "reference_limit")]
    pub reference: f64,
    /// Excluded windows over all, above which the result is rejected.
    pub excluded_share: f64,
    /// Ratio of ping-pong times that counts as another placement class.
    pub class_ratio: f64,
}

impl Default for DisturbanceLimits {
    fn default() -> Self {
        Self {
            wait_share: 0.005,
            gap_ns: 50_000,
            gap_share: 0.01,
            spin: 0.05,
            reference: reference_limit(),
            excluded_share: 0.2,
            class_ratio: 1.8,
        }
    }
}

/// Of records that were made before there was a reference chase, too.
fn reference_limit() -> f64 {
    0.2
}

/// Memory that the plan needs, checked before anything is allocated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Budget {
    /// The largest phase's mappings, bytes.
    pub buffers: u64,
    /// Page tables for those, bytes.
    pub page_tables: u64,
    /// The program itself, stacks and logs, bytes.
    pub program: u64,
    /// By node: the largest phase's share, and what the node can give, bytes.
    pub nodes: Vec<NodeBudget>,
    /// What the cgroup leaves, bytes, where it limits.
    pub cgroup_left: Option<u64>,
}

/// A node's share of the budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeBudget {
    /// The node.
    pub node: NodeId,
    /// Bytes needed at once.
    pub needed: u64,
    /// Bytes that can be had.
    pub available: u64,
}

/// Time that the plan needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Mapping, touching, linking, ns.
    pub setup_ns: u64,
    /// Warm-up, ns.
    pub warmup_ns: u64,
    /// Windows, ns.
    pub windows_ns: u64,
    /// Rounds that the estimate counts: the most that may be made.
    pub rounds: u32,
}

impl Estimate {
    /// Everything together, ns.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.setup_ns.saturating_add(self.warmup_ns).saturating_add(self.windows_ns)
    }

    /// About the time if only so many rounds are made, ns: precision may be reached at an earlier look.
    #[must_use]
    pub fn of_rounds(&self, rounds: u32) -> u64 {
        self.total_ns() / u64::from(self.rounds.max(1)) * u64::from(rounds)
    }
}
