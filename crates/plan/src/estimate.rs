//! What the plan costs in time. Rates are rough on purpose: they say "half a minute", not "27.3 s".

use crate::draft::Draft;
use crate::sizes::Sized;
use crate::timing::{CLASS_NS, REFERENCE_NS, Timing, WINDOW_NS};
use memgauge_model::{
    Arena, ArenaId, C2cKind, Estimate, Holds, Job, Measure, Order, Pages, Phase, Point, RoundRule, Span, What, WindowRule,
};
use std::collections::{BTreeMap, BTreeSet};

const MS: u64 = 1_000_000;
/// ns to touch a MiB and give it back: 7 GB/s a CPU with huge pages, 4 GB/s with base pages. (A guest whose host must find the memory first takes
/// several times as long, once.)
const TOUCH_HUGE_NS: u64 = 150_000;
const TOUCH_BASE_NS: u64 = 280_000;
/// ns to go through a MiB, or to flush a MiB of a chase.
const PASS_NS: u64 = 90_000;
const FLUSH_NS: u64 = 50_000;
/// What comes before the first window of a point that waits for no pace.
const BRIEF_WARMUP_NS: u64 = WINDOW_NS * 3 / 4;
/// Mapping, binding, asking where the pages are, unmapping.
const ARENA_NS: u64 = MS;
/// Calibration of the clock, twice.
const START_NS: u64 = 300 * MS;
/// The default run keeps below this, with something in hand for a slow host.
const WHOLE_NS: u64 = 27_000 * MS;

/// Settles windows, warm-up and the whole run's time, and says what it comes to. The default run's windows shrink until
/// the estimate keeps the limit; where set-up alone breaks it, nothing shrinks and there is no limit.
pub(crate) fn settle(draft: &mut Draft, sized: &Sized, phases: &[Phase]) -> (RoundRule, WindowRule, Estimate) {
    let Timing { rounds, windows, point_ns, c2c_ns, asked } = draft.timing;
    let (mut rounds, mut windows) = (rounds.clone(), windows.clone());
    if draft.request.what == What::Scan {
        rounds = draft.timing.rounds_of_scan(draft.points.len());
    }
    let mut estimate = Cost::new(draft, sized, phases, &rounds).with(&draft.points, &windows);
    if draft.request.what != What::All || *asked || rounds.precision.is_some() {
        return (rounds, windows, estimate);
    }
    // (warm-up, windows), from plenty to the least that still says something.
    let tries = [(20, 60), (20, 50), (20, 40), (20, 30), (20, 20), (10, 20), (10, 10)];
    for (warmup, time) in tries {
        let shorter = WindowRule { warmup_min_ns: warmup * MS, ..windows.clone() };
        let points = with_times(&draft.points, (*point_ns).min(time * MS), (*c2c_ns).min(time * MS).max(WINDOW_NS));
        let shorter_estimate = Cost::new(draft, sized, phases, &rounds).with(&points, &shorter);
        if shorter_estimate.total_ns() <= WHOLE_NS {
            (draft.points, windows, estimate) = (points, shorter, shorter_estimate);
            rounds.whole_ns = Some(WHOLE_NS);
            break;
        }
    }
    (rounds, windows, estimate)
}

fn with_times(points: &[Point], point_ns: u64, c2c_ns: u64) -> Vec<Point> {
    let time = |measure: &Measure| if matches!(measure, Measure::C2c { .. }) { c2c_ns } else { point_ns };
    let timed = |point: &Point| if point.brief.is_some() { point.time_ns } else { time(&point.measure) };
    points.iter().map(|point| Point { time_ns: timed(point), ..point.clone() }).collect()
}

/// What doesn't depend on the windows' length.
struct Cost<'a> {
    draft: &'a Draft<'a>,
    setup_ns: u64,
    /// Of phases that are held, once.
    held_ns: u64,
    /// By point.
    ready_ns: Vec<u64>,
    start_ns: u64,
    rounds: u32,
}

impl<'a> Cost<'a> {
    fn new(draft: &'a Draft<'a>, sized: &Sized, phases: &[Phase], rounds: &RoundRule) -> Self {
        let prepare = |held: bool| -> u64 {
            let phases = phases.iter().filter(|phase| phase.held.is_some() == held);
            phases.map(|phase| setup(phase.arenas.iter().map(|arena| &sized.arenas[*arena]))).sum()
        };
        let (setup_ns, held_ns, ready_ns) = (prepare(false), prepare(true), ready(&draft.points, &sized.arenas));
        Self { draft, setup_ns, held_ns, ready_ns, start_ns: START_NS, rounds: rounds.looks.last().copied().unwrap_or(1) }
    }

    fn with(&self, points: &[Point], windows: &WindowRule) -> Estimate {
        let searches = &self.draft.searches;
        let rounds = |point: &Point| u64::from(point.brief.map_or(self.rounds, |brief| brief.min(self.rounds)));
        let mut times: Vec<u64> = points.iter().map(rounds).collect();
        for search in searches {
            // Candidates are measured for the search alone; one of them then takes part in every round.
            search.candidates.iter().for_each(|point| times[*point] = u64::from(search.rounds));
            if let Some(first) = search.candidates.first() {
                times[*first] += u64::from(self.rounds);
            }
        }
        let sum = |ns: fn(&Point, u64) -> u64| {
            points.iter().zip(&times).map(|(point, times)| ns(point, *times)).fold(0, u64::saturating_add)
        };
        let ready: u64 = self.ready_ns.iter().zip(&times).map(|(ns, times)| ns * times).sum();
        let warmup = sum(|point, times| if point.brief.is_some() { BRIEF_WARMUP_NS * times } else { 0 });
        let blocks: u64 = points.iter().zip(&times).filter(|(point, _)| point.brief.is_none()).map(|(_, times)| times).sum();
        let pilots: u64 = self.draft.curves.iter().map(|curve| curve.pilot.len() as u64).sum();
        let pilots_ns: u64 = self.draft.curves.iter().map(|curve| curve.pilot.len() as u64 * curve.pilot_ns).sum();
        let classes = sum(|point, times| if point.class_pair.is_some() { 2 * CLASS_NS * times } else { 0 });
        let references = sum(|point, times| if is_referred(point) { REFERENCE_NS * times } else { 0 });
        let search_rounds: u64 = searches.iter().map(|search| u64::from(search.rounds)).sum();
        Estimate {
            setup_ns: self.start_ns
                + self.held_ns
                + self.setup_ns * (u64::from(self.rounds) + search_rounds)
                + ready
                + classes
                + references,
            warmup_ns: windows.warmup_min_ns * (blocks + pilots) + warmup,
            windows_ns: sum(|point, times| point.time_ns.saturating_mul(times))
                .saturating_add(pilots_ns)
                .saturating_add(passes(points, &times)),
            rounds: self.rounds,
        }
    }
}

/// Does a reference chase stand before and after its blocks?
fn is_referred(point: &Point) -> bool {
    point.brief.is_none() && !matches!(point.measure, Measure::C2c { .. })
}

/// A chase between cores spends about as long on making lines its own as on reading them.
fn passes(points: &[Point], times: &[u64]) -> u64 {
    let chase = |point: &Point| matches!(point.measure, Measure::C2c { kind: C2cKind::Hit | C2cKind::Hitm, .. });
    points
        .iter()
        .zip(times)
        .filter(|(point, _)| chase(point))
        .map(|(point, times)| point.time_ns.saturating_mul(*times))
        .fold(0, u64::saturating_add)
}

/// Before each point with a span: linking what its ring grows by, then going once through the working set, ns.
fn ready(points: &[Point], arenas: &[Arena]) -> Vec<u64> {
    let mut linked: BTreeMap<(ArenaId, usize), u64> = BTreeMap::new();
    let mut grown = |Span { bytes, .. }: Span, job: &Job| {
        let Job::Chase { arena, ring } = job else { return 0 };
        let Holds::Chase { rings, .. } = &arenas[*arena].holds else { return 0 };
        let before = linked.insert((*arena, *ring), bytes).unwrap_or(0);
        // What these orders have is extended; any other is linked anew for each size.
        let extends = |order| matches!(order, Order::FullRandom | Order::SplitRandom);
        let new = |order| if extends(order) { bytes.saturating_sub(before) } else { bytes };
        rings.get(*ring).filter(|ring| ring.grows).map_or(0, |ring| ring.link_ns(new(ring.order), arenas[*arena].pages))
    };
    let each = points.iter().map(|point| {
        let Some(span) = point.measure.span() else { return 0 };
        let pass = if span.settle { (span.bytes >> 20) * PASS_NS } else { 0 };
        point.threads.iter().map(|thread| grown(span, &thread.job)).sum::<u64>() + pass
    });
    each.collect()
}

/// Touching and linking: the touchers share the work, but one arena's rings are one's work.
fn setup<'a>(arenas: impl Iterator<Item = &'a Arena>) -> u64 {
    let (mut touchers, mut together, mut longest) = (BTreeSet::new(), 0, 0);
    for arena in arenas {
        touchers.insert(arena.toucher);
        together += prepare(arena);
        longest = longest.max(prepare(arena));
    }
    longest.max(together / touchers.len().max(1) as u64)
}

fn prepare(arena: &Arena) -> u64 {
    let base = arena.pages == Pages::Base;
    let touch = (arena.bytes >> 20) * if base { TOUCH_BASE_NS } else { TOUCH_HUGE_NS };
    let flushed = match &arena.holds {
        Holds::Chase { bytes, rings } if rings.iter().any(|ring| !ring.grows) => (bytes >> 20) * FLUSH_NS,
        _ => 0,
    };
    ARENA_NS + touch + arena.fill_ns() + flushed
}
