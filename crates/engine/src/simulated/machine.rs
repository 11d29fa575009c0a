//! What a simulated machine says of itself, for the plan and the report. One description, one truth.

use crate::simulated::description::{Description, NodeGroup};
use crate::simulated::layout::Layout;
use memgauge_model::{
    Avail, Cache, Caches, CoreKind, Counters, CpuList, CpuModel, Dimms, Limits, Machine, Node, Platform, Power, Reason,
    SystemMemory,
};
use std::collections::BTreeMap;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

impl Description {
    /// The machine.
    #[must_use]
    pub fn machine(&self) -> Machine {
        let layout = Layout::new(self);
        let all = layout.cpus_where(|_| true);
        let nodes = nodes(&layout);
        let with_memory = nodes.iter().filter(|node| node.memory_bytes > 0);
        Machine {
            root: "simulated".to_owned(),
            simulated: true,
            present_cpus: all.clone(),
            online_cpus: all.clone(),
            allowed_cpus: all,
            allowed_nodes: with_memory.map(|node| node.node).collect(),
            cores: layout.groups(|place| place.core),
            packages: layout.groups(|place| layout.nodes[place.node].package as usize),
            dies: Vec::new(),
            clusters: layout.groups(|place| place.l2),
            core_kinds: kinds(self, &layout),
            caches: caches(self, &layout),
            cpu: CpuModel {
                architecture: self.architecture.clone(),
                vendor: Avail::or_absent((!self.vendor.is_empty()).then(|| self.vendor.clone()), "not described"),
                name: Avail::Known(self.name.clone()),
                numbers: BTreeMap::new(),
                microcode: none(),
                flags: self.flags.clone(),
            },
            memory: memory(self, &nodes),
            dimms: dimms(&self.nodes),
            platform: platform(self),
            power: Power { governors: none(), driver: none(), limits_hz: none(), boost: none(), idle_states: none() },
            limits: Limits {
                cgroup_memory_limit: none(),
                cgroup_memory_left: none(),
                cpu_quota: none(),
                cgroup: none(),
                memory_policy: Avail::Known("default".to_owned()),
                resctrl: none(),
                address_space: None,
                locked_memory: None,
            },
            counters: Counters { paranoid: none(), dram: none(), core: none() },
            sharing_probes: Vec::new(),
            nodes,
            notes: vec!["simulated: everything here is as its description says".to_owned()],
        }
    }
}

fn none<T>() -> Avail<T> {
    Avail::missing(Reason::NotPresent, "the machine is simulated")
}

fn nodes(layout: &Layout) -> Vec<Node> {
    let with_cpus: Vec<usize> = (0..layout.nodes.len()).filter(|at| layout.cpus.iter().any(|place| place.node == *at)).collect();
    let mut nodes: Vec<Node> = layout
        .nodes
        .iter()
        .enumerate()
        .map(|(at, place)| {
            let cpus = layout.cpus_where(|cpu| cpu.node == at);
            let bytes = place.memory.as_ref().map_or(0, |memory| memory.gib * GIB);
            let nearest = with_cpus.iter().map(|from| layout.memory_ns(*from, at)).fold(f64::INFINITY, f64::min);
            let near = |from: usize| layout.memory_ns(from, at) <= nearest;
            let local_cpus = if cpus.is_empty() { layout.cpus_where(|cpu| near(cpu.node)) } else { cpus.clone() };
            Node {
                node: place.id,
                local_cpus,
                cpus,
                memory_bytes: bytes,
                unread: None,
                // The kernel and its caches have some.
                free_bytes: bytes / 100 * 95,
                available_bytes: bytes / 100 * 95,
                subtype: place.memory.as_ref().map_or_else(String::new, |memory| memory.kind.clone()),
                distances: (0..layout.nodes.len()).map(|to| (layout.nodes[to].id, distance(layout, at, to))).collect(),
                access: Vec::new(),
                memory_tier: None,
                memory_side_caches: Vec::new(),
                huge_pages: Vec::new(),
            }
        })
        .collect();
    nodes.sort_by_key(|node| node.node);
    nodes
}

/// As firmware states it: 10 for a node's own memory, else in the proportion of the latencies.
fn distance(layout: &Layout, from: usize, to: usize) -> u32 {
    if from == to {
        return 10;
    }
    let own = layout.nodes[from].memory.as_ref().or(layout.nodes[to].memory.as_ref()).map_or(1.0, |memory| memory.ns);
    let there = layout.memory_ns(from, to).max(layout.memory_ns(to, from));
    // Truncation is meant: firmware has whole numbers below 255.
    ((10.0 * there / own).round() as u32).clamp(11, 254)
}

fn kinds(description: &Description, layout: &Layout) -> Vec<CoreKind> {
    let kinds = description.cores.iter().enumerate().map(|(at, kind)| CoreKind {
        name: kind.kind.clone(),
        cpus: layout.cpus_where(|place| place.kind == at),
        max_hz: Some((kind.ghz * 1e9) as u64),
    });
    kinds.filter(|kind| !kind.cpus.is_empty()).collect()
}

fn caches(description: &Description, layout: &Layout) -> Caches {
    let kind_of = |cpus: &CpuList| cpus.first().and_then(|cpu| layout.place(cpu)).map(|place| layout.kind(place));
    let own = |groups: Vec<CpuList>, size: fn(&crate::simulated::description::CoreKind) -> u64| {
        let cache = |cpus: CpuList| Some(Cache { size: Avail::Known(size(kind_of(&cpus)?) * KIB), cpus });
        groups.into_iter().filter_map(cache).collect::<Vec<_>>()
    };
    let shared = description.l3.map(|l3| {
        let cache = |cpus| Cache { size: Avail::Known(l3.mib * MIB), cpus };
        layout.groups(|place| place.l3).into_iter().map(cache).collect()
    });
    Caches {
        l1: own(layout.groups(|place| place.core), |kind| kind.l1.kib),
        l2: own(layout.groups(|place| place.l2), |kind| kind.l2.kib),
        l3: shared.unwrap_or_default(),
        l4: Vec::new(),
    }
}

fn memory(description: &Description, nodes: &[Node]) -> SystemMemory {
    SystemMemory {
        total_bytes: nodes.iter().map(|node| node.memory_bytes).sum(),
        available_bytes: nodes.iter().map(|node| node.available_bytes).sum(),
        page_bytes: description.pages.base_kib * KIB,
        thp: Avail::Known(description.pages.thp.clone()),
        thp_defrag: none(),
        thp_bytes: Avail::Known(description.pages.thp_kib * KIB),
        mthp: BTreeMap::new(),
        huge_pages: Vec::new(),
        swap_total_bytes: 0,
        swap_used_bytes: 0,
        numa_balancing: Avail::Known(0),
        zone_reclaim_mode: none(),
        overcommit: none(),
        ksm: none(),
    }
}

fn dimms(nodes: &[NodeGroup]) -> Dimms {
    let sum = |of: fn(&crate::simulated::description::Memory) -> f64| {
        nodes.iter().filter_map(|group| Some(f64::from(group.count) * of(group.memory.as_ref()?))).sum::<f64>()
    };
    Dimms {
        modules: none(),
        channels: Avail::Known(sum(|memory| f64::from(memory.channels)) as u32),
        theoretical_bandwidth: Avail::Known(sum(|memory| f64::from(memory.channels) * memory.gb_per_s * 1e9)),
    }
}

fn platform(description: &Description) -> Platform {
    Platform {
        host: none(),
        kernel: none(),
        cmdline: none(),
        boot_id: none(),
        os: none(),
        hypervisor: Avail::Known(description.hypervisor.clone().unwrap_or_else(|| "none".to_owned())),
        container: Avail::Known("none".to_owned()),
        product: none(),
        bios: none(),
        clocksource: none(),
        prefetchers: none(),
        prefetch_control: Avail::missing(Reason::NotSupported, "a simulated machine has no registers"),
    }
}
