//! Spins with a known number of instructions: the core clock and the sharing probe.

use crate::arch;

/// Adds that one iteration of [`eight_chains`] performs (eight on each chain).
pub const ADDS_PER_ITERATION: u64 = 64;

/// Exactly `n` dependent one-cycle adds: takes `n` *core* cycles, so timing it
/// gives the true core clock (turbo and throttling included) without counters.
///
/// Time one long call: what follows, another call included, may overlap with its end.
/// Register-register adds: recent cores fold chains of add-immediate away.
#[inline]
pub fn dependent_adds(n: u64) {
    std::hint::black_box(arch::dependent_adds(n, 0));
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

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::time::{Duration, Instant};

    use super::{dependent_adds, eight_chains};
    use crate::arch;

    fn best(f: impl Fn()) -> Duration {
        let time = |_| {
            let start = Instant::now();
            f();
            start.elapsed()
        };
        (0..20).map(time).min().unwrap_or_default()
    }

    /// The clock of a shared core moves: any of ten tries may tell.
    fn some_try(what: &str, range: std::ops::Range<f64>, measure: impl Fn() -> f64) {
        let tries: Vec<f64> = (0..10).map(|_| measure()).collect();
        assert!(tries.iter().any(|t| range.contains(t)), "{what}: {tries:?}");
    }

    /// 2n adds take twice n, and a remainder takes its share: 127 adds more are a
    /// tenth of 1280 more.
    #[test]
    fn time_is_proportional_to_the_adds() {
        let time = |n: u64, times: u64| {
            let chain = || (0..times).fold(0, |x, _| arch::dependent_adds(black_box(n), x));
            best(|| {
                black_box(chain());
            })
            .as_secs_f64()
        };
        some_try("twice as many", 1.95..2.05, || time(200_000, 1) / time(100_000, 1));
        some_try("127 of 1280 more", 0.08..0.13, || {
            let none = time(1280, 64);
            (time(1280 + 127, 64) - none) / (time(2 * 1280, 64) - none)
        });
    }

    /// Eight chains run side by side: the adds of one iteration, one after another,
    /// would take at least as long.
    #[test]
    fn real_eight_chains_overlap() {
        some_try("gain", 1.5..9.0, || {
            let side_by_side = best(|| eight_chains(black_box(2_000)));
            let in_turn = best(|| dependent_adds(black_box(2_000 * super::ADDS_PER_ITERATION)));
            in_turn.as_secs_f64() / side_by_side.as_secs_f64()
        });
        eight_chains(0);
    }
}
