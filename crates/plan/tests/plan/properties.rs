//! What holds of every plan, on any machine and for any request.

use crate::support::*;
use memgauge_model::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

prop_compose! {
    fn machine()(
        nodes in prop::collection::vec((0_u32..4, 0_u32..5, 0_u64..40, any::<bool>()), 1..5),
        threads in 1_u32..3,
        llc in prop::option::of(1_u64..200),
        guest in any::<bool>(),
        cgroup in prop::option::of(100_u64..20_000),
        drop_cpus in prop::collection::btree_set(0_u32..40, 0..6),
        thp in prop::sample::select(vec!["madvise", "always", "never"]),
        pool in 0_u64..4000,
    ) -> Lab {
        let mut lab = Lab::new();
        let mut cpu = 0;
        let mut id = 0;
        for (gap, cores, gib, allowed) in nodes {
            id += gap + 1;
            let cpus = cores * threads;
            let range = if cpus == 0 { String::new() } else { format!("{cpu}-{}", cpu + cpus - 1) };
            lab = lab.node(id, &range, gib * GIB).pool(id, 2 * MIB, pool);
            for core in 0..cores {
                let first = cpu + core * threads;
                lab = lab.siblings(&[&format!("{first}-{}", first + threads - 1)]);
            }
            if cpus > 0 && let Some(size) = llc {
                lab = lab.l3(&range, size * MIB);
            }
            if !allowed {
                lab = lab.with(|m| m.allowed_nodes = m.allowed_nodes.without(&vec![id].into()));
            }
            cpu += cpus;
        }
        let near = lab.0.online_cpus.first();
        lab.0.nodes.iter_mut().filter(|node| node.cpus.is_empty()).for_each(|node| node.local_cpus = near.into_iter().collect());
        lab.0.memory.thp = Avail::Known(thp.into());
        lab.0.allowed_cpus = lab.0.online_cpus.without(&drop_cpus.into_iter().collect());
        let lab = if guest { lab.guest() } else { lab };
        match cgroup { Some(mib) => in_cgroup(lab, mib * MIB), None => lab }
    }
}

prop_compose! {
    fn request()(
        what in prop::sample::select(vec![
            What::All, What::Idle, What::Peak, What::Max, What::MatrixLatency, What::MatrixBandwidth, What::Loaded, What::C2c,
            What::Sweep, What::Scan,
        ]),
        cpu in prop::option::weighted(0.3, 0_u32..10),
        loads in prop::option::weighted(0.3, prop::collection::vec(0_u32..12, 0..5)),
        node in prop::option::weighted(0.3, 0_u32..8),
        buffer in prop::option::weighted(0.4, 0_u64..(1 << 31)),
        limit in prop::option::weighted(0.3, 0_u64..(1 << 34)),
        pages in prop::option::weighted(0.3, prop::sample::select(Pages::ALL.to_vec())),
        mixes in prop::collection::vec(prop::sample::select(Mix::all().collect::<Vec<_>>()), 0..3),
        smt in prop::sample::select(Smt::ALL.to_vec()),
        time in prop::option::weighted(0.3, 0_u64..3_000_000_000),
        stride in prop::option::weighted(0.2, 0_u64..5000),
        share_core in prop::bool::weighted(0.2),
        unwatched in prop::bool::weighted(0.3),
        local in any::<bool>(),
        count in prop::option::weighted(0.3, 0_u32..3_000_000),
        toucher in prop::option::weighted(0.2, 0_u32..10),
    ) -> Request {
        let mut request = Request::new(what);
        (request.cpu, request.node, request.buffer, request.pages) = (cpu, node, buffer, pages);
        (request.load_cpus, request.mixes, request.smt) = (loads.map(CpuList::from), mixes, smt);
        (request.time_ns, request.share_core) = (time, share_core);
        request.limit = limit.filter(|_| what == What::Scan);
        request.local_loads = what == What::Loaded && local;
        if what == What::Loaded && unwatched {
            (request.no_observer, request.cpu, request.share_core) = (true, None, false);
        }
        let counts = matches!(what, What::Idle | What::MatrixLatency | What::Loaded | What::C2c) && !request.no_observer;
        request.accesses = count.filter(|_| counts && time.is_none()).map(u64::from);
        request.passes = count.filter(|_| what == What::Scan && time.is_none());
        let touches = matches!(what, What::Idle | What::Loaded | What::C2c) && !request.no_observer;
        request.touch_cpu = toucher.filter(|_| touches);
        request.stride = stride.map(|stride| stride / 8 * 8).filter(|_| !request.no_observer);
        request
    }
}

fn holds(request: &Request, machine: &Machine, plan: &Plan) -> Result<(), TestCaseError> {
    cpus_are_right(request, machine, plan)?;
    arenas_are_right(machine, plan)?;
    phases_are_right(machine, plan)?;
    let last = plan.rounds.looks.last().copied().unwrap_or(0);
    prop_assert!(plan.rounds.looks.is_sorted() && last >= 2);
    for point in &plan.points {
        prop_assert!(point.time_ns >= plan.windows.min_ns);
        if let Some(time) = request.time_ns {
            prop_assert!(point.time_ns * u64::from(last) <= time);
        }
    }
    Ok(())
}

fn cpus_are_right(request: &Request, machine: &Machine, plan: &Plan) -> Result<(), TestCaseError> {
    for point in &plan.points {
        let cpus = cpus_of(point);
        prop_assert!(cpus.iter().all(|cpu| machine.allowed_cpus.contains(*cpu)), "{:?}", point);
        if !request.share_core {
            prop_assert_eq!(cpus.iter().collect::<BTreeSet<_>>().len(), cpus.len(), "one thread a CPU: {:?}", point);
        }
        let chases = matches!(point.threads[0].job, Job::Chase { .. } | Job::TimedChase { .. });
        let beside = || point.threads[1..].iter().filter(|thread| !request.share_core || thread.job == Job::KeepAlive);
        if chases {
            let core = machine.core_of(cpus[0]);
            prop_assert!(beside().all(|thread| !core.contains(thread.cpu)), "on the observer's core: {:?}", point);
        }
        if let Measure::C2c { .. } = point.measure {
            prop_assert!(!machine.core_of(cpus[0]).contains(cpus[1]));
        }
    }
    if let Some(observer) = plan.observer {
        let core = machine.core_of(observer);
        prop_assert!(!plan.rejected.is_empty() || !plan.loads.intersects(&core));
    }
    Ok(())
}

fn arenas_are_right(machine: &Machine, plan: &Plan) -> Result<(), TestCaseError> {
    for arena in &plan.arenas {
        let node = machine.node(arena.node).unwrap();
        // Where no node is named, none is forbidden.
        let allowed = machine.allowed_nodes.is_empty() || machine.allowed_nodes.contains(arena.node);
        prop_assert!(node.memory_bytes > 0 && allowed, "{:?}", arena);
        prop_assert!(machine.allowed_cpus.contains(arena.toucher));
        prop_assert!(arena.bytes > 0 && arena.bytes.is_multiple_of(arena.page_bytes), "{:?}", arena);
        match &arena.holds {
            Holds::Chase { bytes, rings } => {
                prop_assert!(arena.bytes >= *bytes && !rings.is_empty());
                // Each ring links through a word of its own in the same nodes.
                let alike =
                    |ring: &RingPlan| ring.stride == rings[0].stride || (ring.stride | rings[0].stride).is_multiple_of(64);
                prop_assert!(rings.len() <= 8 && rings.iter().all(alike));
                prop_assert!(rings[0].stride * 2 <= *bytes);
            }
            Holds::Streams { streams, bytes } => {
                let apart = u64::from(*streams) * bytes + u64::from(streams - 1) * (2 * MIB + 4096 + 64);
                prop_assert!(arena.bytes >= apart && (1..=3).contains(streams), "{:?}", arena);
            }
            Holds::C2c { bytes, .. } => prop_assert!(arena.bytes >= *bytes && *bytes >= 4096),
            Holds::Region { parts, bytes } => prop_assert!(arena.bytes == *bytes && *bytes >= u64::from(*parts) * 4096),
        }
    }
    for point in &plan.points {
        let arenas = arenas_of(point);
        let streams: Vec<(ArenaId, Option<u32>)> = point
            .threads
            .iter()
            .zip(&arenas)
            .filter_map(|(thread, arena)| match thread.job {
                Job::Stream { part, .. } => Some((*arena, part)),
                _ => None,
            })
            .collect();
        if point.threads.iter().all(|thread| thread.job != Job::KeepAlive) {
            prop_assert_eq!(
                streams.iter().collect::<BTreeSet<_>>().len(),
                streams.len(),
                "an arena or a part a stream: {:?}",
                point
            );
        }
        for thread in &point.threads {
            let fits = match thread.job {
                Job::Chase { arena, ring } | Job::TimedChase { arena, ring } => {
                    matches!(&plan.arenas[arena].holds, Holds::Chase { rings, .. } if ring < rings.len())
                }
                Job::Stream { arena, part: None, mix, .. } => {
                    matches!(plan.arenas[arena].holds, Holds::Streams { streams, .. } if mix.shape().streams() <= streams)
                }
                Job::Stream { arena, part: Some(part), .. } => {
                    matches!(plan.arenas[arena].holds, Holds::Region { parts, .. } if part < parts)
                }
                Job::C2c { arena, .. } => matches!(plan.arenas[arena].holds, Holds::C2c { .. }),
                Job::KeepAlive => true,
            };
            prop_assert!(fits, "{:?}", thread);
        }
    }
    Ok(())
}

fn phases_are_right(machine: &Machine, plan: &Plan) -> Result<(), TestCaseError> {
    let mut seen = vec![0; plan.points.len()];
    for phase in &plan.phases {
        let arenas: BTreeSet<ArenaId> = phase.arenas.iter().copied().collect();
        prop_assert_eq!(arenas.len(), phase.arenas.len(), "each arena once");
        let mut used = BTreeSet::new();
        for point in &phase.points {
            seen[*point] += 1;
            used.extend(arenas_of(&plan.points[*point]));
        }
        prop_assert_eq!(&used, &arenas, "the arenas that its points use, and no other");
        let mut ordinary: BTreeMap<NodeId, u64> = BTreeMap::new();
        let mut pages: BTreeMap<NodeId, u64> = BTreeMap::new();
        for arena in arenas.iter().map(|arena| &plan.arenas[*arena]) {
            match arena.pages {
                Pages::Huge2M | Pages::Huge1G => *pages.entry(arena.node).or_default() += arena.bytes / arena.page_bytes,
                Pages::Base | Pages::Thp => *ordinary.entry(arena.node).or_default() += arena.bytes,
            }
        }
        let tenths = if phase.held.is_some() { 8 } else { 9 };
        for (node, bytes) in &ordinary {
            prop_assert!(*bytes <= machine.node(*node).unwrap().available_bytes * tenths / 10);
        }
        for (node, pages) in &pages {
            prop_assert!(*pages <= machine.node(*node).unwrap().huge_pages[0].free);
        }
        let sum: u64 = ordinary.values().sum();
        prop_assert!(machine.limits.cgroup_memory_left.known().is_none_or(|left| sum < *left));
    }
    prop_assert!(seen.iter().all(|count| *count == 1), "each point in one phase: {:?}", seen);
    for node in &plan.budget.nodes {
        prop_assert!(node.needed <= node.available);
    }
    Ok(())
}

/// Planning must not grow with the square of the CPUs: 2048 of them on 16 nodes are planned in a blink.
#[test]
fn thousands_of_cpus_keep_the_rules() {
    let (lab, request) = (giant(), Request::new(What::All));
    let plan = memgauge_plan::build(&request, &lab.0).unwrap();
    holds(&request, &lab.0, &plan).unwrap();
    let cells = plan.points.iter().filter(|point| matches!(point.measure, Measure::MatrixLatency { .. })).count();
    assert_eq!(cells, 16 * 16);
}

proptest! {
    #[test]
    fn every_plan_keeps_the_rules(lab in machine(), request in request()) {
        let built = memgauge_plan::build(&request, &lab.0);
        prop_assert_eq!(&built, &memgauge_plan::build(&request, &lab.0), "same input, same plan");
        match built {
            Ok(plan) => holds(&request, &lab.0, &plan)?,
            Err(refusal) => {
                prop_assert!(!refusal.problem.is_empty() && !refusal.remedy.is_empty(), "{refusal:?}");
                prop_assert!(refusal.flag.is_empty() || !refusal.value.is_empty(), "{refusal:?}");
            }
        }
    }
}
