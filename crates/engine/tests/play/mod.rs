//! A backend that only plays.

use memgauge_engine::{Backend, Bench, Failure, PhaseOutcome, Task};
use memgauge_model::*;
use std::collections::BTreeMap;

/// Answers each block with windows that `answer` makes; time passes by what a block is asked to take.
pub struct Play<A> {
    pub now: u64,
    pub phases: Vec<(Vec<ArenaId>, u64)>,
    pub measured: Vec<(PointId, u32, u64)>,
    pub classes: Vec<f64>,
    pub stop_after: usize,
    pub answer: A,
}

pub fn play<A: FnMut(&Task<'_>, usize) -> Result<Block, Failure>>(answer: A) -> Play<A> {
    Play { now: 0, phases: Vec::new(), measured: Vec::new(), classes: Vec::new(), stop_after: usize::MAX, answer }
}

pub fn windows(latency_ns: f64, bytes_per_s: f64) -> Block {
    let window = Window { ns: 1e7, hops: 1000, hop_ns: latency_ns * 1000.0, load_bytes_per_s: bytes_per_s, ..Window::default() };
    Block { settled: true, windows: vec![window; 3], ..Block::default() }
}

impl<A: FnMut(&Task<'_>, usize) -> Result<Block, Failure>> Backend for Play<A> {
    fn now_ns(&self) -> u64 {
        self.now
    }

    fn stopped(&self) -> Option<String> {
        (self.measured.len() >= self.stop_after).then(|| "SIGINT".to_owned())
    }

    fn clock(&mut self, _: &Plan) -> Result<ClockFacts, Failure> {
        Ok(ClockFacts { hz: 1e9, ..ClockFacts::default() })
    }

    fn phase(
        &mut self,
        plan: &Plan,
        arenas: &[ArenaId],
        seed: u64,
        body: &mut dyn FnMut(&mut dyn Bench) -> Result<(), Failure>,
    ) -> Result<PhaseOutcome, Failure> {
        self.phases.push((arenas.to_vec(), seed));
        self.now += 1_000_000;
        let failure = body(self).err();
        let seen = |arena: &ArenaId| {
            let planned = &plan.arenas[*arena];
            let placement = Placement {
                node: planned.node,
                pages: 4,
                on_node: 4,
                asked: planned.pages,
                kind: planned.pages.word().to_owned(),
                verified: "move_pages".to_owned(),
                method: "mbind".to_owned(),
            };
            (*arena, placement)
        };
        let before: BTreeMap<_, _> = arenas.iter().map(seen).collect();
        // Forty pieces of growing size, far from each other.
        let pieces = (0..40_u64).map(|piece| [piece << 30, (piece << 30) + (piece + 1) * 4096]).collect::<Vec<_>>();
        let place = || Avail::Known(Physical { ranges: pieces.clone(), ..Physical::default() });
        let regions = arenas.iter().filter(|arena| matches!(plan.arenas[**arena].holds, Holds::Region { .. }));
        let physical = regions.map(|arena| (*arena, place())).collect();
        Ok(PhaseOutcome { after: before.clone(), before, physical, failure, ..PhaseOutcome::default() })
    }
}

impl<A: FnMut(&Task<'_>, usize) -> Result<Block, Failure>> Bench for Play<A> {
    fn now_ns(&self) -> u64 {
        self.now
    }

    fn class(&mut self, _: (Cpu, Cpu)) -> Option<f64> {
        if self.classes.is_empty() { Some(40.0) } else { Some(self.classes.remove(0)) }
    }

    fn block(&mut self, task: &Task<'_>) -> Result<Block, Failure> {
        if self.measured.len() >= self.stop_after {
            return Err(Failure::Stopped);
        }
        self.now += task.time_ns + task.plan.windows.warmup_min_ns;
        self.measured.push((task.point, task.delay, task.time_ns));
        (self.answer)(task, self.measured.len())
    }
}
