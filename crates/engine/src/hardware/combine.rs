//! From the parts of all workers to windows.

use super::log::Part;
use super::team::{Done, SPIN_ADDS};
use super::timing::ticks_to_ns;
use memgauge_model::{Signs, Window};
use memgauge_stats as stats;

/// One worker's result and what its units are.
pub struct Brought {
    pub done: Done,
    pub kind: Kind,
}

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A hop of the observer: 64 bytes.
    Hop,
    /// A burst of so many application bytes, by accesses to so many lines.
    Burst { bytes: u64, lines: u64 },
    /// Nothing.
    KeepAlive,
}

impl Kind {
    /// Accesses to lines in so many units.
    pub fn accesses(self, units: u64) -> u64 {
        match self {
            Self::Hop => units,
            Self::Burst { lines, .. } => units * lines,
            Self::KeepAlive => 0,
        }
    }
}

/// Windows that every worker has brought, with the worst that any of them noticed.
pub fn windows(brought: &[Brought], window: u64, hz: f64, by_thread: bool) -> Vec<Window> {
    let count = brought.iter().map(|b| b.done.parts.len()).min().unwrap_or(0);
    let usual: Vec<f64> = brought.iter().map(|b| usual_spin(&b.done.parts)).collect();
    (0..count)
        .map(|at| {
            let signs = Signs { waits_told: true, ..Signs::default() };
            let mut combined = Window { ns: ticks_to_ns(window, hz), signs, ..Window::default() };
            for (worker, usual) in brought.iter().zip(&usual) {
                let before = combined.load_bytes_per_s;
                add(&mut combined, &worker.done.parts[at], worker.kind, *usual, window, hz);
                if by_thread && matches!(worker.kind, Kind::Burst { .. }) {
                    combined.threads.push(combined.load_bytes_per_s - before);
                }
            }
            combined
        })
        .collect()
}

/// The core clock by a worker's spins, Hz.
pub fn core_hz(parts: &[Part], hz: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a constant")]
    let adds = SPIN_ADDS as f64;
    let usual = usual_spin(parts);
    if usual > 0.0 { adds * hz / usual } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "ticks of a window stay below 2^52")]
fn add(to: &mut Window, part: &Part, kind: Kind, usual: f64, window: u64, hz: f64) {
    let active_s = ticks_to_ns(window.saturating_sub(part.gap).max(1), hz) / 1e9;
    match kind {
        Kind::Hop => {
            to.hops += part.inside_units;
            to.hop_ns += ticks_to_ns(part.inside, hz);
            to.observer_bytes_per_s += part.units * 64.0 / active_s;
        }
        Kind::Burst { bytes, .. } => to.load_bytes_per_s += part.units * bytes as f64 / active_s,
        // It only has to be busy: what disturbs it disturbs nobody, unless it was away for a tenth of the window.
        Kind::KeepAlive => {
            let away = ticks_to_ns(part.excess, hz).max(part.waited_ns as f64);
            to.signs.uncovered |= away > 0.1 * to.ns;
            return;
        }
    }
    let spin = part.spins.iter().map(|spin| (*spin as f64 / usual - 1.0).abs()).fold(0.0, f64::max);
    let signs = &mut to.signs;
    *signs = Signs {
        switches: signs.switches.max(part.switches),
        wait_ns: signs.wait_ns.max(part.waited_ns),
        waits_told: signs.waits_told && part.waits_told,
        gap_ns: signs.gap_ns.max(ticks_to_ns(part.excess, hz)),
        spin: signs.spin.max(if usual > 0.0 { spin } else { 0.0 }),
        wrong_cpu: signs.wrong_cpu | part.wrong_cpu,
        major_faults: signs.major_faults.max(part.major_faults),
        minor_faults: signs.minor_faults.max(part.minor_faults),
        uncovered: signs.uncovered | part.late,
        // Known when all is measured.
        reference: signs.reference,
    };
}

#[expect(clippy::cast_precision_loss, reason = "ticks of a spin stay below 2^52")]
fn usual_spin(parts: &[Part]) -> f64 {
    let spins: Vec<f64> = parts.iter().map(|part| part.spins[1] as f64).collect();
    stats::median(&spins).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use memgauge_model::{Disturbance, DisturbanceLimits, ThreadCounts};

    /// A worker whose spins took so many ticks at the marks.
    fn spun(spins: &[u64]) -> Brought {
        let part = |pair: &[u64]| Part { units: 1.0, spins: [pair[0], pair[1]], waits_told: true, ..Part::default() };
        let parts = spins.windows(2).map(part).collect();
        let counts = ThreadCounts::default();
        let done = Done { parts, warmup_slices: 6, settled: true, counts, system: None };
        Brought { done, kind: Kind::Burst { bytes: 256, lines: 4 } }
    }

    /// The windows that the core clock disturbs, by place.
    fn disturbed(workers: &[Brought]) -> Vec<usize> {
        let limits = DisturbanceLimits::default();
        let seen = windows(workers, 10_000_000, 1e9, false);
        let moved = seen.iter().enumerate().filter(|(_, window)| window.disturbances(&limits).any(|d| d == Disturbance::Spin));
        moved.map(|(at, _)| at).collect()
    }

    #[test]
    fn a_core_clock_that_drops_marks_its_windows_whoever_has_it() {
        let steady = || spun(&[2800; 11]);
        // A quarter slower from the mark behind the seventh window on; and for one mark alone.
        let drops = || spun(&[2800, 2800, 2800, 2800, 2800, 2800, 2800, 3700, 3700, 3700, 3700]);
        let dips = || spun(&[2800, 2800, 2800, 3700, 2800, 2800, 2800, 2800, 2800, 2800, 2800]);
        assert!(disturbed(&[steady(), steady()]).is_empty());
        assert_eq!(disturbed(&[drops(), steady()]), [6, 7, 8, 9]);
        assert_eq!(disturbed(&[steady(), drops()]), [6, 7, 8, 9]);
        assert_eq!(disturbed(&[dips()]), [2, 3], "both windows that the mark ends or begins");
        // One step of a turbo clock is let pass.
        assert!(disturbed(&[spun(&[2800, 2800, 2800, 2896, 2896])]).is_empty());
        assert!((core_hz(&drops().done.parts, 1e9) - 8000.0 * 1e9 / 2800.0).abs() < 1.0);
    }
}
