//! The machine as it says it is. Read once, from a root path, and never asked again.
//!
//! The JSON form of [`Machine`] is what `memgauge topology --format json` prints and what a result
//! document carries under `machine`.

use crate::{Avail, Counters, Cpu, CpuList, NodeId, PrefetchRegister};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All that is known of a machine before anything is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// `/` for the live machine, else the captured tree's folder name.
    pub root: String,
    /// Is it only described, and was nothing of it measured? Then no figure is of a real machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// CPUs that are there, online or not.
    #[serde(default)]
    pub present_cpus: CpuList,
    /// CPUs that the kernel runs.
    pub online_cpus: CpuList,
    /// CPUs that this process may use: affinity ∩ cgroup cpuset ∩ online.
    pub allowed_cpus: CpuList,
    /// Nodes whose memory this process may use (Mems_allowed, cgroup cpuset).
    pub allowed_nodes: CpuList,
    /// Physical cores with the online CPUs (SMT siblings) of each.
    pub cores: Vec<CpuList>,
    /// Packages (sockets) with the online CPUs of each.
    pub packages: Vec<CpuList>,
    /// Dies, where the kernel tells them.
    pub dies: Vec<CpuList>,
    /// Clusters (shared L2 or mid-level domains), where the kernel tells them.
    pub clusters: Vec<CpuList>,
    /// Kinds of core on hybrids; one kind, named `uniform`, elsewhere.
    pub core_kinds: Vec<CoreKind>,
    /// NUMA nodes that are online, in rising order of number.
    pub nodes: Vec<Node>,
    /// Data and unified caches.
    pub caches: Caches,
    /// The CPU's name and numbers.
    pub cpu: CpuModel,
    /// Memory as a whole.
    pub memory: SystemMemory,
    /// DIMMs and what they could do.
    pub dimms: Dimms,
    /// Kernel, firmware, virtualisation.
    pub platform: Platform,
    /// Frequency and idle control.
    pub power: Power,
    /// What limits this process.
    pub limits: Limits,
    /// Hardware counters.
    #[serde(default)]
    pub counters: Counters,
    /// Pairs of CPUs that were tried for a core that they share without the topology saying so; empty where nothing was tried.
    #[serde(default)]
    pub sharing_probes: Vec<SharingProbe>,
    /// What could not be read, or was repaired while reading; one line each.
    pub notes: Vec<String>,
}

/// Two CPUs at work together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharingProbe {
    /// The two.
    pub pair: (Cpu, Cpu),
    /// Throughput of eight add chains on both, against each alone: about 1 on two cores, about 0.5 on one.
    pub ratio: f64,
    /// Do they share a core?
    pub shared: bool,
}

/// A kind of core on a hybrid CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreKind {
    /// `intel_core`, `intel_atom`, an Arm capacity such as `capacity-1024`, or `uniform`.
    pub name: String,
    /// Online CPUs of the kind.
    pub cpus: CpuList,
    /// The highest frequency that the kernel states, Hz.
    pub max_hz: Option<u64>,
}

/// A NUMA node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Its number.
    pub node: NodeId,
    /// The kernel's own CPUs of the node ∩ online; empty for memory-only nodes.
    pub cpus: CpuList,
    /// Its own CPUs, else its nearest initiators by HMAT, else by distance.
    pub local_cpus: CpuList,
    /// Memory of the node, bytes (0 for a memoryless node).
    pub memory_bytes: u64,
    /// Why the kernel's word on that memory could not be read: its bytes above and below are then unknown, and stand as 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// Free memory of the node as the kernel says, bytes.
    pub free_bytes: u64,
    /// What can be had at present, bytes: free plus file pages and slab that the kernel would give up; on a one-node machine
    /// /proc/meminfo's MemAvailable. Where the kernel initialises memory lazily and the nodes count far less than
    /// /proc/meminfo, the missing part too, shared out by the bytes that each node spans.
    pub available_bytes: u64,
    /// `DRAM`, `HBM`, `NVM`, `CXL`…, where known; empty where not.
    pub subtype: String,
    /// SLIT distances from this node to each node by number.
    pub distances: BTreeMap<NodeId, u32>,
    /// HMAT attributes by access class.
    pub access: Vec<AccessClass>,
    /// Memory tier number, where the kernel has tiers.
    pub memory_tier: Option<u32>,
    /// Memory-side caches in front of the node's memory.
    pub memory_side_caches: Vec<MemorySideCache>,
    /// Huge-page pools by page size.
    pub huge_pages: Vec<HugePool>,
}

/// One HMAT access class of a node: its best initiators and what the firmware states for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessClass {
    /// 0: best initiators of any kind; 1: best CPU initiators.
    pub class: u32,
    /// Initiator nodes.
    pub initiators: CpuList,
    /// Firmware's read latency, ns.
    pub read_latency_ns: Option<u64>,
    /// Firmware's write latency, ns.
    pub write_latency_ns: Option<u64>,
    /// Firmware's read bandwidth, B/s.
    pub read_bandwidth: Option<u64>,
    /// Firmware's write bandwidth, B/s.
    pub write_bandwidth: Option<u64>,
}

/// A cache between a node's memory and everybody (KNL MCDRAM cache mode, Optane memory mode).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemorySideCache {
    /// Level, 1 the nearest to memory.
    pub level: u32,
    /// Bytes.
    pub size: u64,
}

/// A pool of reserved huge pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HugePool {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages in the pool.
    pub total: u64,
    /// Pages that are free.
    pub free: u64,
}

/// Caches by level, data and unified ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Caches {
    /// Level 1 data.
    #[serde(rename = "L1")]
    pub l1: Vec<Cache>,
    /// Level 2.
    #[serde(rename = "L2")]
    pub l2: Vec<Cache>,
    /// Level 3.
    #[serde(rename = "L3")]
    pub l3: Vec<Cache>,
    /// Level 4, where there is one.
    #[serde(rename = "L4", default, skip_serializing_if = "Vec::is_empty")]
    pub l4: Vec<Cache>,
}

/// A cache and who shares it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cache {
    /// Bytes.
    pub size: Avail<u64>,
    /// Online CPUs that share it.
    pub cpus: CpuList,
}

/// The CPU's name and numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuModel {
    /// `x86_64`, `aarch64`, … of the tree that was read, as far as it tells; else of this build.
    pub architecture: String,
    /// Vendor, `GenuineIntel`, `AuthenticAMD`, `ARM`.
    pub vendor: Avail<String>,
    /// Marketing name, or implementer and part on Arm.
    pub name: Avail<String>,
    /// Family, model, stepping; or implementer, variant, part, revision on Arm.
    pub numbers: BTreeMap<String, u64>,
    /// Microcode revision.
    pub microcode: Avail<String>,
    /// Feature flags that concern memory measuring.
    pub flags: Vec<String>,
}

/// Memory of the machine as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SystemMemory {
    /// MemTotal, bytes.
    pub total_bytes: u64,
    /// MemAvailable (or MemFree + reclaimable on old kernels), bytes.
    pub available_bytes: u64,
    /// Base page, bytes.
    pub page_bytes: u64,
    /// THP mode in force: `always`, `madvise`, `never`.
    pub thp: Avail<String>,
    /// THP defrag mode.
    pub thp_defrag: Avail<String>,
    /// Size of a PMD-mapped huge page, bytes.
    pub thp_bytes: Avail<u64>,
    /// mTHP sizes with the mode of each, as `64 KiB` → `inherit`; keys are bytes.
    pub mthp: BTreeMap<u64, String>,
    /// Huge-page sizes that the kernel has, with the pools of the whole machine.
    pub huge_pages: Vec<HugePool>,
    /// Swap, bytes.
    pub swap_total_bytes: u64,
    /// Swap in use, bytes.
    pub swap_used_bytes: u64,
    /// kernel.numa_balancing.
    pub numa_balancing: Avail<u64>,
    /// vm.zone_reclaim_mode.
    pub zone_reclaim_mode: Avail<u64>,
    /// vm.overcommit_memory.
    pub overcommit: Avail<u64>,
    /// Mode of KSM, 0 off.
    pub ksm: Avail<u64>,
}

/// What SMBIOS type 17 says of the memory modules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dimms {
    /// Modules that hold memory.
    pub modules: Avail<Vec<Dimm>>,
    /// Channels that hold at least one module.
    pub channels: Avail<u32>,
    /// Σ over channels of configured speed × bus width, B/s; of the whole machine.
    pub theoretical_bandwidth: Avail<f64>,
}

/// A memory module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dimm {
    /// Device locator, as the firmware writes it.
    pub locator: String,
    /// Bank locator.
    pub bank: String,
    /// Bytes.
    pub size: u64,
    /// `DDR4`, `DDR5`, …
    pub kind: String,
    /// Rated speed, MT/s.
    pub rated_mts: Option<u32>,
    /// Speed that it is run at, MT/s.
    pub configured_mts: Option<u32>,
    /// Data width, bits.
    pub data_bits: Option<u32>,
    /// Ranks.
    pub ranks: Option<u32>,
    /// Maker's part number.
    pub part: String,
}

/// Kernel, firmware, virtualisation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Platform {
    /// Host name.
    pub host: Avail<String>,
    /// Kernel release.
    pub kernel: Avail<String>,
    /// Kernel command line.
    pub cmdline: Avail<String>,
    /// Boot id.
    pub boot_id: Avail<String>,
    /// Distribution, from os-release.
    pub os: Avail<String>,
    /// Hypervisor: `KVM`, `Xen`, `VMware`, …; `none` on metal.
    pub hypervisor: Avail<String>,
    /// Container: `docker`, `kubernetes`, `lxc`, …; `none` outside one.
    pub container: Avail<String>,
    /// System vendor and product.
    pub product: Avail<String>,
    /// BIOS vendor, version, date.
    pub bios: Avail<String>,
    /// Clock source in use.
    pub clocksource: Avail<String>,
    /// Prefetcher state, where an MSR can be read.
    pub prefetchers: Avail<String>,
    /// Registers that switch prefetchers off, where the CPU has any and they can be read.
    pub prefetch_control: Avail<Vec<PrefetchRegister>>,
}

/// Frequency and idle control.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Power {
    /// Scaling governors with the CPUs of each.
    pub governors: Avail<BTreeMap<String, CpuList>>,
    /// Scaling driver.
    pub driver: Avail<String>,
    /// Lowest and highest frequency limits in force, Hz.
    pub limits_hz: Avail<(u64, u64)>,
    /// Turbo or boost allowed?
    pub boost: Avail<bool>,
    /// Idle states of the first online CPU: name, exit latency in µs, off?
    pub idle_states: Avail<Vec<IdleState>>,
}

/// An idle state of a CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleState {
    /// Name, `C6`.
    pub name: String,
    /// Exit latency, µs.
    pub exit_us: u64,
    /// Switched off?
    pub disabled: bool,
}

/// What limits this process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// The tightest cgroup memory limit on the way to the root, bytes.
    pub cgroup_memory_limit: Avail<u64>,
    /// What is left below that limit now, bytes.
    pub cgroup_memory_left: Avail<u64>,
    /// CPU quota, in CPUs (1.5 = 150 % of one).
    pub cpu_quota: Avail<f64>,
    /// The cgroup's path.
    pub cgroup: Avail<String>,
    /// Inherited memory policy: `default`, `bind:0-1`, …
    pub memory_policy: Avail<String>,
    /// resctrl/MPAM groups that hold this process, with their schemata.
    pub resctrl: Avail<String>,
    /// RLIMIT_AS or RLIMIT_DATA, the lower, bytes; none when unlimited.
    pub address_space: Option<u64>,
    /// RLIMIT_MEMLOCK, bytes; none when unlimited.
    pub locked_memory: Option<u64>,
}

impl Machine {
    /// The node with this number.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.iter().find(|node| node.node == id)
    }

    /// The node that `cpu` belongs to (its own CPUs, not the nearest-initiator list).
    #[must_use]
    pub fn node_of(&self, cpu: u32) -> Option<&Node> {
        self.nodes.iter().find(|node| node.cpus.contains(cpu))
    }

    /// Takes in what a sharing probe found: CPUs that share a core are one core from now on.
    pub fn apply_probes(&mut self, probes: Vec<SharingProbe>) {
        for SharingProbe { pair: (a, b), ratio, .. } in probes.iter().filter(|probe| probe.shared) {
            let joined = self.core_of(*a).union(&self.core_of(*b));
            self.cores.retain(|core| !core.intersects(&joined));
            self.cores.push(joined);
            self.notes.push(format!(
                "CPUs {a} and {b} share a core, which the topology hides: together {ratio:.2} of their throughput"
            ));
        }
        self.cores.sort_by_key(CpuList::first);
        self.sharing_probes = probes;
    }

    /// The CPUs that share `cpu`'s physical core, itself included.
    #[must_use]
    pub fn core_of(&self, cpu: u32) -> CpuList {
        self.cores.iter().find(|core| core.contains(cpu)).cloned().unwrap_or_else(|| CpuList::from(vec![cpu]))
    }

    /// The outermost data cache's domains of these CPUs, summed, plus memory-side caches of `node`: the LLC that a buffer
    /// touched by these CPUs can hide in. `None` where no cache size is known.
    #[must_use]
    pub fn llc_bytes(&self, cpus: &CpuList, node: Option<NodeId>) -> Option<u64> {
        let levels = [&self.caches.l4, &self.caches.l3, &self.caches.l2, &self.caches.l1];
        let cpu_side = levels.iter().find_map(|level| {
            let in_reach = level.iter().filter(|cache| cache.cpus.intersects(cpus));
            let sizes = in_reach.filter_map(|cache| cache.size.known().copied()).collect::<Vec<_>>();
            (!sizes.is_empty()).then(|| sizes.iter().sum::<u64>())
        });
        let memory_side: u64 =
            node.and_then(|id| self.node(id)).map_or(0, |node| node.memory_side_caches.iter().map(|cache| cache.size).sum());
        cpu_side.map(|size| size + memory_side)
    }

    /// Does a hypervisor run us?
    #[must_use]
    pub fn is_guest(&self) -> bool {
        self.platform.hypervisor.known().is_some_and(|name| name != "none")
    }
}
