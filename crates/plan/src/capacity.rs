//! What memory can be had, and what arenas take of it.

use crate::pages::{pool, reserved};
use crate::site::Site;
use memgauge_model::{Arena, Node, NodeId, units};
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;
/// The program itself: code, clocks, logs and the Record.
const PROGRAM: u64 = 16 * MIB;
/// Stack and log of a worker, as far as they are touched.
const WORKER: u64 = 128 << 10;
/// Address space that threads' stacks, the program and its libraries take beside the buffers.
const ADDRESS_SPACE: u64 = 256 * MIB;
const WORKER_ADDRESS_SPACE: u64 = 4 * MIB;

/// What can be had.
pub(crate) struct Limits {
    /// By node: what may be taken, and what it has free.
    pub nodes: BTreeMap<NodeId, (u64, u64)>,
    /// Free pages of reserved pools, by node and page size.
    pools: BTreeMap<(NodeId, u64), u64>,
    system: Option<(u64, u64)>,
    /// What the cgroup leaves; what may be taken of it, and all of it.
    pub cgroup: Option<(u64, u64)>,
    address_space: Option<(u64, u64)>,
    /// The program beside the buffers, bytes.
    pub program: u64,
}

/// What some arenas take together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Load {
    /// By node, page tables included, pages of reserved pools left out.
    pub nodes: BTreeMap<NodeId, u64>,
    pools: BTreeMap<(NodeId, u64), u64>,
    ordinary: u64,
    /// All mappings, bytes.
    pub mapped: u64,
    /// Page tables, bytes.
    pub tables: u64,
}

/// The first thing that there is too little of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shortage {
    /// Reserved pages of a node.
    Pool { node: NodeId, page_bytes: u64, needed: u64, free: u64 },
    /// Anything else, in words that follow "more than".
    Other { needed: u64, what: String },
}

impl Shortage {
    /// How much is needed; pages of a pool before bytes.
    pub fn needed(&self) -> (bool, u64) {
        match self {
            Self::Pool { needed, .. } => (true, *needed),
            Self::Other { needed, .. } => (false, *needed),
        }
    }
}

impl Limits {
    /// Part of what is free stays untouched, so that nobody is killed for want of memory: a tenth, at least 512 MiB, though
    /// on small machines not more than a quarter.
    fn usable(free: u64) -> u64 {
        free - (free / 10).max((512 * MIB).min(free / 4))
    }

    pub fn new(site: &Site, workers: u64) -> Self {
        let machine = site.machine;
        // A node of which nothing at all is free is one that doesn't say: captured trees may lack the figure.
        let available = |node: &Node| if node.available_bytes > 0 { node.available_bytes } else { node.memory_bytes };
        let node = |id: NodeId| machine.node(id).map_or(0, available);
        let pools = machine.nodes.iter().flat_map(|node| {
            node.huge_pages.iter().map(|p| ((node.node, p.page_bytes), pool(machine, node.node, p.page_bytes).0))
        });
        let whole = machine.memory.available_bytes;
        let left = machine.limits.cgroup_memory_left.known().copied();
        let beside = ADDRESS_SPACE + workers * WORKER_ADDRESS_SPACE;
        Self {
            nodes: site.nodes.iter().map(|id| (id, (Self::usable(node(id)), node(id)))).collect(),
            pools: pools.collect(),
            system: (whole > 0).then(|| (Self::usable(whole), whole)),
            cgroup: left.map(|left| (left - left / 10, left)),
            address_space: machine.limits.address_space.map(|limit| (limit.saturating_sub(beside), limit)),
            program: PROGRAM + workers * WORKER,
        }
    }

    /// The same with no more than so many percent of anything taken. (Address space is nobody else's.)
    pub fn at_most(mut self, percent: u64) -> Self {
        let share = |(usable, all): &mut (u64, u64)| *usable = (*usable).min(percent_of(*all, percent));
        self.nodes.values_mut().chain(&mut self.system).chain(&mut self.cgroup).for_each(share);
        self.pools.values_mut().for_each(|free| *free = percent_of(*free, percent));
        self
    }

    /// What is short for this load.
    pub fn shortage(&self, load: &Load) -> Option<Shortage> {
        self.short_pool(load).or_else(|| self.short_node(load)).or_else(|| self.short_whole(load))
    }

    fn short_pool(&self, load: &Load) -> Option<Shortage> {
        load.pools.iter().find_map(|(&(node, page_bytes), &needed)| {
            let free = self.pools.get(&(node, page_bytes)).copied().unwrap_or(0);
            (needed > free).then_some(Shortage::Pool { node, page_bytes, needed, free })
        })
    }

    fn short_node(&self, load: &Load) -> Option<Shortage> {
        load.nodes.iter().find_map(|(node, &needed)| {
            let (usable, free) = self.nodes.get(node).copied().unwrap_or((0, 0));
            let what = || format!("node {node} has free ({})", units::bytes(free));
            (needed > usable).then(|| Shortage::Other { needed, what: what() })
        })
    }

    fn short_whole(&self, load: &Load) -> Option<Shortage> {
        let ordinary = load.ordinary.saturating_add(self.program);
        let rows = [
            (ordinary, self.cgroup, "the cgroup leaves"),
            (ordinary, self.system, "the machine has available"),
            (load.mapped, self.address_space, "the address-space limit (ulimit -v) allows"),
        ];
        rows.into_iter().find_map(|(needed, limit, what)| {
            let (usable, all) = limit?;
            (needed > usable).then(|| Shortage::Other { needed, what: format!("{what} ({})", units::bytes(all)) })
        })
    }
}

fn percent_of(all: u64, percent: u64) -> u64 {
    u64::try_from(u128::from(all) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

impl Load {
    pub fn add(&mut self, arena: &Arena) {
        self.add_alike(arena, 1);
    }

    /// Adds so many arenas like this one.
    pub fn add_alike(&mut self, arena: &Arena, times: u64) {
        // One 8-byte entry a page, and a table at least.
        let pages = (arena.bytes / arena.page_bytes.max(1)).saturating_mul(times);
        let tables = pages.saturating_mul(8).saturating_add(4096_u64.saturating_mul(times));
        let bytes = arena.bytes.saturating_mul(times);
        let ordinary = if reserved(arena.pages) {
            let have = self.pools.entry((arena.node, arena.page_bytes)).or_default();
            *have = have.saturating_add(pages);
            tables
        } else {
            bytes.saturating_add(tables)
        };
        let have = self.nodes.entry(arena.node).or_default();
        *have = have.saturating_add(ordinary);
        self.ordinary = self.ordinary.saturating_add(ordinary);
        self.mapped = self.mapped.saturating_add(bytes);
        self.tables = self.tables.saturating_add(tables);
    }

    /// What these arenas take.
    pub fn of<'a>(arenas: impl IntoIterator<Item = &'a Arena>) -> Self {
        let mut load = Self::default();
        arenas.into_iter().for_each(|arena| load.add(arena));
        load
    }
}
