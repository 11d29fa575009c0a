//! Matrices: views of figures that have a `from` and a `to`.

use crate::draft::{Draft, Labels};
use memgauge_model::{Machine, Matrix, MetricId};
use std::collections::{BTreeMap, BTreeSet};

/// Labels that differ from cell to cell of one matrix.
const OF_A_CELL: [&str; 9] = ["from", "to", "home", "class", "threads", "cpu", "cpus", "bytes", "scope"];

/// A matrix for each name and each set of other labels, in order of name.
pub(crate) fn write(machine: &Machine, draft: &Draft) -> Vec<Matrix> {
    let mut groups: BTreeMap<(&str, Labels), Vec<MetricId>> = BTreeMap::new();
    for (id, metric) in draft.metrics.iter().enumerate() {
        if metric.name.starts_with("matrix_") || metric.name == "c2c_latency" {
            let mut key = metric.labels.clone();
            OF_A_CELL.iter().for_each(|label| drop(key.remove(*label)));
            groups.entry((&metric.name, key)).or_default().push(id);
        }
    }
    groups.iter().flat_map(|((name, _), ids)| homes(draft, name, ids).map(|ids| matrix(machine, draft, name, &ids))).collect()
}

/// One matrix, or one for each home node where a cell has several.
fn homes<'a>(draft: &'a Draft, name: &str, ids: &[MetricId]) -> impl Iterator<Item = Vec<MetricId>> + use<'a> {
    let cells: BTreeSet<_> = ids.iter().map(|id| cell(draft, *id)).collect();
    let mut parts: BTreeMap<Option<&'a String>, Vec<MetricId>> = BTreeMap::new();
    for id in ids {
        let home = draft.metrics[*id].labels.get("home").filter(|_| name == "c2c_latency" && cells.len() < ids.len());
        parts.entry(home).or_default().push(*id);
    }
    parts.into_values()
}

fn matrix(machine: &Machine, draft: &Draft, name: &str, ids: &[MetricId]) -> Matrix {
    let cells: BTreeMap<(u32, u32), MetricId> = ids.iter().filter_map(|id| Some((cell(draft, *id)?, *id))).collect();
    let with_cpus = || machine.nodes.iter().filter(|node| !node.cpus.is_empty()).map(|node| node.node);
    let with_memory = machine.nodes.iter().filter(|node| node.memory_bytes > 0).map(|node| node.node);
    let mut rows: BTreeSet<u32> = with_cpus().collect();
    let mut columns: BTreeSet<u32> = if name == "c2c_latency" { with_cpus().collect() } else { with_memory.collect() };
    rows.extend(cells.keys().map(|(from, _)| *from));
    columns.extend(cells.keys().map(|(_, to)| *to));
    Matrix {
        name: name.to_owned(),
        unit: ids.first().map(|id| draft.metrics[*id].unit.clone()).unwrap_or_default(),
        cells: rows.iter().map(|row| columns.iter().map(|column| cells.get(&(*row, *column)).copied()).collect()).collect(),
        rows: rows.into_iter().collect(),
        columns: columns.into_iter().collect(),
        labels: shared(draft, ids),
    }
}

fn cell(draft: &Draft, id: MetricId) -> Option<(u32, u32)> {
    let number = |label| draft.metrics[id].labels.get(label)?.parse().ok();
    Some((number("from")?, number("to")?))
}

/// Labels that all cells have with the same value. The cell's own coordinates are none, even in a 1 × 1 matrix.
fn shared(draft: &Draft, ids: &[MetricId]) -> Labels {
    let Some((first, rest)) = ids.split_first() else { return Labels::new() };
    let mut labels = draft.metrics[*first].labels.clone();
    labels.retain(|label, value| rest.iter().all(|id| draft.metrics[*id].labels.get(label) == Some(value)));
    labels.remove("from");
    labels.remove("to");
    labels
}
