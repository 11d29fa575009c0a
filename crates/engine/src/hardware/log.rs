//! What one worker notes while it works: windows made from its own stamps, without allocation.

use memgauge_sys::sched::ThreadSample;

/// Chunk lengths that the median is taken of.
const RECENT: usize = 63;

/// One worker's part of a window.
#[derive(Debug, Clone, Copy, Default)]
pub struct Part {
    /// Units done between the window's marks, interpolated.
    pub units: f64,
    /// Ticks of the gap for asking the kernel, inside this window.
    pub gap: u64,
    /// Units of chunks wholly inside.
    pub inside_units: u64,
    /// Ticks of those chunks, less the clock's own cost.
    pub inside: u64,
    /// Ticks by which long chunks exceed the median one.
    pub excess: u64,
    /// Was a stamp taken on another CPU?
    pub wrong_cpu: bool,
    /// Did work begin after the window's beginning?
    pub late: bool,
    /// What the kernel said at its end less at its beginning.
    pub waited_ns: u64,
    pub waits_told: bool,
    pub switches: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    /// The reference spin at its beginning and end, ticks.
    pub spins: [u64; 2],
}

/// What a worker asks between two windows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked {
    pub kernel: ThreadSample,
    pub spin: u64,
}

/// Chunk by chunk, mark by mark. All memory is there from the beginning.
pub struct Log {
    pub parts: Vec<Part>,
    wanted: usize,
    current: Part,
    /// Units at the last mark, interpolated, in units since the beginning.
    at_mark: f64,
    units: u64,
    asked: Asked,
    clock_cost: u64,
    recent: [u64; RECENT],
    recent_at: usize,
    median: u64,
    /// `excess` counts from here on: a chunk this much longer than the median, ticks.
    tolerance: u64,
}

impl Log {
    pub fn new(windows: usize, clock_cost: u64, tolerance: u64) -> Self {
        Self {
            parts: Vec::with_capacity(windows),
            wanted: windows,
            current: Part::default(),
            at_mark: 0.0,
            units: 0,
            asked: Asked::default(),
            clock_cost,
            recent: [0; RECENT],
            recent_at: 0,
            median: 0,
            tolerance,
        }
    }

    /// A chunk's length goes to the median, which later chunks are held against.
    pub fn observe(&mut self, ticks: u64) {
        self.recent[self.recent_at % RECENT] = ticks;
        self.recent_at += 1;
    }

    /// Takes the median of what was observed. Call it where time doesn't count.
    pub fn settle_median(&mut self) -> u64 {
        let mut sorted = self.recent;
        let seen = &mut sorted[..self.recent_at.min(RECENT)];
        seen.sort_unstable();
        if let Some(median) = seen.get(seen.len() / 2) {
            self.median = *median;
        }
        self.median
    }

    /// Units of the chunks since the one that crossed the first mark.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// Chunks are of another length from now on.
    pub fn forget(&mut self) {
        self.recent_at = 0;
    }

    /// The first mark was crossed by a chunk that began at `begin`, ended at `end` and did `units`.
    pub fn open(&mut self, mark: u64, begin: u64, end: u64, units: u64, asked: Asked, gap: u64) {
        self.at_mark = -after_mark(mark, begin, end, units);
        let excess = self.excess(end.wrapping_sub(begin));
        self.current = Part { late: begin > mark, gap, excess, ..Part::default() };
        self.current.spins[0] = asked.spin;
        self.asked = asked;
    }

    /// A chunk that ended before the next mark.
    pub fn inside(&mut self, begin: u64, end: u64, units: u64, on_cpu: bool) {
        let ticks = end.wrapping_sub(begin);
        self.units += units;
        self.current.inside_units += units;
        self.current.inside += ticks.saturating_sub(self.clock_cost);
        self.current.excess += self.excess(ticks);
        self.current.wrong_cpu |= !on_cpu;
        self.observe(ticks);
    }

    /// A chunk that crossed `mark`, and what was asked at its end. Returns whether all windows are closed.
    pub fn cross(&mut self, mark: u64, chunk: (u64, u64, u64), on_cpu: bool, asked: Asked, gap: u64) -> bool {
        self.units += chunk.2;
        self.cross_again(mark, chunk, on_cpu, asked, gap)
    }

    /// The chunk that crossed the mark before, the first one possibly, crossed this one, too: its units are counted already.
    pub fn cross_again(&mut self, mark: u64, chunk: (u64, u64, u64), on_cpu: bool, asked: Asked, gap: u64) -> bool {
        let (begin, end, units) = chunk;
        let excess = self.excess(end.wrapping_sub(begin));
        #[expect(clippy::cast_precision_loss, reason = "units of a block stay below 2^52")]
        let at_mark = self.units as f64 - after_mark(mark, begin, end, units);
        let before = self.asked;
        let waited = |asked: &Asked| asked.kernel.wait_ns.unwrap_or(0);
        let mut part = self.current;
        part.units = at_mark - self.at_mark;
        part.excess += excess;
        part.wrong_cpu |= !on_cpu;
        part.waited_ns = waited(&asked).saturating_sub(waited(&before));
        part.waits_told = asked.kernel.wait_ns.is_some();
        part.switches = asked.kernel.invol_switches.saturating_sub(before.kernel.invol_switches);
        part.minor_faults = asked.kernel.minor_faults.saturating_sub(before.kernel.minor_faults);
        part.major_faults = asked.kernel.major_faults.saturating_sub(before.kernel.major_faults);
        part.spins[1] = asked.spin;
        self.parts.push(part);
        self.at_mark = at_mark;
        self.current = Part { gap, excess, wrong_cpu: !on_cpu, ..Part::default() };
        self.current.spins[0] = asked.spin;
        self.asked = asked;
        self.parts.len() >= self.wanted
    }

    fn excess(&self, ticks: u64) -> u64 {
        let beyond = ticks.saturating_sub(self.median);
        if beyond > self.tolerance { beyond } else { 0 }
    }
}

/// Units that a chunk from `begin` to `end` did after `mark`, taken as evenly spread. A mark outside the chunk (the worker was
/// late, or stood still across a whole window) counts as its nearer end.
#[expect(clippy::cast_precision_loss, reason = "ticks of a chunk stay below 2^52")]
fn after_mark(mark: u64, begin: u64, end: u64, units: u64) -> f64 {
    let ticks = end.wrapping_sub(begin).max(1);
    let after = end.saturating_sub(mark).min(ticks);
    units as f64 * after as f64 / ticks as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// At a constant pace every window holds its length's worth of units, wherever chunks fall.
        #[test]
        fn interpolation_is_exact_at_a_constant_pace(chunks in proptest::collection::vec(1_u64..90, 200..400), pace in 1_u64..50) {
            let mut log = Log::new(5, 0, u64::MAX);
            let (mut now, mut mark, mut open) = (0, 1000, false);
            for ticks in chunks {
                let (begin, end, units) = (now, now + ticks, ticks * pace);
                now = end;
                if end < mark {
                    if open { log.inside(begin, end, units, true); }
                    continue;
                }
                if open {
                    if log.cross(mark, (begin, end, units), true, Asked::default(), 0) { break; }
                } else {
                    log.open(mark, begin, end, units, Asked::default(), 0);
                    open = true;
                }
                mark += 1000;
            }
            for part in &log.parts {
                #[expect(clippy::cast_precision_loss, reason = "small")]
                let wanted = (1000 * pace) as f64;
                prop_assert!((part.units - wanted).abs() < 1e-6 * wanted, "{part:?}");
                prop_assert!(part.inside <= 1000);
                prop_assert_eq!(part.inside_units, part.inside * pace);
            }
        }
    }

    #[test]
    fn a_chunk_across_whole_windows_spreads_over_them() {
        let mut log = Log::new(3, 0, 50);
        log.open(0, 0, 0, 0, Asked::default(), 0);
        let chunk = (50, 350, 300);
        log.cross(100, chunk, true, Asked::default(), 0);
        log.cross_again(200, chunk, true, Asked::default(), 0);
        log.cross_again(300, chunk, true, Asked::default(), 0);
        let units: Vec<f64> = log.parts.iter().map(|part| part.units).collect();
        assert!(units.iter().zip([50.0, 100.0, 100.0]).all(|(got, wanted)| (got - wanted).abs() < 1e-9), "{units:?}");
    }

    #[test]
    fn the_first_chunk_may_cross_the_second_mark_too() {
        let mut log = Log::new(2, 0, 50);
        let chunk = (50, 250, 200);
        log.open(100, chunk.0, chunk.1, chunk.2, Asked::default(), 0);
        log.cross_again(200, chunk, true, Asked::default(), 0);
        log.cross(300, (250, 300, 50), true, Asked::default(), 0);
        assert!(log.parts[0].excess >= 150, "it stood still in the first window: {:?}", log.parts);
        assert!(log.parts.iter().all(|part| (part.units - 100.0).abs() < 1e-9), "{:?}", log.parts);
    }

    #[test]
    fn a_chunk_that_stands_still_counts_in_both_windows_that_it_touches() {
        let mut log = Log::new(2, 0, 50);
        (0..10).for_each(|_| log.observe(10));
        assert_eq!(log.settle_median(), 10);
        log.open(0, 0, 0, 0, Asked::default(), 0);
        log.inside(0, 10, 1, true);
        log.inside(10, 65, 1, true);
        log.cross(100, (65, 265, 1), false, Asked::default(), 0);
        log.cross(300, (265, 310, 1), true, Asked::default(), 0);
        assert_eq!(log.parts.iter().map(|part| part.excess).collect::<Vec<_>>(), [190, 190]);
        assert!(log.parts[0].wrong_cpu && log.parts[1].wrong_cpu);
    }
}
