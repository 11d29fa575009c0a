//! Ticks, nanoseconds and lengths.

use memgauge_model::WindowRule;

/// Ticks of a clock of `hz` as ns.
#[expect(clippy::cast_precision_loss, reason = "ticks of a block stay below 2^52")]
pub fn ticks_to_ns(ticks: u64, hz: f64) -> f64 {
    ticks as f64 * 1e9 / hz
}

/// Nanoseconds as ticks of a clock of `hz`, at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "ns of a run")]
pub fn ns_to_ticks(ns: u64, hz: f64) -> u64 {
    ((ns as f64 * hz / 1e9) as u64).max(1)
}

/// The same for a small span, rounded, possibly 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive span")]
pub fn ns_to_ticks_exact(ns: f64, hz: f64) -> u64 {
    (ns * hz / 1e9).round().max(0.0) as u64
}

/// The name of a signal's number.
pub fn signal_name(number: i32) -> &'static str {
    match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        15 => "SIGTERM",
        _ => "a signal",
    }
}

/// How a block is cut into windows, ticks.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    /// A window.
    pub window: u64,
    /// A slice of the warm-up: a quarter of the shortest window.
    pub slice: u64,
    /// Windows.
    pub windows: u32,
    /// Warm-up at least and at most.
    pub warmup: (u64, u64),
    /// A chunk of a stream, aimed at; and of anything, at most.
    pub chunk: (u64, u64),
    /// The longest time that a block may take before it is given up.
    pub hard: u64,
}

impl Cut {
    /// Windows of max(rule, 1000 quanta, 20 bursts at `delay` core cycles), as many as fit into `time_ns`.
    pub fn new(rule: &WindowRule, time_ns: u64, delay: u32, quantum_ns: f64, core_hz: f64, hz: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a window's ns, positive and small")]
        let whole = |ns: f64| ns.max(0.0) as u64;
        let bursts_ns = if delay == 0 { 0.0 } else { 20.0 * (f64::from(delay) + 100.0) * 1e9 / core_hz };
        let window_ns = rule.min_ns.max(whole(1000.0 * quantum_ns)).max(whole(bursts_ns));
        let windows = (time_ns / window_ns).max(u64::from(rule.min_windows)).max(1);
        let ticks = |ns| ns_to_ticks(ns, hz);
        let total_ns = window_ns.saturating_mul(windows).saturating_add(rule.warmup_max_ns.max(window_ns * 2));
        Self {
            window: ticks(window_ns),
            slice: ticks(window_ns / 4),
            windows: u32::try_from(windows).unwrap_or(u32::MAX),
            warmup: (ticks(rule.warmup_min_ns), ticks(rule.warmup_max_ns.max(window_ns))),
            // About 50 µs: what counts as standing still is a chunk 50 µs above the median, and a chunk of 200 µs is that by the
            // memory's own unsteadiness (of two writing threads two thirds of the windows were left out for it).
            chunk: (ticks(window_ns / 200), ticks(window_ns / 20)),
            hard: ticks(total_ns.saturating_mul(4).saturating_add(2_000_000_000)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memgauge_model::DisturbanceLimits;

    #[test]
    fn windows_grow_with_quantum_and_delay_and_fill_the_time() {
        let rule = WindowRule {
            min_ns: 10_000_000,
            min_windows: 1,
            warmup_min_ns: 20_000_000,
            warmup_max_ns: 50_000_000,
            hops_per_stamp: 200,
            limits: DisturbanceLimits::default(),
        };
        let cut = |time, delay, quantum| Cut::new(&rule, time, delay, quantum, 2e9, 1e9);
        assert_eq!((cut(60_000_000, 0, 1.0).window, cut(60_000_000, 0, 1.0).windows), (10_000_000, 6));
        assert_eq!(cut(60_000_000, 0, 40_000.0).window, 40_000_000);
        assert_eq!(cut(60_000_000, 2_000_000, 1.0).window, 20_001_000);
        assert_eq!(cut(1, 0, 1.0).windows, 1);
    }
}
