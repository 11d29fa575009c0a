//! Figures: that they are there, and that their memory was where it should be.

use serde_json::Value;

use super::super::guests::Guest;
use super::read::{items, metrics, number, numbers};

/// Nodes with CPUs × nodes with memory, and every page of each cell on the node asked for. A cell that emulation left no window
/// for must stand among what is unavailable.
pub fn matrix(guest: &Guest, document: &Value, name: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let views = || items(&document["matrices"]).filter(|view| view["name"] == name);
    let (rows, columns) = (guest.rows(), guest.columns());
    if views().next().is_none() {
        faults.push(format!("no matrix {name}"));
    }
    for view in views() {
        let (found_rows, found_columns) = (numbers(&view["rows"]), numbers(&view["columns"]));
        if found_rows != rows || found_columns != columns {
            faults.push(format!("{found_rows:?} × {found_columns:?}, not {rows:?} × {columns:?}"));
        }
    }
    for from in &rows {
        for to in &columns {
            let (row, column) = (from.to_string(), to.to_string());
            let cell = |metric: &&Value| metric["labels"]["from"] == *row && metric["labels"]["to"] == *column;
            let mut cells = metrics(document, name).filter(cell).peekable();
            let told = || items(&document["unavailable"]).filter(|gap| gap["name"] == name).any(|gap| cell(&gap));
            if cells.peek().is_none() && !told() {
                faults.push(format!("no {name} from {from} to {to}"));
            }
            faults.extend(cells.filter_map(|metric| placement(&metric["placement"], *to)));
        }
    }
    faults
}

/// Both matrices, and every page of every figure on the node asked for.
pub fn everything(guest: &Guest, document: &Value) -> Vec<String> {
    let mut faults = matrix(guest, document, "matrix_latency");
    faults.extend(matrix(guest, document, "matrix_bandwidth"));
    let mut rest = document.clone();
    if let Some(metrics) = rest["metrics"].as_array_mut() {
        metrics.retain(|metric| metric["name"].as_str().is_none_or(|name| !name.starts_with("matrix_")));
    }
    faults.extend(in_place(&rest, &["idle_latency"]));
    faults
}

/// Every figure has all its pages on its node, and there are some of these names.
pub fn in_place(document: &Value, names: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    // A clock has no memory.
    for metric in items(&document["metrics"]).filter(|metric| metric["placement"].is_object()) {
        let node = number(&metric["placement"]["node"]);
        faults.extend(placement(&metric["placement"], node).map(|fault| format!("{}: {fault}", metric["name"])));
    }
    let missing = names.iter().filter(|name| !metrics(document, name).any(|metric| metric["placement"].is_object()));
    faults.extend(missing.map(|name| format!("no {name} with its placement")));
    faults
}

/// Every figure has all its pages on its node, all of this kind.
pub fn on_pages(document: &Value, kind: &str) -> Vec<String> {
    let mut faults = in_place(document, &[]);
    let placed = || items(&document["metrics"]).map(|metric| &metric["placement"]).filter(|placement| placement.is_object());
    if placed().next().is_none() {
        faults.push("no figure with its placement".to_owned());
    }
    let others = placed().filter(|placement| placement["kind"] != *kind);
    faults.extend(others.map(|placement| format!("not on {kind} pages: {placement}")));
    faults
}

/// What is wrong with where a figure's memory was.
pub fn placement(placement: &Value, node: u32) -> Option<String> {
    let count = |key: &str| placement[key].as_u64();
    let pages = count("pages").filter(|&pages| pages > 0);
    let well = count("node") == Some(u64::from(node))
        && pages.is_some()
        && count("on_node") == pages
        && placement["verified"].as_str().is_some_and(|who| !who.is_empty());
    (!well).then(|| format!("memory for node {node} was placed so: {placement}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::guests;
    use super::*;

    fn cxl() -> &'static Guest {
        guests::ALL.iter().find(|guest| guest.name == "cxl").expect("the guest")
    }

    fn latency() -> Value {
        let cells = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)];
        let metrics: Vec<Value> = cells
            .iter()
            .map(|(from, to)| {
                json!({
                    "name": "matrix_latency",
                    "labels": {"from": from.to_string(), "to": to.to_string()},
                    "placement": {"node": to, "pages": 512, "on_node": 512, "kind": "thp", "verified": "move_pages"},
                })
            })
            .collect();
        json!({"matrices": [{"name": "matrix_latency", "rows": [0, 1], "columns": [0, 1, 2]}], "metrics": metrics})
    }

    #[test]
    fn a_matrix_has_its_shape_and_its_pages_in_place() {
        assert_eq!(matrix(cxl(), &latency(), "matrix_latency"), Vec::<String>::new());
        for (path, wrong) in [
            ("/matrices/0/rows", json!([0, 1, 2])),
            ("/matrices/0/columns", json!([0, 1])),
            ("/matrices/0/name", json!("matrix_bandwidth")),
            ("/metrics/5/placement/on_node", json!(511)),
            ("/metrics/5/placement/node", json!(1)),
            ("/metrics/5/placement/pages", json!(0)),
            ("/metrics/5/placement/verified", json!("")),
            ("/metrics/5/placement", Value::Null),
            ("/metrics/5/labels/to", json!("3")),
        ] {
            let mut bad = latency();
            *bad.pointer_mut(path).expect("the path") = wrong;
            assert_eq!(matrix(cxl(), &bad, "matrix_latency").len(), 1, "{path}");
        }
        let mut gap = latency();
        let lost = gap["metrics"].as_array_mut().and_then(Vec::pop).expect("a figure");
        assert_eq!(matrix(cxl(), &gap, "matrix_latency").len(), 1, "a cell left out in silence");
        gap["unavailable"] = json!([lost]);
        assert_eq!(matrix(cxl(), &gap, "matrix_latency"), Vec::<String>::new());
        assert_eq!(matrix(cxl(), &latency(), "matrix_bandwidth").len(), 7, "another matrix: no view and six cells");
    }

    #[test]
    fn the_default_run_has_all_its_pages_in_place() {
        let mut document = latency();
        let list = |document: &mut Value, key: &str| document[key].as_array_mut().expect("a list").clone();
        for key in ["metrics", "matrices"] {
            let mut items = list(&mut document, key);
            for item in list(&mut document, key) {
                let mut twin = item.clone();
                twin["name"] = json!("matrix_bandwidth");
                items.push(twin);
            }
            document[key] = items.into();
        }
        assert_eq!(everything(cxl(), &document).len(), 1, "no idle latency");
        let placed = json!({"node": 1, "pages": 9, "on_node": 9, "verified": "numa_maps"});
        let mut metrics = list(&mut document, "metrics");
        metrics.push(json!({"name": "idle_latency", "labels": {}, "placement": placed}));
        metrics.push(json!({"name": "clock_hz", "labels": {}}));
        document["metrics"] = metrics.into();
        assert_eq!(everything(cxl(), &document), Vec::<String>::new());
        *document.pointer_mut("/metrics/12/placement/on_node").expect("the path") = json!(8);
        assert_eq!(everything(cxl(), &document).len(), 1);
    }

    #[test]
    fn pages_of_another_kind_are_a_fault() {
        let mut document = latency();
        assert_eq!(on_pages(&document, "thp"), Vec::<String>::new());
        assert_eq!(on_pages(&document, "2m").len(), 6);
        document["metrics"] = json!([]);
        assert_eq!(on_pages(&document, "thp").len(), 1);
    }
}
