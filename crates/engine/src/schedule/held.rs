//! Phases whose arenas stay while all rounds of their points are made, and what is then measured again.

use super::{Schedule, State};
use crate::backend::{Bench, Failure};
use crate::rounds::is_done;
use crate::slow::{self, Kind};
use memgauge_model::{AgainRecord, AgainRule, ArenaId, ArenaPhysical, Avail, Physical, PointId};
use std::collections::{BTreeMap, BTreeSet};

/// Physical ranges of a region that the record keeps, unless it is slow: then all that are known.
const RANGES: usize = 32;

impl Schedule<'_> {
    /// All held phases, one after the other. Their points take part in no other rounds.
    pub(super) fn held(&mut self, active: &mut [bool]) -> Result<(), Failure> {
        for phase in 0..self.plan.phases.len() {
            if let Some(rule) = self.plan.phases[phase].held {
                self.plan.phases[phase].points.iter().for_each(|point| active[*point] = false);
                self.hold(phase, rule)?;
            }
        }
        Ok(())
    }

    fn hold(&mut self, phase: usize, rule: AgainRule) -> Result<(), Failure> {
        let held = &self.plan.phases[phase];
        let seed = self.state.rng.next_u64();
        self.state.announce(self.backend.now_ns(), "preparing memory");
        let state = &mut self.state;
        let outcome = self.backend.phase(self.plan, &held.arenas, seed, &mut |bench| {
            state.stay(bench, &held.points)?;
            state.again(bench, phase, rule)
        });
        let firsts = vec![0; held.points.len()];
        self.state.close(self.backend.now_ns(), outcome, &held.points, &firsts)
    }
}

impl State<'_> {
    /// All rounds of these points.
    fn stay(&mut self, bench: &mut dyn Bench, points: &[PointId]) -> Result<(), Failure> {
        let plan = self.plan;
        let mut left = points.to_vec();
        let mut round = 0;
        while !left.is_empty() {
            self.rng.shuffle(&mut left);
            let mut position = 0;
            for &point in &left {
                self.point(bench, point, round, &mut position, 1.0)?;
            }
            round += 1;
            left.retain(|point| !is_done(plan, *point, &self.run.points[*point], round));
            if plan.rounds.looks.contains(&round) {
                let next = plan.rounds.looks.iter().find(|look| **look > round).map_or(0, |look| look - round);
                self.blocks_foreseen += left.len() * next as usize;
            }
        }
        Ok(())
    }

    /// Finds what is slow, and measures it again among ordinary ones.
    fn again(&mut self, bench: &mut dyn Bench, phase: usize, rule: AgainRule) -> Result<(), Failure> {
        let kinds = slow::kinds(self.plan, &self.plan.phases[phase].points, &self.run.points, rule);
        let mut chosen = Vec::new();
        for kind in kinds {
            let record = self.pick(phase, kind, rule);
            chosen.extend(record.slow.iter().take(record.measured as usize).chain(&record.controls).copied());
            self.run.again.push(record);
        }
        self.blocks_foreseen += chosen.len() * rule.rounds as usize;
        for round in 0..rule.rounds {
            self.rng.shuffle(&mut chosen);
            let mut position = 0;
            for &point in &chosen {
                let before = self.run.points[point].rounds.len();
                let done = self.point(bench, point, round, &mut position, 1.0);
                // No part of the point's own figure: of those that were slow by chance it would make the mean of two.
                let record = &mut self.run.points[point];
                record.again.extend(record.rounds.drain(before..));
                done?;
            }
        }
        Ok(())
    }

    /// All slow ones of a kind, how many of them are measured again, and the ordinary ones beside them.
    fn pick(&mut self, phase: usize, kind: Kind, rule: AgainRule) -> AgainRecord {
        let Kind { mix, pages, values, median, fence, slow, mut ordinary } = kind;
        let measured = slow.len().min(rule.most as usize);
        self.rng.shuffle(&mut ordinary);
        ordinary.truncate(if measured == 0 { 0 } else { measured.max(rule.controls as usize) });
        ordinary.sort_unstable();
        let counted = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        AgainRecord {
            phase,
            mix,
            pages,
            values: counted(values),
            median,
            fence,
            slow,
            measured: counted(measured),
            controls: ordinary,
        }
    }

    /// Where regions lie.
    pub(super) fn keep_places(&mut self, physical: BTreeMap<ArenaId, Avail<Physical>>) {
        let slow: BTreeSet<PointId> = self.run.again.iter().flat_map(|record| record.slow.iter().copied()).collect();
        let slow: BTreeSet<ArenaId> = slow.into_iter().flat_map(|point| super::arenas_of_point(self.plan, point)).collect();
        let most = |arena: ArenaId| if slow.contains(&arena) { usize::MAX } else { RANGES };
        let places = physical.into_iter().map(|(arena, physical)| {
            let physical = physical.map(|physical| physical.at_most(most(arena)));
            ArenaPhysical { arena, physical }
        });
        self.run.physical.extend(places);
    }
}
