//! What may be used: CPUs, nodes, and how they hang together, each looked up once.

use memgauge_model::{Cpu, CpuList, Machine, Node, NodeId, Refusal};
use std::collections::BTreeMap;

/// The part of a machine that this process may use.
pub(crate) struct Site<'a> {
    /// The whole machine.
    pub machine: &'a Machine,
    /// CPUs that may be used.
    pub cpus: CpuList,
    /// Nodes with memory that may be used, rising.
    pub nodes: CpuList,
    /// The nodes that an inherited memory policy leaves, where it leaves only some.
    pub bound: Option<CpuList>,
    core: BTreeMap<Cpu, usize>,
    home: BTreeMap<Cpu, NodeId>,
    own: BTreeMap<NodeId, Vec<Cpu>>,
    llc: BTreeMap<Cpu, u64>,
}

impl<'a> Site<'a> {
    pub fn new(machine: &'a Machine) -> Result<Self, Refusal> {
        let cpus = machine.allowed_cpus.intersection(&machine.online_cpus);
        if cpus.is_empty() {
            let problem = "this process may use no CPU that is online";
            return Err(Refusal::new("", "", problem, "start memgauge under another affinity or cpuset"));
        }
        let bound = bound_nodes(machine);
        let usable = |node: &&Node| node.memory_bytes > 0 && may_use(machine, bound.as_ref(), node.node);
        let nodes: CpuList = machine.nodes.iter().filter(usable).map(|node| node.node).collect();
        if nodes.is_empty() {
            if let Some(why) = machine.nodes.iter().find_map(|node| node.unread.as_ref()) {
                let problem = format!("what memory there is can't be read ({why})");
                return Err(Refusal::new("", "", problem, "mount /sys so that this process may read it"));
            }
            let problem = "this process may use the memory of no node";
            return Err(Refusal::new("", "", problem, "start memgauge under another cpuset or memory policy"));
        }
        let core = machine.cores.iter().enumerate().flat_map(|(id, core)| core.iter().map(move |cpu| (cpu, id))).collect();
        let home: BTreeMap<_, _> = machine.nodes.iter().flat_map(|node| node.cpus.iter().map(|cpu| (cpu, node.node))).collect();
        let mut own: BTreeMap<NodeId, Vec<Cpu>> = BTreeMap::new();
        for cpu in cpus.iter() {
            if let Some(node) = home.get(&cpu) {
                own.entry(*node).or_default().push(cpu);
            }
        }
        Ok(Self { machine, cpus, nodes, bound, core, home, own, llc: llc_by_cpu(machine) })
    }

    /// Do these share a physical core? A CPU of which the kernel tells no core has one of its own.
    pub fn same_core(&self, a: Cpu, b: Cpu) -> bool {
        a == b || self.core.get(&a).zip(self.core.get(&b)).is_some_and(|(a, b)| a == b)
    }

    /// The first of each core's CPUs in this list.
    pub fn one_a_core(&self, cpus: &CpuList) -> CpuList {
        let mut seen = std::collections::BTreeSet::new();
        cpus.iter().filter(|cpu| self.core.get(cpu).is_none_or(|core| seen.insert(*core))).collect()
    }

    /// The node that the CPU belongs to.
    pub fn node_of(&self, cpu: Cpu) -> Option<NodeId> {
        self.home.get(&cpu).copied()
    }

    /// Usable CPUs that belong to the node.
    pub fn own_cpus(&self, node: NodeId) -> &[Cpu] {
        self.own.get(&node).map_or(&[], Vec::as_slice)
    }

    /// The CPU's place among its own node's usable CPUs.
    pub fn place_of(&self, cpu: Cpu) -> Option<usize> {
        self.own_cpus(self.node_of(cpu)?).binary_search(&cpu).ok()
    }

    /// Usable CPUs near the node's memory: its own, or for memory-only nodes the nearest.
    pub fn local_cpus(&self, node: NodeId) -> CpuList {
        self.machine.node(node).map_or_else(CpuList::default, |node| node.local_cpus.intersection(&self.cpus))
    }

    /// Nodes that usable CPUs belong to, rising.
    pub fn cpu_nodes(&self) -> Vec<NodeId> {
        self.own.keys().copied().collect()
    }

    /// The usable memory that is nearest to the CPU.
    pub fn memory_of(&self, cpu: Cpu) -> NodeId {
        let home = self.node_of(cpu);
        let near = |id: NodeId| {
            let rank = match self.machine.node(id) {
                _ if home == Some(id) => 0,
                Some(node) if node.local_cpus.contains(cpu) => 1,
                _ => 2,
            };
            let distance = home.and_then(|home| self.machine.node(home)).and_then(|node| node.distances.get(&id));
            (rank, distance.copied().unwrap_or(u32::MAX), id)
        };
        // `nodes` is never empty.
        self.nodes.iter().min_by_key(|id| near(*id)).unwrap_or_default()
    }

    /// The last-level cache that a buffer on `node` can hide in when `cpu` alone touches it; the same as
    /// [`Machine::llc_bytes`], without a search through thousands of domains a call.
    pub fn llc(&self, cpu: Cpu, node: NodeId) -> Option<u64> {
        let memory_side = self.machine.node(node).map_or(0, |node| node.memory_side_caches.iter().map(|c| c.size).sum());
        self.llc.get(&cpu).map(|size| size + memory_side)
    }
}

/// May this process take memory of the node? (Where the kernel names no nodes at all, it may.)
fn may_use(machine: &Machine, bound: Option<&CpuList>, node: NodeId) -> bool {
    (machine.allowed_nodes.is_empty() || machine.allowed_nodes.contains(node)) && bound.is_none_or(|bound| bound.contains(node))
}

/// Nodes of an inherited `bind` policy. Other policies are wishes that an own binding replaces.
fn bound_nodes(machine: &Machine) -> Option<CpuList> {
    let policy = machine.limits.memory_policy.known()?;
    let (kind, list) = policy.split_once(':')?;
    (kind == "bind").then(|| list.parse().ok()).flatten()
}

fn llc_by_cpu(machine: &Machine) -> BTreeMap<Cpu, u64> {
    let mut llc = BTreeMap::new();
    // An outer level takes the place of an inner one.
    for level in [&machine.caches.l1, &machine.caches.l2, &machine.caches.l3, &machine.caches.l4] {
        let mut sum: BTreeMap<Cpu, u64> = BTreeMap::new();
        for (cache, size) in level.iter().filter_map(|cache| Some((cache, cache.size.known()?))) {
            cache.cpus.iter().for_each(|cpu| *sum.entry(cpu).or_default() += size);
        }
        llc.extend(sum);
    }
    llc
}
