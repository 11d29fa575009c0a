//! Plans made by hand.

use memgauge_model::*;

pub const BASE: u64 = 4096;

/// A plan without points for the first of `cpus`.
pub fn plan(cpus: &[u32]) -> Plan {
    Plan {
        simulated: false,
        request: Request::new(What::Idle),
        observer: cpus.first().copied(),
        loads: cpus.iter().skip(1).copied().collect(),
        target: 0,
        points: Vec::new(),
        arenas: Vec::new(),
        phases: vec![Phase::default()],
        curves: Vec::new(),
        searches: Vec::new(),
        scans: Vec::new(),
        map: None,
        prefetch: Default::default(),
        counters: Default::default(),
        rounds: RoundRule { looks: vec![2], precision: None, whole_ns: None },
        windows: WindowRule {
            min_ns: 10_000_000,
            min_windows: 1,
            warmup_min_ns: 20_000_000,
            warmup_max_ns: 50_000_000,
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

/// Adds an arena to the plan's only phase.
pub fn arena(plan: &mut Plan, cpu: u32, pages: Pages, holds: Holds) -> ArenaId {
    let page_bytes = if pages == Pages::Base { BASE } else { 2 << 20 };
    let bytes = match &holds {
        Holds::Chase { bytes, .. } => *bytes,
        Holds::C2c { bytes, push } => bytes + push,
        Holds::Region { bytes, .. } => *bytes,
        Holds::Streams { streams, bytes } => u64::from(*streams) * (bytes + (2 << 20) + 4096 + 64),
    };
    let bytes = bytes.next_multiple_of(page_bytes);
    plan.arenas.push(Arena { node: 0, pages, page_bytes, toucher: cpu, holds, bytes, first_touch: false });
    plan.phases[0].arenas.push(plan.arenas.len() - 1);
    plan.arenas.len() - 1
}

/// Adds a point to the plan's only phase.
pub fn point(plan: &mut Plan, measure: Measure, threads: Vec<Thread>, time_ns: u64) -> PointId {
    plan.points.push(Point { measure, threads, time_ns, quota: None, class_pair: None, brief: None });
    plan.phases[0].points.push(plan.points.len() - 1);
    plan.points.len() - 1
}

pub fn chase(cpu: u32, arena: ArenaId, ring: usize) -> Thread {
    Thread { cpu, job: Job::Chase { arena, ring } }
}

pub fn rings(bytes: u64, rings: &[(Order, u64)]) -> Holds {
    Holds::Chase {
        bytes,
        rings: rings
            .iter()
            .map(|(order, stride)| RingPlan { order: *order, stride: *stride, grows: false, bytes: None, block: None })
            .collect(),
    }
}

pub const IDLE: Measure = Measure::Idle { node: 0, keepalive: false, keepalive_reason: None };
