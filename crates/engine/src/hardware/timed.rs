//! Single accesses, each fenced and timed alone.

use super::Hardware;
use super::arenas::{Content, Memory};
use super::blocks::{take, wrong};
use super::threads as threads_of;
use super::timing::{ns_to_ticks, ticks_to_ns};
use super::watch::watched;
use crate::backend::{Failure, Task};
use memgauge_kernels::chase::{Order, RingId, Rings};
use memgauge_kernels::{Clock, Rng, spin};
use memgauge_model::{AccessBins, AccessHistogram, Block, Job, Window};
use memgauge_stats::Histogram;
use memgauge_sys as sys;
use std::sync::atomic::{AtomicBool, Ordering};

/// Accesses between two looks at the time.
const BATCH: usize = 1024;
/// The ring that stays in L1, bytes.
const NEAR: usize = 4096;
/// Percentiles as hundredths of a percent.
const PERCENTILES: [u64; 5] = [5000, 9000, 9900, 9990, 9999];

/// A ring in L1, for the cost of timing.
#[repr(align(64))]
struct Near([u8; NEAR]);

/// Times accesses one by one for the task's time.
pub fn run(hardware: &Hardware, task: &Task<'_>, memories: &mut [Memory<'_>]) -> Result<Block, Failure> {
    let threads = &task.plan.points[task.point].threads;
    let mut free: Vec<Option<&mut Memory<'_>>> = memories.iter_mut().map(Some).collect();
    let Some(Job::TimedChase { arena, ring }) = threads.first().map(|thread| &thread.job) else { return Err(wrong()) };
    let Content::Chase { rings, ids, places } = take(&mut free, *arena)? else { return Err(wrong()) };
    let (Some(id), Some(place)) = (ids.get(*ring), places.get_mut(*ring)) else { return Err(wrong()) };
    let (clock, hz) = hardware.clock_and_hz();
    let rule = &task.plan.windows;
    let windows = (task.time_ns / rule.min_ns.max(1)).max(1);
    let limits =
        Limits { budget: ns_to_ticks(task.time_ns / windows, hz), gap: ns_to_ticks(rule.limits.gap_ns, hz), stop: hardware.stop };
    let over = AtomicBool::new(false);
    let mut near = Near([0; NEAR]);
    let (cost, seen) = std::thread::scope(|scope| {
        for keeper in threads.iter().skip(1) {
            let over = &over;
            let kept = threads_of::spawn(scope, move || {
                if sys::cpu::pin_to(keeper.cpu).is_ok() {
                    while !over.load(Ordering::Relaxed) {
                        spin::dependent_adds(50_000);
                    }
                }
            });
            kept?;
        }
        let (rings, near, limits) = (&*rings, &mut near.0, &limits);
        let worker = threads_of::spawn(scope, move || {
            sys::cpu::pin_to(threads[0].cpu)?;
            let cost = cost_of_timing(clock, near)?;
            let mut seen = Seen::new(task.plan.request.histogram, cost);
            for _ in 0..windows {
                seen.one.clear();
                let work = || record(clock, rings, *id, place, limits, &mut seen.one);
                let (gap, mut window) = watched(clock, hz, threads[0].cpu, work);
                window.signs.gap_ns = ticks_to_ns(gap, hz);
                let quiet = window.undisturbed(&rule.limits);
                seen.take(window, quiet);
                if hardware.stop.load(Ordering::Relaxed) {
                    break;
                }
            }
            Ok((cost, seen))
        });
        let cost = worker?.join().unwrap_or_else(|_| Err(Failure::Fatal("the timing thread ended".into())));
        over.store(true, Ordering::Relaxed);
        cost
    })?;
    // Where every window was disturbed their accesses are all that there is; the windows say so.
    let tally = if seen.quiet.histogram.count() > 0 { &seen.quiet } else { &seen.all };
    if tally.histogram.count() == 0 {
        return Err(hardware.nothing_came("no access was timed"));
    }
    Ok(Block { settled: true, access: Some(summary(tally, cost, hz)), windows: seen.windows, ..Block::default() })
}

/// Accesses by window: a percentile is of undisturbed ones only.
struct Seen {
    one: Tally,
    quiet: Tally,
    all: Tally,
    windows: Vec<Window>,
}

impl Seen {
    fn new(width_log2: Option<u32>, cost: u64) -> Self {
        let tally = || Tally { histogram: Histogram::new(), bins: width_log2.map(AccessBins::new), cost };
        Self { one: tally(), quiet: tally(), all: tally(), windows: Vec::new() }
    }

    /// Takes in the window that was just closed.
    fn take(&mut self, window: Window, quiet: bool) {
        self.all.merge(&self.one);
        if quiet {
            self.quiet.merge(&self.one);
        }
        self.windows.push(window);
    }
}

/// Accesses by ticks: finely for percentiles, and in bins where somebody wants to see them.
struct Tally {
    histogram: Histogram,
    bins: Option<AccessBins>,
    /// Ticks that timing costs; the bins go without them.
    cost: u64,
}

impl Tally {
    #[inline]
    fn record(&mut self, ticks: u64) {
        self.histogram.record(ticks);
        if let Some(bins) = &mut self.bins {
            bins.record(ticks.saturating_sub(self.cost));
        }
    }

    fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
        if let (Some(mine), Some(theirs)) = (&mut self.bins, &other.bins) {
            mine.merge(theirs);
        }
    }

    fn clear(&mut self) {
        self.histogram.clear();
        if let Some(bins) = &mut self.bins {
            bins.clear();
        }
    }
}

/// What ends a window, and what was no access in it.
struct Limits<'a> {
    /// Its length, ticks.
    budget: u64,
    /// An access of more ticks stood still.
    gap: u64,
    stop: &'a AtomicBool,
}

/// Median ticks of a timed access that hits L1. What an access costs there is part of it, and is left in: what is
/// subtracted is then an L1 hit too much, some cycles of a DRAM access's hundreds.
fn cost_of_timing(clock: &Clock, near: &mut [u8]) -> Result<u64, Failure> {
    let refused = |error: memgauge_kernels::chase::RingError| Failure::Fatal(error.to_string());
    let mut rings = Rings::new(near).map_err(refused)?;
    let id = rings.build(Order::FullRandom, 64, 0, &mut Rng::new(1)).map_err(refused)?;
    let mut ticks = [0; BATCH];
    let at = rings.timed(id, rings.start(id), clock, &mut ticks);
    rings.timed(id, at, clock, &mut ticks);
    ticks.sort_unstable();
    Ok(u64::from(ticks[BATCH / 2]))
}

/// Times accesses for one window; returns the ticks of those that stood still.
fn record(clock: &Clock, rings: &Rings<'_>, id: RingId, place: &mut u64, limits: &Limits<'_>, to: &mut Tally) -> u64 {
    let begin = clock.start();
    let mut ticks = [0; BATCH];
    let mut stood_still = 0;
    while !limits.stop.load(Ordering::Relaxed) {
        *place = rings.timed(id, *place, clock, &mut ticks);
        for ticks in ticks.map(u64::from) {
            to.record(ticks);
            stood_still += if ticks > limits.gap { ticks } else { 0 };
        }
        if clock.stop().wrapping_sub(begin) >= limits.budget {
            break;
        }
    }
    stood_still
}

fn summary(tally: &Tally, cost: u64, hz: f64) -> AccessHistogram {
    let histogram = &tally.histogram;
    let ns = |ticks: u64| ticks_to_ns(ticks.saturating_sub(cost), hz);
    let named = PERCENTILES.iter().filter_map(|p| {
        #[expect(clippy::cast_precision_loss, reason = "at most 10000")]
        histogram.percentile(*p).map(|ticks| (*p as f64 / 100.0, ns(ticks)))
    });
    let all = histogram.percentiles();
    let mean = all.as_ref().map_or(0.0, |all| all.mean * 1e9 / hz - ticks_to_ns(cost, hz));
    let max = all.map_or(0.0, |all| ns(all.max));
    AccessHistogram {
        count: histogram.count(),
        cost_ns: ticks_to_ns(cost, hz),
        mean_ns: mean.max(0.0),
        percentiles: named.chain([(100.0, max)]).collect(),
        bins: tally.bins.clone(),
    }
}
