//! Rounds, phases, searches: in which order what is measured, and when it is enough.

mod counted;
mod held;
mod map;
mod pace;

use crate::backend::{Backend, Bench, Failure, PhaseOutcome, Progress, Step, Task};
use crate::curve::{delay_of, pilot};
use crate::neighbours;
use crate::rounds::{self, bandwidth_of, is_done, share};
use crate::spent::Spent;
use memgauge_model::{
    ArenaId, Block, CurveRecord, DelayRef, End, Event, EventKind, Job, Measure, PlacementPair, Plan, Point, PointId, PointRecord,
    Run, Search, SearchRecord, units,
};
use memgauge_stats::{self as stats, Rng};
use pace::Pace;

/// A block whose placement class changes, or of which too much was disturbed, is measured again, at most so often.
const REPEATS: u32 = 2;
/// The part of the limit of disturbed windows at which a figure's blocks are measured again: chance takes it further.
const NEAR_LIMIT: f64 = 0.75;
/// Disturbed blocks are measured again for at most one in so many of the windows' time: a busy host must not double a run.
const AGAIN_ONE_IN: u64 = 4;

/// Runs a plan. Never fails as a whole: what went wrong stands in [`Run::end`] and [`Run::events`], and what was measured
/// before stays.
pub fn run(plan: &Plan, backend: &mut dyn Backend, progress: &mut dyn Progress) -> Run {
    let mut schedule = Schedule::new(plan, backend, progress);
    let end = match schedule.all() {
        Ok(()) => End::Complete,
        Err(Failure::Stopped) => End::Interrupted { signal: schedule.backend.stopped().unwrap_or_else(|| "a signal".to_owned()) },
        Err(Failure::Point { detail: reason, .. } | Failure::Fatal(reason)) => End::Failed { reason },
    };
    schedule.finish(end)
}

struct Schedule<'a> {
    plan: &'a Plan,
    backend: &'a mut dyn Backend,
    state: State<'a>,
}

/// All but the backend, so that a phase can borrow both.
struct State<'a> {
    plan: &'a Plan,
    progress: &'a mut dyn Progress,
    rng: Rng,
    run: Run,
    spent: Spent,
    blocks_done: usize,
    blocks_foreseen: usize,
    /// Time of windows asked for in blocks so far, ns: what a share shortens.
    in_windows_ns: u64,
    /// That part of it which went to blocks measured again because they were disturbed, ns.
    again_ns: u64,
    /// Time spent with brief points so far, ns: what later rounds don't have.
    in_brief_ns: u64,
    /// Of a round of a run whose time is limited, and the blocks done when it began.
    pace: Option<(Pace, usize)>,
}

impl<'a> Schedule<'a> {
    fn new(plan: &'a Plan, backend: &'a mut dyn Backend, progress: &'a mut dyn Progress) -> Self {
        let run = Run {
            clock: memgauge_model::ClockFacts::default(),
            end: End::Complete,
            points: vec![PointRecord::default(); plan.points.len()],
            curves: vec![CurveRecord::default(); plan.curves.len()],
            searches: Vec::new(),
            again: Vec::new(),
            physical: Vec::new(),
            map: None,
            events: Vec::new(),
            spent_ns: Default::default(),
            prefetch: Default::default(),
            counters: Default::default(),
            concurrent: false,
        };
        let state = State {
            plan,
            progress,
            rng: Rng::new(plan.request.seed),
            run,
            spent: Spent::default(),
            blocks_done: 0,
            blocks_foreseen: 0,
            in_windows_ns: 0,
            again_ns: 0,
            in_brief_ns: 0,
            pace: None,
        };
        Self { plan, backend, state }
    }

    fn all(&mut self) -> Result<(), Failure> {
        self.state.run.clock = self.backend.clock(self.plan)?;
        self.state.run.counters = self.backend.counters(self.plan);
        let mut active: Vec<bool> = vec![true; self.plan.points.len()];
        let first_look = self.plan.rounds.looks.first().copied().unwrap_or(1);
        let candidates: usize = self.plan.searches.iter().map(|s| s.candidates.len().saturating_sub(1)).sum();
        let searching: usize = self.plan.searches.iter().map(|s| s.candidates.len() * s.rounds as usize).sum();
        let brief = self.plan.points.iter().filter_map(|point| point.brief);
        let spared: usize = brief.map(|rounds| first_look.saturating_sub(rounds) as usize).sum();
        self.state.blocks_foreseen = searching + (self.plan.points.len() - candidates) * first_look as usize - spared;
        for search in &self.plan.searches {
            self.search(search, &mut active)?;
        }
        self.held(&mut active)?;
        self.rounds(active)?;
        self.map()
    }

    /// Measures all candidates for the search's rounds, then leaves only the best one active, with none of its search
    /// rounds: the best of many is biased upwards, so the winner is measured anew.
    fn search(&mut self, search: &Search, active: &mut [bool]) -> Result<(), Failure> {
        let mut only = vec![false; active.len()];
        search.candidates.iter().for_each(|point| only[*point] = true);
        for round in 0..search.rounds {
            self.round(round, &only, 1.0)?;
        }
        let limits = &self.plan.windows.limits;
        let mut seen = Vec::new();
        for &point in &search.candidates {
            let rounds = std::mem::take(&mut self.state.run.points[point].rounds);
            let values: Vec<f64> =
                rounds.iter().filter(|b| !b.superseded).filter_map(|block| bandwidth_of(block, limits)).collect();
            seen.extend(stats::median(&values).map(|bandwidth| (point, bandwidth)));
            active[point] = false;
        }
        let best = seen.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((winner, _)) = best {
            active[winner] = true;
            self.state.run.searches.push(SearchRecord { seen, winner });
        }
        Ok(())
    }

    fn rounds(&mut self, mut active: Vec<bool>) -> Result<(), Failure> {
        let rule = &self.plan.rounds;
        // What a round costs beside its windows: the plan's estimate before the first, then what the last one took. The first
        // may be far slower than the others, where the host must find the memory.
        let estimated = self.plan.estimate.setup_ns / u64::from(self.plan.estimate.rounds.max(1));
        let mut beside = estimated;
        let mut brief = 0;
        let mut round = 0;
        while active.contains(&true) {
            let most = rule.looks.last().copied().unwrap_or(1);
            let windows_ns = self.window_ns(&active);
            let has_brief = self.plan.points.iter().zip(&active).any(|(point, active)| *active && point.brief.is_some());
            // The time that the whole run may take counts from its beginning, search and calibration included.
            let now = self.backend.now_ns() + if has_brief { brief } else { 0 };
            let share = share(rule.whole_ns, now, most - round.min(most), windows_ns, beside);
            if share < 0.999 {
                self.state.event(self.backend.now_ns(), EventKind::Shortened { round, share });
            }
            let (begun, in_windows, in_brief) = (self.backend.now_ns(), self.state.in_windows_ns, self.state.in_brief_ns);
            let left = active.iter().filter(|is| **is).count();
            let pace = |whole| (Pace::new(whole, begun, most - round.min(most), left), self.state.blocks_done);
            self.state.pace = rule.whole_ns.map(pace);
            self.round(round, &active, share)?;
            self.state.pace = None;
            brief = self.state.in_brief_ns - in_brief;
            let spent = (self.backend.now_ns() - begun).saturating_sub(brief);
            beside = spent.saturating_sub(self.state.in_windows_ns - in_windows);
            if round == 0 {
                beside = beside.min(estimated.max(spent / 4));
            }
            round += 1;
            // Far beyond its time (a host that gives us half of its CPUs), the run ends with the rounds that it has.
            let late = rule.whole_ns.is_some_and(|whole| self.backend.now_ns() > whole + whole / 4);
            if late && round >= 2 && round < most {
                self.state.event(self.backend.now_ns(), EventKind::OutOfTime { rounds: round });
                return Ok(());
            }
            for (point, record) in self.state.run.points.iter().enumerate() {
                active[point] = active[point] && !is_done(self.plan, point, record, round);
            }
            let left = active.iter().filter(|is| **is).count();
            if rule.looks.contains(&round) && left > 0 {
                let next = rule.looks.iter().find(|look| **look > round).map_or(0, |look| look - round);
                self.state.blocks_foreseen = self.state.blocks_done + left * next as usize;
            }
        }
        Ok(())
    }

    /// Windows of a round when nothing is shortened, ns.
    fn window_ns(&self, active: &[bool]) -> u64 {
        let points = self.plan.points.iter().zip(active).filter(|(point, active)| **active && point.brief.is_none());
        points.map(|(point, _)| point.time_ns).sum()
    }

    fn round(&mut self, round: u32, active: &[bool], share: f64) -> Result<(), Failure> {
        let mut phases: Vec<usize> = (0..self.plan.phases.len()).collect();
        self.state.rng.shuffle(&mut phases);
        phases.sort_by_key(|phase| self.plan.phases[*phase].turn);
        let mut position = 0;
        for phase in phases {
            let mut points: Vec<PointId> =
                self.plan.phases[phase].points.iter().copied().filter(|point| active[*point]).collect();
            if points.is_empty() {
                continue;
            }
            self.state.rng.shuffle(&mut points);
            // Rings that grow go from size to size; the sort is stable, so that equals stay shuffled.
            points.sort_by_key(|point| self.plan.points[*point].measure.span().map_or(0, |span| span.bytes));
            let firsts: Vec<usize> = points.iter().map(|point| self.state.run.points[*point].rounds.len()).collect();
            let arenas = arenas_of(self.plan, phase, &points);
            let seed = self.state.rng.next_u64();
            self.state.announce(self.backend.now_ns(), "preparing memory");
            let state = &mut self.state;
            let outcome = self.backend.phase(self.plan, &arenas, seed, &mut |bench| {
                for &point in &points {
                    state.point(bench, point, round, &mut position, share)?;
                }
                Ok(())
            });
            self.state.close(self.backend.now_ns(), outcome, &points, &firsts)?;
        }
        Ok(())
    }

    fn finish(self, end: End) -> Run {
        let Self { plan, backend, mut state } = self;
        if end == End::Complete
            && let Ok(after) = backend.clock(plan)
        {
            state.run.clock.hz_after = after.hz;
        }
        neighbours::mark(plan, &mut state.run.points);
        state.run.end = end;
        state.run.spent_ns = state.spent.into_map();
        state.run
    }
}

impl State<'_> {
    /// Measures one point; a flip of the placement class, or too many disturbed windows, repeats the block.
    fn point(
        &mut self,
        bench: &mut dyn Bench,
        point: PointId,
        round: u32,
        position: &mut u32,
        share: f64,
    ) -> Result<(), Failure> {
        let plan = self.plan;
        self.find_delays(bench, point)?;
        let Some(delay) = delay_of(plan, point, &self.run.curves) else { return Ok(()) };
        let planned = &plan.points[point];
        #[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "ns of a block")]
        let time_ns = if planned.brief.is_some() { planned.time_ns } else { (planned.time_ns as f64 * share) as u64 };
        let time_ns = self.time_of(bench, &Task { plan, point, delay, time_ns })?;
        let first = self.run.points[point].rounds.len();
        for attempt in 0..=REPEATS {
            self.announce(bench.now_ns(), &describe(plan, point));
            let started = bench.now_ns();
            let class_before_ns = planned.class_pair.and_then(|pair| bench.class(pair));
            let referring = planned.threads.first().filter(|thread| is_referred(planned, &thread.job)).map(|thread| thread.cpu);
            let reference_before_ns = referring.and_then(|cpu| bench.reference(cpu));
            let block = bench.block(&Task { plan, point, delay, time_ns });
            let reference_after_ns = referring.and_then(|cpu| bench.reference(cpu));
            let class_after_ns = planned.class_pair.and_then(|pair| bench.class(pair));
            match planned.brief {
                Some(_) => self.in_brief_ns += bench.now_ns() - started,
                None => self.in_windows_ns += time_ns,
            }
            let mut block = match block {
                Ok(block) => block,
                Err(Failure::Point { reason, detail }) => {
                    self.event(bench.now_ns(), EventKind::PointFailed { point, reason, detail });
                    break;
                }
                Err(other) => return Err(other),
            };
            let flipped = class_before_ns.zip(class_after_ns).filter(|(before, after)| stats::flipped(*before, *after));
            block.round = round;
            block.position = *position;
            block.start_ns = started;
            block.delay = uses_delay(plan, point).then_some(delay);
            block.class_before_ns = class_before_ns;
            block.class_after_ns = class_after_ns;
            block.reference_before_ns = reference_before_ns;
            block.reference_after_ns = reference_after_ns;
            block.superseded = flipped.is_some();
            *position += 1;
            self.note(bench.now_ns(), point, &block);
            self.run.points[point].rounds.push(block);
            if let Some((before_ns, after_ns)) = flipped {
                self.event(bench.now_ns(), EventKind::ClassChanged { point, before_ns, after_ns });
            } else if attempt < REPEATS
                && planned.brief.is_none()
                && self.disturbed(point)
                && self.may_repeat(bench.now_ns(), time_ns)
            {
                self.event(bench.now_ns(), EventKind::Disturbed { point });
            } else {
                break;
            }
        }
        self.choose(point, first);
        self.blocks_done += 1;
        Ok(())
    }

    /// Has the last block more disturbed windows than a figure may have, and is the figure, with it, near that limit?
    fn disturbed(&self, point: PointId) -> bool {
        let limits = &self.plan.windows.limits;
        let blocks = &self.run.points[point].rounds;
        let last = blocks.last().is_some_and(|block| rounds::disturbed_share([block], limits) > limits.excluded_share);
        let counted = blocks.iter().filter(|block| !block.superseded);
        last && rounds::disturbed_share(counted, limits) > NEAR_LIMIT * limits.excluded_share
    }

    /// Takes the time for one more block from what there is for disturbed ones, if there is enough and the run isn't behind its time.
    fn may_repeat(&mut self, now_ns: u64, time_ns: u64) -> bool {
        let enough = (self.again_ns + time_ns).saturating_mul(AGAIN_ONE_IN) <= self.in_windows_ns;
        let in_time = |(pace, before): &(Pace, usize)| pace.has_time(now_ns, self.blocks_done + 1 - before);
        let may = enough && self.pace.as_ref().is_none_or(in_time);
        if may {
            self.again_ns += time_ns;
        }
        may
    }

    /// Of the blocks that a point has in this round, from `first` on, the least disturbed one of a steady class counts.
    fn choose(&mut self, point: PointId, first: usize) {
        let limits = &self.plan.windows.limits;
        let blocks = &mut self.run.points[point].rounds[first..];
        let share = |block: &Block| rounds::disturbed_share([block], limits);
        let steady = blocks.iter().enumerate().filter(|(_, block)| !block.superseded);
        let best = steady.min_by(|(_, a), (_, b)| share(a).total_cmp(&share(b))).map(|(at, _)| at);
        for (at, block) in blocks.iter_mut().enumerate() {
            block.superseded = best != Some(at);
        }
    }

    fn find_delays(&mut self, bench: &mut dyn Bench, point: PointId) -> Result<(), Failure> {
        let Measure::Loaded { curve, delay: DelayRef::Slot(_) } = self.plan.points[point].measure else { return Ok(()) };
        if self.run.curves[curve].delays.is_empty() {
            self.announce(bench.now_ns(), "finding delays");
            let started = bench.now_ns();
            self.run.curves[curve] = pilot(self.plan, curve, point, bench)?;
            self.spent.add("pilot", bench.now_ns() - started);
        }
        Ok(())
    }

    fn note(&mut self, at_ns: u64, point: PointId, block: &Block) {
        if !block.settled {
            self.event(at_ns, EventKind::NotSettled { point });
        }
    }

    /// A phase is over, perhaps too early: what it says of its arenas is kept, and what it failed for is told.
    fn close(
        &mut self,
        at_ns: u64,
        outcome: Result<PhaseOutcome, Failure>,
        points: &[PointId],
        firsts: &[usize],
    ) -> Result<(), Failure> {
        let failure = match outcome {
            Ok(mut outcome) => {
                let failure = outcome.failure.take();
                self.settle(at_ns, outcome, points, firsts);
                failure
            }
            Err(failure) => Some(failure),
        };
        match failure {
            Some(Failure::Point { reason, detail }) => {
                for &point in points {
                    self.event(at_ns, EventKind::PointFailed { point, reason, detail: detail.clone() });
                }
                Ok(())
            }
            Some(other) => Err(other),
            None => Ok(()),
        }
    }

    /// What a finished phase says of its arenas goes to the blocks that used them.
    fn settle(&mut self, at_ns: u64, outcome: PhaseOutcome, points: &[PointId], firsts: &[usize]) {
        for what in outcome.events {
            // Refused once is refused always: say it once.
            if !self.run.events.iter().any(|event| event.what == what) {
                self.event(at_ns, what);
            }
        }
        for (&point, &first) in points.iter().zip(firsts) {
            let used = arenas_of_point(self.plan, point);
            let record = &mut self.run.points[point];
            for block in record.rounds[first..].iter_mut().chain(&mut record.again) {
                block.placements = used
                    .iter()
                    .filter_map(|arena| {
                        let before = outcome.before.get(arena)?.clone();
                        Some(PlacementPair { arena: *arena, before, after: outcome.after.get(arena).cloned() })
                    })
                    .collect();
            }
        }
        self.keep_places(outcome.physical);
        self.spent.merge(&outcome.spent_ns);
    }

    fn event(&mut self, at_ns: u64, what: EventKind) {
        // A point that can't be measured can't be in every round: once is enough.
        let repeated = matches!(what, EventKind::PointFailed { .. }) && self.run.events.iter().any(|event| event.what == what);
        if repeated {
            return;
        }
        self.run.events.push(Event { at_ns, what });
    }

    fn announce(&mut self, elapsed_ns: u64, what: &str) {
        let (done, of) = (self.blocks_done, self.blocks_foreseen.max(self.blocks_done));
        let left_ns = if done == 0 { 0 } else { elapsed_ns / done as u64 * (of - done) as u64 };
        self.progress.step(&Step { done, of, what, elapsed_ns, left_ns });
    }
}

/// The arenas of a phase that these points use.
fn arenas_of(plan: &Plan, phase: usize, points: &[PointId]) -> Vec<ArenaId> {
    let used: Vec<ArenaId> = points.iter().flat_map(|point| arenas_of_point(plan, *point)).collect();
    plan.phases[phase].arenas.iter().copied().filter(|arena| used.contains(arena)).collect()
}

fn arenas_of_point(plan: &Plan, point: PointId) -> Vec<ArenaId> {
    let mut arenas: Vec<ArenaId> = plan.points[point].threads.iter().flat_map(|thread| thread.job.arenas()).collect();
    arenas.sort_unstable();
    arenas.dedup();
    arenas
}

/// Does a reference chase stand beside the point's blocks? Not beside those that take no longer, nor beside transfers.
fn is_referred(point: &Point, job: &Job) -> bool {
    point.brief.is_none() && !matches!(job, Job::C2c { .. } | Job::KeepAlive)
}

fn uses_delay(plan: &Plan, point: PointId) -> bool {
    matches!(plan.points[point].measure, Measure::Loaded { .. } | Measure::Max { .. })
}

/// A few words for the progress line.
fn describe(plan: &Plan, point: PointId) -> String {
    match &plan.points[point].measure {
        Measure::Idle { .. } => "idle latency".to_owned(),
        Measure::Access { .. } => "single accesses".to_owned(),
        Measure::Peak { mix } => format!("peak bandwidth, {}", mix.name()),
        Measure::Max { mix, .. } => format!("maximum bandwidth, {}", mix.name()),
        Measure::MatrixLatency { from, to } => format!("latency, node {from} to {to}"),
        Measure::MatrixBandwidth { from, to, .. } => format!("bandwidth, node {from} to {to}"),
        Measure::Loaded { .. } => "latency under load".to_owned(),
        Measure::C2c { kind, .. } => format!("core to core, {}", kind.word()),
        Measure::SweepLatency { span, .. } => format!("latency of {}", units::bytes(span.bytes)),
        Measure::SweepBandwidth { mix, span } => format!("{} bandwidth of {}", mix.name(), units::bytes(span.bytes)),
        Measure::Scan { node, region, mix } => format!("{} bandwidth, region {region} of node {node}", mix.name()),
        Measure::RfoProbe => "write-allocate probe".to_owned(),
        Measure::PrefetchProbe => "prefetch probe".to_owned(),
    }
}
