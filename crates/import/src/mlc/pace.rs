//! Could these load CPUs have made that bandwidth? A burst is 256 bytes, the delay behind it counts core cycles, so at long delays
//! the loads move N·256·f/(d + t0), whatever the memory can do.

use memgauge_model::{CpuList, Finding, MetricId, Severity};

/// Delays from which on the memory doesn't matter.
pub(super) const LONG: u32 = 1000;
/// Cycles of a burst itself; published tables have 15 to 75.
const T0: f64 = 45.0;
const BURST_BYTES: f64 = 256.0;
const LINE_BYTES: f64 = 64.0;
/// Core clocks that there are, Hz, with room for t0.
const CLOCKS: [f64; 2] = [0.4e9, 7e9];

/// A curve and the load that is said to have made it.
pub(super) struct Pace {
    /// Delay, ns (0 without an observer), 10^6 B/s of all together.
    pub rows: Vec<(u32, f64, f64)>,
    /// The load CPUs, where they were named.
    pub loads: Option<CpuList>,
    /// The traffic.
    pub mix: &'static str,
    /// The bandwidths at long delays.
    pub evidence: Vec<MetricId>,
}

impl Pace {
    /// What is said of it, and whether it speaks against the output. Nothing where no delay is long enough, or where writes make
    /// the bytes of a burst another number.
    pub fn finding(&self) -> Option<(Finding, bool)> {
        let mut cycles: Vec<f64> =
            self.rows.iter().filter(|(delay, ..)| *delay >= LONG).map(|row| clocks_together(*row)).collect();
        if self.mix != "read" || cycles.is_empty() {
            return None;
        }
        cycles.sort_by(f64::total_cmp);
        let together = cycles[cycles.len() / 2];
        let ghz = |hz: f64| format!("{:.1} GHz", hz / 1e9);
        let seen = format!("at long delays the loads' bandwidth takes {} of all their core clocks together", ghz(together));
        let (severity, text) = match &self.loads {
            None => (Severity::Info, format!("{seen}; the output names no load CPUs to hold that against")),
            Some(loads) => {
                let each = together / loads.len().max(1) as f64;
                let named = format!("{seen}, {} for each of the {} load CPUs named ({loads})", ghz(each), loads.len());
                match each {
                    _ if (CLOCKS[0]..=CLOCKS[1]).contains(&each) => (Severity::Info, format!("{named}: plausible")),
                    _ => (Severity::Critical, format!("{named}: no such clock exists, so this table was not made by those CPUs")),
                }
            }
        };
        let evidence = self.evidence.clone();
        Some((Finding { id: "implied_burst".to_owned(), severity, text, evidence }, severity == Severity::Critical))
    }
}

/// N·f: what the bursts of a row take, without the observer's part.
fn clocks_together((delay, ns, mega): (u32, f64, f64)) -> f64 {
    let observer = if ns > 0.0 { LINE_BYTES / ns * 1e9 } else { 0.0 };
    (mega * 1e6 - observer).max(0.0) * (f64::from(delay) + T0) / BURST_BYTES
}
