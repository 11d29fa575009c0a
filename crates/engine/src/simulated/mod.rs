//! A machine that is only described: it answers a plan as the described machine would, in virtual time. For tests with known
//! truth, for documentation, and for planning on machines that one doesn't have.
//!
//! ```text
//! description (TOML) ─┬─► layout ─► Machine (what it says of itself, for the plan)
//!                     └─► flows: caches, TLB, links, channels, queues ─► Expected (the truth)
//!                             └─► noise, placement states, faults ─► windows, passes, placements
//! ```

mod blocks;
mod caches;
mod description;
mod faults;
mod flows;
mod layout;
mod load;
mod machine;
mod noise;
mod presets;
mod read;
mod transfer;
mod wide;

pub use description::*;
pub use faults::{Fault, Sign};
pub use load::Expected;
pub use presets::{names, preset};
pub use read::DescriptionError;

use crate::backend::{Backend, Bench, Failure, PhaseOutcome, Task};
use crate::hardware;
use crate::spent::Spent;
use blocks::{Memory as Got, SimulatedBench};
use layout::Layout;
use memgauge_model::{ArenaId, Avail, C2cKind, ClockFacts, Cpu, Holds, Pages as Asked, Placement, Plan, PointId, Reason};
use memgauge_stats::Rng;
use memgauge_sys as sys;
use noise::{Drift, Host};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

/// Calibrating the clock, ns.
const CLOCK_NS: u64 = 150_000_000;
/// Mapping and touching a MiB, linking or filling it; an arena beside that; giving it all back.
const PREPARE_NS_PER_MIB: u64 = 300_000;
const ARENA_NS: u64 = 1_000_000;

/// Answers as a described machine would.
#[derive(Debug)]
pub struct Simulated {
    description: Description,
    layout: Layout,
    stop: &'static AtomicBool,
    now_ns: u64,
    drift: Drift,
    host: Host,
    /// What is expected, by point and delay of the plan that runs.
    known: BTreeMap<(PointId, u32), Option<Expected>>,
}

impl Simulated {
    /// A machine of this description; all chance comes from `seed`. `stop` ends a run soon after it is set.
    #[must_use]
    pub fn new(description: Description, seed: u64, stop: &'static AtomicBool) -> Self {
        let layout = Layout::new(&description);
        let mut rng = Rng::new(seed);
        let drift = Drift::new(description.noise, rng.next_u64());
        let host = Host::new(description.noise.placement, rng.next_u64());
        Self { layout, stop, now_ns: 0, drift, host, known: BTreeMap::new(), description }
    }

    /// What a point's threads get at this delay (core cycles) when nothing scatters and no state is far: the truth that its
    /// figures are held against. None where the plan is not one for this machine.
    #[must_use]
    pub fn expected(&self, plan: &Plan, point: PointId, delay: u32) -> Option<Expected> {
        load::expected(&self.description, &self.layout, plan, plan.points.get(point)?, delay)
    }

    /// The same of a transfer between cores: ns a hop, or half a round trip.
    #[must_use]
    pub fn expected_transfer(&self, plan: &Plan, point: PointId) -> Option<f64> {
        transfer::expected_ns(&self.description, &self.layout, plan.points.get(point)?)
    }

    /// The same of a pair of CPUs alone, whose lines live with the writer.
    #[must_use]
    pub fn expected_pair(&self, kind: C2cKind, writer: Cpu, reader: Cpu) -> Option<f64> {
        transfer::pair_ns(&self.description, &self.layout, kind, writer, reader)
    }

    fn expected_of(&mut self, task: &Task<'_>) -> Option<Expected> {
        let key = (task.point, task.delay);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = self.expected(task.plan, task.point, task.delay);
        self.known.insert(key, found.clone());
        found
    }

    /// Where an arena's pages are and what they are, as the kernel would say.
    fn placement(&self, plan: &Plan, arena: ArenaId) -> Option<Placement> {
        let planned = plan.arenas.get(arena)?;
        let pages = (planned.bytes / planned.page_bytes.max(1)).clamp(1, hardware::SAMPLES as u64);
        let (mut away, mut kind) = (0.0, planned.pages);
        for fault in &self.description.faults {
            match *fault {
                Fault::Misplaced { node, on, share } if node == planned.node && on != node => away = share,
                Fault::SmallPages { node } if node == planned.node => kind = Asked::Base,
                _ => {}
            }
        }
        Some(Placement {
            node: planned.node,
            pages,
            on_node: pages - (pages as f64 * away) as u64,
            asked: planned.pages,
            kind: kind.word().to_owned(),
            verified: "simulated".to_owned(),
            method: "simulated".to_owned(),
        })
    }

    /// What a fresh allocation gets.
    fn allocated(&self, plan: &Plan, arena: ArenaId, seed: u64) -> Got {
        let (slower, mut rng) = noise::allocation(&self.description.noise, seed, arena);
        let node = plan.arenas.get(arena).map(|planned| planned.node);
        let region = self.description.faults.iter().find_map(|fault| match *fault {
            Fault::SlowRegion { node: slow, share, latency } if node == Some(slow) && rng.unit() < share => Some(latency),
            _ => None,
        });
        Got { slower, region: region.unwrap_or(1.0) }
    }
}

impl Backend for Simulated {
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn stopped(&self) -> Option<String> {
        sys::signals::stop_requested().map(|signal| hardware::timing::signal_name(signal.number()).to_owned())
    }

    fn clock(&mut self, plan: &Plan) -> Result<ClockFacts, Failure> {
        self.known.clear();
        self.now_ns += CLOCK_NS;
        let cpu = plan.observer.or_else(|| plan.points.first()?.threads.first().map(|thread| thread.cpu));
        let place = cpu.and_then(|cpu| self.layout.place(cpu));
        let clock = self.description.clock;
        Ok(ClockFacts {
            source: "simulated".to_owned(),
            hz: 1e9,
            hz_after: 1e9,
            quantum_ns: clock.quantum_ns,
            cost_ns: clock.cost_ns,
            core_hz: place.map_or(0.0, |place| self.layout.kind(place).ghz * 1e9),
        })
    }

    fn phase(
        &mut self,
        plan: &Plan,
        arenas: &[ArenaId],
        seed: u64,
        body: &mut dyn FnMut(&mut dyn Bench) -> Result<(), Failure>,
    ) -> Result<PhaseOutcome, Failure> {
        let mut spent = Spent::default();
        let took = preparing_ns(plan, arenas);
        self.now_ns += took;
        spent.add("prepare", took);
        let begun = self.now_ns;
        let memories = arenas.iter().map(|arena| (*arena, self.allocated(plan, *arena, seed))).collect();
        let failure = body(&mut SimulatedBench { machine: &mut *self, memories }).err();
        spent.add("blocks", self.now_ns - begun);
        let seen: BTreeMap<ArenaId, Placement> =
            arenas.iter().filter_map(|arena| Some((*arena, self.placement(plan, *arena)?))).collect();
        let events = hardware::differing(&seen);
        let regions = arenas
            .iter()
            .filter(|arena| plan.arenas.get(**arena).is_some_and(|planned| matches!(planned.holds, Holds::Region { .. })));
        let nowhere = || Avail::missing(Reason::NotPresent, "the machine is simulated");
        Ok(PhaseOutcome {
            physical: regions.map(|arena| (*arena, nowhere())).collect(),
            after: seen.clone(),
            before: seen,
            events,
            failure,
            spent_ns: spent.into_map(),
        })
    }
}

/// The touchers share the work.
fn preparing_ns(plan: &Plan, arenas: &[ArenaId]) -> u64 {
    let planned = || arenas.iter().filter_map(|arena| plan.arenas.get(*arena));
    let touchers = planned().map(|arena| arena.toucher).collect::<BTreeSet<_>>().len().max(1) as u64;
    let work: u64 = planned().map(|arena| ARENA_NS + (arena.bytes >> 20) * PREPARE_NS_PER_MIB).sum();
    work / touchers
}
