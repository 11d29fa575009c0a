//! Pinned threads that start together, agree when warm-up is over, and end together. Nobody is woken while they work: the
//! thread that made them sleeps in `join`.

use super::counters::{Counters, Snapshot, SystemCounts, ThreadCounters};
use super::log::{Asked, Log, Part};
use super::start::{Absence, StartLine};
use super::stream::Corrupt;
use super::timing::Cut;
use super::work::Work;
use memgauge_kernels::chase::RingError;
use memgauge_kernels::{Clock, spin};
use memgauge_model::ThreadCounts;
use memgauge_stats as stats;
use memgauge_sys::{self as sys, sched::ThreadStats};
use std::sync::atomic::{AtomicBool, Ordering};

/// Adds of the reference spin: some microseconds, long against the clock's quantum.
pub const SPIN_ADDS: u64 = 8000;
/// The spin is made so often at each mark, and the fastest counts: an interrupt is not a change of the core clock.
const SPINS: u32 = 3;
/// Slices of the warm-up that the rule looks at.
const SLICES: usize = 6;

/// What the threads of a block share.
pub struct Team<'a> {
    pub clock: &'a Clock,
    pub cut: Cut,
    pub clock_cost: u64,
    pub gap_tolerance: u64,
    pub stop: &'a AtomicBool,
    counters: &'a Counters,
    line: StartLine,
}

/// What a worker brings home.
pub struct Done {
    pub parts: Vec<Part>,
    pub warmup_slices: u32,
    pub settled: bool,
    /// Its own counters; accesses are units still.
    pub counts: ThreadCounts,
    /// The leader's: those of the whole system.
    pub system: Option<SystemCounts>,
}

/// Why a worker ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The stop flag was set.
    Stopped,
    /// It can't be pinned.
    Unpinned(sys::PinError),
    /// Its memory can't be made ready.
    Unready(RingError),
    /// It did not come in time, or its own time ran away.
    Late,
    /// The others did not come, or ended.
    Left,
    /// Memory does not hold what was written there.
    Corrupt(Corrupt),
}

impl From<Absence> for Ended {
    fn from(absence: Absence) -> Self {
        match absence {
            Absence::Stopped => Self::Stopped,
            Absence::Left => Self::Left,
            Absence::Late => Self::Late,
        }
    }
}

impl<'a> Team<'a> {
    pub fn new(
        members: u32,
        clock: &'a Clock,
        cut: Cut,
        clock_cost: u64,
        gap_tolerance: u64,
        stop: &'a AtomicBool,
        counters: &'a Counters,
    ) -> Self {
        Self { clock, cut, clock_cost, gap_tolerance, stop, counters, line: StartLine::new(members) }
    }

    /// Somebody is missing: all others end.
    pub fn give_up(&self) {
        self.line.give_up();
    }

    /// Pins, waits for the others, warms up, works through all windows.
    pub fn run<W: Work>(&self, cpu: u32, leads: bool, work: &mut W) -> Result<Done, Ended> {
        let outcome = self.pinned(cpu, leads, work);
        if outcome.is_err() {
            self.give_up();
        }
        outcome
    }

    fn pinned<W: Work>(&self, cpu: u32, leads: bool, work: &mut W) -> Result<Done, Ended> {
        // A signal goes to the sleeping main thread, not into a measurement.
        let _ = sys::signals::block_in_this_thread();
        sys::cpu::pin_to(cpu).map_err(Ended::Unpinned)?;
        work.begin(self.stop)
            .map_err(|error| if error == RingError::Stopped { Ended::Stopped } else { Ended::Unready(error) })?;
        let mut worker = Worker {
            team: self,
            cpu,
            leads,
            kernel: ThreadStats::open(),
            log: Log::new(self.cut.windows as usize, self.clock_cost, self.gap_tolerance),
            rates: [0.0; SLICES],
            slices: 0,
            settled: false,
            counters: self.counters.of_this_thread(cpu),
            opening: None,
        };
        let start = self.meet()?;
        let last = worker.warm_up(start, work)?;
        worker.windows(last, work)?;
        let counts = worker.counters.end(worker.log.units());
        let system = worker.opening.map(|first| self.counters.between(&first, &self.counters.snapshot(self.clock)));
        Ok(Done { parts: worker.log.parts, warmup_slices: worker.slices, settled: worker.settled, counts, system })
    }

    /// All members arrive, and begin at one tick.
    fn meet(&self) -> Result<u64, Ended> {
        let now = || self.clock.stamp().ticks;
        Ok(self.line.meet(self.cut.chunk.0, self.cut.hard, now, || self.stop.load(Ordering::Relaxed))?)
    }

    fn check(&self, now: u64, give_up: u64) -> Result<(), Ended> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Ended::Stopped);
        }
        if now > give_up {
            return Err(Ended::Late);
        }
        if self.line.is_broken() { Err(Ended::Left) } else { Ok(()) }
    }
}

/// One thread at work.
struct Worker<'a> {
    team: &'a Team<'a>,
    cpu: u32,
    leads: bool,
    kernel: ThreadStats,
    log: Log,
    /// The leader's pace in the last slices.
    rates: [f64; SLICES],
    slices: u32,
    settled: bool,
    counters: ThreadCounters,
    /// System-wide counters before the first window, of the leader.
    opening: Option<Snapshot>,
}

impl Worker<'_> {
    /// Works until the leader has found the pace steady; returns the last stamp.
    fn warm_up<W: Work>(&mut self, start: u64, work: &mut W) -> Result<u64, Ended> {
        let Team { clock, cut, .. } = self.team;
        let give_up = start.wrapping_add(cut.hard);
        let mut last = clock.stamp().ticks;
        let (mut slice_begin, mut slice_units, mut mark) = (last, 0, start + cut.slice);
        loop {
            let units = work.chunk();
            let now = clock.stamp().ticks;
            self.log.observe(now.wrapping_sub(last));
            slice_units += units;
            last = now;
            if now < mark {
                continue;
            }
            self.team.check(now, give_up).map_err(|ended| self.blame(ended))?;
            // Chunks of the old length say nothing of the new one.
            let median = self.log.settle_median();
            if median > 0 && work.tune(median, cut.chunk) {
                self.log.forget();
            }
            if self.leads {
                self.lead(start, now, slice_units, now.wrapping_sub(slice_begin));
            }
            if self.team.line.opened().is_some() {
                return Ok(clock.stamp().ticks);
            }
            last = clock.stamp().ticks;
            (slice_begin, slice_units) = (last, 0);
            while mark <= last {
                mark += cut.slice;
            }
        }
    }

    /// The leader's decision at the end of a slice: when the first window begins.
    #[expect(clippy::cast_precision_loss, reason = "ticks of a slice stay below 2^52")]
    fn lead(&mut self, start: u64, now: u64, units: u64, ticks: u64) {
        self.rates.rotate_left(1);
        self.rates[SLICES - 1] = units as f64 / ticks.max(1) as f64;
        self.slices += 1;
        let cut = &self.team.cut;
        let spent = now.wrapping_sub(start);
        self.settled = self.slices as usize >= SLICES && stats::settled(&self.rates);
        if (self.settled && spent >= cut.warmup.0) || spent >= cut.warmup.1 {
            self.opening = Some(self.team.counters.snapshot(self.team.clock));
            let now = self.team.clock.stamp().ticks;
            // Late enough for all to see it at their next slice's end.
            self.team.line.open(now.wrapping_add(2 * cut.slice));
        }
    }

    /// While all wait for the leader, it is the leader's time that ran away; who then finds its word has been away itself.
    fn blame(&self, ended: Ended) -> Ended {
        match ended {
            Ended::Left if self.leads => Ended::Late,
            Ended::Late if !self.leads && self.team.line.opened().is_none() => Ended::Left,
            other => other,
        }
    }

    fn windows<W: Work>(&mut self, mut last: u64, work: &mut W) -> Result<(), Ended> {
        let Team { clock, cut, line, .. } = self.team;
        let mut mark = line.opened().unwrap_or(last);
        let give_up = mark.wrapping_add(cut.hard);
        let mut open = false;
        loop {
            let units = work.chunk();
            let stamp = clock.stamp();
            let now = stamp.ticks;
            let on_cpu = stamp.cpu == self.cpu & 0xfff || stamp.cpu == u32::MAX;
            if now < mark {
                if open {
                    self.log.inside(last, now, units, on_cpu);
                } else {
                    self.log.observe(now.wrapping_sub(last));
                }
                last = now;
                if self.team.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                continue;
            }
            // Between two chunks: everything up to the next stamp is left out of this worker's time.
            let asked = self.ask();
            if !open {
                self.counters.begin();
            }
            let resumed = clock.stamp();
            let gap = resumed.ticks.wrapping_sub(now);
            let on_cpu = on_cpu && self.checked_cpu(resumed.cpu);
            if !open {
                self.log.settle_median();
                self.log.open(mark, last, now, units, asked, gap);
                open = true;
            } else if self.log.cross(mark, (last, now, units), on_cpu, asked, gap) {
                return Ok(());
            }
            // A worker that stood still across whole windows closes them all: they hold the standstill as excess.
            mark += cut.window;
            while mark <= now {
                if self.log.cross_again(mark, (last, now, units), on_cpu, asked, gap) {
                    return Ok(());
                }
                mark += cut.window;
            }
            last = resumed.ticks;
            self.team.check(last, give_up).or_else(|ended| match ended {
                Ended::Stopped => Ok(()),
                other => Err(other),
            })?;
            if self.team.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    }

    /// The kernel's view and the core clock, at a mark.
    fn ask(&self) -> Asked {
        let kernel = self.kernel.read();
        let clock = self.team.clock;
        let mut fastest = u64::MAX;
        for _ in 0..SPINS {
            let begin = clock.start();
            spin::dependent_adds(SPIN_ADDS);
            fastest = fastest.min(clock.stop().wrapping_sub(begin));
        }
        Asked { kernel, spin: fastest }
    }

    /// By the stamp where it tells the CPU, else by asking libc.
    fn checked_cpu(&self, stamped: u32) -> bool {
        if stamped == u32::MAX {
            return sys::cpu::current_cpu().is_none_or(|cpu| cpu == self.cpu);
        }
        stamped == self.cpu & 0xfff
    }
}
