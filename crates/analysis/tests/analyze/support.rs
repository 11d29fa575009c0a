//! A tiny machine, and records measured on it by hand.

use memgauge_model::{
    Arena, Avail, Block, Budget, Cache, Caches, ClockFacts, Command, CoreKind, Cpu, CpuList, CpuModel, CurvePlan, CurveRecord,
    DelayRef, Dimms, DisturbanceLimits, End, Estimate, Holds, Isa, Job, Limits, Machine, Measure, Metric, Mix, Node, NodeId,
    Order, Pages, Placement, PlacementPair, Plan, Platform, Point, PointId, PointRecord, Power, Reason, Record, Report, Request,
    RingPlan, RoundRule, Run, Signs, SystemMemory, Thread, Tool, What, Window, WindowRule,
};
use std::collections::BTreeMap;

pub const MIB: u64 = 1 << 20;
pub const CORE_HZ: f64 = 2e9;

/// A record that grows point by point.
pub struct Lab {
    pub record: Record,
}

impl Lab {
    /// Two CPUs, two nodes, 32 MiB of last-level cache, 100 GB/s in theory.
    pub fn new() -> Self {
        Self { record: record() }
    }

    pub fn arena(&mut self, node: NodeId, pages: Pages, holds: Holds) -> usize {
        let page_bytes = match pages {
            Pages::Base => 4096,
            Pages::Thp | Pages::Huge2M => 2 * MIB,
            Pages::Huge1G => 1024 * MIB,
        };
        let arena = Arena { node, pages, page_bytes, toucher: 0, holds, bytes: 512 * MIB, first_touch: false };
        self.record.plan.arenas.push(arena);
        self.record.plan.arenas.len() - 1
    }

    pub fn point(&mut self, measure: Measure, threads: Vec<Thread>) -> PointId {
        self.record.plan.points.push(Point {
            measure,
            threads,
            time_ns: 100_000_000,
            quota: None,
            class_pair: None,
            brief: None,
        });
        self.record.run.points.push(PointRecord::default());
        self.record.plan.points.len() - 1
    }

    /// A chasing thread on CPU 0 through 512 MiB.
    pub fn chaser(&mut self, node: NodeId, pages: Pages, order: Order) -> Thread {
        let rings = vec![RingPlan { order, stride: 128, grows: false, bytes: None, block: None }];
        let arena = self.arena(node, pages, Holds::Chase { bytes: 512 * MIB, rings });
        Thread { cpu: 0, job: Job::Chase { arena, ring: 0 } }
    }

    pub fn idle(&mut self, pages: Pages, order: Order) -> PointId {
        let thread = self.chaser(0, pages, order);
        self.point(Measure::Idle { node: 0, keepalive: false, keepalive_reason: None }, vec![thread])
    }

    /// Streaming threads on these CPUs, 256 MiB an array.
    pub fn streams(&mut self, cpus: &[Cpu], mix: Mix) -> Vec<Thread> {
        let streams = mix.shape().streams();
        let thread = |cpu: Cpu| {
            let arena = self.arena(0, Pages::Thp, Holds::Streams { streams, bytes: 256 * MIB });
            Thread {
                cpu,
                job: Job::Stream {
                    arena,
                    part: None,
                    mix,
                    isa: Isa::Avx2,
                    block_lines: None,
                    delay: DelayRef::Fixed(0),
                    manner: memgauge_model::Manner::default(),
                },
            }
        };
        cpus.iter().copied().map(thread).collect()
    }

    pub fn peak(&mut self, cpus: &[Cpu], mix: Mix) -> PointId {
        let threads = self.streams(cpus, mix);
        self.point(Measure::Peak { mix }, threads)
    }

    /// A curve of reads with one load thread on CPU 1 and fixed delays.
    pub fn curve(&mut self, delays: &[u32]) -> Vec<PointId> {
        let loads = CpuList::from(vec![1]);
        let (slots, pilot, pilot_ns) = (0, Vec::new(), 0);
        self.record.plan.curves.push(CurvePlan { mix: Mix::Read, observer: Some(0), node: 0, loads, slots, pilot, pilot_ns });
        self.record.run.curves.push(CurveRecord::default());
        let curve = self.record.plan.curves.len() - 1;
        let observer = self.chaser(0, Pages::Thp, Order::WindowRandom);
        let loads = self.streams(&[1], Mix::Read);
        let threads: Vec<Thread> = std::iter::once(observer).chain(loads).collect();
        let measure = |delay: u32| Measure::Loaded { curve, delay: DelayRef::Fixed(delay) };
        delays.iter().map(|delay| self.point(measure(*delay), threads.clone())).collect()
    }

    /// One block a round, each with the windows that `windows` makes of its number.
    pub fn measure(&mut self, point: PointId, rounds: u32, windows: impl Fn(u32) -> Vec<Window>) {
        let blocks = (0..rounds).map(|round| block(round, windows(round)));
        self.record.run.points[point].rounds.extend(blocks);
    }

    pub fn report(&self) -> Report {
        let report = memgauge_analysis::analyze(&self.record);
        sane(&report);
        report
    }
}

/// What holds for every document.
pub fn sane(report: &Report) {
    let mut seen = std::collections::BTreeSet::new();
    for metric in &report.metrics {
        assert!(seen.insert((metric.name.clone(), metric.labels.clone())), "twice: {metric:?}");
        let ends = [metric.ci95, metric.range].into_iter().flatten();
        assert!(metric.ci95.is_some() != metric.range.is_some(), "an interval or a range: {metric:?}");
        assert_eq!(metric.range.is_some(), metric.range_reason.is_some(), "a range has its reason: {metric:?}");
        for [lo, hi] in ends {
            assert!(lo <= metric.value && metric.value <= hi, "{metric:?}");
        }
        if let (Some(value), Some([lo, hi])) = (metric.undisturbed, metric.undisturbed_ci95) {
            assert!(lo <= value && value <= hi, "{metric:?}");
        }
        assert!(metric.samples > 0, "{metric:?}");
    }
    for gap in &report.unavailable {
        assert!(!seen.contains(&(gap.name.clone(), gap.labels.clone())), "both there and not: {gap:?}");
        assert!(!gap.detail.is_empty() && !gap.remedy.is_empty(), "{gap:?}");
    }
    // serde_json writes NaN and infinities as null, which no number reads back: a round trip proves that there is none.
    let text = serde_json::to_string(report);
    let again = text.as_ref().ok().and_then(|text| serde_json::from_str::<Report>(text).ok());
    assert!(again.as_ref() == Some(report), "does not survive JSON: {:?}", report.metrics);
}

pub fn block(round: u32, windows: Vec<Window>) -> Block {
    Block { round, settled: true, warmup_windows: 6, core_hz: CORE_HZ, windows, ..Block::default() }
}

/// Windows of these latencies, ns.
pub fn latencies(ns: &[f64]) -> Vec<Window> {
    ns.iter().map(|ns| Window { ns: 1e7, hops: 1000, hop_ns: ns * 1000.0, ..Window::default() }).collect()
}

/// Windows of these bandwidths of the load threads, B/s.
pub fn bandwidths(rates: &[f64]) -> Vec<Window> {
    rates.iter().map(|rate| Window { ns: 1e7, load_bytes_per_s: *rate, ..Window::default() }).collect()
}

/// The same window, with an involuntary switch.
pub fn switched(mut window: Window) -> Window {
    window.signs = Signs { switches: 1, ..Signs::default() };
    window
}

/// What the kernel says of an arena.
pub fn placed(arena: usize, asked: Pages, kind: &str, on_node: u64) -> PlacementPair {
    let (verified, method) = ("move_pages".to_owned(), "mbind".to_owned());
    let before = Placement { node: 0, pages: 1000, on_node, asked, kind: kind.to_owned(), verified, method };
    PlacementPair { arena, after: Some(before.clone()), before }
}

/// The metric with this name and labels; a test without it has failed.
pub fn metric<'a>(report: &'a Report, name: &str, wanted: &[(&str, &str)]) -> &'a Metric {
    match report.find(name, wanted) {
        Some((_, metric)) => metric,
        None => {
            panic!("no {name} {wanted:?} among {:?}", report.metrics.iter().map(|m| (&m.name, &m.labels)).collect::<Vec<_>>())
        }
    }
}

fn record() -> Record {
    Record {
        tool: Tool { name: "memgauge".into(), version: "0.1.0".into(), build: "test".into() },
        command: Command {
            argv: Vec::new(),
            seed: 7,
            started: "2026-11-30T19:58:00Z".into(),
            seconds: 27.0,
            environment: BTreeMap::new(),
        },
        machine: machine(),
        plan: plan(),
        before: BTreeMap::new(),
        after: BTreeMap::new(),
        run: Run {
            clock: ClockFacts {
                source: "tsc".into(),
                hz: 2.5e9,
                hz_after: 2.500_001e9,
                quantum_ns: 10.0,
                cost_ns: 8.0,
                core_hz: CORE_HZ,
            },
            end: End::Complete,
            points: Vec::new(),
            curves: Vec::new(),
            searches: Vec::new(),
            again: Vec::new(),
            physical: Vec::new(),
            map: None,
            events: Vec::new(),
            spent_ns: BTreeMap::new(),
            prefetch: Default::default(),
            counters: Default::default(),
            concurrent: false,
        },
    }
}

fn plan() -> Plan {
    Plan {
        simulated: false,
        request: Request::new(What::All),
        observer: Some(0),
        loads: CpuList::from(vec![1]),
        target: 0,
        points: Vec::new(),
        arenas: Vec::new(),
        phases: Vec::new(),
        curves: Vec::new(),
        searches: Vec::new(),
        scans: Vec::new(),
        map: None,
        prefetch: Default::default(),
        counters: Default::default(),
        rounds: RoundRule { looks: vec![6], precision: None, whole_ns: None },
        windows: WindowRule {
            min_ns: 10_000_000,
            min_windows: 5,
            warmup_min_ns: 50_000_000,
            warmup_max_ns: 500_000_000,
            hops_per_stamp: 200,
            limits: DisturbanceLimits::default(),
        },
        budget: Budget::default(),
        estimate: Estimate::default(),
        notes: Vec::new(),
        rejected: Vec::new(),
        unavailable: Vec::new(),
    }
}

fn unknown<T>() -> Avail<T> {
    Avail::missing(Reason::NotPresent, "not in this test")
}

fn machine() -> Machine {
    let cpus = CpuList::from(vec![0, 1]);
    let each = |size: u64| (0..2).map(|cpu| Cache { size: Avail::Known(size), cpus: CpuList::from(vec![cpu]) }).collect();
    let nodes = (0..2).map(|node| Node {
        node,
        cpus: if node == 0 { cpus.clone() } else { CpuList::default() },
        local_cpus: cpus.clone(),
        memory_bytes: 8 << 30,
        free_bytes: 8 << 30,
        available_bytes: 8 << 30,
        subtype: "DRAM".into(),
        distances: BTreeMap::new(),
        access: Vec::new(),
        memory_tier: None,
        memory_side_caches: Vec::new(),
        unread: None,
        huge_pages: Vec::new(),
    });
    Machine {
        root: "/".into(),
        simulated: false,
        online_cpus: cpus.clone(),
        present_cpus: cpus.clone(),
        allowed_cpus: cpus.clone(),
        allowed_nodes: CpuList::from(vec![0, 1]),
        sharing_probes: Vec::new(),
        cores: vec![CpuList::from(vec![0]), CpuList::from(vec![1])],
        packages: vec![cpus.clone()],
        dies: Vec::new(),
        clusters: Vec::new(),
        core_kinds: vec![CoreKind { name: "uniform".into(), cpus: cpus.clone(), max_hz: None }],
        nodes: nodes.collect(),
        caches: Caches {
            l1: each(48 << 10),
            l2: each(MIB),
            l3: vec![Cache { size: Avail::Known(32 * MIB), cpus: cpus.clone() }],
            l4: Vec::new(),
        },
        cpu: CpuModel {
            architecture: "x86_64".into(),
            vendor: unknown(),
            name: unknown(),
            numbers: BTreeMap::new(),
            microcode: unknown(),
            flags: Vec::new(),
        },
        memory: SystemMemory {
            total_bytes: 16 << 30,
            available_bytes: 16 << 30,
            page_bytes: 4096,
            thp: unknown(),
            thp_defrag: unknown(),
            thp_bytes: unknown(),
            mthp: BTreeMap::new(),
            huge_pages: Vec::new(),
            swap_total_bytes: 0,
            swap_used_bytes: 0,
            numa_balancing: unknown(),
            zone_reclaim_mode: unknown(),
            overcommit: unknown(),
            ksm: unknown(),
        },
        dimms: Dimms { modules: unknown(), channels: unknown(), theoretical_bandwidth: Avail::Known(100e9) },
        platform: Platform {
            host: unknown(),
            kernel: unknown(),
            cmdline: unknown(),
            boot_id: unknown(),
            os: unknown(),
            hypervisor: unknown(),
            container: unknown(),
            product: unknown(),
            bios: unknown(),
            clocksource: unknown(),
            prefetchers: unknown(),
            prefetch_control: unknown(),
        },
        power: Power { governors: unknown(), driver: unknown(), limits_hz: unknown(), boost: unknown(), idle_states: unknown() },
        limits: Limits {
            cgroup_memory_limit: unknown(),
            cgroup_memory_left: unknown(),
            cpu_quota: unknown(),
            cgroup: unknown(),
            memory_policy: unknown(),
            resctrl: unknown(),
            address_space: None,
            locked_memory: None,
        },
        counters: Default::default(),
        notes: Vec::new(),
    }
}
