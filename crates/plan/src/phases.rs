//! Phases: as many points as memory holds at once, so that arenas are prepared as seldom as can be.

use crate::capacity::Load;
use crate::draft::Draft;
use crate::sizes::Sized;
use memgauge_model::{AgainRule, ArenaId, Measure, Phase, Point, Turn, What};
use std::collections::BTreeSet;

/// Five robust standard deviations lie beyond what hundreds of ordinary regions show by chance; 3 % beyond what a guest's
/// neighbours do to medians of a few rounds.
const AGAIN: AgainRule = AgainRule { k: 5.0, least: 0.03, most: 16, controls: 4, rounds: 6 };

/// The arenas of a point, rising, each once.
pub(crate) fn arenas_of(point: &Point) -> Vec<ArenaId> {
    let used: BTreeSet<ArenaId> = point.threads.iter().flat_map(|thread| thread.job.arenas()).collect();
    used.into_iter().collect()
}

/// A phase being filled.
#[derive(Default)]
struct Bin {
    phase: Phase,
    has: BTreeSet<ArenaId>,
    load: Load,
}

/// Puts each point into the phase that has most of its arenas already and room for the rest; else into a new one. An arena
/// that points of several phases use is prepared in each.
pub(crate) fn pack(draft: &Draft, sized: &Sized) -> Vec<Phase> {
    if draft.request.what == What::Scan {
        return held(draft);
    }
    let mut phases = packed(draft, sized);
    // A pair that is measured twice in a round has its turns before and after everything else.
    let Some(again) = draft.points.iter().position(|point| matches!(point.measure, Measure::C2c { repeat: true, .. })) else {
        return phases;
    };
    let early = draft.points.iter().position(|point| point.threads == draft.points[again].threads).filter(|at| *at != again);
    for (point, turn) in early.map(|early| (early, Turn::First)).into_iter().chain([(again, Turn::Last)]) {
        phases.iter_mut().for_each(|phase| phase.points.retain(|other| *other != point));
        phases.push(Phase { arenas: arenas_of(&draft.points[point]), points: vec![point], turn, held: None });
    }
    phases.retain(|phase| !phase.points.is_empty());
    phases
}

/// One phase a node.
fn held(draft: &Draft) -> Vec<Phase> {
    let points_of = |node| {
        let of = move |point: &Point| matches!(point.measure, Measure::Scan { node: of, .. } if of == node);
        draft.points.iter().enumerate().filter(move |(_, point)| of(point)).map(|(at, _)| at).collect()
    };
    let phase = |scan: &memgauge_model::ScanPlan| Phase {
        arenas: scan.arenas.clone(),
        points: points_of(scan.node),
        turn: Turn::Any,
        held: Some(AGAIN),
    };
    draft.scans.iter().map(phase).collect()
}

fn packed(draft: &Draft, sized: &Sized) -> Vec<Phase> {
    let wanted: Vec<Vec<ArenaId>> = draft.points.iter().map(arenas_of).collect();
    if sized.limits.shortage(&Load::of(&sized.arenas)).is_none() {
        return vec![Phase {
            arenas: (0..sized.arenas.len()).collect(),
            points: (0..wanted.len()).collect(),
            turn: Turn::Any,
            held: None,
        }];
    }
    let bytes = |point: usize| wanted[point].iter().map(|arena| sized.arenas[*arena].bytes).sum::<u64>();
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    // The largest first: small ones then find room beside them, the other way round they would stand in the way.
    order.sort_by_cached_key(|point| std::cmp::Reverse(bytes(*point)));
    let mut bins: Vec<Bin> = Vec::new();
    for point in order {
        let best = (0..bins.len()).filter_map(|at| Some((added(&bins[at], &wanted[point], sized)?, at))).min();
        let at = best.map_or_else(
            || {
                bins.push(Bin::default());
                bins.len() - 1
            },
            |(_, at)| at,
        );
        bins[at].take(point, &wanted[point], sized);
    }
    bins.into_iter().map(Bin::close).collect()
}

impl Bin {
    fn take(&mut self, point: usize, wanted: &[ArenaId], sized: &Sized) {
        self.phase.points.push(point);
        for arena in wanted {
            if self.has.insert(*arena) {
                self.load.add(&sized.arenas[*arena]);
            }
        }
    }

    fn close(mut self) -> Phase {
        self.phase.points.sort_unstable();
        Phase { arenas: self.has.into_iter().collect(), ..self.phase }
    }
}

/// Bytes that the point adds to the phase; none if they don't fit.
fn added(bin: &Bin, wanted: &[ArenaId], sized: &Sized) -> Option<u64> {
    let new = wanted.iter().filter(|arena| !bin.has.contains(arena)).map(|arena| &sized.arenas[*arena]);
    let mut load = bin.load.clone();
    new.for_each(|arena| load.add(arena));
    sized.limits.shortage(&load).is_none().then(|| load.mapped - bin.load.mapped)
}
