//! A map of all pairs of many CPUs: the figure of each class, and what was measured at once.

use crate::draft::Draft;
use crate::figures::{Case, Figure, assemble};
use crate::labels::set;
use crate::levels::together;
use crate::rounds;
use memgauge_model::{
    C2cMethod, C2cScope, Cpu, MapClass, MapPlan, MapRecord, Measure, PairClass, PairMap, WideRound, WideTurn, units,
};
use memgauge_stats as stats;
use std::collections::{BTreeMap, BTreeSet};

/// Pairs that were measured at once took so much longer than alone: worth a line.
const CROWDED: f64 = 1.05;

/// The map, where the plan has one.
pub(crate) fn write(case: &Case<'_>, figures: &[Figure], draft: &mut Draft) -> Option<PairMap> {
    let plan = case.record.plan.map.as_ref()?;
    let nothing = MapRecord::default();
    let record = case.record.run.map.as_ref().unwrap_or(&nothing);
    let cells = Cells::of(plan, record);
    let classes = plan.classes.iter().zip(&record.verdicts).map(|(class, verdict)| {
        let metric = of_class(plan, class, figures, draft);
        let filled = cells.of_class(plan, class);
        let values = || filled.iter().map(|(_, ns)| *ns);
        MapClass {
            apart: class.apart.to_string(),
            pairs: class.pairs,
            metric,
            verdict: *verdict,
            filled: filled.len() as u64,
            filled_ns: rounds::span(&values().collect::<Vec<_>>()),
            asymmetry: cells.asymmetry(plan, &filled),
        }
    });
    let classes = classes.collect();
    let share = cells.disturbed as f64 / cells.ns.len().max(1) as f64;
    if share > case.record.plan.windows.limits.excluded_share {
        draft.reject(format!("{:.0} % of the pairs measured at once were disturbed", share * 100.0), "the map of all pairs");
    }
    let crowded = crowded(case, plan, figures, &cells, draft);
    if let Some(factor) = crowded.filter(|factor| *factor > CROWDED) {
        let more = (factor - 1.0) * 100.0;
        draft.note(format!(
            "pairs that were measured at once took {more:.0} % longer than alone: compare them with each other only"
        ));
    }
    Some(PairMap {
        kind: plan.kind,
        unit: "ns".to_owned(),
        cpus: plan.places.iter().map(|place| place.cpu).collect(),
        classes,
        within: within(&record.wide),
        crowded,
        disturbed: cells.disturbed as u64,
        cells: cells.rows(plan),
    })
}

/// `c2c_class_latency`: round by round the median over the sampled pairs.
fn of_class(plan: &MapPlan, class: &PairClass, figures: &[Figure], draft: &mut Draft) -> Option<usize> {
    let sampled: Vec<&Figure> =
        figures.iter().filter(|figure| figure.name == "c2c_latency" && class.sample.contains(&figure.point)).collect();
    let series = together(&sampled);
    let estimate = rounds::estimate(&series, "")?;
    let mut labels = BTreeMap::new();
    set(&mut labels, "scope", C2cScope::Cpu.word());
    set(&mut labels, "apart", class.apart);
    set(&mut labels, "kind", plan.kind.word());
    set(&mut labels, "method", plan.kind.method().word());
    let mut metric = assemble("c2c_class_latency", "ns", &labels, &series, estimate);
    metric.remarks.push(format!("{} of {}", units::count(sampled.len() as u64, "value"), units::count(class.pairs, "pair")));
    draft.add(metric)
}

/// What pairs took in wide rounds, by the indices of writer and reader.
struct Cells {
    ns: BTreeMap<(usize, usize), f64>,
    /// How many of them were disturbed in every turn.
    disturbed: usize,
}

impl Cells {
    fn of(plan: &MapPlan, record: &MapRecord) -> Self {
        let index: BTreeMap<Cpu, usize> = plan.places.iter().enumerate().map(|(at, place)| (place.cpu, at)).collect();
        let both_ways = plan.kind.method() == C2cMethod::Pingpong;
        let (mut cells, mut disturbed) = (BTreeMap::new(), BTreeSet::new());
        // What was measured again is what counts: of many the farthest are far by chance, too.
        for wide in record.wide.iter().filter(|wide| wide.turn != WideTurn::Repeat) {
            for (((writer, reader), undisturbed), ns) in wide.undisturbed().zip(&wide.ns) {
                let (Some(&one), Some(&other), Some(ns)) = (index.get(&writer), index.get(&reader), ns) else { continue };
                // A disturbed value counts where there is no other.
                if undisturbed.is_some() || !cells.contains_key(&(one, other)) {
                    let back = both_ways.then_some((other, one));
                    for cell in [Some((one, other)), back].into_iter().flatten() {
                        cells.insert(cell, f64::from(*ns));
                        if undisturbed.is_some() {
                            disturbed.remove(&cell)
                        } else {
                            disturbed.insert(cell)
                        };
                    }
                }
            }
        }
        Self { ns: cells, disturbed: disturbed.len() }
    }

    /// Unordered pairs of a class that were measured.
    fn of_class(&self, plan: &MapPlan, class: &PairClass) -> Vec<((usize, usize), f64)> {
        let mine = self.ns.iter().filter(|((one, other), _)| plan.apart(*one, *other) == class.apart);
        mine.filter(|((one, other), _)| one < other).map(|(pair, ns)| (*pair, *ns)).collect()
    }

    fn asymmetry(&self, plan: &MapPlan, pairs: &[((usize, usize), f64)]) -> Option<f64> {
        if plan.kind.method() == C2cMethod::Pingpong {
            return None;
        }
        let differ = |((one, other), there): &((usize, usize), f64)| Some((there / self.ns.get(&(*other, *one))? - 1.0).abs());
        stats::median(&pairs.iter().filter_map(differ).collect::<Vec<_>>())
    }

    #[expect(clippy::cast_possible_truncation, reason = "tenths of nanoseconds")]
    fn rows(&self, plan: &MapPlan) -> Vec<Vec<Option<f32>>> {
        if self.ns.is_empty() {
            return Vec::new();
        }
        let count = plan.places.len();
        let cell = |one, other| self.ns.get(&(one, other)).map(|ns| ((ns * 10.0).round() / 10.0) as f32);
        (0..count).map(|one| (0..count).map(|other| cell(one, other)).collect()).collect()
    }
}

/// How far the first round and its repetition differ: the median over their pairs.
fn within(wide: &[WideRound]) -> Option<f64> {
    let of = |turn| wide.iter().filter(move |round| round.turn == turn).flat_map(WideRound::undisturbed);
    let firsts: BTreeMap<(Cpu, Cpu), f64> = of(WideTurn::First).filter_map(|(pair, ns)| Some((pair, ns?))).collect();
    let differ = |(pair, again): ((Cpu, Cpu), Option<f64>)| Some((again? / firsts.get(&pair)? - 1.0).abs());
    stats::median(&of(WideTurn::Repeat).filter_map(differ).collect::<Vec<_>>())
}

/// What sampled pairs take at once over what they take alone.
fn crowded(case: &Case<'_>, plan: &MapPlan, figures: &[Figure], cells: &Cells, draft: &Draft) -> Option<f64> {
    let index: BTreeMap<Cpu, usize> = plan.places.iter().enumerate().map(|(at, place)| (place.cpu, at)).collect();
    let sampled = plan.classes.iter().flat_map(|class| &class.sample);
    let ratio = |point: &usize| {
        let Measure::C2c { from, to, .. } = case.record.plan.points[*point].measure else { return None };
        let alone = figures.iter().find(|figure| figure.point == *point)?;
        let at_once = cells.ns.get(&(*index.get(&from)?, *index.get(&to)?))?;
        Some(at_once / draft.metrics[alone.metric].value)
    };
    stats::median(&sampled.filter_map(ratio).collect::<Vec<_>>())
}
