//! What the plan costs in time. Rates are rough on purpose: they say "half a minute", not "27.3 s".

use crate::draft::Draft;
use crate::sizes::Sized;
use crate::timing::{CLASS_NS, Timing, WINDOW_NS};
use memgauge_model::{
    Arena, C2cKind, Estimate, Holds, Measure, Order, Pages, Phase, Point, RingPlan, RoundRule, Span, What, WindowRule,
};
use std::collections::BTreeSet;

const MS: u64 = 1_000_000;
/// ns to touch a MiB and give it back: 7 GB/s a CPU with huge pages, 4 GB/s with base pages. (A guest whose host must find the memory first takes
/// several times as long, once.)
const TOUCH_HUGE_NS: u64 = 150_000;
const TOUCH_BASE_NS: u64 = 280_000;
/// ns to link a node: a miss each when the whole buffer is one cycle, hits in L2 inside a window.
const LINK_FULL_NS: u64 = 28;
const LINK_FULL_BASE_NS: u64 = 34;
const LINK_WINDOW_NS: u64 = 13;
const LINK_SEQUENTIAL_NS: u64 = 5;
/// ns to fill a MiB of a stream, or to flush a MiB of a chase.
const FILL_NS: u64 = 90_000;
const FLUSH_NS: u64 = 50_000;
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
    points.iter().map(|point| Point { time_ns: time(&point.measure), ..point.clone() }).collect()
}

/// What doesn't depend on the windows' length.
struct Cost<'a> {
    draft: &'a Draft<'a>,
    setup_ns: u64,
    /// Of phases that are held, once.
    held_ns: u64,
    start_ns: u64,
    rounds: u32,
}

impl<'a> Cost<'a> {
    fn new(draft: &'a Draft<'a>, sized: &Sized, phases: &[Phase], rounds: &RoundRule) -> Self {
        let prepare = |held: bool| -> u64 {
            let phases = phases.iter().filter(|phase| phase.held.is_some() == held);
            phases.map(|phase| setup(phase.arenas.iter().map(|arena| &sized.arenas[*arena]))).sum()
        };
        let passes: u64 = draft.points.iter().filter_map(|point| point.measure.span()).filter(|span| span.settle).map(pass).sum();
        let setup_ns = prepare(false) + passes;
        Self { draft, setup_ns, held_ns: prepare(true), start_ns: START_NS, rounds: rounds.looks.last().copied().unwrap_or(1) }
    }

    fn with(&self, points: &[Point], windows: &WindowRule) -> Estimate {
        let searches = &self.draft.searches;
        let mut times = vec![u64::from(self.rounds); points.len()];
        for search in searches {
            // Candidates are measured for the search alone; one of them then takes part in every round.
            search.candidates.iter().for_each(|point| times[*point] = u64::from(search.rounds));
            if let Some(first) = search.candidates.first() {
                times[*first] += u64::from(self.rounds);
            }
        }
        let sum = |ns: fn(&Point, u64) -> u64| points.iter().zip(&times).map(|(point, times)| ns(point, *times)).sum::<u64>();
        let blocks: u64 = times.iter().sum();
        let pilots: u64 = self.draft.curves.iter().map(|curve| curve.pilot.len() as u64).sum();
        let pilots_ns: u64 = self.draft.curves.iter().map(|curve| curve.pilot.len() as u64 * curve.pilot_ns).sum();
        let classes = sum(|point, times| if point.class_pair.is_some() { 2 * CLASS_NS * times } else { 0 });
        let search_rounds: u64 = searches.iter().map(|search| u64::from(search.rounds)).sum();
        Estimate {
            setup_ns: self.start_ns + self.held_ns + self.setup_ns * (u64::from(self.rounds) + search_rounds) + classes,
            warmup_ns: windows.warmup_min_ns * (blocks + pilots),
            windows_ns: sum(|point, times| point.time_ns * times) + pilots_ns + passes(points, &times),
            rounds: self.rounds,
        }
    }
}

/// A chase between cores spends about as long on making lines its own as on reading them.
fn passes(points: &[Point], times: &[u64]) -> u64 {
    let chase = |point: &Point| matches!(point.measure, Measure::C2c { kind: C2cKind::Hit | C2cKind::Hitm, .. });
    points.iter().zip(times).filter(|(point, _)| chase(point)).map(|(point, times)| point.time_ns * times).sum()
}

/// Going once through a working set.
fn pass(span: Span) -> u64 {
    (span.bytes >> 20) * FILL_NS
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
    let link = match &arena.holds {
        Holds::Chase { bytes, rings } => {
            let ring = |order| match order {
                Order::FullRandom if base => LINK_FULL_BASE_NS,
                Order::FullRandom => LINK_FULL_NS,
                Order::WindowRandom => LINK_WINDOW_NS,
                Order::Sequential => LINK_SEQUENTIAL_NS,
            };
            // One that grows is linked once in all where insertion extends it; else anew for each size: with four an octave,
            // six times the largest.
            let times = |r: &RingPlan| if r.grows && r.order != Order::FullRandom { 6 } else { 1 };
            let linked: u64 = rings.iter().map(|r| r.spans(*bytes) / r.stride.max(1) * ring(r.order) * times(r)).sum();
            let flushed = if rings.iter().all(|ring| ring.grows) { 0 } else { (bytes >> 20) * FLUSH_NS };
            linked + flushed
        }
        // The last array is written, not read: it needs no content.
        Holds::Streams { streams, bytes } => u64::from((streams - 1).max(1)) * (bytes >> 20) * FILL_NS,
        Holds::Region { bytes, .. } => (bytes >> 20) * FILL_NS,
        Holds::C2c { .. } => 0,
    };
    ARENA_NS + touch + link
}
