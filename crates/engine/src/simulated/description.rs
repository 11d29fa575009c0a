//! A machine as a text describes it, in TOML. Units stand in the keys.

use crate::simulated::faults::Fault;
use serde::Deserialize;

/// A machine: what it says of itself, and how it behaves.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The CPU's name.
    pub name: String,
    /// `x86_64` or `aarch64`.
    #[serde(default = "defaults::architecture")]
    pub architecture: String,
    /// The CPU's vendor as it names itself; empty where that is not said.
    #[serde(default)]
    pub vendor: String,
    /// CPU flags, which the choice of an instruction set goes by.
    #[serde(default)]
    pub flags: Vec<String>,
    /// The hypervisor of a guest; none on metal.
    #[serde(default)]
    pub hypervisor: Option<String>,
    /// How logical CPUs are numbered.
    #[serde(default)]
    pub numbering: Numbering,
    /// Kinds of cores.
    pub cores: Vec<CoreKind>,
    /// The third level of cache, where there is one.
    #[serde(default)]
    pub l3: Option<SharedCache>,
    /// Nodes, in groups of equals.
    pub nodes: Vec<NodeGroup>,
    /// What lies between nodes.
    #[serde(default)]
    pub links: Vec<Link>,
    /// Page sizes and what address translation costs.
    #[serde(default)]
    pub pages: Pages,
    /// Lines handed from core to core.
    pub transfer: Transfer,
    /// What hardware prefetchers do to a chase that they can follow.
    #[serde(default)]
    pub prefetch: Prefetch,
    /// What an idle latency gains when nothing keeps the chip awake, ns.
    #[serde(default)]
    pub sleep_ns: f64,
    /// Share of full-line plain stores whose line is not read first.
    #[serde(default)]
    pub stores_without_read: f64,
    /// The clock that is measured with.
    #[serde(default)]
    pub clock: ClockShape,
    /// How figures scatter.
    #[serde(default)]
    pub noise: Noise,
    /// What goes wrong.
    #[serde(default)]
    pub faults: Vec<Fault>,
}

/// How logical CPUs are numbered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Numbering {
    /// The first hardware thread of every core, then the second ones.
    #[default]
    Split,
    /// The threads of a core one after the other.
    Adjacent,
}

/// A kind of core.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreKind {
    /// Its name; `uniform` where there is one kind.
    #[serde(default = "defaults::uniform")]
    pub kind: String,
    /// Clock with all cores at work, GHz.
    pub ghz: f64,
    /// Hardware threads.
    #[serde(default = "defaults::one")]
    pub threads: u32,
    /// Lines of memory that a core has in flight when it streams, all its threads together, prefetched ones included.
    pub lines: f64,
    /// Core cycles that a burst of four lines takes beside its delay.
    #[serde(default = "defaults::burst_cycles")]
    pub burst_cycles: f64,
    /// First level, data.
    pub l1: Cache,
    /// Second level.
    pub l2: Cache,
}

/// A core's cache.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Size, KiB.
    pub kib: u64,
    /// A dependent load that hits it, ns.
    pub ns: f64,
    /// What a core streams out of it, GB/s.
    pub gb_per_s: f64,
    /// Cores that share it.
    #[serde(default = "defaults::one")]
    pub cores: u32,
}

/// A cache that cores of a package share.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedCache {
    /// Size, MiB.
    pub mib: u64,
    /// A dependent load that hits it, ns.
    pub ns: f64,
    /// What a core streams out of it, GB/s.
    pub gb_per_s: f64,
    /// Neighbouring cores of a package that share one.
    pub cores: u32,
}

/// Nodes that are alike.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeGroup {
    /// How many there are.
    #[serde(default = "defaults::one")]
    pub count: u32,
    /// Number of the first; the next free one if not given.
    #[serde(default)]
    pub id: Option<u32>,
    /// How many of them a package holds.
    #[serde(default = "defaults::one")]
    pub per_package: u32,
    /// Cores of each, by kind; none in a memory-only node.
    #[serde(default)]
    pub cores: Vec<(String, u32)>,
    /// The memory of each; none in a memoryless node.
    #[serde(default)]
    pub memory: Option<Memory>,
}

/// A node's memory.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Size, GiB.
    pub gib: u64,
    /// `DRAM`, `HBM`, `CXL`.
    #[serde(default = "defaults::dram")]
    pub kind: String,
    /// A dependent load out of it by a CPU of its own node, nothing else running, on huge pages, ns.
    pub ns: f64,
    /// Channels.
    pub channels: u32,
    /// What each could do, GB/s.
    pub gb_per_s: f64,
    /// Share of that which reads can reach.
    #[serde(default = "defaults::efficiency")]
    pub efficiency: f64,
    /// Share lost to turning the bus around where reads and writes are even; less where either prevails.
    #[serde(default = "defaults::turnaround")]
    pub turnaround: f64,
    /// Waiting time at half load, ns: at a load ρ it is this · ρ/(1 − ρ).
    #[serde(default = "defaults::queue_ns")]
    pub queue_ns: f64,
}

/// What an access crosses that goes from a CPU of `from` to memory of `to`, or the other way round.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Nodes on the one side, as the kernel writes lists.
    pub from: String,
    /// Nodes on the other side.
    pub to: String,
    /// What crossing it adds to an access, ns.
    pub ns: f64,
    /// What goes over it each way, GB/s.
    pub gb_per_s: f64,
    /// Waiting time at half load, ns.
    #[serde(default = "defaults::link_queue_ns")]
    pub queue_ns: f64,
    /// Has each pair of nodes a link of its own? Else all share this one.
    #[serde(default)]
    pub each: bool,
}

/// Page sizes and what address translation costs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pages {
    /// Base page, KiB.
    pub base_kib: u64,
    /// Transparent huge page, KiB.
    pub thp_kib: u64,
    /// `always`, `madvise` or `never`.
    pub thp: String,
    /// Entries of the first-level data TLB.
    pub l1_entries: u32,
    /// Entries of the second-level TLB.
    pub l2_entries: u32,
    /// A translation out of the second level, ns.
    pub l2_ns: f64,
    /// A page walk, ns.
    pub walk_ns: f64,
}

/// What handing a line over costs: a dependent load of a line that another core has modified, ns by distance.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// Threads of one core.
    pub core_ns: f64,
    /// Cores that share an L2.
    pub l2_ns: f64,
    /// Cores that share an L3.
    pub l3_ns: f64,
    /// Cores of a package.
    pub package_ns: f64,
    /// Cores of two packages.
    pub far_ns: f64,
    /// A clean line over a modified one.
    #[serde(default = "defaults::hit")]
    pub hit: f64,
    /// Half a round trip by stores over that load.
    #[serde(default = "defaults::store")]
    pub store: f64,
    /// The same by compare-and-swap.
    #[serde(default = "defaults::cas")]
    pub cas: f64,
    /// On top, for each step between cores of a package on the ring that they make in the order of their numbers, ns.
    #[serde(default)]
    pub step_ns: f64,
    /// How much longer a transfer takes while every other CPU has one, too, as a share.
    #[serde(default = "defaults::crowd")]
    pub crowd: f64,
}

/// A chase that prefetchers follow, over one that they can't follow.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Prefetch {
    /// Along rising addresses.
    pub streaming: f64,
    /// Through every line in random order within windows.
    pub spatial: f64,
}

/// The clock.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClockShape {
    /// Its smallest step, ns.
    pub quantum_ns: f64,
    /// Reading it, ns.
    pub cost_ns: f64,
}

/// How figures scatter around what the machine does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Noise {
    /// Standard deviation of a window, as a fraction.
    pub window: f64,
    /// Autocorrelation of neighbouring windows.
    pub correlation: f64,
    /// Standard deviation between allocations, as a fraction.
    pub allocation: f64,
    /// A host that moves CPUs between two states.
    pub placement: Option<PlacementStates>,
}

/// Two states that a guest's CPUs are in by turns, near to each other and far.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacementStates {
    /// How long a state lasts on average, s.
    pub dwell_s: f64,
    /// Transfers in the far state over those in the near one.
    pub transfer: f64,
    /// Bandwidth of several threads in the far state over that in the near one.
    pub bandwidth: f64,
}

impl Default for Pages {
    fn default() -> Self {
        Self {
            base_kib: 4,
            thp_kib: 2048,
            thp: "madvise".to_owned(),
            l1_entries: 64,
            l2_entries: 1536,
            l2_ns: 2.0,
            walk_ns: 20.0,
        }
    }
}

impl Default for Prefetch {
    fn default() -> Self {
        Self { streaming: 0.07, spatial: 0.7 }
    }
}

impl Default for ClockShape {
    fn default() -> Self {
        Self { quantum_ns: 1.0, cost_ns: 12.0 }
    }
}

/// What holds where a description is silent.
mod defaults {
    pub fn architecture() -> String {
        "x86_64".to_owned()
    }

    pub fn uniform() -> String {
        "uniform".to_owned()
    }

    pub fn dram() -> String {
        "DRAM".to_owned()
    }

    pub fn one() -> u32 {
        1
    }

    pub fn burst_cycles() -> f64 {
        10.0
    }

    pub fn efficiency() -> f64 {
        0.9
    }

    pub fn turnaround() -> f64 {
        0.16
    }

    pub fn queue_ns() -> f64 {
        9.0
    }

    pub fn link_queue_ns() -> f64 {
        5.0
    }

    pub fn hit() -> f64 {
        0.93
    }

    pub fn store() -> f64 {
        1.3
    }

    pub fn cas() -> f64 {
        1.35
    }

    pub fn crowd() -> f64 {
        0.15
    }
}
