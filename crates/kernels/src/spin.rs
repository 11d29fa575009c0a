//! Spins with a known number of instructions: the core clock and the sharing probe.

use crate::arch;

/// Adds that one iteration of [`eight_chains`] performs (eight on each chain).
pub const ADDS_PER_ITERATION: u64 = 64;

/// Exactly `n` dependent one-cycle adds: takes `n` *core* cycles, so timing it
/// gives the true core clock (turbo and throttling included) without counters.
///
/// Register-register adds: recent cores fold chains of add-immediate away.
#[inline]
pub fn dependent_adds(n: u64) {
    arch::dependent_adds(n);
}

/// `iterations` × [`ADDS_PER_ITERATION`] adds on eight independent chains:
/// bound by the core's add throughput, which two SMT siblings share. Run on two
/// CPUs at once, a throughput below 0.75 of that of one alone means that they
/// share a core. (A single dependent chain hardly notices a sibling.)
#[inline]
pub fn eight_chains(iterations: u64) {
    arch::eight_chains(iterations);
}

/// A hint to the core that this is a spin-wait.
#[inline]
pub fn pause() {
    std::hint::spin_loop();
}
