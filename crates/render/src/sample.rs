//! Literal reports for the tests of every format.

use memgauge_model::{
    Avail, Budget, Cache, Caches, Command, CoreKind, CpuList, CpuModel, Curve, CurvePoint, CurveShape, DelayRef, Dimms, Estimate,
    Job, Limits, Machine, Matrix, Measure, Metric, MetricPlacement, Missing, Mix, Node, NodeBudget, Pages, Plan, Platform, Point,
    Power, Reason, Report, Request, RoundRule, State, Status, SystemMemory, Thread, Tool, What, WindowRule,
};
use std::collections::BTreeMap;

/// A metric with an interval of ±1 %, six rounds.
pub fn metric(name: &str, unit: &str, value: f64, labels: &[(&str, &str)]) -> Metric {
    Metric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        labels: labels.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect(),
        value,
        ci95: Some([value * 0.99, value * 1.01]),
        range: None,
        range_reason: None,
        undisturbed: Some(value * 0.995),
        undisturbed_ci95: Some([value * 0.99, value]),
        best: Some(value * 0.98),
        samples: 6,
        windows: 240,
        excluded: 2,
        placement: None,
        remarks: Vec::new(),
    }
}

/// An idle run: the headline, another order, base pages without an interval, and percentiles that could not be had.
pub fn idle() -> Report {
    let mut report = report(What::Idle);
    let idle = |value, order, pages| {
        let labels = [("order", order), ("pages", pages), ("cpu", "0"), ("node", "0"), ("stride", "128"), ("keepalive", "yes")];
        metric("idle_latency", "ns", value, &labels)
    };
    let mut headline = idle(137.4, "window-random", "thp");
    headline.placement =
        Some(MetricPlacement { node: 0, pages: 4096, on_node: 4096, kind: "thp".into(), verified: "move_pages".into() });
    let mut base = idle(168.0, "full-random", "base");
    base.ci95 = None;
    base.range = Some([163.0, 171.0]);
    base.range_reason = Some("3 rounds are too few for an interval".into());
    base.remarks.push("not settled".into());
    report.metrics = vec![headline, idle(156.7, "full-random", "thp"), base];
    report.metrics.push(metric("tlb_cost", "ns", 11.3, &[("order", "full-random")]));
    report.metrics.push(metric("clock_quantum", "ns", 10.0, &[]));
    report.unavailable.push(Missing {
        name: "access_latency".into(),
        labels: BTreeMap::from([("order".into(), "full-random".into())]),
        reason: Reason::NotSupported,
        detail: "the clock steps by 20 ns, more than 10 % of the median".into(),
        remedy: "none on this machine".into(),
    });
    report
}

/// A default run with a curve, matrices and core-to-core figures.
pub fn all() -> Report {
    let mut report = idle();
    report.plan.request.what = What::All;
    let mut add = |metric: Metric| {
        report.metrics.push(metric);
        Some(report.metrics.len() - 1)
    };
    for (mix, one, two) in [("read", 44.0e9, 84.1e9), ("write-nt", 45.0e9, 86.3e9), ("copy-nt", 40.0e9, 77.0e9)] {
        for (threads, value) in [("1", one), ("2", two)] {
            let mut labels = vec![("mix", mix), ("threads", threads), ("isa", "avx512"), ("pages", "thp")];
            if threads == "2" {
                labels.push(("class", "far"));
            }
            add(metric("peak_bandwidth", "B/s", value, &labels));
            add(metric("peak_bandwidth_dram", "B/s", value, &labels));
        }
    }
    for (kind, method, value) in [("hitm", "chase", 22.0), ("cas", "pingpong", 41.0)] {
        let labels = [("scope", "node"), ("from", "0"), ("to", "0"), ("kind", kind), ("method", method), ("home", "0")];
        add(metric("c2c_latency", "ns", value, &labels));
    }
    let cells = add(metric("matrix_latency", "ns", 137.5, &[("from", "0"), ("to", "0"), ("order", "window-random")]));
    let points =
        [("20000", 137.0, 0.4e9), ("1000", 138.0, 8e9), ("100", 150.0, 30e9), ("0", 190.0, 43e9)].map(|(delay, ns, bytes)| {
            let labels = [("delay", delay), ("mix", "read"), ("threads", "1")];
            let latency = add(metric("loaded_latency", "ns", ns, &labels));
            let bandwidth = add(metric("loaded_bandwidth", "B/s", bytes, &labels));
            CurvePoint { delay: delay.parse().unwrap(), latency, bandwidth }
        });
    report.matrices.push(Matrix {
        name: "matrix_latency".into(),
        unit: "ns".into(),
        rows: vec![0],
        columns: vec![0, 2],
        labels: BTreeMap::from([("order".into(), "window-random".into())]),
        cells: vec![vec![cells, None]],
    });
    report.curves.push(Curve {
        mix: "read".into(),
        cpu: Some(0),
        node: 0,
        threads: 1,
        points: points.into_iter().rev().collect(),
        shape: Some(CurveShape {
            idle_ns: 137.0,
            flat_to: 30e9,
            knee: None,
            safe: None,
            saturated_from: None,
            at_factor: vec![(1.2, Some(38e9)), (1.5, None), (2.0, None)],
            reached: (43e9, 1.39),
        }),
        burst_fit: None,
    });
    report
}

/// A report without figures.
pub fn report(what: What) -> Report {
    Report {
        schema: memgauge_model::RESULT_SCHEMA.to_owned(),
        simulated: false,
        tool: Tool { name: "memgauge".into(), version: "0.1.0".into(), build: "test".into() },
        command: Command {
            argv: vec!["idle".into()],
            seed: 7,
            started: "2026-11-30T19:58:00Z".into(),
            seconds: 27.4,
            environment: BTreeMap::new(),
        },
        status: Status { state: State::Complete, reasons: Vec::new() },
        machine: machine(),
        plan: plan(what),
        metrics: Vec::new(),
        prefetch: None,
        curves: Vec::new(),
        matrices: Vec::new(),
        sweeps: Vec::new(),
        scans: Vec::new(),
        histograms: Vec::new(),
        map: None,
        findings: Vec::new(),
        unavailable: Vec::new(),
        notes: vec!["the host moved the CPUs twice".into()],
    }
}

/// Two CPUs, one node, a guest.
pub fn machine() -> Machine {
    fn none<T>() -> Avail<T> {
        Avail::missing(Reason::NotPresent, "not there")
    }
    let both = || CpuList::from(vec![0, 1]);
    let each = || vec![CpuList::from(vec![0]), CpuList::from(vec![1])];
    let cache = |size, cpus| Cache { size: Avail::Known(size), cpus };
    Machine {
        root: "/".into(),
        simulated: false,
        online_cpus: both(),
        present_cpus: both(),
        allowed_cpus: both(),
        allowed_nodes: CpuList::from(vec![0]),
        sharing_probes: Vec::new(),
        cores: each(),
        packages: vec![both()],
        dies: Vec::new(),
        clusters: Vec::new(),
        core_kinds: vec![CoreKind { name: "uniform".into(), cpus: both(), max_hz: None }],
        nodes: vec![Node {
            node: 0,
            cpus: both(),
            local_cpus: both(),
            memory_bytes: 24 << 30,
            free_bytes: 20 << 30,
            available_bytes: 22 << 30,
            subtype: String::new(),
            distances: BTreeMap::from([(0, 10)]),
            access: Vec::new(),
            memory_tier: None,
            memory_side_caches: Vec::new(),
            unread: None,
            huge_pages: Vec::new(),
        }],
        caches: Caches {
            l1: each().into_iter().map(|cpus| cache(48 << 10, cpus)).collect(),
            l2: each().into_iter().map(|cpus| cache(2 << 20, cpus)).collect(),
            l3: vec![Cache { size: none(), cpus: both() }],
            l4: Vec::new(),
        },
        cpu: CpuModel {
            architecture: "x86_64".into(),
            vendor: Avail::Known("AuthenticAMD".into()),
            name: Avail::Known("AMD EPYC".into()),
            numbers: BTreeMap::new(),
            microcode: none(),
            flags: Vec::new(),
        },
        memory: SystemMemory {
            total_bytes: 24 << 30,
            available_bytes: 22 << 30,
            page_bytes: 4096,
            thp: Avail::Known("madvise".into()),
            thp_defrag: Avail::Known("madvise".into()),
            thp_bytes: Avail::Known(2 << 20),
            mthp: BTreeMap::new(),
            huge_pages: Vec::new(),
            swap_total_bytes: 0,
            swap_used_bytes: 0,
            numa_balancing: Avail::missing(Reason::NotPresent, "not there"),
            zone_reclaim_mode: Avail::Known(0),
            overcommit: Avail::Known(0),
            ksm: Avail::Known(0),
        },
        dimms: Dimms {
            modules: Avail::missing(Reason::NoPermission, "DMI tables: permission denied"),
            channels: Avail::missing(Reason::NoPermission, "DMI tables: permission denied"),
            theoretical_bandwidth: Avail::missing(Reason::NoPermission, "DMI tables: permission denied"),
        },
        platform: Platform {
            host: Avail::Known("vm".into()),
            kernel: Avail::Known("6.18.0".into()),
            cmdline: none(),
            boot_id: none(),
            os: Avail::Known("Debian 13".into()),
            hypervisor: Avail::Known("KVM".into()),
            container: Avail::Known("none".into()),
            product: none(),
            bios: none(),
            clocksource: Avail::Known("tsc".into()),
            prefetchers: Avail::missing(Reason::NoPermission, "MSR 0x1a4: no device"),
            prefetch_control: none(),
        },
        power: Power {
            governors: Avail::missing(Reason::NotPresent, "no cpufreq"),
            driver: none(),
            limits_hz: Avail::missing(Reason::NotPresent, "no cpufreq"),
            boost: Avail::missing(Reason::NotPresent, "no cpufreq"),
            idle_states: Avail::missing(Reason::NotPresent, "no cpuidle"),
        },
        limits: Limits {
            cgroup_memory_limit: Avail::missing(Reason::NotPresent, "no limit"),
            cgroup_memory_left: Avail::missing(Reason::NotPresent, "no limit"),
            cpu_quota: Avail::missing(Reason::NotPresent, "no quota"),
            cgroup: none(),
            memory_policy: Avail::Known("default".into()),
            resctrl: none(),
            address_space: None,
            locked_memory: None,
        },
        counters: Default::default(),
        notes: Vec::new(),
    }
}

/// One peak point on two CPUs.
pub fn plan(what: What) -> Plan {
    let stream = |cpu, arena| Thread {
        cpu,
        job: Job::Stream {
            arena,
            part: None,
            mix: Mix::Read,
            isa: memgauge_model::Isa::Avx2,
            block_lines: None,
            delay: DelayRef::Fixed(0),
            manner: memgauge_model::Manner::default(),
        },
    };
    let arena = |toucher| memgauge_model::Arena {
        node: 0,
        pages: Pages::Thp,
        page_bytes: 2 << 20,
        toucher,
        holds: memgauge_model::Holds::Streams { streams: 1, bytes: 128 << 20 },
        bytes: 130 << 20,
        first_touch: false,
    };
    Plan {
        simulated: false,
        request: Request::new(what),
        observer: Some(0),
        loads: CpuList::from(vec![1]),
        target: 0,
        points: vec![Point {
            measure: Measure::Peak { mix: Mix::Read },
            threads: vec![stream(0, 0), stream(1, 1)],
            time_ns: 40_000_000,
            quota: None,
            class_pair: Some((0, 1)),
            brief: None,
        }],
        arenas: vec![arena(0), arena(1)],
        phases: vec![memgauge_model::Phase { arenas: vec![0, 1], points: vec![0], turn: memgauge_model::Turn::Any, held: None }],
        curves: Vec::new(),
        searches: Vec::new(),
        scans: Vec::new(),
        map: None,
        prefetch: Default::default(),
        counters: Default::default(),
        rounds: RoundRule { looks: vec![6, 9, 13, 19], precision: Some(0.01), whole_ns: None },
        windows: WindowRule {
            min_ns: 10_000_000,
            min_windows: 3,
            warmup_min_ns: 50_000_000,
            warmup_max_ns: 300_000_000,
            hops_per_stamp: 200,
            limits: memgauge_model::DisturbanceLimits::default(),
        },
        budget: Budget {
            buffers: 260 << 20,
            page_tables: 1 << 20,
            program: 16 << 20,
            nodes: vec![NodeBudget { node: 0, needed: 277 << 20, available: 22 << 30 }],
            cgroup_left: None,
        },
        estimate: Estimate { setup_ns: 400_000_000, warmup_ns: 300_000_000, windows_ns: 240_000_000, rounds: 6 },
        notes: Vec::new(),
        rejected: Vec::new(),
        unavailable: Vec::new(),
    }
}
