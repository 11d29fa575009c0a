//! The clock around a measured region: fenced counter reads, with the counter's
//! own quantum and cost.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::arch;

/// [`Stamp::cpu`] where the counter read does not tell the CPU.
pub const CPU_UNKNOWN: u32 = u32::MAX;

/// A counter value and, where the same instruction tells it, the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Counter value in ticks of the clock's own frequency.
    pub ticks: u64,
    /// The CPU that read it (Linux's number), or [`CPU_UNKNOWN`].
    pub cpu: u32,
}

/// A monotonic counter. Copy it freely: it holds no state.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    pub(crate) source: Source,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// x86's time-stamp counter read by RDTSC and RDTSCP.
    #[cfg(target_arch = "x86_64")]
    Tsc,
    /// The same on a CPU without RDTSCP.
    #[cfg(target_arch = "x86_64")]
    TscOnly,
    /// AArch64's virtual counter.
    #[cfg(target_arch = "aarch64")]
    Cntvct,
    /// Anything else.
    Fn(fn() -> u64, f64),
}

impl Clock {
    /// The time-stamp counter; `None` off x86-64.
    ///
    /// Whether it is fit for use ([`invariant_tsc`], the kernel's clocksource)
    /// is the caller's decision.
    #[must_use]
    pub fn tsc() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            let source = if rdtscp_available() { Source::Tsc } else { Source::TscOnly };
            Some(Self { source })
        }
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// The virtual counter CNTVCT_EL0; `None` off AArch64.
    #[must_use]
    pub fn cntvct() -> Option<Self> {
        #[cfg(target_arch = "aarch64")]
        return Some(Self { source: Source::Cntvct });
        #[cfg(not(target_arch = "aarch64"))]
        None
    }

    /// Any other counter, such as CLOCK_MONOTONIC_RAW, with its frequency.
    #[must_use]
    pub fn from_fn(read: fn() -> u64, hz: f64) -> Self {
        Self { source: Source::Fn(read, hz) }
    }

    /// `tsc`, `cntvct` or `function`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.source {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc | Source::TscOnly => "tsc",
            #[cfg(target_arch = "aarch64")]
            Source::Cntvct => "cntvct",
            Source::Fn(..) => "function",
        }
    }

    /// The frequency that the counter declares itself (CNTFRQ_EL0, or that given
    /// to [`Clock::from_fn`]); `None` for the TSC: [calibrate](Clock::calibrate).
    #[must_use]
    pub fn declared_hz(&self) -> Option<f64> {
        match self.source {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc | Source::TscOnly => None,
            #[cfg(target_arch = "aarch64")]
            Source::Cntvct => Some(arch::cntfrq() as f64),
            Source::Fn(_, hz) => Some(hz),
        }
    }

    /// Reads the counter at the start of a region: nothing before it is still
    /// running, nothing of the region has begun.
    #[inline(always)]
    #[must_use]
    pub fn start(&self) -> u64 {
        match self.source {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc | Source::TscOnly => arch::tsc_start(),
            #[cfg(target_arch = "aarch64")]
            Source::Cntvct => arch::cntvct(),
            Source::Fn(read, _) => read(),
        }
    }

    /// Reads the counter at the end of a region: all of it is done, nothing
    /// after it has begun.
    #[inline(always)]
    #[must_use]
    pub fn stop(&self) -> u64 {
        self.stamp().ticks
    }

    /// As [`Clock::stop`], with the CPU where the same instruction tells it.
    #[inline(always)]
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        match self.source {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc => {
                let (ticks, aux) = arch::tsc_stop();
                // Linux keeps (node << 12) | cpu in TSC_AUX.
                Stamp { ticks, cpu: aux & 0xfff }
            }
            #[cfg(target_arch = "x86_64")]
            Source::TscOnly => Stamp { ticks: arch::tsc_start(), cpu: CPU_UNKNOWN },
            #[cfg(target_arch = "aarch64")]
            Source::Cntvct => Stamp { ticks: arch::cntvct(), cpu: CPU_UNKNOWN },
            Source::Fn(read, _) => Stamp { ticks: read(), cpu: CPU_UNKNOWN },
        }
    }

    /// The counter's quantum in ticks: the step by which its value moves (1 for
    /// a true TSC; more on counters that are scaled up from a slower one).
    #[must_use]
    pub fn quantum_ticks(&self) -> u64 {
        let mut deltas = [0u64; 4096];
        let mut last = self.start();
        for delta in &mut deltas {
            let now = self.start();
            *delta = now.wrapping_sub(last);
            last = now;
        }
        quantum(&deltas)
    }

    /// What an empty region reads, in ticks: the median of back-to-back
    /// [`Clock::start`] and [`Clock::stop`].
    #[must_use]
    pub fn cost_ticks(&self) -> u64 {
        let mut costs = [0u64; 1001];
        for cost in &mut costs {
            let start = self.start();
            *cost = self.stop().wrapping_sub(start);
        }
        costs.sort_unstable();
        costs[costs.len() / 2]
    }

    /// The counter's frequency in Hz against a reference clock in nanoseconds.
    ///
    /// Takes about 25 ms. `None` when either clock stood still.
    pub fn calibrate(&self, reference_ns: impl Fn() -> u64) -> Option<f64> {
        const SPAN_NS: u64 = 25_000_000;
        // A reference that stands still must not hang us; no clock needs as few
        // as 12 ns a read, so this bound never cuts a good calibration short.
        const MAX_READS: u32 = 4_000_000;
        let begin = self.tightest(&reference_ns);
        let mut reads = 0;
        while reference_ns().wrapping_sub(begin.1) < SPAN_NS {
            reads += 1;
            if reads == MAX_READS {
                return None;
            }
        }
        let end = self.tightest(&reference_ns);
        let ticks = end.0.wrapping_sub(begin.0);
        let ns = end.1.wrapping_sub(begin.1);
        (ticks > 0 && ns > 0).then(|| ticks as f64 * 1e9 / ns as f64)
    }

    /// (ticks, ns) of one instant: of 64 reference reads, each between two
    /// counter reads, the one between the closest two.
    fn tightest(&self, reference_ns: &impl Fn() -> u64) -> (u64, u64) {
        let mut best = (u64::MAX, 0, 0);
        for _ in 0..64 {
            let before = self.start();
            let ns = reference_ns();
            let width = self.stop().wrapping_sub(before);
            if width < best.0 {
                best = (width, before.wrapping_add(width / 2), ns);
            }
        }
        (best.1, best.2)
    }
}

/// Whether RDTSCP exists (false off x86-64).
#[must_use]
pub fn rdtscp_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return extended_edx(0x8000_0001) & (1 << 27) != 0;
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether CPUID calls the time-stamp counter invariant: constant rate in all
/// power states (false off x86-64).
#[must_use]
pub fn invariant_tsc() -> bool {
    #[cfg(target_arch = "x86_64")]
    return extended_edx(0x8000_0007) & (1 << 8) != 0;
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(target_arch = "x86_64")]
fn extended_edx(leaf: u32) -> u32 {
    use std::arch::x86_64::__cpuid;
    if __cpuid(0x8000_0000).eax < leaf {
        return 0;
    }
    __cpuid(leaf).edx
}

/// The step of a counter from the differences of successive reads.
///
/// Differences of zero mean that reads are quicker than steps: then the smallest
/// other one is a step (seen so even where the step is no whole number of ticks).
/// Otherwise reads span several steps and the greatest common divisor is left.
fn quantum(deltas: &[u64]) -> u64 {
    let nonzero = || deltas.iter().copied().filter(|&d| d != 0);
    let common = nonzero().fold(0, gcd);
    let smallest = nonzero().min().unwrap_or(1);
    if deltas.contains(&0) { smallest } else { common }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The best clock that tests can have anywhere.
#[cfg(test)]
pub(crate) fn for_tests() -> Clock {
    Clock::tsc().or(Clock::cntvct()).unwrap_or(Clock::from_fn(tests::nanos, 1e9))
}

#[cfg(test)]
mod tests {
    use super::{Clock, quantum};
    use std::sync::OnceLock;
    use std::time::Instant;

    pub(super) fn nanos() -> u64 {
        static EPOCH: OnceLock<Instant> = OnceLock::new();
        EPOCH.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }

    #[test]
    fn quantum_of_fast_coarse_and_still_counters() {
        assert_eq!(quantum(&[42, 44, 48]), 2);
        assert_eq!(quantum(&[61, 64, 63]), 1);
        assert_eq!(quantum(&[80, 40, 120]), 40);
        // 19.2 MHz told in nanoseconds: steps of 52.08.
        assert_eq!(quantum(&[0, 52, 0, 0, 53, 104, 0]), 52);
        assert_eq!(quantum(&[0, 0]), 1);
    }

    #[test]
    fn every_clock_is_monotonic_and_calibrates() {
        let all = [Clock::tsc(), Clock::cntvct(), Some(Clock::from_fn(nanos, 1e9))];
        for clock in all.into_iter().flatten() {
            let first = clock.start();
            assert!(clock.stamp().ticks >= first);
            assert!(clock.quantum_ticks() >= 1);
            let hz = clock.calibrate(nanos).unwrap();
            let declared = clock.declared_hz().unwrap_or(hz);
            assert!((hz / declared - 1.0).abs() < 0.02, "{hz} against {declared}");
        }
    }

    #[test]
    fn a_reference_that_stands_still_is_refused_in_bounded_time() {
        assert_eq!(Clock::from_fn(|| 5, 1e9).calibrate(|| 7), None);
    }

    #[test]
    fn cost_is_the_median_of_empty_regions() {
        use std::sync::atomic::{AtomicU64, Ordering};
        static READS: AtomicU64 = AtomicU64::new(0);
        let ticking = Clock::from_fn(|| READS.fetch_add(3, Ordering::Relaxed), 1e9);
        assert_eq!(ticking.cost_ticks(), 3);
        assert_eq!(ticking.quantum_ticks(), 3);
    }
}
