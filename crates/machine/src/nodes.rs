//! NUMA nodes: their CPUs, memory, distances, and the CPUs nearest to those that have none.

use crate::files::Files;
use crate::hmat::{self, NODE};
use crate::list;
use crate::meminfo::Meminfo;
use crate::memory;
use memgauge_model::{CpuList, Node, NodeId};
use std::collections::BTreeMap;

/// A list of nodes is believed up to here without folders to check it against.
const MOST_NODES: u64 = 1 << 12;

/// Reads the nodes, rising. A kernel without node folders is one node 0 with all CPUs and memory.
pub(crate) fn read(files: &Files<'_>, online: &CpuList, system: &Meminfo, notes: &mut Vec<String>) -> Vec<Node> {
    let ids = ids(files);
    let tiers = hmat::tiers(files, &ids);
    let mut nodes: Vec<Node> = ids.iter().map(|id| node(files, id, online, &ids, &tiers)).collect();
    if nodes.is_empty() {
        nodes.push(whole_machine(files, online, system));
    } else {
        hmat::subtypes(files, &mut nodes);
        match nodes.iter().any(|node| node.unread.is_some()) {
            // What an unreadable node holds can't be told from what is initialised late.
            true => note_unread(&nodes, notes),
            false => share_late_memory(files, &mut nodes, system, notes),
        }
    }
    if let [only] = &mut nodes[..]
        && only.cpus == *online
        && let Some(total) = system.bytes("MemTotal")
    {
        only.available_bytes = system.available();
        if only.unread.take().is_some() {
            (only.memory_bytes, only.free_bytes) = (total, system.bytes("MemFree").unwrap_or(0));
        }
    }
    localize(&mut nodes, online);
    note_oddities(&nodes, online, notes);
    nodes
}

/// Online nodes with a folder. Captured trees of old kernels hold the folders only.
fn ids(files: &Files<'_>) -> CpuList {
    let present: CpuList = files.numbered(NODE, "node").into_iter().collect();
    let listed = files.text(&format!("{NODE}/online")).ok().and_then(|text| list::ranges(&text));
    match listed {
        Some(listed) if listed.count() <= MOST_NODES && !listed.within(&present).is_empty() => listed.within(&present),
        _ => present,
    }
}

fn node(files: &Files<'_>, id: NodeId, online: &CpuList, ids: &CpuList, tiers: &BTreeMap<NodeId, u32>) -> Node {
    let folder = format!("{NODE}/node{id}");
    let (meminfo, unread) = match Meminfo::of_node(files, &folder) {
        Ok(meminfo) => (meminfo, None),
        Err(miss) => (Meminfo::default(), Some(miss.text(&format!("{folder}/meminfo")))),
    };
    let cpus = files.list(&format!("{folder}/cpulist"), online);
    Node {
        node: id,
        cpus: cpus.or_else(|| files.mask(&format!("{folder}/cpumap"), online)).unwrap_or_default(),
        local_cpus: CpuList::default(),
        memory_bytes: meminfo.bytes("MemTotal").unwrap_or(0),
        unread,
        free_bytes: meminfo.bytes("MemFree").unwrap_or(0),
        available_bytes: meminfo.reclaimable(),
        subtype: String::new(),
        distances: distances(files, &folder, ids),
        access: hmat::access(files, id, ids),
        memory_tier: tiers.get(&id).copied(),
        memory_side_caches: hmat::memory_side_caches(files, id),
        huge_pages: memory::huge_pools(files, &format!("{folder}/hugepages")),
    }
}

fn whole_machine(files: &Files<'_>, online: &CpuList, system: &Meminfo) -> Node {
    Node {
        node: 0,
        cpus: online.clone(),
        local_cpus: online.clone(),
        memory_bytes: system.bytes("MemTotal").unwrap_or(0),
        unread: None,
        free_bytes: system.bytes("MemFree").unwrap_or(0),
        available_bytes: system.available(),
        subtype: String::new(),
        distances: BTreeMap::from([(0, 10)]),
        access: Vec::new(),
        memory_tier: None,
        memory_side_caches: Vec::new(),
        huge_pages: memory::huge_pools(files, memory::HUGE_PAGES),
    }
}

/// A line of the SLIT table: one number for each online node, in their order.
fn distances(files: &Files<'_>, folder: &str, ids: &CpuList) -> BTreeMap<NodeId, u32> {
    let text = files.text(&format!("{folder}/distance")).unwrap_or_default();
    let row: Option<Vec<u32>> = text.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    match row {
        // A row of another length belongs to another set of nodes: which is which can't be told.
        Some(row) if row.len() == ids.len() => ids.iter().zip(row).collect(),
        _ => BTreeMap::new(),
    }
}

/// Gives each node its nearest CPUs: its own; else its best initiators by HMAT (class 0; class 1 where those are devices); else
/// those of the nodes at the smallest distance; else all.
fn localize(nodes: &mut [Node], online: &CpuList) {
    let own: BTreeMap<NodeId, CpuList> =
        nodes.iter().filter(|node| !node.cpus.is_empty()).map(|node| (node.node, node.cpus.clone())).collect();
    let of = |ids: &mut dyn Iterator<Item = NodeId>| {
        ids.filter_map(|id| own.get(&id)).fold(CpuList::default(), |all, cpus| all.union(cpus))
    };
    for node in nodes {
        let by_hmat = || node.access.iter().map(|class| of(&mut class.initiators.iter())).find(|cpus| !cpus.is_empty());
        let by_distance = || {
            let with_cpus = || node.distances.iter().filter(|(id, _)| own.contains_key(id));
            let nearest = with_cpus().map(|(_, distance)| *distance).min()?;
            Some(of(&mut with_cpus().filter(|(_, distance)| **distance == nearest).map(|(id, _)| *id)))
        };
        let own = Some(node.cpus.clone()).filter(|cpus| !cpus.is_empty());
        node.local_cpus = own.or_else(by_hmat).or_else(by_distance).unwrap_or_else(|| online.clone());
    }
}

/// Kernels that initialise memory lazily count in a node's meminfo only what they have got to, in /proc/meminfo all of it.
/// The missing part is free; it is shared out by the bytes that each node spans beyond what it counts, and no node gets more than
/// those.
fn share_late_memory(files: &Files<'_>, nodes: &mut [Node], system: &Meminfo, notes: &mut Vec<String>) {
    let counted: u64 = nodes.iter().fold(0, |sum, node| sum.saturating_add(node.memory_bytes));
    let total = system.bytes("MemTotal").unwrap_or(0);
    // A few per cent differ on every machine.
    if counted >= total / 4 * 3 {
        return;
    }
    let late: Vec<u64> = nodes.iter().map(|node| spanned(files, node.node).saturating_sub(node.memory_bytes)).collect();
    let all: u128 = late.iter().map(|bytes| u128::from(*bytes)).sum();
    let rest = u128::from(total - counted);
    for (node, late) in nodes.iter_mut().zip(&late) {
        let share = (rest * u128::from(*late)).checked_div(all).unwrap_or(0).min(u128::from(*late));
        node.available_bytes = node.available_bytes.saturating_add(u64::try_from(share).unwrap_or(*late));
    }
    let how = if all == 0 { "which node has the rest can't be told" } else { "the rest is initialised lazily, and free" };
    notes.push(format!("memory: the nodes count {counted} bytes of {total}; {how}"));
}

fn note_unread(nodes: &[Node], notes: &mut Vec<String>) {
    for (node, why) in nodes.iter().filter_map(|node| Some((node.node, node.unread.as_ref()?))) {
        notes.push(format!("memory: that of node {node} is unknown ({why})"));
    }
}

/// Bytes of the memory blocks that a node's folder links to.
fn spanned(files: &Files<'_>, node: NodeId) -> u64 {
    let block = files.text("sys/devices/system/memory/block_size_bytes").ok();
    let block = block.and_then(|hex| u64::from_str_radix(&hex, 16).ok()).unwrap_or(0);
    let blocks = files.numbered(&format!("{NODE}/node{node}"), "memory").len();
    block.saturating_mul(blocks as u64)
}

/// Says what a reader of the topology would stumble over.
fn note_oddities(nodes: &[Node], online: &CpuList, notes: &mut Vec<String>) {
    let placed: usize = nodes.iter().map(|node| node.cpus.len()).sum();
    let covered = nodes.iter().fold(CpuList::default(), |all, node| all.union(&node.cpus));
    if placed > covered.len() {
        notes.push("nodes: some CPUs are in several nodes (numa=fake, or broken firmware); the kernel's word is kept".to_owned());
    }
    let homeless = online.without(&covered);
    if !homeless.is_empty() {
        notes.push(format!("nodes: CPUs {homeless} are in no node"));
    }
}
