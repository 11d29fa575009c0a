//! What is asked, validated in form but with no system touched yet.

use crate::{Assignment, C2cKind, Cpu, CpuList, Mix, NodeId, Partial};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A whole request. Fields that are `None` are the plan's to choose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Request {
    /// Which figures.
    pub what: What,
    /// The observer's CPU, `--cpu`.
    pub cpu: Option<Cpu>,
    /// Load CPUs, `--load-cpus`; an empty list is `none`.
    pub load_cpus: Option<CpuList>,
    /// Target memory, `--node`.
    pub node: Option<NodeId>,
    /// Bytes of each stream of each thread, of a scan's regions, `--buffer`.
    pub buffer: Option<u64>,
    /// Bytes that a scan takes in all, `--limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// Page kind, `--pages`.
    pub pages: Option<Pages>,
    /// Chase order, `--order`.
    pub order: Option<Order>,
    /// Bytes between nodes of a chase, `--stride`.
    pub stride: Option<u64>,
    /// Instruction set, `--isa`; none is auto.
    pub isa: Option<Isa>,
    /// Traffic, `--mix`.
    pub mixes: Vec<Mix>,
    /// Prefetchers, `--prefetch`.
    pub prefetch: Prefetch,
    /// Which hardware threads of a core load, `--smt`.
    pub smt: Smt,
    /// Wanted half-width of the interval over the median, as a fraction, `--precision`.
    pub precision: Option<f64>,
    /// Sum of a point's windows, ns, `--time`.
    pub time_ns: Option<u64>,
    /// Delays of the loaded curve, `--delays`/`--delay`.
    pub delays: Option<Delays>,
    /// Busy threads beside an idle chase, `--keepalive`.
    pub keepalive: Option<bool>,
    /// Core-to-core method, `--method`; none is both.
    pub method: Option<C2cMethod>,
    /// Each CPU with each instead of each node with each, `--all-pairs`.
    #[serde(default)]
    pub all_pairs: bool,
    /// Every one of those alone, however many they are, `--all-pairs --full`.
    #[serde(default)]
    pub full_pairs: bool,
    /// Where transferred lines come from, `--via`; none is the plan's choice.
    #[serde(default)]
    pub via: Option<C2cVia>,
    /// What load threads do, told by themselves, `--assign`; where any is, no other thread loads.
    #[serde(default)]
    pub assignments: Vec<Assignment>,
    /// Lines of a block that streams visit in random order, `--load-order random`, `--load-block`; none: in sequence.
    #[serde(default)]
    pub load_block: Option<u32>,
    /// Do all streams read one buffer? `--shared-buffer`.
    #[serde(default)]
    pub shared_buffer: bool,
    /// What is used of each line, `--partial`.
    #[serde(default)]
    pub partial: Partial,
    /// Is each stored line flushed from the caches? `--flush`.
    #[serde(default)]
    pub flush: bool,
    /// What fills the buffers of streams before they go, 128 hexadecimal digits for each 64 bytes, over and over: `--fill`. None: rising words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fill: Vec<String>,
    /// Is what is read held against what was written there? `--integrity`.
    #[serde(default)]
    pub integrity: bool,
    /// Does each load thread's bandwidth stand beside that of all? `--per-thread`.
    #[serde(default)]
    pub per_thread: bool,
    /// Let a load share the observer's core, `--share-core`; marks the result rejected.
    pub share_core: bool,
    /// Theoretical bandwidth of the machine, B/s, `--theoretical`.
    pub theoretical: Option<f64>,
    /// Busy CPUs beside an idle chase, in place of the plan's own choice, `--keepalive-cpus`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keepalive_cpus: Option<CpuList>,
    /// The CPU that touches the observer's buffer, or a transfer's lines, first, which decides their node, `--touch-cpu`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touch_cpu: Option<Cpu>,
    /// Nodes of a window of the window-random order, `--block`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_lines: Option<u32>,
    /// Do loads run with nobody who watches them? Of a curve there are bandwidths alone then, `--no-observer`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_observer: bool,
    /// Does each load use memory near its own CPU, and not the observer's? `--local-loads`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub local_loads: bool,
    /// A row of the latency matrix for each CPU, not for each node, `--per-cpu`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_cpu: bool,
    /// The node whose CPUs read in a scan, `--from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<NodeId>,
    /// CPUs that read in a scan, `--threads`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Accesses of each chase, shared by its rounds, in place of a time; 0 is one pass over the buffer in each, `--accesses`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accesses: Option<u64>,
    /// Passes over each of a scan's regions, shared by its rounds, in place of a time, `--passes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<u32>,
    /// Single accesses are counted in bins of two to this power of clock ticks, `--histogram`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<u32>,
    /// The folder of whose files memory is, in place of anonymous memory, `--memory-dir`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The CPU that writes in a core-to-core transfer; `cpu` reads, `--writer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<Cpu>,
    /// The CPU that reads the lines between writer and reader, `--third`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub third: Option<Cpu>,
    /// Bytes of the window of lines that is transferred, `--window`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Bytes that the writer reads behind its lines, to push them out of its caches, `--push`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<u64>,
    /// Bytes that the reader reads of other memory before it takes the lines, `--extra-reads`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_reads: Option<u64>,
    /// Kinds of transfers, `--kind`; none is all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<C2cKind>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Flags as they were typed: `--buffer` → `900TiB`.
    pub given: BTreeMap<String, String>,
}

/// Which figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The default run: one characterisation of all.
    All,
    /// Idle latency.
    Idle,
    /// Peak bandwidth by mix, at one and all threads.
    Peak,
    /// Maximum bandwidth, searched.
    Max,
    /// Idle latency from each node to each.
    MatrixLatency,
    /// Bandwidth from each node to each.
    MatrixBandwidth,
    /// Latency under load.
    Loaded,
    /// Core to core.
    C2c,
    /// Latency and bandwidth against the size of the working set.
    Sweep,
    /// Bandwidth of every region of a node's memory.
    Scan,
}

/// How memory is mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Pages {
    /// Base pages: MADV_NOHUGEPAGE, mTHP off.
    Base,
    /// Transparent huge pages.
    Thp,
    /// 2 MiB hugetlb (or the size in `2m`'s place on other base pages).
    #[serde(rename = "2m")]
    Huge2M,
    /// 1 GiB hugetlb.
    #[serde(rename = "1g")]
    Huge1G,
}

/// Chase order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Shuffled inside windows of 4096 nodes, window by window.
    WindowRandom,
    /// Windows, too, but every other node of all of them first, then the nodes between.
    SplitRandom,
    /// One cycle through all nodes.
    FullRandom,
    /// Rising addresses.
    Sequential,
}

/// Instruction set of the stream kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Isa {
    /// 8-byte words, any machine.
    Portable,
    /// 16-byte vectors, x86-64.
    Sse2,
    /// 32-byte vectors, x86-64.
    Avx2,
    /// 64-byte vectors, x86-64.
    Avx512,
    /// 16-byte vectors, AArch64.
    Neon,
}

/// What to do about hardware prefetchers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Prefetch {
    /// Off where that can be had, else measured around.
    #[default]
    Auto,
    /// Off, or refuse.
    Off,
    /// As they are.
    Leave,
}

/// Which hardware threads of a core load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Smt {
    /// All of them.
    #[default]
    All,
    /// The first of each core.
    One,
}

/// Delays of the loaded curve, in core cycles between bursts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Delays {
    /// MLC's nineteen.
    Mlc,
    /// Chosen from a pilot so that points lie evenly in bandwidth.
    Auto,
    /// These.
    List(Vec<u32>),
}

/// MLC's nineteen delays.
pub const MLC_DELAYS: [u32; 19] =
    [0, 2, 8, 15, 50, 100, 200, 300, 400, 500, 700, 1000, 1300, 1700, 2500, 3500, 5000, 9000, 20000];

/// How a core-to-core transfer is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum C2cMethod {
    /// A dependent pass over lines that the other core owns.
    Chase,
    /// One line back and forth; half a round trip.
    Pingpong,
}

/// What the ends of a core-to-core figure are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum C2cScope {
    /// Nodes, each by one of its CPUs.
    #[default]
    Node,
    /// CPUs.
    Cpu,
}

/// Where the lines of a core-to-core chase are when the reader comes for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum C2cVia {
    /// Where the owner left them: in its own caches, up to its L2.
    #[default]
    L2,
    /// Pushed outwards: the owner has since read twice its L2 of other lines.
    L3,
    /// Read, since, by a third core under the owner's L3.
    Third,
}

impl Request {
    /// Does it say how large buffers are, or what they are for, so that a cache's figure is no mistake?
    #[must_use]
    pub fn names_sizes(&self) -> bool {
        self.buffer.is_some() || self.shared_buffer || !self.assignments.is_empty()
    }

    /// A request with nothing chosen.
    #[must_use]
    pub fn new(what: What) -> Self {
        Self {
            what,
            cpu: None,
            load_cpus: None,
            node: None,
            buffer: None,
            limit: None,
            pages: None,
            order: None,
            stride: None,
            isa: None,
            mixes: Vec::new(),
            prefetch: Prefetch::Auto,
            smt: Smt::All,
            precision: None,
            time_ns: None,
            delays: None,
            keepalive: None,
            method: None,
            all_pairs: false,
            full_pairs: false,
            via: None,
            assignments: Vec::new(),
            load_block: None,
            shared_buffer: false,
            partial: Partial::None,
            flush: false,
            fill: Vec::new(),
            integrity: false,
            per_thread: false,
            share_core: false,
            theoretical: None,
            keepalive_cpus: None,
            touch_cpu: None,
            block_lines: None,
            no_observer: false,
            local_loads: false,
            per_cpu: false,
            readers: None,
            threads: None,
            accesses: None,
            passes: None,
            histogram: None,
            folder: None,
            writer: None,
            third: None,
            window: None,
            push: None,
            extra_reads: None,
            kinds: Vec::new(),
            seed: 0,
            given: BTreeMap::new(),
        }
    }

    /// A flag's value as it was typed; empty if it was not.
    #[must_use]
    pub fn typed(&self, flag: &str) -> &str {
        self.given.get(flag).map_or("", String::as_str)
    }
}

/// The label word of an enum that serialises to a plain string.
macro_rules! word {
    ($($kind:ident { $($variant:ident => $text:literal),* $(,)? })*) => {$(
        impl $kind {
            /// The word that flags and labels use.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// Every variant, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
        }

        impl std::str::FromStr for $kind {
            type Err = ();

            fn from_str(text: &str) -> Result<Self, ()> {
                match text { $($text => Ok(Self::$variant),)* _ => Err(()) }
            }
        }
    )*};
}

word! {
    Pages { Base => "base", Thp => "thp", Huge2M => "2m", Huge1G => "1g" }
    Order {
        WindowRandom => "window-random", SplitRandom => "split-random", FullRandom => "full-random", Sequential => "sequential"
    }
    Isa { Portable => "portable", Sse2 => "sse2", Avx2 => "avx2", Avx512 => "avx512", Neon => "neon" }
    Prefetch { Auto => "auto", Off => "off", Leave => "leave" }
    Smt { All => "all", One => "one" }
    C2cMethod { Chase => "chase", Pingpong => "pingpong" }
    C2cScope { Node => "node", Cpu => "cpu" }
    C2cVia { L2 => "l2", L3 => "l3", Third => "third" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_serde_writes() {
        fn check<T: Serialize>(value: T, word: &str) {
            assert_eq!(serde_json::to_string(&value).unwrap(), format!("\"{word}\""));
        }
        Pages::ALL.iter().for_each(|v| check(v, v.word()));
        Order::ALL.iter().for_each(|v| check(v, v.word()));
        Isa::ALL.iter().for_each(|v| check(v, v.word()));
        Prefetch::ALL.iter().for_each(|v| check(v, v.word()));
        Smt::ALL.iter().for_each(|v| check(v, v.word()));
        C2cMethod::ALL.iter().for_each(|v| check(v, v.word()));
        C2cScope::ALL.iter().for_each(|v| check(v, v.word()));
        C2cVia::ALL.iter().for_each(|v| check(v, v.word()));
    }
}
