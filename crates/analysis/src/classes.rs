//! Placement classes of vCPUs, and which blocks of a point count.
//!
//! A host moves vCPUs: the same pair is then near or far, and its figures differ by a factor. A figure is of one class,
//! that in which most of its rounds lie; the other rounds are not mixed in.

use crate::jobs;
use memgauge_model::{Block, Cpu, Measure, NodeId, Pages, PointId, PointRecord, Record};
use memgauge_stats::{Classes, split_classes};
use std::collections::BTreeMap;

/// A placement class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// The run saw one class of this pair.
    One,
    /// The nearer of two.
    Near,
    /// The farther of two.
    Far,
    /// The ping-pong gave no time.
    Unknown,
}

impl Class {
    /// The label's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Near => "near",
            Self::Far => "far",
            Self::Unknown => "unknown",
        }
    }
}

/// The blocks of a point that make its figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection<'a> {
    /// The figure's class, where classes are told apart.
    pub class: Option<Class>,
    /// One block a round, by rising round.
    pub blocks: Vec<&'a Block>,
    /// Rounds in other classes.
    pub others: Vec<(Class, usize)>,
    /// Blocks in which the class changed: their windows are disturbed.
    pub changed: Vec<&'a Block>,
    /// Blocks that were repeated.
    pub superseded: usize,
}

/// Classes by pair of CPUs, as the run saw them.
pub(crate) type ByPair = BTreeMap<(Cpu, Cpu), Classes>;

/// Splits the ping-pong times of each pair over the whole run.
pub(crate) fn by_pair(record: &Record) -> ByPair {
    let mut times: BTreeMap<(Cpu, Cpu), Vec<f64>> = BTreeMap::new();
    for (point, seen) in record.plan.points.iter().zip(&record.run.points) {
        let Some(pair) = point.class_pair.map(ordered) else { continue };
        let both = seen.rounds.iter().chain(&seen.again).flat_map(|block| [block.class_before_ns, block.class_after_ns]);
        times.entry(pair).or_default().extend(both.filter_map(usable));
    }
    times.into_iter().filter_map(|(pair, times)| Some((pair, split_classes(&times)?))).collect()
}

/// Chooses the blocks of every point, in the plan's order.
pub(crate) fn select<'a>(record: &'a Record, pairs: &ByPair) -> Vec<Selection<'a>> {
    choose(record, pairs, |seen| &seen.rounds)
}

/// The same of the blocks that were measured again; most points have none.
pub(crate) fn select_again<'a>(record: &'a Record, pairs: &ByPair) -> Vec<Selection<'a>> {
    choose(record, pairs, |seen| &seen.again)
}

fn choose<'a>(record: &'a Record, pairs: &ByPair, of: fn(&PointRecord) -> &[Block]) -> Vec<Selection<'a>> {
    let blocks = |point: PointId| record.run.points.get(point).map_or(&[][..], of);
    let sorted: Vec<Sorted<'a>> = (0..record.plan.points.len()).map(|point| sort(record, point, blocks(point), pairs)).collect();
    let mut tally: BTreeMap<Group, BTreeMap<Class, usize>> = BTreeMap::new();
    for (point, sorted) in sorted.iter().enumerate() {
        let counts = tally.entry(group(record, point)).or_default();
        sorted.blocks.iter().for_each(|(class, _)| *counts.entry(*class).or_default() += 1);
    }
    let winner = |point| {
        let counts = tally.get(&group(record, point))?;
        // Of equally many the first: max_by_key would take the last.
        counts.iter().rev().max_by_key(|(_, count)| **count).map(|(class, _)| *class)
    };
    sorted.into_iter().enumerate().map(|(point, sorted)| sorted.keep(winner(point))).collect()
}

/// Points that must be of one class together: those of a loaded curve, which would have steps of the host's making, and
/// regions that are held against one another, as the engine does it ([`memgauge_model::AgainRecord`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Curve(usize),
    Scan(NodeId, &'static str, Option<Pages>),
    Point(PointId),
}

fn group(record: &Record, point: PointId) -> Group {
    let planned = &record.plan.points[point];
    match planned.measure {
        Measure::Loaded { curve, .. } => Group::Curve(curve),
        Measure::Scan { node, mix, .. } => {
            let pages = jobs::streams(&record.plan, planned).and_then(|streams| Some(streams.by_thread.first()?.1.pages));
            Group::Scan(node, mix.name(), pages)
        }
        _ => Group::Point(point),
    }
}

/// The blocks of a point by class.
struct Sorted<'a> {
    classed: bool,
    blocks: Vec<(Class, &'a Block)>,
    changed: Vec<&'a Block>,
    superseded: usize,
}

impl<'a> Sorted<'a> {
    fn keep(self, class: Option<Class>) -> Selection<'a> {
        let mut others: BTreeMap<Class, usize> = BTreeMap::new();
        let mut blocks = Vec::new();
        for (own, block) in self.blocks {
            if Some(own) == class {
                blocks.push(block);
            } else {
                *others.entry(own).or_default() += 1;
            }
        }
        let class = class.filter(|_| self.classed);
        Selection { class, blocks, others: others.into_iter().collect(), changed: self.changed, superseded: self.superseded }
    }
}

fn sort<'a>(record: &Record, point: PointId, rounds: &'a [Block], pairs: &ByPair) -> Sorted<'a> {
    let pair = record.plan.points[point].class_pair.map(ordered);
    let classes = pair.and_then(|pair| pairs.get(&pair));
    // A round's last block is its valid one, should there be several.
    let counted: BTreeMap<u32, &Block> =
        rounds.iter().filter(|block| !block.superseded).map(|block| (block.round, block)).collect();
    let superseded = rounds.iter().filter(|block| block.superseded).count();
    let mut sorted = Sorted { classed: pair.is_some(), blocks: Vec::new(), changed: Vec::new(), superseded };
    for block in counted.into_values() {
        match if pair.is_some() { class_of(block, classes) } else { Some(Class::One) } {
            Some(class) => sorted.blocks.push((class, block)),
            None => sorted.changed.push(block),
        }
    }
    sorted
}

/// A block's class by both its ends; none when they differ.
fn class_of(block: &Block, classes: Option<&Classes>) -> Option<Class> {
    let Some(classes) = classes else { return Some(Class::Unknown) };
    let class = |time: f64| match (classes.centers.len(), classes.classify(time)) {
        (0 | 1, _) => Class::One,
        (_, 0) => Class::Near,
        _ => Class::Far,
    };
    match (usable(block.class_before_ns).map(class), usable(block.class_after_ns).map(class)) {
        (Some(before), Some(after)) => (before == after).then_some(before),
        (Some(only), None) | (None, Some(only)) => Some(only),
        (None, None) => Some(Class::Unknown),
    }
}

fn usable(time: Option<f64>) -> Option<f64> {
    time.filter(|time| time.is_finite() && *time > 0.0)
}

fn ordered((a, b): (Cpu, Cpu)) -> (Cpu, Cpu) {
    (a.min(b), a.max(b))
}
