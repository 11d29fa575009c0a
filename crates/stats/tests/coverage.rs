//! How often the interval holds the truth when rounds are added until the stop
//! rule is content: the promise of 95 %, simulated.
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic")]

use memgauge_stats::{LOOKS, Look, Rng, look, median};

const RUNS: usize = 1000;
const WINDOWS: usize = 15;
const TRUTH: f64 = 100.0;

#[test]
fn independent_windows() {
    for precision in [0.002, 0.004, 0.01] {
        held(Noise { correlation: 0.0, window: 1.0, allocation: 0.0 }, precision);
    }
}

#[test]
fn dependent_windows_and_an_allocation_spread() {
    for precision in [0.005, 0.01, 0.02] {
        held(Noise { correlation: 0.9, window: 1.0, allocation: 1.0 }, precision);
    }
}

/// Standard deviations in the unit of the truth, and lag-1 autocorrelation.
struct Noise {
    correlation: f64,
    window: f64,
    allocation: f64,
}

fn held(noise: Noise, precision: f64) {
    let mut rng = Rng::new(2024);
    let mut stops = [0; LOOKS.len()];
    let mut held = 0;
    for _ in 0..RUNS {
        let mut rounds = Vec::new();
        let interval = loop {
            rounds.push(round(&noise, &mut rng));
            match look(&rounds, precision) {
                Look::Continue { .. } => {}
                Look::Reached { interval, .. } | Look::Exhausted { interval, .. } => break interval,
                Look::Invalid => panic!("{rounds:?}"),
            }
        };
        let at = LOOKS.iter().position(|&n| n == rounds.len()).unwrap();
        stops[at] += 1;
        held += usize::from(interval.lo <= TRUTH && TRUTH <= interval.hi);
    }
    let coverage = held as f64 / RUNS as f64;
    assert!((0.93..=0.985).contains(&coverage), "{precision}: {coverage}, stops {stops:?}");
}

/// A round's value: the median of AR(1) windows around its allocation's level.
fn round(noise: &Noise, rng: &mut Rng) -> f64 {
    let level = TRUTH + noise.allocation * normal(rng);
    let fresh = libm::sqrt(1.0 - noise.correlation * noise.correlation);
    let mut off = normal(rng);
    let windows: Vec<f64> = (0..WINDOWS)
        .map(|_| {
            off = noise.correlation * off + fresh * normal(rng);
            level + noise.window * off
        })
        .collect();
    median(&windows).unwrap()
}

/// Standard normal by Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - rng.unit()));
    radius * libm::cos(std::f64::consts::TAU * rng.unit())
}
