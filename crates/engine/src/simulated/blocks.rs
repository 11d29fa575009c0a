//! Blocks: what windows, passes and single accesses of a point show.

use super::Simulated;
use crate::backend::{Bench, Failure, Task, Wide, WideTask};
use crate::hardware::timing::Cut;
use crate::simulated::description::Description;
use crate::simulated::faults::{Fault, Sign, is_on};
use crate::simulated::noise::{longer, lower};
use crate::simulated::{transfer, wide};
use memgauge_model::{
    AccessBins, AccessHistogram, ArenaId, Block, Cpu, DisturbanceLimits, Job, Point, Quota, Reason, Signs, Window,
};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// Passes of a transfer, at least and at most; and hops or half round trips of one.
const PASSES: (u64, u64) = (50, 2000);
const PASS_STEPS: f64 = 400.0;
/// One look at the placement class.
const CLASS_NS: u64 = 2_000_000;
/// Percentiles of single accesses over their mean: refresh makes the tail.
const PERCENTILES: [(f64, f64); 6] = [(50.0, 0.97), (90.0, 1.08), (99.0, 2.2), (99.9, 3.1), (99.99, 4.5), (100.0, 60.0)];
/// What the fastest access takes, by the mean.
const FASTEST: f64 = 0.9;
/// Slices of a warm-up that finds nothing to wait for.
const WARMUP: u32 = 6;

/// The bench of one phase.
pub struct SimulatedBench<'s> {
    pub machine: &'s mut Simulated,
    pub memories: BTreeMap<ArenaId, Memory>,
}

/// What an allocation got.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// How much slower than usual it is by chance, as a fraction.
    pub slower: f64,
    /// The time that an access takes in its region, over that elsewhere.
    pub region: f64,
}

impl Bench for SimulatedBench<'_> {
    fn now_ns(&self) -> u64 {
        self.machine.now_ns
    }

    fn class(&mut self, pair: (Cpu, Cpu)) -> Option<f64> {
        self.machine.now_ns += CLASS_NS;
        let (slower, _) = self.machine.host.factors(self.machine.now_ns);
        let usual = transfer::ping_pong_ns(&self.machine.description, &self.machine.layout, pair)?;
        Some(longer(usual * slower, self.machine.drift.apart()))
    }

    fn block(&mut self, task: &Task<'_>) -> Result<Block, Failure> {
        if self.machine.stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        let point = task.plan.points.get(task.point).ok_or_else(unknown)?;
        stalled(&self.machine.description, point, self.machine.now_ns)?;
        match point.threads.first().map(|thread| &thread.job) {
            Some(Job::C2c { .. }) => self.passes(task, point),
            Some(Job::TimedChase { .. }) => self.accesses(task, point),
            Some(_) => self.windows(task, point),
            None => Err(unknown()),
        }
    }

    fn wide(&mut self, task: &WideTask<'_>) -> Result<Wide, Failure> {
        if self.machine.stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        wide::run(self.machine, task)
    }
}

impl SimulatedBench<'_> {
    fn windows(&mut self, task: &Task<'_>, point: &Point) -> Result<Block, Failure> {
        let expected = self.machine.expected_of(task).ok_or_else(unknown)?;
        let (chase, streams) = self.allocations(point);
        let (region, streamed) = (chase.region, 1.0 / streams.region);
        let by_thread = task.plan.tells_threads();
        let core_hz = self.core_hz(point);
        let cut = self.cut(task, core_hz);
        self.machine.now_ns += cut.warmup.0;
        let windows = (0..cut.windows).map(|_| {
            self.machine.now_ns += cut.window;
            let (slow, time, signs) = self.moment(cut.window, &task.plan.windows.limits);
            let (_, faster) =
                if point.class_pair.is_some() { self.machine.host.factors(self.machine.now_ns) } else { (1.0, 1.0) };
            let latency = expected.latency_ns.map(|ns| longer(longer(ns, chase.slower), slow) * region * time);
            let hops = latency.map_or(0, |ns| (cut.window as f64 / ns) as u64);
            let streamed = |rate: f64| lower(lower(rate, streams.slower), slow) * streamed * faster / time;
            let threads = if by_thread { expected.by_thread.iter().map(|rate| streamed(*rate)).collect() } else { Vec::new() };
            Window {
                ns: cut.window as f64,
                hops,
                hop_ns: hops as f64 * latency.unwrap_or(0.0),
                load_bytes_per_s: streamed(expected.load_bytes_per_s),
                threads,
                observer_bytes_per_s: latency.map_or(0.0, |ns| 64e9 / ns),
                signs,
            }
        });
        let windows = windows.collect();
        Ok(Block { warmup_windows: WARMUP, settled: true, core_hz, windows, ..Block::default() })
    }

    fn passes(&mut self, task: &Task<'_>, point: &Point) -> Result<Block, Failure> {
        let usual = transfer::expected_ns(&self.machine.description, &self.machine.layout, point).ok_or_else(unknown)?;
        let (slower, _) = self.machine.host.factors(self.machine.now_ns);
        let slower = if point.class_pair.is_some() { slower } else { 1.0 };
        let (_, allocation) = self.allocations(point);
        let passes = match point.quota {
            Some(Quota::Hops(hops)) => hops as f64 / PASS_STEPS,
            _ => task.time_ns as f64 / (usual * PASS_STEPS),
        };
        let passes = (passes.ceil() as u64).clamp(PASSES.0, PASSES.1);
        self.machine.now_ns += 2 * task.time_ns;
        let (slow, time, signs) = self.moment(task.time_ns, &task.plan.windows.limits);
        let usual = longer(longer(usual * slower, allocation.slower), slow) * time;
        let passes_ns = (0..passes).map(|_| longer(usual, self.machine.drift.apart())).collect();
        let window = Window { ns: task.time_ns as f64, signs, ..Window::default() };
        Ok(Block { settled: true, passes_ns, windows: vec![window], ..Block::default() })
    }

    fn accesses(&mut self, task: &Task<'_>, point: &Point) -> Result<Block, Failure> {
        let expected = self.machine.expected_of(task).and_then(|expected| expected.latency_ns).ok_or_else(unknown)?;
        let (chase, _) = self.allocations(point);
        let cut = self.cut(task, self.core_hz(point));
        let (mut windows, mut slows) = (Vec::new(), Vec::new());
        for _ in 0..cut.windows {
            self.machine.now_ns += cut.window;
            let (slow, time, signs) = self.moment(cut.window, &task.plan.windows.limits);
            slows.push(longer(1.0, slow) * time);
            windows.push(Window { ns: cut.window as f64, signs, ..Window::default() });
        }
        let slow = memgauge_stats::median(&slows).unwrap_or(1.0);
        let mean_ns = longer(expected, chase.slower) * chase.region * slow;
        let cost_ns = self.machine.description.clock.cost_ns;
        let count = (cut.window as f64 * f64::from(cut.windows) / (mean_ns + cost_ns)) as u64;
        let percentiles = PERCENTILES.iter().map(|(percent, share)| (*percent, mean_ns * share)).collect();
        let bins = task.plan.request.histogram.map(|width_log2| spread(count, mean_ns, width_log2));
        let access = Some(AccessHistogram { count, cost_ns, mean_ns, percentiles, bins });
        Ok(Block { settled: true, access, windows, ..Block::default() })
    }

    /// How windows are cut: as on hardware, of a clock with a tick a nanosecond.
    fn cut(&self, task: &Task<'_>, core_hz: f64) -> Cut {
        let quantum = self.machine.description.clock.quantum_ns;
        Cut::new(&task.plan.windows, task.time_ns, task.delay, quantum, core_hz, 1e9)
    }

    /// How slow the machine is in a window that ends now, as a fraction; how much longer everything takes because something
    /// disturbs it; and what shows that.
    fn moment(&mut self, window_ns: u64, limits: &DisturbanceLimits) -> (f64, f64, Signs) {
        let now_ns = self.machine.now_ns;
        let slow = self.machine.drift.window(now_ns, window_ns);
        let mut signs = Signs { waits_told: true, ..Signs::default() };
        let mut time = 1.0;
        for fault in self.machine.description.faults.clone() {
            let Fault::Disturbed { share, sign, time: longer, during_s } = fault else { continue };
            if !is_on(during_s, now_ns) || !self.machine.drift.happens(share) {
                continue;
            }
            time *= longer;
            // Twice what is still let pass.
            let length = window_ns as f64;
            match sign {
                Sign::Wait => signs.wait_ns = (2.0 * limits.wait_share * length) as u64,
                Sign::Gap => signs.gap_ns = 2.0 * limits.gap_share * length,
                Sign::Spin => signs.spin = 2.0 * limits.spin,
                Sign::Neighbour => signs.reference = 2.0 * limits.reference,
                Sign::None => {}
            }
        }
        (slow, time, signs)
    }

    /// What the chase has got, and what all other threads have on average.
    fn allocations(&self, point: &Point) -> (Memory, Memory) {
        let usual = Memory { slower: 0.0, region: 1.0 };
        let of = |arena: ArenaId| self.memories.get(&arena).copied().unwrap_or(usual);
        let (mut chase, mut others) = (usual, Vec::new());
        for thread in &point.threads {
            match thread.job {
                Job::Chase { arena, .. } | Job::TimedChase { arena, .. } => chase = of(arena),
                Job::Stream { arena, .. } | Job::C2c { arena, .. } => others.push(of(arena)),
                Job::KeepAlive => {}
            }
        }
        let mean = |value: fn(&Memory) -> f64| others.iter().map(value).sum::<f64>() / others.len() as f64;
        // Rates add up, not times.
        let together = || Memory { slower: mean(|memory| memory.slower), region: 1.0 / mean(|memory| 1.0 / memory.region) };
        (chase, if others.is_empty() { usual } else { together() })
    }

    /// The core clock of the leading thread.
    fn core_hz(&self, point: &Point) -> f64 {
        let layout = &self.machine.layout;
        let place = point.threads.first().and_then(|thread| layout.place(thread.cpu));
        let speed = self.machine.description.faults.iter().filter_map(|fault| match *fault {
            Fault::SlowClock { speed, during_s } => is_on(during_s, self.machine.now_ns).then_some(speed),
            _ => None,
        });
        place.map_or(0.0, |place| layout.kind(place).ghz * 1e9) * speed.product::<f64>()
    }
}

/// A thread of the point that does not come on holds all others up.
fn stalled(description: &Description, point: &Point, now_ns: u64) -> Result<(), Failure> {
    let stuck = description.faults.iter().find_map(|fault| match *fault {
        Fault::Stalled { cpu, during_s } if is_on(during_s, now_ns) => point.threads.iter().find(|thread| thread.cpu == cpu),
        _ => None,
    });
    let Some(thread) = stuck else { return Ok(()) };
    let detail = format!("the thread on CPU {} did not keep up; is the CPU online and free?", thread.cpu);
    Err(Failure::point(Reason::OutOfTime, detail))
}

fn unknown() -> Failure {
    Failure::Fatal("the plan names what the simulated machine does not have".to_owned())
}

/// Accesses as the percentiles tell them, evenly between one and the next; a tick is a nanosecond.
fn spread(count: u64, mean_ns: f64, width_log2: u32) -> AccessBins {
    const STEPS: u64 = 64;
    let mut bins = AccessBins::new(width_log2);
    let (mut below, mut fast, mut told) = (0.0, FASTEST, 0);
    for (percent, share) in PERCENTILES {
        for step in 1..=STEPS {
            let part = step as f64 / STEPS as f64;
            let upto = (count as f64 * (below + (percent - below) * part) / 100.0).round() as u64;
            bins.record_many((mean_ns * (fast + (share - fast) * part)) as u64, upto.saturating_sub(told));
            told = upto;
        }
        (below, fast) = (percent, share);
    }
    bins
}
