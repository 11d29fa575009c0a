//! What firmware says of memory: HMAT access classes, tiers, memory-side caches, and the kind of each node's memory.

use crate::files::Files;
use memgauge_model::{AccessClass, CpuList, MemorySideCache, Node, NodeId};
use std::collections::BTreeMap;

/// Where nodes have their folders.
pub(crate) const NODE: &str = "sys/devices/system/node";

/// Access classes of a node, 0 and 1 (the kernel makes no others).
pub(crate) fn access(files: &Files<'_>, node: NodeId, nodes: &CpuList) -> Vec<AccessClass> {
    (0..=1).filter_map(|class| access_class(files, node, nodes, class)).collect()
}

/// `accessC/initiators`. Latency is in ns, bandwidth in MB/s (the kernel's words; 10^6 bytes here, as in ACPI); 0 is "not told".
fn access_class(files: &Files<'_>, node: NodeId, nodes: &CpuList, class: u32) -> Option<AccessClass> {
    let folder = format!("{NODE}/node{node}/access{class}/initiators");
    let initiators: CpuList = files.numbered(&folder, "node").into_iter().filter(|id| nodes.contains(*id)).collect();
    let told = |name: &str| files.number(&format!("{folder}/{name}")).filter(|value| *value > 0);
    let bandwidth = |name: &str| told(name).and_then(|mb| mb.checked_mul(1_000_000));
    let class = AccessClass {
        class,
        initiators,
        read_latency_ns: told("read_latency"),
        write_latency_ns: told("write_latency"),
        read_bandwidth: bandwidth("read_bandwidth"),
        write_bandwidth: bandwidth("write_bandwidth"),
    };
    let empty = class.initiators.is_empty() && class.read_latency_ns.is_none() && class.read_bandwidth.is_none();
    (!empty).then_some(class)
}

/// `memory_side_cache/indexN`: the index is the level.
pub(crate) fn memory_side_caches(files: &Files<'_>, node: NodeId) -> Vec<MemorySideCache> {
    let folder = format!("{NODE}/node{node}/memory_side_cache");
    let cache = |level: u32| {
        let size = files.number(&format!("{folder}/index{level}/size")).filter(|size| *size > 0)?;
        Some(MemorySideCache { level, size })
    };
    files.numbered(&folder, "index").into_iter().filter_map(cache).collect()
}

/// Tier of each node, where the kernel has tiers (6.1 on).
pub(crate) fn tiers(files: &Files<'_>, nodes: &CpuList) -> BTreeMap<NodeId, u32> {
    let folder = "sys/devices/virtual/memory_tiering";
    let members = |tier: u32| {
        let list = files.list(&format!("{folder}/memory_tier{tier}/nodelist"), nodes).unwrap_or_default();
        list.iter().map(move |node| (node, tier)).collect::<Vec<_>>()
    };
    files.numbered(folder, "memory_tier").into_iter().flat_map(members).collect()
}

/// Fills in the kind of each node's memory, where something tells it: the device that the memory came from (DAX: `NVM`, `CXL`;
/// an NVIDIA GPU), and firmware's bandwidths where there are two tiers of which one has more than twice the other's.
pub(crate) fn subtypes(files: &Files<'_>, nodes: &mut [Node]) {
    let sources = dax_sources(files);
    let gpus = gpu_nodes(files);
    for node in nodes.iter_mut() {
        node.subtype = match sources.get(&node.node) {
            Some(source) => (*source).to_owned(),
            None if gpus.contains(node.node) => "GPU".to_owned(),
            None => String::new(),
        };
    }
    tell_hbm_from_dram(nodes);
}

/// Soft-reserved memory ("specific purpose"): HBM mostly, but only bandwidth can tell.
const SPECIFIC: &str = "SPM";

/// The kind of device behind each node that DAX's kmem driver made.
fn dax_sources(files: &Files<'_>) -> BTreeMap<NodeId, &'static str> {
    let mut sources = BTreeMap::new();
    for name in files.names("sys/bus/dax/drivers/kmem") {
        let device = format!("sys/bus/dax/devices/{name}");
        let node = files.number(&format!("{device}/target_node")).and_then(|node| NodeId::try_from(node).ok());
        let (Some(node), Some(path)) = (node, files.target(&device)) else { continue };
        let source = match path.as_str() {
            path if path.contains("/ndbus") => "NVM",
            path if path.contains("ACPI0017") || path.contains("/dax_region") && path.contains("/decoder") => "CXL",
            _ => SPECIFIC,
        };
        sources.insert(node, source);
    }
    sources
}

/// Nodes that NVIDIA's driver made of a GPU's memory.
fn gpu_nodes(files: &Files<'_>) -> CpuList {
    let folder = "proc/driver/nvidia/gpus";
    let node = |gpu: &String| {
        let status = files.text(&format!("{folder}/{gpu}/numa_status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("Node:")?.trim().parse::<u32>().ok())
    };
    files.names(folder).iter().filter_map(node).collect()
}

/// Two tiers, of which at most one is soft-reserved, are DRAM and HBM if the faster has more than twice the bandwidth; anything
/// less is no proof, and nothing is said.
fn tell_hbm_from_dram(nodes: &mut [Node]) {
    let bandwidth = |node: &Node| node.access.iter().rev().find_map(|class| class.read_bandwidth);
    let candidates: Vec<usize> = (0..nodes.len()).filter(|i| matches!(nodes[*i].subtype.as_str(), "" | SPECIFIC)).collect();
    let mut speeds: Vec<(u64, usize)> = Vec::new();
    for i in candidates {
        let Some(speed) = bandwidth(&nodes[i]) else { return };
        speeds.push((speed, i));
    }
    speeds.sort_unstable();
    // The one gap that parts slow from fast; within a tier speeds differ by no more than a tenth.
    let gaps: Vec<usize> =
        (1..speeds.len()).filter(|i| speeds[*i].0 > speeds[i - 1].0.saturating_add(speeds[i - 1].0 / 10)).collect();
    let [gap] = gaps[..] else { return };
    if speeds[gap].0 <= speeds[gap - 1].0.saturating_mul(2) {
        return;
    }
    if speeds[..gap].iter().any(|(_, i)| nodes[*i].subtype == SPECIFIC) {
        return;
    }
    for (rank, (_, i)) in speeds.iter().enumerate() {
        nodes[*i].subtype = if rank < gap { "DRAM" } else { "HBM" }.to_owned();
    }
}
