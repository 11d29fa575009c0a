//! The machine that we run on.

mod arenas;
mod bench;
mod blocks;
mod combine;
mod counters;
mod crew;
mod fill;
mod log;
mod pair;
mod prefetch;
mod reference;
mod start;
mod stream;
mod team;
mod threads;
mod timed;
pub(crate) mod timing;
mod transfer;
mod watch;
mod wide;
mod work;

use crate::backend::{Backend, Bench, Failure, PhaseOutcome};
use crate::spent::Spent;
use arenas::Held;
pub(crate) use arenas::{SAMPLES, differing};
use bench::HardwareBench;
use counters::Counters;
use memgauge_kernels::{Clock, spin};
use memgauge_model::{ArenaId, ClockFacts, CounterState, Plan, Reason};
use memgauge_sys as sys;
use memgauge_sys::guard::RegisterGuard;
pub(crate) use pair::sharing_ratio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Measures on the hardware, with threads pinned to the plan's CPUs.
pub struct Hardware {
    clock: Clock,
    hz: f64,
    /// By the last calibration; 0 before the first.
    facts: ClockFacts,
    epoch: Instant,
    stop: &'static AtomicBool,
    /// Of the cores that chase, where they may be switched.
    prefetchers: Option<RegisterGuard>,
    counters: Counters,
}

impl Hardware {
    /// Chooses the clock and calibrates it (25 ms). `clocksource` is the kernel's own, where known; `stop` ends everything
    /// soon after it is set.
    ///
    /// # Errors
    ///
    /// [`Failure::Fatal`] when no clock moves.
    pub fn new(clocksource: Option<&str>, stop: &'static AtomicBool) -> Result<Self, Failure> {
        let clock = choose_clock(clocksource);
        let hz = clock
            .calibrate(sys::clock::monotonic_raw_ns)
            .ok_or_else(|| Failure::Fatal("no clock of this machine moves".into()))?;
        Ok(Self {
            clock,
            hz,
            facts: ClockFacts::default(),
            epoch: Instant::now(),
            stop,
            prefetchers: None,
            counters: Counters::default(),
        })
    }

    /// Has prefetchers off by this guard while a chase runs, on the CPUs that the plan names.
    pub fn hold_prefetchers(&mut self, guard: RegisterGuard) {
        self.prefetchers = Some(guard);
    }

    /// Puts prefetchers back for good. Dropping does the same, without telling.
    ///
    /// # Errors
    ///
    /// What could not be put back, in words.
    pub fn release_prefetchers(&mut self) -> Result<(), String> {
        self.prefetchers.take().map_or(Ok(()), RegisterGuard::close).map_err(|error| error.to_string())
    }

    /// The clock and its ticks a second.
    #[must_use]
    pub fn clock_and_hz(&self) -> (&Clock, f64) {
        (&self.clock, self.hz)
    }

    fn quantum_ns(&self) -> f64 {
        self.facts.quantum_ns
    }

    fn cost_ticks(&self) -> u64 {
        timing::ns_to_ticks_exact(self.facts.cost_ns, self.hz)
    }

    /// The core clock, Hz; a guess before it was measured, used for lengths only.
    fn core_hz(&self) -> f64 {
        if self.facts.core_hz > 0.0 { self.facts.core_hz } else { 2e9 }
    }

    /// Why a block is empty: it was told to stop, or `otherwise`.
    fn nothing_came(&self, otherwise: &str) -> Failure {
        if self.stop.load(Ordering::Relaxed) { Failure::Stopped } else { Failure::point(Reason::OutOfTime, otherwise) }
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// The TSC where it is invariant and the kernel trusts it, the generic counter on Arm, else CLOCK_MONOTONIC_RAW.
fn choose_clock(clocksource: Option<&str>) -> Clock {
    // The kernel drops the TSC as clock source where it is unsynchronised or unstable; a guest's paravirtual clock source
    // is built on the TSC and says nothing against it.
    let trusted = clocksource.is_none_or(|source| matches!(source, "tsc" | "kvm-clock" | "hyperv_clocksource_tsc_page" | "xen"));
    let tsc = || Clock::tsc().filter(|_| trusted && memgauge_kernels::clock::invariant_tsc());
    Clock::cntvct().or_else(tsc).unwrap_or_else(|| Clock::from_fn(sys::clock::monotonic_raw_ns, 1e9))
}

/// The clock as the record names it.
fn source_name(clock: &Clock) -> &'static str {
    match clock.name() {
        "function" => "monotonic_raw",
        counter => counter,
    }
}

impl Backend for Hardware {
    fn now_ns(&self) -> u64 {
        self.elapsed()
    }

    fn stopped(&self) -> Option<String> {
        sys::signals::stop_requested().map(|signal| timing::signal_name(signal.number()).to_owned())
    }

    fn clock(&mut self, plan: &Plan) -> Result<ClockFacts, Failure> {
        let cpu = plan.observer.or_else(|| plan.points.first()?.threads.first().map(|thread| thread.cpu));
        let (clock, reference) = (&self.clock, sys::clock::monotonic_raw_ns);
        // On the CPU that measures, in a thread of its own: the main thread is never pinned.
        let facts = std::thread::scope(|scope| {
            let thread = threads::spawn(scope, || {
                if let Some(cpu) = cpu {
                    sys::cpu::pin_to(cpu).map_err(|error| Failure::Fatal(error.to_string()))?;
                }
                let hz = clock.calibrate(reference).ok_or_else(|| Failure::Fatal("the clock stopped".into()))?;
                let ns = |ticks: u64| timing::ticks_to_ns(ticks, hz);
                let adds = 1_000_000;
                spin::dependent_adds(adds);
                let spins = (0..5).map(|_| {
                    let begin = clock.start();
                    spin::dependent_adds(adds);
                    ns(clock.stop().wrapping_sub(begin))
                });
                let fastest = spins.fold(f64::INFINITY, f64::min);
                Ok(ClockFacts {
                    source: source_name(clock).to_owned(),
                    hz,
                    hz_after: hz,
                    quantum_ns: ns(clock.quantum_ticks()),
                    cost_ns: ns(clock.cost_ticks()),
                    core_hz: 1e9 * 1e6 / fastest,
                })
            })?;
            thread.join().unwrap_or_else(|_| Err(Failure::Fatal("the calibrating thread ended".into())))
        })?;
        self.hz = facts.hz;
        self.facts = facts.clone();
        Ok(facts)
    }

    fn counters(&mut self, plan: &Plan) -> CounterState {
        let (counters, state) = Counters::open(&plan.counters);
        self.counters = counters;
        state
    }

    fn phase(
        &mut self,
        plan: &Plan,
        ids: &[ArenaId],
        seed: u64,
        body: &mut dyn FnMut(&mut dyn Bench) -> Result<(), Failure>,
    ) -> Result<PhaseOutcome, Failure> {
        let mut spent = Spent::default();
        let begun = self.elapsed();
        let Held { mut arenas, mut lost, events } = arenas::map(plan, ids)?;
        match fill::populate(plan, &arenas, self.stop) {
            Ok(more) => lost.extend(more),
            Err(failure) => return Err(given_back(arenas, failure)),
        }
        arenas.retain(|mapped| !lost.contains_key(&mapped.id));
        spent.add("touch", self.elapsed() - begun);
        let touched = self.elapsed();
        let before = arenas::placements(plan, &arenas);
        let physical = arenas::places(plan, &arenas);
        spent.add("check", self.elapsed() - touched);
        let checked = self.elapsed();
        let memories = match fill::fill(plan, &mut arenas, seed, self.stop) {
            Ok(memories) => memories,
            Err(failure) => return Err(given_back(arenas, failure)),
        };
        spent.add("fill", self.elapsed() - checked);

        let filled = self.elapsed();
        let mut bench = HardwareBench::new(self, memories, lost, seed);
        let done = body(&mut bench);
        drop(bench);
        spent.add("blocks", self.elapsed() - filled);

        let measured = self.elapsed();
        let after = arenas::placements(plan, &arenas);
        arenas::release(arenas);
        spent.add("release", self.elapsed() - measured);
        let events = events.into_iter().chain(arenas::differing(&before)).collect();
        Ok(PhaseOutcome { before, after, events, physical, failure: done.err(), spent_ns: spent.into_map() })
    }
}

/// A failure, when what was mapped is unmapped.
fn given_back(arenas: Vec<arenas::Mapped>, failure: Failure) -> Failure {
    arenas::release(arenas);
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tsc_is_taken_only_where_the_kernel_trusts_it() {
        let chosen = |source| source_name(&choose_clock(source));
        let other = if cfg!(target_arch = "aarch64") { "cntvct" } else { "monotonic_raw" };
        for source in ["hpet", "acpi_pm", "refined-jiffies", ""] {
            assert_eq!(chosen(Some(source)), other, "{source}");
        }
        let invariant = cfg!(target_arch = "x86_64") && memgauge_kernels::clock::invariant_tsc();
        for source in [None, Some("tsc"), Some("kvm-clock"), Some("xen")] {
            assert_eq!(chosen(source), if invariant { "tsc" } else { other }, "{source:?}");
        }
    }
}
