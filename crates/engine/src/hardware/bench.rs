//! Blocks while a phase's memory lives.

use super::arenas::{Lost, Memory};
use super::reference::Reference;
use super::{Hardware, blocks, pair, prefetch, timed, transfer, wide};
use crate::backend::{Bench, Failure, Task, Wide, WideTask};
use memgauge_model::{Block, Cpu, Job};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::Ordering;

/// The bench of one phase.
pub struct HardwareBench<'h, 'a> {
    hardware: &'h Hardware,
    memories: Vec<Memory<'a>>,
    lost: Lost,
    seed: u64,
    /// The reference chase by CPU, with its last reading and when that was made, ns since the backend was made.
    references: BTreeMap<Cpu, (Reference, Option<(u64, f64)>)>,
}

/// How long a reading of the reference chase stands, ns: it takes two or three milliseconds to make.
const STANDS_NS: u64 = 50_000_000;

impl<'h, 'a> HardwareBench<'h, 'a> {
    pub fn new(hardware: &'h Hardware, memories: Vec<Memory<'a>>, lost: Lost, seed: u64) -> Self {
        Self { hardware, memories, lost, seed, references: BTreeMap::new() }
    }
}

impl Bench for HardwareBench<'_, '_> {
    fn now_ns(&self) -> u64 {
        self.hardware.elapsed()
    }

    fn class(&mut self, cpus: (Cpu, Cpu)) -> Option<f64> {
        pair::placement_class(&self.hardware.clock, self.hardware.hz, cpus)
    }

    fn reference(&mut self, cpu: Cpu) -> Option<f64> {
        let (now, hardware) = (self.hardware.elapsed(), self.hardware);
        let (reference, last) = match self.references.entry(cpu) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert((Reference::new()?, None)),
        };
        if let Some((_, reading)) = last.filter(|(at, _)| now.saturating_sub(*at) < STANDS_NS) {
            return Some(reading);
        }
        let reading = reference.read(&hardware.clock, hardware.hz, cpu)?;
        *last = Some((hardware.elapsed(), reading));
        Some(reading)
    }

    fn block(&mut self, task: &Task<'_>) -> Result<Block, Failure> {
        if self.hardware.stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        let mut needed = task.plan.points[task.point].threads.iter().flat_map(|thread| thread.job.arenas());
        if let Some(failure) = needed.find_map(|arena| self.lost.get(&arena)) {
            return Err(failure.clone());
        }
        let off = prefetch::off(self.hardware, task)?;
        let block = self.measure(task)?;
        off.map_or(Ok(()), prefetch::Off::end)?;
        Ok(block)
    }

    fn wide(&mut self, task: &WideTask<'_>) -> Result<Wide, Failure> {
        if self.hardware.stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        self.seed = self.seed.wrapping_add(1);
        wide::run(self.hardware, task, &mut self.memories, self.seed)
    }
}

impl HardwareBench<'_, '_> {
    fn measure(&mut self, task: &Task<'_>) -> Result<Block, Failure> {
        let point = &task.plan.points[task.point];
        match point.threads.first().map(|thread| &thread.job) {
            Some(Job::C2c { .. }) => {
                self.seed = self.seed.wrapping_add(1);
                transfer::run(self.hardware, task, &mut self.memories, self.seed)
            }
            Some(Job::TimedChase { .. }) => timed::run(self.hardware, task, &mut self.memories),
            Some(_) => blocks::run(self.hardware, task, &mut self.memories, self.seed),
            None => Err(Failure::Fatal("a point without threads: the plan is wrong".into())),
        }
    }
}
