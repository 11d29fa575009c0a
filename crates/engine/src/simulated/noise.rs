//! How figures scatter: windows that remember, allocations that differ, a host that moves CPUs. All of it from one seed.

use crate::simulated::description::{Noise, PlacementStates};
use memgauge_stats::Rng;

/// Nothing is slower or faster by more than this many times its own.
const LEAST: f64 = 0.05;

/// The course of the windows: one for the whole machine, so that what slows a chase slows the streams beside it.
#[derive(Debug, Clone)]
pub struct Drift {
    rng: Rng,
    noise: Noise,
    at_ns: u64,
    place: f64,
}

impl Drift {
    pub fn new(noise: Noise, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let place = normal(&mut rng);
        Self { rng, noise, at_ns: 0, place }
    }

    /// How much slower than usual the machine is in a window of this length that ends now, as a fraction; below 0 is faster.
    pub fn window(&mut self, now_ns: u64, window_ns: u64) -> f64 {
        let steps = now_ns.saturating_sub(self.at_ns) as f64 / window_ns.max(1) as f64;
        self.at_ns = now_ns;
        let kept = if self.noise.correlation > 0.0 { libm::pow(self.noise.correlation, steps) } else { 0.0 };
        self.place = kept * self.place + libm::sqrt(1.0 - kept * kept) * normal(&mut self.rng);
        self.noise.window * self.place
    }

    /// Another such draw, of something that has no window: a pass, a ping-pong.
    pub fn apart(&mut self) -> f64 {
        self.noise.window * normal(&mut self.rng)
    }

    /// Does something of this probability happen?
    pub fn happens(&mut self, share: f64) -> bool {
        self.rng.unit() < share
    }
}

/// How much slower than usual an allocation is, as a fraction, by its phase's seed and its number.
pub fn allocation(noise: &Noise, seed: u64, arena: usize) -> (f64, Rng) {
    let mut rng = Rng::new(seed ^ (arena as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (noise.allocation * normal(&mut rng), rng)
}

/// A time that takes this much longer.
pub fn longer(time: f64, by: f64) -> f64 {
    time * (1.0 + by).max(LEAST)
}

/// A rate that is this much lower.
pub fn lower(rate: f64, by: f64) -> f64 {
    rate * (1.0 - by).max(LEAST)
}

/// Where a host has put the CPUs, over time.
#[derive(Debug, Clone)]
pub struct Host {
    states: Option<PlacementStates>,
    rng: Rng,
    far: bool,
    /// When it moves them next, ns.
    next_ns: f64,
}

impl Host {
    pub fn new(states: Option<PlacementStates>, seed: u64) -> Self {
        let mut host = Self { states, rng: Rng::new(seed), far: false, next_ns: 0.0 };
        host.far = host.rng.unit() < 0.5;
        host.next_ns = host.stay();
        host
    }

    /// What transfers take and what several threads get, over what they do in the near state.
    pub fn factors(&mut self, now_ns: u64) -> (f64, f64) {
        let Some(states) = self.states else { return (1.0, 1.0) };
        while now_ns as f64 >= self.next_ns {
            self.far = !self.far;
            self.next_ns += self.stay();
        }
        if self.far { (states.transfer, states.bandwidth) } else { (1.0, 1.0) }
    }

    /// Until it moves them again: as long as decay takes.
    fn stay(&mut self) -> f64 {
        let dwell_s = self.states.map_or(f64::INFINITY, |states| states.dwell_s);
        -libm::log(1.0 - self.rng.unit()) * dwell_s * 1e9
    }
}

/// Standard normal, by Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - rng.unit()));
    radius * libm::cos(std::f64::consts::TAU * rng.unit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use memgauge_stats::lag1_autocorrelation;

    fn windows(correlation: f64) -> Vec<f64> {
        let mut drift = Drift::new(Noise { window: 0.01, correlation, ..Noise::default() }, 7);
        (1..20_000_u64).map(|at| drift.window(at * 10_000_000, 10_000_000)).collect()
    }

    #[test]
    fn windows_scatter_and_remember_as_described() {
        for correlation in [0.0, 0.9] {
            let seen = windows(correlation);
            let spread = libm::sqrt(seen.iter().map(|x| x * x).sum::<f64>() / seen.len() as f64);
            assert!((spread / 0.01 - 1.0).abs() < 0.1, "{correlation}: {spread}");
            let found = lag1_autocorrelation(&seen).unwrap();
            assert!((found - correlation).abs() < 0.03, "{correlation}: {found}");
        }
    }

    #[test]
    fn a_host_is_half_the_time_in_either_state_and_stays_as_long_as_described() {
        let states = PlacementStates { dwell_s: 2.0, transfer: 4.0, bandwidth: 1.9 };
        let mut host = Host::new(Some(states), 3);
        let seen: Vec<bool> = (0..100_000_u64).map(|at| host.factors(at * 100_000_000) == (4.0, 1.9)).collect();
        let far = seen.iter().filter(|far| **far).count() as f64 / seen.len() as f64;
        assert!((0.45..0.55).contains(&far), "{far}");
        let moves = seen.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64;
        // Looked at every 0.1 s over 10 000 s: some moves to and fro fall between two looks.
        assert!((moves / 5000.0 - 1.0).abs() < 0.1, "{moves}");
        assert_eq!(Host::new(None, 3).factors(u64::MAX), (1.0, 1.0));
    }
}
