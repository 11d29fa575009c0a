//! Machines that nobody owns, in a line or two each.

use memgauge_model::*;
use std::collections::BTreeMap;

pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;

/// A machine in the making. Starts as x86-64 metal with THP, no CPUs and no nodes.
#[derive(Debug)]
pub struct Lab(pub Machine);

pub fn list(text: &str) -> CpuList {
    if text.is_empty() { CpuList::default() } else { text.parse().unwrap() }
}

pub fn none<T>() -> Avail<T> {
    Avail::missing(Reason::NotPresent, "made up")
}

impl Lab {
    pub fn new() -> Self {
        Self(empty())
    }

    /// A node with its CPUs, each a core of its own, and its memory, all of it available.
    pub fn node(mut self, id: NodeId, cpus: &str, memory: u64) -> Self {
        let cpus = list(cpus);
        self.0.online_cpus = self.0.online_cpus.union(&cpus);
        self.0.present_cpus = self.0.online_cpus.clone();
        self.0.allowed_cpus = self.0.online_cpus.clone();
        self.0.allowed_nodes = self.0.allowed_nodes.union(&CpuList::from(vec![id]));
        self.0.cores.extend(cpus.iter().map(|cpu| CpuList::from(vec![cpu])));
        self.0.memory.total_bytes += memory;
        self.0.memory.available_bytes += memory;
        let others: Vec<NodeId> = self.0.nodes.iter().map(|node| node.node).collect();
        for node in &mut self.0.nodes {
            node.distances.insert(id, 20);
        }
        let distances = others.into_iter().map(|other| (other, 20)).chain([(id, 10)]).collect();
        self.0.nodes.push(Node {
            node: id,
            local_cpus: cpus.clone(),
            cpus,
            memory_bytes: memory,
            free_bytes: memory,
            available_bytes: memory,
            subtype: String::new(),
            distances,
            access: Vec::new(),
            memory_tier: None,
            memory_side_caches: Vec::new(),
            huge_pages: Vec::new(),
            unread: None,
        });
        self.0.nodes.sort_by_key(|node| node.node);
        self
    }

    /// These CPUs share a core.
    pub fn siblings(mut self, cpus: &[&str]) -> Self {
        for core in cpus.iter().map(|core| list(core)) {
            self.0.cores.retain(|have| !have.intersects(&core));
            self.0.cores.push(core);
        }
        self
    }

    /// A last-level cache.
    pub fn l3(mut self, cpus: &str, size: u64) -> Self {
        self.0.caches.l3.push(Cache { size: Avail::Known(size), cpus: list(cpus) });
        self
    }

    /// A memory-only node's nearest CPUs.
    pub fn near(mut self, node: NodeId, cpus: &str) -> Self {
        self.node_mut(node).local_cpus = list(cpus);
        self
    }

    pub fn guest(mut self) -> Self {
        self.0.platform.hypervisor = Avail::Known("KVM".into());
        self
    }

    pub fn allow(mut self, cpus: &str) -> Self {
        self.0.allowed_cpus = list(cpus);
        self
    }

    pub fn pool(mut self, node: NodeId, page_bytes: u64, free: u64) -> Self {
        let pool = HugePool { page_bytes, total: free, free };
        self.node_mut(node).huge_pages.push(pool.clone());
        self.0.memory.huge_pages.push(pool);
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Machine)) -> Self {
        change(&mut self.0);
        self
    }

    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        self.0.nodes.iter_mut().find(|node| node.node == id).unwrap()
    }
}

pub fn one_cpu() -> Lab {
    Lab::new().node(0, "0", 8 * GIB).l3("0", 16 * MIB)
}

/// A small guest: two CPUs that say nothing of siblings, and a large cache.
pub fn two_cpus() -> Lab {
    Lab::new().node(0, "0-1", 24 * GIB).l3("0-1", 300 * MIB).guest()
}

/// Two sockets of four cores, CPUs dealt out in turn: even on socket 0, odd on socket 1, siblings eight up.
pub fn two_sockets() -> Lab {
    let cores: Vec<String> = (0..8).map(|cpu| format!("{cpu},{}", cpu + 8)).collect();
    let cores: Vec<&str> = cores.iter().map(String::as_str).collect();
    Lab::new()
        .node(0, "0-15:1/2", 64 * GIB)
        .node(1, "1,3,5,7,9,11,13,15", 64 * GIB)
        .siblings(&cores)
        .l3("0-15:1/2", 32 * MIB)
        .l3("1,3,5,7,9,11,13,15", 32 * MIB)
}

/// One socket cut into four nodes that share a cache.
pub fn snc4() -> Lab {
    let lab = (0..4).fold(Lab::new(), |lab, node| lab.node(node, &format!("{}-{}", node * 4, node * 4 + 3), 32 * GIB));
    lab.l3("0-15", 60 * MIB)
}

/// Two nodes of CPUs and a memory-only one near the second.
pub fn cxl() -> Lab {
    Lab::new()
        .node(0, "0-3", 32 * GIB)
        .node(1, "4-7", 32 * GIB)
        .node(2, "", 64 * GIB)
        .near(2, "4-7")
        .l3("0-3", 16 * MIB)
        .l3("4-7", 16 * MIB)
}

/// Node 0 has CPUs and no memory.
pub fn memoryless() -> Lab {
    Lab::new().node(0, "0-1", 0).node(1, "2-3", 16 * GIB).l3("0-3", 16 * MIB)
}

/// Numbers with gaps, none of them 0.
pub fn gaps() -> Lab {
    Lab::new().node(3, "16-17", 16 * GIB).node(8, "80-81", 16 * GIB).l3("16-17", 8 * MIB).l3("80-81", 8 * MIB)
}

/// Two fast cores with two threads each, four slow ones.
pub fn hybrid() -> Lab {
    let kind = |name: &str, cpus: &str| CoreKind { name: name.into(), cpus: list(cpus), max_hz: None };
    Lab::new()
        .node(0, "0-7", 32 * GIB)
        .siblings(&["0-1", "2-3"])
        .l3("0-7", 24 * MIB)
        .with(|machine| machine.core_kinds = vec![kind("intel_core", "0-3"), kind("intel_atom", "4-7")])
}

/// Two threads, one core.
pub fn one_core() -> Lab {
    Lab::new().node(0, "0-1", 8 * GIB).siblings(&["0-1"]).l3("0-1", 16 * MIB)
}

/// 2048 CPUs on 16 nodes, two threads a core.
pub fn giant() -> Lab {
    let mut lab = Lab::new();
    for node in 0..16_u32 {
        let (first, second) = (node * 64, 1024 + node * 64);
        lab = lab.node(node, &format!("{first}-{},{second}-{}", first + 63, second + 63), 1024 * GIB);
        lab = lab.l3(&format!("{first}-{},{second}-{}", first + 63, second + 63), 64 * MIB);
    }
    lab.with(|machine| machine.cores = (0..1024).map(|cpu| vec![cpu, cpu + 1024].into()).collect())
}

pub fn in_cgroup(mut lab: Lab, bytes: u64) -> Lab {
    lab.0.limits.cgroup_memory_limit = Avail::Known(bytes);
    lab.0.limits.cgroup_memory_left = Avail::Known(bytes);
    lab
}

/// A request as a command line would make it.
pub fn ask(what: What, flags: &[(&str, &str)]) -> Request {
    let mut request = Request::new(what);
    for &(flag, text) in flags {
        request.given.insert(flag.to_owned(), text.to_owned());
        match flag {
            "--cpu" => request.cpu = Some(text.parse().unwrap()),
            "--load-cpus" => request.load_cpus = Some(if text == "none" { CpuList::default() } else { list(text) }),
            "--node" => request.node = Some(text.parse().unwrap()),
            "--buffer" => request.buffer = Some(size(text)),
            "--limit" => request.limit = Some(size(text)),
            "--pages" => request.pages = Some(text.parse().unwrap()),
            "--order" => request.order = Some(text.parse().unwrap()),
            "--stride" => request.stride = Some(text.parse().unwrap()),
            "--isa" => request.isa = Some(text.parse().unwrap()),
            "--mix" => request.mixes = text.split(',').map(|name| Mix::by_name(name).unwrap()).collect(),
            "--prefetch" => request.prefetch = text.parse().unwrap(),
            "--smt" => request.smt = text.parse().unwrap(),
            "--precision" => request.precision = Some(text.trim_end_matches('%').parse::<f64>().unwrap() / 100.0),
            "--time" => request.time_ns = Some(text.trim_end_matches("ms").parse::<u64>().unwrap() * 1_000_000),
            "--delays" | "--delay" => request.delays = Some(delays(text)),
            "--keepalive" => request.keepalive = Some(text == "on"),
            "--method" => request.method = Some(text.parse().unwrap()),
            "--all-pairs" => request.all_pairs = true,
            "--via" => request.via = Some(text.parse().unwrap()),
            "--keepalive-cpus" => request.keepalive_cpus = Some(list(text)),
            "--touch-cpu" => request.touch_cpu = Some(text.parse().unwrap()),
            "--memory-dir" => request.folder = Some(text.to_owned()),
            "--histogram" => request.histogram = Some(text.parse().unwrap()),
            "--block" => request.block_lines = Some(text.parse().unwrap()),
            "--no-observer" => request.no_observer = true,
            "--local-loads" => request.local_loads = true,
            "--per-cpu" => request.per_cpu = true,
            "--from" => request.readers = Some(text.parse().unwrap()),
            "--threads" => request.threads = Some(text.parse().unwrap()),
            "--accesses" => request.accesses = Some(text.parse().unwrap()),
            "--passes" => request.passes = Some(text.parse().unwrap()),
            "--writer" => request.writer = Some(text.parse().unwrap()),
            "--third" => request.third = Some(text.parse().unwrap()),
            "--window" => request.window = Some(size(text)),
            "--push" => request.push = Some(size(text)),
            "--extra-reads" => request.extra_reads = Some(size(text)),
            "--kind" => request.kinds = text.split(',').map(|kind| kind.parse().unwrap()).collect(),
            "--share-core" => request.share_core = true,
            other => panic!("{other} is not known here"),
        }
    }
    request
}

fn delays(text: &str) -> Delays {
    match text {
        "mlc" => Delays::Mlc,
        "auto" => Delays::Auto,
        "" => Delays::List(Vec::new()),
        list => Delays::List(list.split(',').map(|delay| delay.parse().unwrap()).collect()),
    }
}

fn size(text: &str) -> u64 {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];
    let unit = units.iter().find_map(|(name, shift)| Some((text.strip_suffix(name)?, *shift)));
    unit.map_or_else(|| text.parse().unwrap(), |(number, shift)| number.parse::<u64>().unwrap() << shift)
}

pub fn plan(lab: &Lab, what: What, flags: &[(&str, &str)]) -> Plan {
    memgauge_plan::build(&ask(what, flags), &lab.0).unwrap_or_else(|refusal| panic!("refused: {refusal}"))
}

pub fn refusal(lab: &Lab, what: What, flags: &[(&str, &str)]) -> String {
    memgauge_plan::build(&ask(what, flags), &lab.0).map(|plan| plan.points.len()).unwrap_err().to_string()
}

pub fn arenas_of(point: &Point) -> Vec<ArenaId> {
    point.threads.iter().flat_map(|thread| thread.job.arenas()).collect()
}

pub fn cpus_of(point: &Point) -> Vec<Cpu> {
    point.threads.iter().map(|thread| thread.cpu).collect()
}

fn empty() -> Machine {
    Machine {
        root: "made-up".into(),
        simulated: false,
        online_cpus: CpuList::default(),
        allowed_cpus: CpuList::default(),
        present_cpus: CpuList::default(),
        allowed_nodes: CpuList::default(),
        cores: Vec::new(),
        packages: Vec::new(),
        dies: Vec::new(),
        clusters: Vec::new(),
        core_kinds: Vec::new(),
        nodes: Vec::new(),
        caches: Caches::default(),
        cpu: CpuModel {
            architecture: "x86_64".into(),
            vendor: none(),
            name: none(),
            numbers: BTreeMap::new(),
            microcode: none(),
            flags: ["sse2", "avx2"].map(String::from).to_vec(),
        },
        memory: SystemMemory {
            total_bytes: 0,
            available_bytes: 0,
            page_bytes: 4096,
            thp: Avail::Known("madvise".into()),
            thp_defrag: none(),
            thp_bytes: Avail::Known(2 * MIB),
            mthp: BTreeMap::new(),
            huge_pages: Vec::new(),
            swap_total_bytes: 0,
            swap_used_bytes: 0,
            numa_balancing: none(),
            zone_reclaim_mode: none(),
            overcommit: none(),
            ksm: none(),
        },
        dimms: Dimms { modules: none(), channels: none(), theoretical_bandwidth: none() },
        platform: Platform {
            host: none(),
            kernel: none(),
            cmdline: none(),
            boot_id: none(),
            os: none(),
            hypervisor: Avail::Known("none".into()),
            container: none(),
            product: none(),
            bios: none(),
            clocksource: none(),
            prefetchers: none(),
            prefetch_control: none(),
        },
        power: Power { governors: none(), driver: none(), limits_hz: none(), boost: none(), idle_states: none() },
        limits: Limits {
            cgroup_memory_limit: none(),
            cgroup_memory_left: none(),
            cpu_quota: none(),
            cgroup: none(),
            memory_policy: Avail::Known("default".into()),
            resctrl: none(),
            address_space: None,
            locked_memory: None,
        },
        sharing_probes: Vec::new(),
        counters: Default::default(),
        notes: Vec::new(),
    }
}
