//! A machine and a plan of which nothing is known.

use memgauge_model::{
    Avail, Budget, Caches, Counters, CpuList, CpuModel, Dimms, Estimate, Limits, Machine, Plan, Platform, Power, PrefetchPlan,
    Reason, Request, RoundRule, SystemMemory, What, WindowRule,
};
use std::collections::BTreeMap;

/// The reason that stands in every field of it.
pub const WHY: &str = "imported: the output does not say";

fn not<T>() -> Avail<T> {
    Avail::missing(Reason::NotApplicable, WHY)
}

/// A machine that an output says nothing of.
pub fn machine() -> Machine {
    let none = CpuList::default;
    Machine {
        root: "imported".to_owned(),
        simulated: false,
        present_cpus: none(),
        online_cpus: none(),
        allowed_cpus: none(),
        allowed_nodes: none(),
        cores: Vec::new(),
        packages: Vec::new(),
        dies: Vec::new(),
        clusters: Vec::new(),
        core_kinds: Vec::new(),
        nodes: Vec::new(),
        caches: Caches::default(),
        cpu: CpuModel {
            architecture: "unknown".to_owned(),
            vendor: not(),
            name: not(),
            numbers: BTreeMap::new(),
            microcode: not(),
            flags: Vec::new(),
        },
        memory: memory(),
        dimms: Dimms { modules: not(), channels: not(), theoretical_bandwidth: not() },
        platform: platform(),
        power: Power { governors: not(), driver: not(), limits_hz: not(), boost: not(), idle_states: not() },
        limits: Limits {
            cgroup_memory_limit: not(),
            cgroup_memory_left: not(),
            cpu_quota: not(),
            cgroup: not(),
            memory_policy: not(),
            resctrl: not(),
            address_space: None,
            locked_memory: None,
        },
        counters: Counters { paranoid: not(), dram: not(), core: not() },
        sharing_probes: Vec::new(),
        notes: vec![format!("{WHY} what machine it ran on; empty lists and zeros here mean unknown")],
    }
}

fn memory() -> SystemMemory {
    SystemMemory {
        total_bytes: 0,
        available_bytes: 0,
        page_bytes: 0,
        thp: not(),
        thp_defrag: not(),
        thp_bytes: not(),
        mthp: BTreeMap::new(),
        huge_pages: Vec::new(),
        swap_total_bytes: 0,
        swap_used_bytes: 0,
        numa_balancing: not(),
        zone_reclaim_mode: not(),
        overcommit: not(),
        ksm: not(),
    }
}

fn platform() -> Platform {
    Platform {
        host: not(),
        kernel: not(),
        cmdline: not(),
        boot_id: not(),
        os: not(),
        hypervisor: not(),
        container: not(),
        product: not(),
        bios: not(),
        clocksource: not(),
        prefetchers: not(),
        prefetch_control: not(),
    }
}

/// A plan that nobody made here.
pub fn plan(what: What) -> Plan {
    Plan {
        simulated: false,
        request: Request::new(what),
        observer: None,
        loads: CpuList::default(),
        target: 0,
        points: Vec::new(),
        arenas: Vec::new(),
        phases: Vec::new(),
        curves: Vec::new(),
        searches: Vec::new(),
        map: None,
        scans: Vec::new(),
        prefetch: PrefetchPlan::default(),
        counters: Vec::new(),
        rounds: RoundRule { looks: vec![1], precision: None, whole_ns: None },
        windows: WindowRule {
            min_ns: 0,
            min_windows: 0,
            warmup_min_ns: 0,
            warmup_max_ns: 0,
            hops_per_stamp: 0,
            limits: Default::default(),
        },
        budget: Budget::default(),
        estimate: Estimate::default(),
        notes: vec![WHY.to_owned() + " what was planned"],
        rejected: Vec::new(),
        unavailable: Vec::new(),
    }
}
