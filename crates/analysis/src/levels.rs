//! Latency and bandwidth of each level of the memory, out of a sweep: the sizes that lie well inside a level, taken together.

use crate::as_found::AsFound;
use crate::draft::{Draft, gap};
use crate::figures::{Case, Figure, assemble};
use crate::labels::set;
use crate::rounds::{self, Sample, Series};
use crate::sweeps;
use memgauge_model::{Reason, units};
use memgauge_stats as stats;
use std::collections::BTreeMap;

/// A level for each of these and one figure for each sweep: `level_latency`, and `level_bandwidth` of one thread (a core's) and of
/// all (the total).
pub(crate) fn write(case: &Case<'_>, figures: &[Figure], caches: &AsFound, draft: &mut Draft) {
    for (from, name, unit) in [("sweep_latency", "level_latency", "ns"), ("sweep_bandwidth", "level_bandwidth", "B/s")] {
        for (labels, group) in sweeps::groups(figures, from, &["bytes", "class"], draft) {
            let mut by_level: BTreeMap<String, Vec<&Figure>> = BTreeMap::new();
            for (_, figure) in group {
                if let Some(level) = caches.level(case, figure) {
                    by_level.entry(level).or_default().push(figure);
                }
            }
            for (level, inside) in by_level {
                let inside = middle(&inside);
                let mut labels = labels.clone();
                set(&mut labels, "level", &level);
                if let Some(largest) = caches.hidden(&level) {
                    let detail =
                        format!("no end of {level} was found up to {}: its sizes may be memory's", units::bytes(largest));
                    draft.miss(gap(name, &labels, Reason::NotApplicable, detail, "measure again when neighbours are quieter"));
                    continue;
                }
                let series = together(inside);
                let Some(estimate) = rounds::estimate(&series, "") else { continue };
                let mut metric = assemble(name, unit, &labels, &series, estimate);
                let bytes = |figure: &Figure| draft.metrics[figure.metric].labels.get("bytes").cloned().unwrap_or_default();
                let (first, last) = (inside.first(), inside.last());
                if let (Some(first), Some(last)) = (first, last) {
                    let ends = [bytes(first), bytes(last)].map(|text| text.parse().map_or(text, units::bytes));
                    metric.remarks.push(format!("sizes from {} to {}", ends[0], ends[1]));
                }
                metric.remarks.extend(caches.remark(&level));
                draft.add(metric);
            }
        }
    }
}

/// The middle third of a level's sizes: at its lower end the level before still helps, at its upper end it leaks itself.
fn middle<'a>(figures: &'a [&'a Figure]) -> &'a [&'a Figure] {
    let third = figures.len() / 3;
    &figures[third..figures.len() - third]
}

/// Round by round the median over figures.
pub(crate) fn together(figures: &[&Figure]) -> Series {
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
