//! A map of all pairs: which classes are uniform, and wide rounds for those that are not.

use super::{Schedule, State};
use crate::backend::{Bench, Failure, WideTask};
use crate::rounds::{in_most, value_of};
use crate::tournament::{self, Pair};
use memgauge_model::{Block, C2cMethod, ClassVerdict, MapPlan, MapRecord, PairClass, Plan, PointRecord, WideRound, WideTurn};
use memgauge_stats as stats;
use std::collections::BTreeMap;

/// Robust standard deviations from its class's median at which a pair stands out.
const STANDS_OUT: f64 = 5.0;
/// The median absolute deviation of normal values, over their standard deviation, is one over this.
const ROBUST: f64 = 1.4826;

impl Schedule<'_> {
    /// Judges the classes by what was measured alone, and fills what is not uniform.
    pub(super) fn map(&mut self) -> Result<(), Failure> {
        let plan = self.plan;
        let Some(map) = &plan.map else { return Ok(()) };
        let verdicts: Vec<ClassVerdict> =
            map.classes.iter().map(|class| verdict(plan, map, class, &self.state.run.points)).collect();
        let fill = verdicts.iter().any(|verdict| verdict.filled);
        self.state.run.map = Some(MapRecord { verdicts, wide: Vec::new() });
        if !fill {
            return Ok(());
        }
        let seed = self.state.rng.next_u64();
        self.state.announce(self.backend.now_ns(), "preparing memory");
        let state = &mut self.state;
        let outcome = self.backend.phase(plan, &map.arenas, seed, &mut |bench| state.fill(bench, map));
        self.state.close(self.backend.now_ns(), outcome, &[], &[])
    }
}

/// Is this class uniform, and is there anything to fill?
fn verdict(plan: &Plan, map: &MapPlan, class: &PairClass, points: &[PointRecord]) -> ClassVerdict {
    let by_pair: Vec<Vec<f64>> = class.sample.iter().map(|point| values(plan, *point, &points[*point])).collect();
    let medians: Vec<f64> = by_pair.iter().filter_map(|values| stats::median(values)).collect();
    let lowest = medians.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = medians.iter().copied().fold(0.0, f64::max);
    let test = stats::kruskal_wallis(&by_pair);
    let critical = test.map(|(_, freedom)| stats::chi_square_quantile(freedom, map.rule.level));
    let uniform = test.zip(critical).map(|((h, _), critical)| h <= critical || highest <= lowest * (1.0 + map.rule.spread));
    let ways = if map.kind.method() == C2cMethod::Chase { 2 } else { 1 };
    let alone = class.sample.len() as u64 / ways;
    ClassVerdict {
        apart: class.apart,
        sampled: u32::try_from(medians.len()).unwrap_or(u32::MAX),
        span_ns: (!medians.is_empty()).then_some([lowest, highest]),
        h: test.map(|(h, _)| h),
        critical,
        uniform,
        // What was measured alone, whole, needs no filling.
        filled: alone < class.pairs && (map.rule.all || uniform == Some(false)),
    }
}

/// A point's rounds of the placement class that most are of.
fn values(plan: &Plan, point: usize, record: &PointRecord) -> Vec<f64> {
    let counted: Vec<&Block> = record.rounds.iter().filter(|block| !block.superseded).collect();
    let of_most = in_most(&counted);
    let limits = &plan.windows.limits;
    let blocks = counted.into_iter().filter(|block| of_most(block));
    blocks.filter_map(|block| value_of(block, limits, &plan.points[point].measure)).collect()
}

impl State<'_> {
    /// All pairs of the classes that are to be filled; those that stand out once more; the first round again.
    fn fill(&mut self, bench: &mut dyn Bench, map: &MapPlan) -> Result<(), Failure> {
        let wanted: BTreeMap<_, f64> = {
            let record = self.run.map.iter().flat_map(|record| &record.verdicts);
            record.filter(|verdict| verdict.filled).map(|verdict| (verdict.apart, middle(verdict))).collect()
        };
        let of_wanted = |pairs: Vec<Pair>| -> Vec<Pair> {
            pairs.into_iter().filter(|(one, other)| wanted.contains_key(&map.apart(*one, *other))).collect()
        };
        let mut rounds: Vec<Vec<Pair>> =
            tournament::rounds(map.places.len()).map(of_wanted).filter(|pairs| !pairs.is_empty()).collect();
        self.rng.shuffle(&mut rounds);
        let expected = |pairs: &[Pair]| {
            pairs.iter().filter_map(|(one, other)| wanted.get(&map.apart(*one, *other)).copied()).fold(1.0, f64::max)
        };
        self.blocks_foreseen += rounds.len() + 1;
        for pairs in &rounds {
            self.wide(bench, map, pairs, expected(pairs), WideTurn::First)?;
        }
        let mut left = self.standing_out(map);
        self.blocks_foreseen += usize::from(!left.is_empty());
        for _ in 0..map.rule.again {
            let pairs = tournament::disjoint(&mut left, map.places.len());
            if pairs.is_empty() {
                break;
            }
            self.wide(bench, map, &pairs, expected(&pairs), WideTurn::Again)?;
        }
        match rounds.first() {
            Some(pairs) => self.wide(bench, map, pairs, expected(pairs), WideTurn::Repeat),
            None => Ok(()),
        }
    }

    /// One wide round; of a chase there and back.
    fn wide(
        &mut self,
        bench: &mut dyn Bench,
        map: &MapPlan,
        pairs: &[Pair],
        expected_ns: f64,
        turn: WideTurn,
    ) -> Result<(), Failure> {
        let back: Vec<Pair> = pairs.iter().map(|(one, other)| (*other, *one)).collect();
        let ways: &[&[Pair]] = if map.kind.method() == C2cMethod::Chase { &[pairs, &back] } else { &[pairs] };
        for pairs in ways {
            self.announce(bench.now_ns(), "core to core, many pairs at once");
            let start_ns = bench.now_ns();
            let wide = bench.wide(&WideTask { plan: self.plan, map, pairs, expected_ns })?;
            let cpus = pairs.iter().map(|(writer, reader)| (map.places[*writer].cpu, map.places[*reader].cpu)).collect();
            let bad = |(_, value): &(u32, &Option<(f64, bool)>)| value.is_some_and(|(_, disturbed)| disturbed);
            let disturbed = (0..).zip(&wide.ns).filter(bad).map(|(at, _)| at).collect();
            #[expect(clippy::cast_possible_truncation, reason = "seven digits of a figure that has three")]
            let ns = wide.ns.iter().map(|value| value.map(|(ns, _)| ns as f32)).collect();
            if let Some(record) = &mut self.run.map {
                record.wide.push(WideRound { turn, start_ns, pairs: cpus, ns, disturbed, passes: wide.passes });
            }
        }
        self.blocks_done += 1;
        Ok(())
    }

    /// Pairs that are far from the median of their class, or have no undisturbed value.
    fn standing_out(&self, map: &MapPlan) -> Vec<Pair> {
        let index: BTreeMap<u32, usize> = map.places.iter().enumerate().map(|(at, place)| (place.cpu, at)).collect();
        let seen = self.run.map.iter().flat_map(|record| &record.wide).flat_map(WideRound::undisturbed);
        let mut by_class: BTreeMap<_, Vec<(Pair, Option<f64>)>> = BTreeMap::new();
        for ((writer, reader), ns) in seen {
            if let (Some(&one), Some(&other)) = (index.get(&writer), index.get(&reader)) {
                let pair = (one.min(other), one.max(other));
                by_class.entry(map.apart(one, other)).or_default().push((pair, ns));
            }
        }
        let mut out = Vec::new();
        for pairs in by_class.values() {
            let values: Vec<f64> = pairs.iter().filter_map(|(_, ns)| *ns).collect();
            let Some((median, mad)) = stats::median(&values).zip(stats::mad(&values)) else { continue };
            let reach = (STANDS_OUT * ROBUST * mad).max(map.rule.spread * median);
            out.extend(pairs.iter().filter(|(_, ns)| ns.is_none_or(|ns| (ns - median).abs() > reach)).map(|(pair, _)| *pair));
        }
        out.sort_unstable();
        out.dedup();
        out
    }
}

fn middle(verdict: &ClassVerdict) -> f64 {
    verdict.span_ns.map_or(1.0, |[lowest, highest]| (lowest + highest) / 2.0)
}
