//! The engine on the machine that runs the tests. Ratios and orders only: no absolute times but those that a wrong loop
//! would miss by a factor.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

#[path = "support/streams.rs"]
mod streams;
mod support;

use memgauge_engine::{Hardware, Quiet, run};
use memgauge_model::*;
use std::sync::atomic::{AtomicBool, Ordering};
use streams::stream;
use support::{IDLE, arena, chase, plan, point, rings};

static NEVER: AtomicBool = AtomicBool::new(false);

/// CPUs to measure on; none under an emulator, whose times tell nothing.
fn cpus() -> Option<Vec<u32>> {
    let emulated = std::env::var_os("MEMGAUGE_TEST_RUNNER").is_some();
    (!emulated).then(|| memgauge_sys::cpu::affinity().unwrap().iter().collect())
}

fn measured(plan: &Plan) -> Run {
    let mut hardware = Hardware::new(None, &NEVER).unwrap();
    let run = run(plan, &mut hardware, &mut Quiet);
    assert_eq!(run.end, End::Complete, "{:?}", run.events);
    run
}

/// With so long a pause between its bursts.
fn delayed(mut thread: Thread, delay: u32) -> Thread {
    if let Job::Stream { delay: own, .. } = &mut thread.job {
        *own = DelayRef::Fixed(delay);
    }
    thread
}

fn latency(run: &Run, point: PointId) -> f64 {
    let windows = run.points[point].rounds.iter().flat_map(|block| &block.windows);
    let values: Vec<f64> = windows.filter_map(Window::latency_ns).collect();
    memgauge_stats::median(&values).expect("windows with hops")
}

/// The blocks that count: a busy machine has others beside them.
fn counted(run: &Run, point: PointId) -> Vec<&Block> {
    run.points[point].rounds.iter().filter(|block| !block.superseded).collect()
}

fn bandwidth(run: &Run, point: PointId) -> f64 {
    let windows = run.points[point].rounds.iter().flat_map(|block| &block.windows);
    memgauge_stats::median(&windows.map(Window::bytes_per_s).collect::<Vec<_>>()).expect("windows")
}

#[test]
fn real_latency_rises_with_the_buffer_and_a_small_one_takes_nanoseconds() {
    let Some(cpu) = cpus().map(|cpus| cpus[0]) else { return };
    let mut plan = plan(&[cpu]);
    for bytes in [16 << 10, 64 << 20] {
        let arena = arena(&mut plan, cpu, Pages::Base, rings(bytes, &[(Order::FullRandom, 64)]));
        point(&mut plan, IDLE, vec![chase(cpu, arena, 0)], 40_000_000);
    }
    let run = measured(&plan);
    assert!(latency(&run, 0) < 10.0, "16 KiB: {} ns", latency(&run, 0));
    assert!(latency(&run, 1) > 3.0 * latency(&run, 0), "{} and {} ns", latency(&run, 0), latency(&run, 1));
}

#[test]
fn real_rings_share_an_arena_and_what_was_got_is_checked() {
    let Some(cpu) = cpus().map(|cpus| cpus[0]) else { return };
    let mut plan = plan(&[cpu]);
    let orders = [(Order::WindowRandom, 128), (Order::FullRandom, 128), (Order::Sequential, 128)];
    let arena = arena(&mut plan, cpu, Pages::Thp, rings(64 << 20, &orders));
    for ring in 0..3 {
        point(&mut plan, IDLE, vec![chase(cpu, arena, ring)], 20_000_000);
    }
    let run = measured(&plan);
    for point in 0..3 {
        assert_eq!(counted(&run, point).len(), 2);
        for block in &run.points[point].rounds {
            let [pair] = block.placements.as_slice() else { panic!("{:?}", block.placements) };
            let after = pair.after.as_ref().expect("checked after, too");
            for seen in [&pair.before, after] {
                assert_eq!(seen.pages, seen.on_node, "{seen:?}");
                assert_ne!(seen.kind, "unknown", "{seen:?}");
            }
        }
    }
}

#[test]
fn real_streams_count_what_they_move() {
    let Some(cpu) = cpus().map(|cpus| cpus[0]) else { return };
    let mut plan = plan(&[cpu]);
    let arena = arena(&mut plan, cpu, Pages::Base, Holds::Streams { streams: 3, bytes: 16 << 20 });
    let mixes = [Mix::Read, Mix::Copy, Mix::TriadNt, Mix::R9W1, Mix::WritePartial];
    for mix in mixes {
        if cfg!(target_arch = "x86_64") || !mix.shape().nt {
            point(&mut plan, Measure::Peak { mix }, vec![stream(cpu, arena, mix)], 20_000_000);
        }
    }
    let run = measured(&plan);
    let read = bandwidth(&run, 0);
    for at in 0..plan.points.len() {
        let ratio = bandwidth(&run, at) / read;
        assert!((0.005..20.0).contains(&ratio), "{:?}: {ratio} of the read's", plan.points[at].measure);
    }
}

#[test]
fn real_load_and_observer_run_together_and_a_delay_thins_the_load() {
    let Some(cpus) = cpus() else { return };
    // With one CPU there is no load; what a delay does is proven in the kernels' own tests.
    let [observer, load, ..] = cpus.as_slice() else { return };
    let mut plan = plan(&cpus);
    let ring = arena(&mut plan, *observer, Pages::Base, rings(64 << 20, &[(Order::WindowRandom, 128)]));
    let streams = arena(&mut plan, *load, Pages::Base, Holds::Streams { streams: 1, bytes: 64 << 20 });
    for delay in [0, 20_000] {
        let measure = Measure::Loaded { curve: 0, delay: DelayRef::Fixed(delay) };
        let threads = vec![chase(*observer, ring, 0), delayed(stream(*load, streams, Mix::Read), delay)];
        point(&mut plan, measure, threads, 40_000_000);
    }
    let run = measured(&plan);
    let load_of = |point: PointId| {
        let windows = run.points[point].rounds.iter().flat_map(|block| &block.windows);
        memgauge_stats::median(&windows.map(|window| window.load_bytes_per_s).collect::<Vec<_>>()).unwrap()
    };
    assert!(load_of(0) > 10.0 * load_of(1), "{} and {} B/s", load_of(0), load_of(1));
    // A window in which the observer stood still has no hops, and is disturbed.
    let limits = &plan.windows.limits;
    let mut quiet = run.points.iter().flat_map(|p| &p.rounds).flat_map(|b| &b.windows).filter(|w| w.undisturbed(limits));
    assert!(quiet.all(|window| window.hops > 0 && window.observer_bytes_per_s > 0.0));
}

#[test]
fn real_a_span_is_what_is_worked_on() {
    let Some(cpu) = cpus().map(|cpus| cpus[0]) else { return };
    let mut plan = plan(&[cpu]);
    let span = |bytes| Span { bytes, settle: true };
    for order in [Order::FullRandom, Order::WindowRandom] {
        let grows = RingPlan { order, stride: 64, grows: true, bytes: None, block: None };
        let arena = arena(&mut plan, cpu, Pages::Base, Holds::Chase { bytes: 64 << 20, rings: vec![grows] });
        for bytes in [64 << 20, 16 << 10] {
            let measure = Measure::SweepLatency { node: 0, span: span(bytes), keepalive: false };
            point(&mut plan, measure, vec![chase(cpu, arena, 0)], 20_000_000);
        }
    }
    let arrays = arena(&mut plan, cpu, Pages::Base, Holds::Streams { streams: 2, bytes: 64 << 20 });
    for bytes in [128 << 20, 16 << 10] {
        let measure = Measure::SweepBandwidth { mix: Mix::Copy, span: span(bytes) };
        point(&mut plan, measure, vec![stream(cpu, arrays, Mix::Copy)], 20_000_000);
    }
    let run = measured(&plan);
    for large in [0, 2] {
        let (large, small) = (latency(&run, large), latency(&run, large + 1));
        assert!(small < 10.0 && large > 2.0 * small, "{small} and {large} ns");
    }
    let (large, small) = (bandwidth(&run, 4), bandwidth(&run, 5));
    assert!(small > 1.5 * large, "16 KiB {small}, 128 MiB {large} B/s");
    // The smaller of a round comes first, whatever the plan's order.
    for round in 0..2 {
        let at = |point: PointId| counted(&run, point)[round].position;
        assert!(at(1) < at(0) && at(3) < at(0) && at(5) < at(2));
    }
}

#[test]
fn real_memory_that_is_bound_to_nothing_comes_to_who_touches_it() {
    let Some(cpu) = cpus().map(|cpus| cpus[0]) else { return };
    let mut plan = plan(&[cpu]);
    let [bound, touched] = [false, true].map(|first_touch| {
        let ring = arena(&mut plan, cpu, Pages::Base, rings(1 << 20, &[(Order::FullRandom, 128)]));
        plan.arenas[ring].first_touch = first_touch;
        point(&mut plan, IDLE, vec![chase(cpu, ring, 0)], 10_000_000)
    });
    let run = measured(&plan);
    let placed = |point: PointId| run.points[point].rounds[0].placements[0].before.clone();
    assert_eq!(placed(touched).method, "first touch");
    // A sandbox may refuse to bind; nobody asked for it in the other one.
    let refused = run.events.iter().any(|event| matches!(event.what, EventKind::BindRefused { .. }));
    assert!(placed(bound).method == "mbind" || refused);
    assert!(placed(touched).verified == "none" || placed(touched).on_node == placed(touched).pages, "{:?}", placed(touched));
}

#[test]
fn real_transfers_and_single_accesses() {
    let Some(cpus) = cpus() else { return };
    let mut plan = plan(&cpus);
    let ring = arena(&mut plan, cpus[0], Pages::Base, rings(1 << 20, &[(Order::FullRandom, 128)]));
    let timed = Thread { cpu: cpus[0], job: Job::TimedChase { arena: ring, ring: 0 } };
    point(&mut plan, Measure::Access { node: 0 }, vec![timed], 20_000_000);
    if let [writer, reader, ..] = cpus.as_slice() {
        let lines = arena(&mut plan, *writer, Pages::Base, Holds::C2c { bytes: 128 << 10, push: 4 << 20 });
        let all = C2cKind::ALL.map(|kind| (kind, C2cVia::L2));
        // Where a third CPU is not to be had it takes turns with the writer: slow, but the game is the same.
        let third = cpus.get(2).unwrap_or(writer);
        for (kind, via) in all.into_iter().chain([(C2cKind::Hitm, C2cVia::L3), (C2cKind::Hitm, C2cVia::Third)]) {
            let thread = |cpu: &u32| Thread { cpu: *cpu, job: Job::C2c { arena: lines, kind } };
            let mut threads = vec![thread(writer), thread(reader)];
            threads.extend((via == C2cVia::Third).then(|| thread(third)));
            let (scope, repeat) = (C2cScope::Cpu, false);
            point(&mut plan, Measure::C2c { from: 0, to: 1, home: 0, kind, scope, via, repeat }, threads, 10_000_000);
        }
        // Sixty passes of so many nodes, 128 bytes each.
        let counted = plan.points.iter().position(|point| matches!(point.measure, Measure::C2c { .. })).unwrap();
        plan.points[counted].quota = Some(Quota::Hops(60 * (128 << 10) / 128));
        let measured = measured(&plan);
        let passes = measured.points[counted].rounds.iter().map(|block| block.passes_ns.len());
        assert!(passes.clone().count() > 0 && passes.clone().all(|passes| (60..=62).contains(&passes)), "{passes:?}");
        plan.points[counted].quota = None;
    }
    let run = measured(&plan);
    let access = run.points[0].rounds[0].access.as_ref().unwrap();
    assert!(access.percentiles.is_sorted_by(|a, b| a.1 <= b.1) && access.count > 1000, "{access:?}");
    for (at, record) in run.points.iter().enumerate().skip(1) {
        // A third that shares a CPU may find no turn on a busy machine.
        assert!(!record.rounds.is_empty() || plan.points[at].threads.len() == 3, "{:?}", run.events);
        assert!(record.rounds.iter().all(|block| block.passes_ns.len() >= 50 && block.passes_ns.iter().all(|ns| *ns > 0.0)));
    }
}

/// By round: the median of `value` over undisturbed windows; none where there is no such window.
/// All pairs of this machine at once, each with lines of its own; alone, a pair takes about the same.
#[test]
fn real_pairs_are_measured_at_once() {
    let Some(cpus) = cpus().filter(|cpus| cpus.len() > 1) else { return };
    for (kind, slot_bytes) in [(C2cKind::Cas, 256), (C2cKind::Hitm, (16 << 10) + 256)] {
        let mut plan = plan(&cpus);
        let lines = arena(&mut plan, cpus[0], Pages::Base, Holds::C2c { bytes: slot_bytes * cpus.len() as u64, push: 0 });
        let place = |(cpu, at): (&u32, u32)| CpuPlace {
            cpu: *cpu,
            core: at,
            l2: None,
            l3: None,
            node: 0,
            package: None,
            arena: lines,
            slot: at,
        };
        let pairs = (cpus.len() * (cpus.len() - 1) / 2) as u64;
        plan.map = Some(MapPlan {
            kind,
            places: cpus.iter().zip(0..).map(place).collect(),
            distances: vec![vec![10]],
            classes: vec![PairClass { apart: Apart::Node, pairs, sample: Vec::new() }],
            arenas: vec![lines],
            slot_bytes,
            rule: MapRule { spread: 0.05, level: 2.326, wide_ns: 10_000_000, again: 2, all: true },
        });
        let map = measured(&plan).map.unwrap();
        let seen: std::collections::BTreeSet<(u32, u32)> = map.wide.iter().flat_map(|wide| wide.pairs.clone()).collect();
        let ways = if kind == C2cKind::Hitm { 2 } else { 1 };
        assert_eq!(seen.len() as u64, ways * pairs);
        // A pair is none where it was disturbed; not all can be.
        let values: Vec<f32> = map.wide.iter().flat_map(|wide| wide.ns.iter().copied().flatten()).collect();
        assert!(!values.is_empty() && values.iter().all(|ns| *ns > 1.0), "{map:?}");
    }
}

fn by_round(plan: &Plan, run: &Run, point: PointId, value: impl Fn(&Window) -> Option<f64>) -> Vec<Option<f64>> {
    let quiet = |window: &&Window| window.undisturbed(&plan.windows.limits);
    let median = |block: &Block| {
        let values: Vec<f64> = block.windows.iter().filter(quiet).filter_map(&value).collect();
        memgauge_stats::median(&values)
    };
    run.points[point].rounds.iter().map(median).collect()
}

/// Is `a` over `b` within the limits in any round? Neighbours that come and go move some rounds; what is wrong moves all. A
/// machine that leaves no round alone tells nothing.
fn near(a: &[Option<f64>], b: &[Option<f64>], limits: std::ops::Range<f64>, what: &str) {
    let ratios: Vec<f64> = a.iter().zip(b).filter_map(|(a, b)| Some((*a)? / (*b)?)).collect();
    assert!(ratios.is_empty() || ratios.iter().any(|ratio| limits.contains(ratio)), "{what}: {ratios:?}");
}

#[test]
fn real_single_accesses_take_as_long_as_the_chases_hops() {
    let Some(cpu) = cpus().map(|cpus| cpus[0]) else { return };
    let mut plan = plan(&[cpu]);
    plan.rounds.looks = vec![6];
    plan.request.histogram = Some(4);
    let ring = arena(&mut plan, cpu, Pages::Base, rings(64 << 20, &[(Order::FullRandom, 128)]));
    point(&mut plan, IDLE, vec![chase(cpu, ring, 0)], 20_000_000);
    let timed = Thread { cpu, job: Job::TimedChase { arena: ring, ring: 0 } };
    point(&mut plan, Measure::Access { node: 0 }, vec![timed], 20_000_000);
    let run = measured(&plan);
    assert!(run.points[1].rounds.iter().all(|block| block.windows.len() == 2), "a block is judged window by window");
    for access in run.points[1].rounds.iter().filter_map(|block| block.access.as_ref()) {
        let bins = access.bins.as_ref().unwrap();
        assert_eq!(bins.counts.iter().sum::<u64>() + bins.beyond, access.count, "each access lies in one bin");
        let filled = bins.filled();
        let fast = filled.iter().take_while(|bin| bin.to as f64 * 1e9 / run.clock.hz <= access.percentiles[0].1);
        assert!(fast.map(|bin| bin.count).sum::<u64>() <= access.count / 2 + access.count / 100, "{access:?}");
    }
    let hops = by_round(&plan, &run, 0, Window::latency_ns);
    let quiet = by_round(&plan, &run, 1, |_| Some(1.0));
    let means = run.points[1].rounds.iter().zip(quiet).map(|(block, quiet)| quiet.and(Some(block.access.as_ref()?.mean_ns)));
    near(&means.collect::<Vec<_>>(), &hops, 0.8..1.2, "a single access over a hop");
}

#[test]
fn real_the_lightest_load_is_near_idle_and_the_full_one_near_the_peak() {
    let Some(cpus) = cpus() else { return };
    let [observer, load, ..] = cpus[..] else { return };
    let mut plan = plan(&cpus);
    plan.rounds.looks = vec![6];
    let ring = arena(&mut plan, observer, Pages::Base, rings(64 << 20, &[(Order::WindowRandom, 128)]));
    let streams = arena(&mut plan, load, Pages::Base, Holds::Streams { streams: 1, bytes: 64 << 20 });
    let [idle, peak] = [
        point(&mut plan, IDLE, vec![chase(observer, ring, 0)], 40_000_000),
        point(&mut plan, Measure::Peak { mix: Mix::Read }, vec![stream(load, streams, Mix::Read)], 40_000_000),
    ];
    let [full, light] = [0, 20_000].map(|delay| {
        let mut stream = stream(load, streams, Mix::Read);
        let Job::Stream { delay: paced, .. } = &mut stream.job else { panic!() };
        *paced = DelayRef::Fixed(delay);
        let measure = Measure::Loaded { curve: 0, delay: DelayRef::Fixed(delay) };
        let point = point(&mut plan, measure, vec![chase(observer, ring, 0), stream], 40_000_000);
        plan.points[point].class_pair = Some((observer, load));
        point
    });
    let run = measured(&plan);
    // A host that moves the two CPUs onto one core and off it again changes what is measured.
    let blocks = [full, light].map(|point| &run.points[point].rounds).into_iter().flatten();
    let classes: Vec<f64> = blocks.flat_map(|block| [block.class_before_ns, block.class_after_ns]).flatten().collect();
    let lo = classes.iter().copied().fold(f64::INFINITY, f64::min);
    let hi = classes.iter().copied().fold(0.0, f64::max);
    if classes.is_empty() || hi > 1.8 * lo {
        return;
    }
    let latency = |point| by_round(&plan, &run, point, Window::latency_ns);
    near(&latency(light), &latency(idle), 0.7..1.5, "latency under the lightest load over idle");
    let bandwidth = |point| by_round(&plan, &run, point, |window| Some(window.load_bytes_per_s));
    near(&bandwidth(full), &bandwidth(peak), 0.5..1.4, "a full load over the peak");
}

#[test]
fn real_two_runs_differ_in_their_last_digits() {
    let Some(cpu) = cpus().map(|cpus| cpus[0]) else { return };
    let mut plan = plan(&[cpu]);
    let arena = arena(&mut plan, cpu, Pages::Base, rings(4 << 20, &[(Order::FullRandom, 128)]));
    point(&mut plan, IDLE, vec![chase(cpu, arena, 0)], 20_000_000);
    assert!((latency(&measured(&plan), 0) - latency(&measured(&plan), 0)).abs() > 0.0);
}

#[test]
fn real_stop_ends_soon_and_keeps_what_was_measured() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let Some(cpu) = cpus().map(|cpus| cpus[0]) else { return };
    let mut plan = plan(&[cpu]);
    plan.rounds.looks = vec![10_000];
    let arena = arena(&mut plan, cpu, Pages::Base, rings(1 << 20, &[(Order::FullRandom, 128)]));
    point(&mut plan, IDLE, vec![chase(cpu, arena, 0)], 20_000_000);
    let mut hardware = Hardware::new(None, &STOP).unwrap();
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(500));
            STOP.store(true, Ordering::Relaxed);
        });
        run(&plan, &mut hardware, &mut Quiet)
    });
    assert!(matches!(run.end, End::Interrupted { .. }), "{:?}", run.end);
    assert!(!run.points[0].rounds.is_empty());
}

#[test]
fn real_accesses_are_counted() {
    let Some(cpu) = cpus().map(|cpus| cpus[0]) else { return };
    let mut plan = plan(&[cpu]);
    let arena = arena(&mut plan, cpu, Pages::Base, rings(16 << 20, &[(Order::FullRandom, 64)]));
    point(&mut plan, IDLE, vec![chase(cpu, arena, 0)], 10_000_000);
    plan.points[0].quota = Some(Quota::Hops(4_000_000));
    let run = measured(&plan);
    let hops = |block: &&Block| block.windows.iter().map(|window| window.hops).sum::<u64>();
    // The pace may change by a half between what was tried and what counts.
    let all: Vec<u64> = counted(&run, 0).iter().map(hops).collect();
    assert!(!all.is_empty() && all.iter().all(|hops| (2_000_000..12_000_000).contains(hops)), "{all:?}");
}

#[test]
fn real_what_cannot_be_had_is_an_event_and_the_rest_is_measured() {
    let Some(cpu) = cpus().map(|cpus| cpus[0]) else { return };
    let mut plan = plan(&[cpu]);
    let ring = arena(&mut plan, cpu, Pages::Base, rings(1 << 20, &[(Order::FullRandom, 128)]));
    point(&mut plan, IDLE, vec![chase(100_000, ring, 0)], 20_000_000);
    point(&mut plan, IDLE, vec![chase(cpu, ring, 0)], 20_000_000);
    let run = measured(&plan);
    assert!(run.points[0].rounds.is_empty());
    assert_eq!(counted(&run, 1).len(), 2);
    let failed =
        |event: &Event| matches!(&event.what, EventKind::PointFailed { point: 0, detail, .. } if detail.contains("100000"));
    assert!(run.events.iter().any(failed), "{:?}", run.events);
}

/// The kernel's own clocks stand for hardware counters, which guests lack: one for the whole of a CPU, one for a thread.
#[test]
fn real_counters_count_over_the_windows_and_one_that_is_not_there_is_named() {
    let Some(cpu) = cpus().map(|cpus| cpus[0]) else { return };
    let mut plan = plan(&[cpu]);
    let whole = || CounterScope::System { cpus: CpuList::from(vec![cpu]) };
    let thread = || CounterScope::Thread { cpus: None };
    // PERF_TYPE_SOFTWARE: cpu-clock, task-clock, and no such event.
    for (counts, config, scope) in
        [(Counted::DramRead, 0, whole()), (Counted::LlcMisses, 1, thread()), (Counted::DtlbMisses, 9999, thread())]
    {
        let (pmu, event, config) = ("software".to_owned(), "a clock".to_owned(), [config, 0, 0]);
        plan.counters.push(CounterEvent { pmu, event, counts, kind: 1, config, scope, bytes: 1.0 });
    }
    let ring = arena(&mut plan, cpu, Pages::Base, rings(16 << 20, &[(Order::FullRandom, 64)]));
    point(&mut plan, IDLE, vec![chase(cpu, ring, 0)], 60_000_000);
    let array = arena(&mut plan, cpu, Pages::Base, Holds::Streams { streams: 1, bytes: 16 << 20 });
    point(&mut plan, Measure::Peak { mix: Mix::Read }, vec![stream(cpu, array, Mix::Read)], 60_000_000);
    let run = measured(&plan);
    let refused: Vec<usize> = run.counters.refused.iter().map(|refusal| refusal.event).collect();
    assert!(refused.contains(&2), "{:?}", run.counters);
    if refused.contains(&0) || refused.contains(&1) {
        // A sandbox, or perf_event_paranoid: then for that reason.
        assert!(run.counters.refused.iter().all(|r| r.event == 2 || r.reason != Reason::NotPresent), "{:?}", run.counters);
        return;
    }
    assert_eq!(run.counters.used, [0, 1]);
    for block in run.points.iter().flat_map(|point| &point.rounds) {
        let counters = block.counters.as_ref().unwrap();
        let windows: f64 = block.windows.iter().map(|window| window.ns).sum();
        let ([system], [own]) = (&counters.system[..], &counters.threads[..]) else { panic!("{counters:?}") };
        // From the leader's decision, up to a window before the first, to the last window's end.
        assert!((0.99 * windows..2.0 * windows).contains(&counters.system_ns), "{windows}: {counters:?}");
        let clock = system.scaled().unwrap() / counters.system_ns;
        assert!((0.9..1.1).contains(&clock), "{clock}: {counters:?}");
        let [count] = own.counts[..] else { panic!("{own:?}") };
        let busy = count.scaled().unwrap() / windows;
        // Other processes may have had its CPU for most of the time; never had it more than all.
        assert!((0.02..1.2).contains(&busy), "{busy} of {windows}: {own:?}");
        // What it did in that time is what its windows say.
        let bytes: f64 = block.windows.iter().map(|window| window.bytes_per_s() * window.ns / 1e9).sum();
        let accesses = bytes / 64.0;
        assert!((0.7..1.3).contains(&(own.accesses as f64 / accesses)), "{accesses}: {own:?}");
    }
}

#[test]
fn real_regions_are_shared_by_threads_and_one_that_cannot_be_had_leaves_the_others() {
    let Some(cpus) = cpus() else { return };
    let cpus = &cpus[..cpus.len().min(2)];
    let mut plan = plan(cpus);
    let isa = if cfg!(target_arch = "x86_64") { Isa::Sse2 } else { Isa::Portable };
    for (region, mix) in (0..).zip([Mix::Read, Mix::Copy, Mix::Triad, Mix::Write]) {
        let parts = u32::try_from(cpus.len()).unwrap();
        let arena = arena(&mut plan, cpus[0], Pages::Base, Holds::Region { parts, bytes: 8 << 20 });
        let job = |part| Job::Stream {
            arena,
            part: Some(part),
            mix,
            isa,
            block_lines: None,
            delay: DelayRef::Fixed(0),
            manner: Manner::default(),
        };
        let threads = (0..).zip(cpus).map(|(part, cpu)| Thread { cpu: *cpu, job: job(part) }).collect();
        point(&mut plan, Measure::Scan { node: 0, region, mix }, threads, 20_000_000);
    }
    // More than any address space holds.
    plan.arenas[3].bytes = 1 << 62;
    plan.phases[0].held = Some(AgainRule { k: 5.0, least: 0.03, most: 1, controls: 1, rounds: 1 });
    let run = measured(&plan);
    for (point, record) in run.points.iter().enumerate() {
        assert_eq!(counted(&run, point).len(), if point < 3 { 2 } else { 0 }, "{:?}", run.events);
        assert!(record.rounds.iter().all(|block| block.placements.len() == 1));
    }
    assert!((0..3).all(|point| bandwidth(&run, point) > 1e8));
    assert!(run.events.iter().any(|event| matches!(event.what, EventKind::PointFailed { point: 3, .. })), "{:?}", run.events);
    let known = run.physical.iter().filter_map(|place| place.physical.known());
    let mut ranges: Vec<[u64; 2]> = known.flat_map(|place| &place.ranges).copied().collect();
    ranges.sort_unstable();
    assert!(ranges.windows(2).all(|two| two[0][1] <= two[1][0]), "two regions in the same memory: {ranges:?}");
    assert_eq!(run.physical.iter().map(|place| place.arena).collect::<Vec<_>>(), [0, 1, 2]);
}

/// One buffer for all, two places in turns, checksums and flushes: each moves something, and a flush costs what no cache hides.
#[test]
fn real_streams_go_in_unusual_ways() {
    let Some(cpus) = cpus() else { return };
    let cpu = cpus[0];
    let mut plan = plan(&cpus);
    plan.request.per_thread = true;
    let small = arena(&mut plan, cpu, Pages::Base, Holds::Streams { streams: 1, bytes: 16 << 10 });
    let others: Vec<ArenaId> =
        (0..2).map(|_| arena(&mut plan, cpu, Pages::Base, Holds::Streams { streams: 2, bytes: 4 << 20 })).collect();
    let told = |arena, mix, manner| {
        let mut thread = stream(cpu, arena, mix);
        let Job::Stream { manner: own, .. } = &mut thread.job else { panic!("no stream") };
        *own = manner;
        thread
    };
    let usual = Manner::default();
    let flushes = cfg!(target_arch = "aarch64") || std::fs::read_to_string("/proc/cpuinfo").unwrap().contains(" clflushopt");
    let mut ways = vec![
        (Mix::Write, vec![told(small, Mix::Write, usual)]),
        (Mix::Read, vec![told(others[0], Mix::Read, Manner { checked: true, ..usual })]),
        (Mix::R3W1, vec![told(others[0], Mix::R3W1, Manner { second: Some((others[1], 25)), ..usual })]),
        (Mix::Read, cpus.iter().take(2).map(|cpu| stream(*cpu, others[1], Mix::Read)).collect()),
    ];
    if flushes {
        ways.push((Mix::Write, vec![told(small, Mix::Write, Manner { flush: true, ..usual })]));
    }
    for (mix, threads) in ways {
        point(&mut plan, Measure::Peak { mix }, threads, 20_000_000);
    }
    let run = measured(&plan);
    for at in 0..plan.points.len() {
        let windows = run.points[at].rounds.iter().flat_map(|block| &block.windows);
        for window in windows {
            assert_eq!(window.threads.len(), plan.points[at].threads.len(), "point {at}");
            let sum: f64 = window.threads.iter().sum();
            assert!((sum / window.load_bytes_per_s - 1.0).abs() < 1e-9, "{window:?}");
        }
    }
    if flushes {
        assert!(bandwidth(&run, 0) > 2.0 * bandwidth(&run, 4), "{} and {} B/s", bandwidth(&run, 0), bandwidth(&run, 4));
    }
}

/// Had the buffers held anything else, the sums would not be those of the pattern, and the run would end.
#[test]
fn real_patterns_fill_the_buffers() {
    let Some(cpu) = cpus().map(|cpus| cpus[0]) else { return };
    let mut plan = plan(&[cpu]);
    // 192 bytes: no power of two.
    plan.request.fill = ["5a", "0f", "31"].map(|byte| byte.repeat(64)).to_vec();
    let arena = arena(&mut plan, cpu, Pages::Base, Holds::Streams { streams: 1, bytes: 5 << 20 });
    let mut reads = stream(cpu, arena, Mix::Read);
    if let Job::Stream { manner, .. } = &mut reads.job {
        manner.checked = true;
    }
    point(&mut plan, Measure::Peak { mix: Mix::Read }, vec![reads], 20_000_000);
    assert!(bandwidth(&measured(&plan), 0) > 0.0);
}
