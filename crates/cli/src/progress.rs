//! A line on stderr: what, of how many, how long still. The engine calls between points only, and no thread ticks, so
//! nothing is drawn while something is measured.

use crate::say;
use memgauge_engine::{Progress, Step};
use memgauge_model::units;

/// Runs shorter than this need no progress.
const WORTH_NS: u64 = 2_000_000_000;

/// A progress line, if anyone can see it.
pub struct Line {
    wanted: bool,
    drawn: bool,
    estimate_ns: u64,
}

impl Line {
    /// For a run of about `estimate_ns`.
    pub fn new(estimate_ns: u64, quiet: bool) -> Self {
        Self { wanted: !quiet && estimate_ns > WORTH_NS && say::can_draw(), drawn: false, estimate_ns }
    }

    /// Wipes the line, so that what follows begins on a clean one.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            say::draw("\r\x1b[K");
        }
    }
}

impl Progress for Line {
    fn step(&mut self, step: &Step<'_>) {
        if self.wanted {
            self.drawn = true;
            say::draw(&format!("\r{}\x1b[K", text(step, self.estimate_ns)));
        }
    }
}

/// The line, short enough for any terminal. Before anything was seen, the plan's estimate tells what is left.
fn text(step: &Step<'_>, estimate_ns: u64) -> String {
    const WIDTH: usize = 78;
    let left = match step.left_ns {
        0 => estimate_ns.saturating_sub(step.elapsed_ns),
        left => left,
    };
    let head = format!("{} of {} · about {} left · ", step.done, step.of, units::span(left));
    let room = WIDTH.saturating_sub(head.chars().count());
    let what = step.what.chars().map(|c| if c.is_control() { '?' } else { c }).take(room);
    head.chars().chain(what).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_of_how_many_and_how_long() {
        let step = Step { done: 12, of: 60, what: "peak_bandwidth read", elapsed_ns: 6_000_000_000, left_ns: 24_000_000_000 };
        assert_eq!(text(&step, 0), "12 of 60 · about 24 s left · peak_bandwidth read");
        let early = Step { left_ns: 0, elapsed_ns: 0, done: 0, what: &"x".repeat(200), ..step };
        let early = text(&early, 30_000_000_000);
        assert!(early.starts_with("0 of 60 · about 30 s left · x") && early.chars().count() == 78, "{early}");
    }
}
