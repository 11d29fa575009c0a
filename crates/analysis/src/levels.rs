//! Latency and bandwidth of each level of the memory, out of a sweep: the sizes that lie well inside a level, taken together.

use crate::draft::Draft;
use crate::figures::{Case, Figure, assemble};
use crate::labels::set;
use crate::plausibility::{self, Level};
use crate::rounds::{self, Sample, Series};
use crate::{jobs, sweeps};
use memgauge_model::{Cpu, NodeId};
use memgauge_stats as stats;
use std::collections::BTreeMap;

/// A level for each of these and one figure for each sweep: `level_latency`, and `level_bandwidth` of one thread (a core's) and of
/// all (the total).
pub(crate) fn write(case: &Case<'_>, figures: &[Figure], draft: &mut Draft) {
    for (from, name, unit) in [("sweep_latency", "level_latency", "ns"), ("sweep_bandwidth", "level_bandwidth", "B/s")] {
        for (labels, group) in sweeps::groups(figures, from, &["bytes", "class"], draft) {
            let mut by_level: BTreeMap<String, Vec<&Figure>> = BTreeMap::new();
            for (_, figure) in group {
                if let Some(level) = level(case, figure) {
                    by_level.entry(level).or_default().push(figure);
                }
            }
            for (level, inside) in by_level {
                let inside = middle(&inside);
                let mut labels = labels.clone();
                set(&mut labels, "level", level);
                let series = together(inside);
                let Some(estimate) = rounds::estimate(&series, "") else { continue };
                let mut metric = assemble(name, unit, &labels, &series, estimate);
                let bytes = |figure: &Figure| draft.metrics[figure.metric].labels.get("bytes").cloned().unwrap_or_default();
                let (first, last) = (inside.first(), inside.last());
                if let (Some(first), Some(last)) = (first, last) {
                    let ends = [bytes(first), bytes(last)].map(|text| text.parse().map_or(text, memgauge_model::units::bytes));
                    metric.remarks.push(format!("sizes from {} to {}", ends[0], ends[1]));
                }
                draft.add(metric);
            }
        }
    }
}

/// The level, by declared sizes, that the figure's working sets lie in; none where they lie in two, or no size is declared.
pub(crate) fn level(case: &Case<'_>, figure: &Figure) -> Option<String> {
    let (plan, machine) = (&case.record.plan, &case.record.machine);
    let point = &plan.points[figure.point];
    let (node, touched): (NodeId, Vec<(Cpu, u64)>) = match (jobs::chaser(plan, point), jobs::streams(plan, point)) {
        (Some(chaser), _) => (chaser.arena.node, vec![(chaser.cpu, chaser.bytes)]),
        (None, Some(streams)) => (streams.by_thread.first()?.1.node, streams.touched()),
        (None, None) => return None,
    };
    match plausibility::level(machine, node, &touched)? {
        Level::Cache(level) => Some(format!("L{level}")),
        Level::Beyond => Some("memory".to_owned()),
        Level::Partly => None,
    }
}

/// The middle third of a level's sizes: at its lower end the level before still helps, at its upper end it leaks itself.
fn middle<'a>(figures: &'a [&'a Figure]) -> &'a [&'a Figure] {
    let third = figures.len() / 3;
    &figures[third..figures.len() - third]
}

/// Round by round the median over figures.
fn together(figures: &[&Figure]) -> Series {
    let mut by_round: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for sample in figures.iter().flat_map(|figure| &figure.series.samples) {
        by_round.entry(sample.round).or_default().push(sample.typical);
    }
    // A round in which most sizes are missing would be another figure's.
    by_round.retain(|_, values| 2 * values.len() >= figures.len());
    let sample =
        |(round, values): (&u32, &Vec<f64>)| Some(Sample { round: *round, typical: stats::median(values)?, undisturbed: None });
    let sum = |count: fn(&Series) -> u32| figures.iter().map(|figure| count(&figure.series)).sum();
    let ends = rounds::span(&by_round.values().flatten().copied().collect::<Vec<_>>());
    Series {
        samples: by_round.iter().filter_map(sample).collect(),
        ends,
        windows: sum(|series| series.windows),
        excluded: sum(|series| series.excluded),
        ..Series::default()
    }
}
