//! What executes a plan, as a trait: the hardware, a replay, a simulation, a mock in a test.

use memgauge_model::{
    ArenaId, Avail, Block, ClockFacts, CounterState, Cpu, EventKind, MapPlan, Physical, Placement, Plan, PointId, Reason,
};
use memgauge_sys::{Errno, PinError};
use std::collections::BTreeMap;

/// Executes phases.
pub trait Backend {
    /// Time since the backend was made, ns. Never read inside a measured region.
    fn now_ns(&self) -> u64;

    /// The signal that asked to stop, if one did.
    fn stopped(&self) -> Option<String>;

    /// Calibrates the clock (again).
    ///
    /// # Errors
    ///
    /// No usable clock, or no CPU to calibrate on.
    fn clock(&mut self, plan: &Plan) -> Result<ClockFacts, Failure>;

    /// Opens the plan's hardware counters, once; says which of them count.
    fn counters(&mut self, _plan: &Plan) -> CounterState {
        CounterState::default()
    }

    /// Maps, fills and checks these arenas, calls `body` while they live, checks again, unmaps. What `body` failed for stands in
    /// the outcome, beside what is known of the arenas.
    ///
    /// # Errors
    ///
    /// What mapping met. A region that can't be had fails the blocks that need it, and leaves the others.
    fn phase(
        &mut self,
        plan: &Plan,
        arenas: &[ArenaId],
        seed: u64,
        body: &mut dyn FnMut(&mut dyn Bench) -> Result<(), Failure>,
    ) -> Result<PhaseOutcome, Failure>;
}

/// Measures blocks while a phase's arenas live.
pub trait Bench {
    /// Time since the backend was made, ns.
    fn now_ns(&self) -> u64;

    /// The placement class of two CPUs: half a round trip between them, ns; none where they do not answer.
    fn class(&mut self, pair: (Cpu, Cpu)) -> Option<f64>;

    /// The reference chase of a CPU, ns a hop; none where it can't be made. At most one in fifty milliseconds: the last
    /// reading stands for so long.
    fn reference(&mut self, _cpu: Cpu) -> Option<f64> {
        None
    }

    /// Measures one block.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    fn block(&mut self, task: &Task<'_>) -> Result<Block, Failure>;

    /// Measures disjoint pairs of CPUs, all at once.
    ///
    /// # Errors
    ///
    /// [`Failure`]; a pair that alone could not be measured is none in what comes back.
    fn wide(&mut self, _: &WideTask<'_>) -> Result<Wide, Failure> {
        Err(Failure::point(Reason::NotSupported, "pairs are measured one at a time here"))
    }
}

/// Pairs to measure at once.
#[derive(Debug, Clone, Copy)]
pub struct WideTask<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its map.
    pub map: &'a MapPlan,
    /// Writer and reader of each, as indices into the map's places; nobody is in two of them.
    pub pairs: &'a [(usize, usize)],
    /// About what a pair takes, ns: how many passes fit.
    pub expected_ns: f64,
}

/// What pairs took that were measured at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wide {
    /// By pair: median over its passes, ns, and whether they were disturbed; none where it could not be measured.
    pub ns: Vec<Option<(f64, bool)>>,
    /// Passes of each.
    pub passes: u32,
}

/// One block to measure.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The point.
    pub point: PointId,
    /// Delay between bursts of its load threads, core cycles.
    pub delay: u32,
    /// Length of all its windows, ns.
    pub time_ns: u64,
}

/// What a phase left behind.
#[derive(Debug, Clone, Default)]
pub struct PhaseOutcome {
    /// Placement by arena, when all was filled.
    pub before: BTreeMap<ArenaId, Placement>,
    /// The same when the last block was done.
    pub after: BTreeMap<ArenaId, Placement>,
    /// What was noticed while mapping.
    pub events: Vec<EventKind>,
    /// Where regions lie in physical memory, by arena.
    pub physical: BTreeMap<ArenaId, Avail<Physical>>,
    /// Why the body ended early.
    pub failure: Option<Failure>,
    /// Time by kind, ns.
    pub spent_ns: BTreeMap<String, u64>,
}

/// Why something could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A signal asked to stop.
    #[error("stopped")]
    Stopped,
    /// This can't be measured here; other points can.
    #[error("{detail}")]
    Point {
        /// The kind of reason.
        reason: Reason,
        /// What was tried and what was seen.
        detail: String,
    },
    /// Nothing more can be measured.
    #[error("{0}")]
    Fatal(String),
}

impl Failure {
    /// This point can't be measured, for this kind of reason.
    pub fn point(reason: Reason, detail: impl ToString) -> Self {
        Self::Point { reason, detail: detail.to_string() }
    }

    /// The kernel refused with `errno`: is that a matter of rights, or is what was asked for not there?
    pub(crate) fn refused(errno: Errno, detail: impl ToString) -> Self {
        Self::point(reason_of(errno), detail)
    }
}

/// What a refusal by the kernel with `errno` is a matter of.
pub(crate) fn reason_of(errno: Errno) -> Reason {
    if errno.is_refusal() { Reason::NoPermission } else { Reason::NotPresent }
}

impl From<PinError> for Failure {
    fn from(error: PinError) -> Self {
        match &error {
            PinError::Refused { errno, .. } | PinError::Unreadable { errno, .. } => Self::refused(*errno, error),
            PinError::MaskDiffers { .. } | PinError::RunsElsewhere { .. } => Self::point(Reason::NoPermission, error),
        }
    }
}

/// Hears between points how far the run is. Never called while something is measured.
pub trait Progress {
    /// The next step begins.
    fn step(&mut self, step: &Step<'_>);
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Blocks done.
    pub done: usize,
    /// Blocks foreseen; grows when a figure needs more rounds than hoped.
    pub of: usize,
    /// What comes next, in a few words.
    pub what: &'a str,
    /// Time since the run began, ns.
    pub elapsed_ns: u64,
    /// Time left by what was seen so far, ns; 0 before anything was.
    pub left_ns: u64,
}

/// A progress that says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn step(&mut self, _: &Step<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_cpu_is_a_matter_of_rights_or_not_there() {
        let reason = |errno| match Failure::from(PinError::Refused { cpu: 7, errno: Errno(errno) }) {
            Failure::Point { reason, detail } => (reason, detail.contains("CPU 7")),
            other => panic!("{other:?}"),
        };
        // EPERM of a sandbox, EINVAL of an offline CPU.
        assert_eq!(reason(1), (Reason::NoPermission, true));
        assert_eq!(reason(22), (Reason::NotPresent, true));
    }
}
