//! Matrices: views of figures that have a `from` and a `to`.

use crate::draft::{Draft, Labels};
use memgauge_model::{Machine, Matrix, MetricId, Node, Record};
use std::collections::{BTreeMap, BTreeSet};

/// Labels that differ from cell to cell of one matrix.
const OF_A_CELL: [&str; 8] = ["from", "to", "home", "class", "threads", "cpu", "cpus", "bytes"];

/// A matrix for each name and each set of other labels, in order of name.
pub(crate) fn write(record: &Record, draft: &Draft) -> Vec<Matrix> {
    let machine = &record.machine;
    let mut groups: BTreeMap<(&str, Labels), Vec<MetricId>> = BTreeMap::new();
    for (id, metric) in draft.metrics.iter().enumerate() {
        // The sample of a map's classes would be a matrix of gaps.
        let transfer = metric.name == "c2c_latency" && record.plan.map.is_none();
        if metric.name.starts_with("matrix_") || transfer {
            let mut key = metric.labels.clone();
            OF_A_CELL.iter().for_each(|label| drop(key.remove(*label)));
            groups.entry((&metric.name, key)).or_default().push(id);
        }
    }
    let views = groups.iter().flat_map(|((name, _), ids)| {
        let parts = homes(draft, name, ids).into_iter();
        parts.map(|(role, ids)| {
            let mut matrix = matrix(machine, draft, name, &ids);
            matrix.labels.extend(role.map(|role| ("home".to_owned(), role.to_owned())));
            matrix
        })
    });
    views.collect()
}

/// One matrix; where a cell was measured with the line in the writer's and in the reader's node, one for each role. By role,
/// not by node: else there and back in one matrix would be the one with a near line and the other with a far one.
fn homes(draft: &Draft, name: &str, ids: &[MetricId]) -> BTreeMap<Option<&'static str>, Vec<MetricId>> {
    let cells: BTreeSet<_> = ids.iter().map(|id| cell(draft, *id)).collect();
    let mut parts: BTreeMap<Option<&str>, Vec<MetricId>> = BTreeMap::new();
    for id in ids {
        let labels = &draft.metrics[*id].labels;
        let (from, to, home) = (labels.get("from"), labels.get("to"), labels.get("home"));
        let role = if home == to && from != to { "reader" } else { "writer" };
        parts.entry(Some(role).filter(|_| name == "c2c_latency" && cells.len() < ids.len())).or_default().push(*id);
    }
    parts
}

fn matrix(machine: &Machine, draft: &Draft, name: &str, ids: &[MetricId]) -> Matrix {
    let cells: BTreeMap<(u32, u32), MetricId> = ids.iter().filter_map(|id| Some((cell(draft, *id)?, *id))).collect();
    // What this process may not use is no part of what it measures.
    let may_take = |node: &Node| machine.allowed_nodes.is_empty() || machine.allowed_nodes.contains(node.node);
    let with_cpus = || machine.nodes.iter().filter(|node| node.cpus.intersects(&machine.allowed_cpus)).map(|node| node.node);
    let with_memory = machine.nodes.iter().filter(|node| node.memory_bytes > 0 && may_take(node)).map(|node| node.node);
    let of_cpus = ids.iter().any(|id| draft.metrics[*id].labels.get("scope").is_some_and(|scope| scope == "cpu"));
    let (mut rows, mut columns): (BTreeSet<u32>, BTreeSet<u32>) = match name {
        "c2c_latency" if of_cpus => Default::default(),
        _ if of_cpus => (BTreeSet::new(), with_memory.collect()),
        "c2c_latency" => (with_cpus().collect(), with_cpus().collect()),
        _ => (with_cpus().collect(), with_memory.collect()),
    };
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
    let metric = &draft.metrics[id];
    let number = |label| metric.labels.get(label)?.parse().ok();
    // Latencies by CPU have their node as well.
    let row = if metric.name == "matrix_latency" && metric.is(&[("scope", "cpu")]) { "cpu" } else { "from" };
    Some((number(row)?, number("to")?))
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
