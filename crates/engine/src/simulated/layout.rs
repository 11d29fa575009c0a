//! Where everything is: CPUs on cores, under caches, in nodes and packages; and what an access crosses on its way.

use crate::simulated::description::{CoreKind, Description, Memory, Numbering};
use memgauge_model::{Cpu, CpuList, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// A CPU's place. Indices count from 0 over the whole machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its core.
    pub core: usize,
    /// The kind of that, an index into the description's.
    pub kind: usize,
    /// Its node, an index.
    pub node: usize,
    /// Its L2 and L3.
    pub l2: usize,
    pub l3: usize,
}

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodePlace {
    pub id: NodeId,
    pub package: u32,
    pub memory: Option<Memory>,
}

/// Something that traffic shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shared {
    /// The channels of a node, an index.
    Memory(usize),
    /// One way over a link: the link, is it towards its `from` side, and the pair of nodes where each has its own.
    Link(usize, bool, Option<(usize, usize)>),
}

/// The way of an access.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Path {
    /// What its links add, ns.
    pub ns: f64,
    /// Over what data comes to the CPU, and over what it goes to the memory.
    pub reads: Vec<Shared>,
    pub writes: Vec<Shared>,
}

/// The machine's plan view.
#[derive(Debug, Clone)]
pub struct Layout {
    pub nodes: Vec<NodePlace>,
    /// By CPU number.
    pub cpus: Vec<Place>,
    pub kinds: Vec<CoreKind>,
    /// By package: its first core and how many it has.
    rings: BTreeMap<u32, (usize, usize)>,
    links: Vec<(CpuList, CpuList, f64, bool)>,
}

impl Layout {
    pub fn new(description: &Description) -> Self {
        let nodes = nodes(description);
        let cores = cores(description, &nodes);
        let links = description.links.iter().map(|link| {
            // The description was checked: its lists can be read.
            let list = |text: &str| -> CpuList { text.parse().unwrap_or_default() };
            (list(&link.from), list(&link.to), link.ns, link.each)
        });
        let cpus = number(description, &cores);
        let mut packages: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
        for place in &cpus {
            packages.entry(nodes[place.node].package).or_default().insert(place.core);
        }
        let ring = |(package, cores): (u32, BTreeSet<usize>)| (package, (cores.first().copied().unwrap_or(0), cores.len()));
        let rings = packages.into_iter().map(ring).collect();
        Self { cpus, rings, links: links.collect(), kinds: description.cores.clone(), nodes }
    }

    /// Steps between two places of one package, on the ring that its cores make; 0 for places of two packages.
    pub fn steps(&self, one: Place, other: Place) -> usize {
        let package = self.nodes[one.node].package;
        let count = self.rings.get(&package).map_or(0, |(_, count)| *count);
        let apart = one.core.abs_diff(other.core);
        if package == self.nodes[other.node].package { apart.min(count.saturating_sub(apart)) } else { 0 }
    }

    /// The CPU's place; none where the machine has no such CPU.
    pub fn place(&self, cpu: Cpu) -> Option<Place> {
        self.cpus.get(cpu as usize).copied()
    }

    /// The kind of core at a place.
    pub fn kind(&self, place: Place) -> &CoreKind {
        &self.kinds[place.kind]
    }

    /// The index of a node's number.
    pub fn node(&self, id: NodeId) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == id)
    }

    /// CPUs of which this holds, by number.
    pub fn cpus_where(&self, is: impl Fn(&Place) -> bool) -> CpuList {
        (0_u32..).zip(&self.cpus).filter(|(_, place)| is(place)).map(|(cpu, _)| cpu).collect()
    }

    /// CPUs by group, in the order of the groups' numbers.
    pub fn groups(&self, of: impl Fn(&Place) -> usize) -> Vec<CpuList> {
        let mut groups = BTreeMap::<usize, Vec<Cpu>>::new();
        for (cpu, place) in (0_u32..).zip(&self.cpus) {
            groups.entry(of(place)).or_default().push(cpu);
        }
        groups.into_values().map(CpuList::from).collect()
    }

    /// An access from a CPU of one node to memory of another, indices.
    pub fn path(&self, from: usize, to: usize) -> Path {
        let mut path = Path::default();
        if from != to {
            for (at, (one, other, ns, each)) in self.links.iter().enumerate() {
                let (a, b) = (self.nodes[from].id, self.nodes[to].id);
                let forth = one.contains(a) && other.contains(b);
                if !(forth || one.contains(b) && other.contains(a)) {
                    continue;
                }
                path.ns += ns;
                let pair = each.then(|| (from.min(to), from.max(to)));
                // Within one group both sides are the same: the lower number is then the near one.
                let near = if *each { from < to } else { forth };
                path.reads.push(Shared::Link(at, near, pair));
                path.writes.push(Shared::Link(at, !near, pair));
            }
        }
        path.reads.push(Shared::Memory(to));
        path.writes.push(Shared::Memory(to));
        path
    }

    /// A dependent load from a CPU of one node out of another's memory, nothing else running, ns.
    pub fn memory_ns(&self, from: usize, to: usize) -> f64 {
        self.nodes[to].memory.as_ref().map_or(0.0, |memory| memory.ns) + self.path(from, to).ns
    }
}

fn nodes(description: &Description) -> Vec<NodePlace> {
    let mut ids = description.node_ids().into_iter();
    let mut nodes = Vec::new();
    let mut package = 0;
    for group in &description.nodes {
        for at in 0..group.count {
            let Some(id) = ids.next() else { break };
            let own = package + at / group.per_package;
            nodes.push(NodePlace { id, package: own, memory: group.memory.clone() });
        }
        // Memory alone is in no socket of its own.
        if !group.cores.is_empty() {
            package += group.count.div_ceil(group.per_package);
        }
    }
    nodes
}

/// Cores in order, each with its place.
fn cores(description: &Description, nodes: &[NodePlace]) -> Vec<Place> {
    let groups = description.nodes.iter().flat_map(|group| std::iter::repeat_n(group, group.count as usize));
    let mut cores: Vec<Place> = Vec::new();
    let (mut l2, mut l3) = (0, 0);
    // The package that an L3 is of, and the cores that it has.
    let mut filling: Option<(u32, u32)> = None;
    for (node, group) in groups.enumerate().filter(|(_, group)| !group.cores.is_empty()) {
        for (name, count) in &group.cores {
            let kind = description.cores.iter().position(|kind| kind.kind == *name).unwrap_or(0);
            for at in 0..*count {
                l2 += usize::from(at % description.cores[kind].l2.cores == 0);
                let under = description.l3.map_or(1, |l3| l3.cores);
                filling = Some(match filling {
                    Some((package, has)) if package == nodes[node].package && has < under => (package, has + 1),
                    _ => {
                        l3 += 1;
                        (nodes[node].package, 1)
                    }
                });
                cores.push(Place { core: cores.len(), kind, node, l2, l3 });
            }
        }
    }
    cores
}

/// CPUs by number.
fn number(description: &Description, cores: &[Place]) -> Vec<Place> {
    let threads = |place: &Place| description.cores[place.kind].threads;
    match description.numbering {
        Numbering::Adjacent => cores.iter().flat_map(|place| std::iter::repeat_n(*place, threads(place) as usize)).collect(),
        Numbering::Split => {
            let most = cores.iter().map(threads).max().unwrap_or(1);
            (0..most).flat_map(|thread| cores.iter().filter(move |place| threads(place) > thread).copied()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::presets;

    fn layout(name: &str) -> Layout {
        Layout::new(&presets::preset(name).unwrap())
    }

    #[test]
    fn threads_cores_caches_and_packages_are_where_they_are_described() {
        let ice = layout("icelake-2s");
        assert_eq!((ice.cpus.len(), ice.nodes.len()), (160, 2));
        assert_eq!(ice.cpus[0].core, ice.cpus[80].core);
        assert_eq!((ice.cpus[39].node, ice.cpus[40].node), (0, 1));
        assert_eq!(ice.groups(|place| place.l3).len(), 2);
        let epyc = layout("epyc-nps4");
        assert_eq!(epyc.nodes.iter().map(|node| node.package).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 1, 1, 1]);
        assert!(epyc.groups(|place| place.l3).iter().all(|cpus| cpus.len() == 16));
        let hybrid = layout("hybrid-desktop");
        assert_eq!(hybrid.cpus_where(|place| place.kind == 0).to_string(), "0-15");
        assert_eq!(hybrid.groups(|place| place.l2).last().unwrap().len(), 4, "slow cores share an L2 by four");
    }

    #[test]
    fn both_ways_over_a_link_are_told_apart_and_far_memory_is_behind_two() {
        let cxl = layout("cxl-2s");
        let (there, back) = (cxl.path(0, 1), cxl.path(1, 0));
        assert_eq!(there.reads[0], back.writes[0]);
        assert_ne!(there.reads[0], there.writes[0]);
        assert!(cxl.memory_ns(0, 2) > cxl.memory_ns(1, 2) && cxl.memory_ns(1, 2) > cxl.memory_ns(1, 0));
        assert_eq!(cxl.path(0, 0).reads, [Shared::Memory(0)]);
    }
}
