//! What memgauge must say in a guest. Times are not looked at.

use serde_json::Value;

use super::guests::Guest;
use super::transcript::Ran;

/// A command and what is asked of its JSON.
pub struct Check {
    pub name: &'static str,
    pub command: &'static str,
    /// What is wrong, one line each.
    verify: fn(&Guest, &Value) -> Vec<String>,
}

pub const ALL: &[Check] = &[
    Check { name: "topology", command: "memgauge topology --format json", verify: topology },
    Check {
        name: "matrix latency",
        command: "memgauge matrix latency --time 20ms --buffer 2MiB --format json --no-bundle",
        verify: |guest, document| matrix(guest, document, "matrix_latency"),
    },
    Check {
        name: "matrix bandwidth",
        command: "memgauge matrix bandwidth --time 20ms --buffer 2MiB --format json --no-bundle",
        verify: |guest, document| matrix(guest, document, "matrix_bandwidth"),
    },
    Check {
        name: "registers that forget",
        command: "memgauge idle --cpu 0 --time 20ms --buffer 2MiB --format json --no-bundle",
        verify: forgetful,
    },
    Check { name: "default run", command: "memgauge --format json --no-bundle", verify: everything },
];

impl Check {
    /// Everything that is wrong with what the command did; nothing when all is well.
    pub fn faults(&self, guest: &Guest, ran: &Ran) -> Vec<String> {
        if ran.code != 0 {
            return vec![format!("exit code {}: {}", ran.code, ran.stderr.trim())];
        }
        match serde_json::from_str(&ran.stdout) {
            Ok(document) => (self.verify)(guest, &document),
            Err(error) => vec![format!("stdout is no JSON: {error}")],
        }
    }
}

/// Each node with its CPUs, the CPUs nearest to it, and whether it has memory.
fn topology(guest: &Guest, document: &Value) -> Vec<String> {
    let nodes = document.get("nodes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut faults = Vec::new();
    if numbers(nodes.iter().map(|node| &node["node"])) != guest.nodes.iter().map(|node| node.id).collect::<Vec<_>>() {
        faults.push("the nodes are not the guest's".to_owned());
    }
    for (node, found) in guest.nodes.iter().zip(nodes) {
        for (key, expected) in [("cpus", node.cpus()), ("local_cpus", guest.local_cpus(node))] {
            let found = numbers(found[key].as_array().into_iter().flatten());
            if found != expected {
                faults.push(format!("node {}: {key} {found:?}, not {expected:?}", node.id));
            }
        }
        let memory = found["memory_bytes"].as_u64();
        if memory.is_none_or(|bytes| (bytes > 0) != (node.mib > 0)) {
            faults.push(format!("node {}: memory_bytes {memory:?} of {} MiB", node.id, node.mib));
        }
    }
    faults
}

/// Nodes with CPUs × nodes with memory, and every page of each cell on the node asked for.
fn matrix(guest: &Guest, document: &Value, name: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let views = || document["matrices"].as_array().into_iter().flatten().filter(|view| view["name"] == name);
    let list = |value: &Value| numbers(value.as_array().into_iter().flatten());
    let (rows, columns) = (guest.rows(), guest.columns());
    if views().next().is_none() {
        faults.push(format!("no matrix {name}"));
    }
    for view in views() {
        let (found_rows, found_columns) = (list(&view["rows"]), list(&view["columns"]));
        if found_rows != rows || found_columns != columns {
            faults.push(format!("{found_rows:?} × {found_columns:?}, not {rows:?} × {columns:?}"));
        }
    }
    for from in &rows {
        for to in &columns {
            let (row, column) = (from.to_string(), to.to_string());
            let cell = |metric: &&Value| metric["labels"]["from"] == *row && metric["labels"]["to"] == *column;
            let mut cells = metrics(document, name).filter(cell).peekable();
            if cells.peek().is_none() {
                faults.push(format!("no {name} from {from} to {to}"));
            }
            faults.extend(cells.filter_map(|metric| placement(&metric["placement"], *to)));
        }
    }
    faults
}

/// Both matrices, and every page of every figure on the node asked for.
fn everything(guest: &Guest, document: &Value) -> Vec<String> {
    let mut faults = matrix(guest, document, "matrix_latency");
    faults.extend(matrix(guest, document, "matrix_bandwidth"));
    for metric in document["metrics"].as_array().into_iter().flatten() {
        // The matrices are done; a clock has no memory.
        let in_matrix = metric["name"].as_str().is_some_and(|name| name.starts_with("matrix_"));
        let node = metric["placement"]["node"].as_u64().and_then(|node| u32::try_from(node).ok());
        if let Some(node) = node.filter(|_| !in_matrix) {
            faults.extend(placement(&metric["placement"], node).map(|fault| format!("{}: {fault}", metric["name"])));
        }
    }
    let idle = metrics(document, "idle_latency").any(|metric| metric["placement"].is_object());
    if !idle {
        faults.push("no idle_latency with its placement".to_owned());
    }
    faults
}

/// The emulator takes every write to a prefetcher register and forgets it: reading back must notice.
fn forgetful(_: &Guest, document: &Value) -> Vec<String> {
    let control = &document["prefetch"]["control"];
    let noticed = control["reason"].as_str().is_some_and(|why| why.contains("does not keep what is written"));
    let well = control["state"] == "left" && noticed;
    if well { Vec::new() } else { vec![format!("prefetchers were controlled so: {control}")] }
}

fn metrics<'a>(document: &'a Value, name: &'a str) -> impl Iterator<Item = &'a Value> {
    document["metrics"].as_array().into_iter().flatten().filter(move |metric| metric["name"] == name)
}

fn placement(placement: &Value, node: u32) -> Option<String> {
    let number = |key: &str| placement[key].as_u64();
    let pages = number("pages").filter(|&pages| pages > 0);
    let well = number("node") == Some(u64::from(node))
        && pages.is_some()
        && number("on_node") == pages
        && placement["verified"].as_str().is_some_and(|who| !who.is_empty());
    (!well).then(|| format!("memory for node {node} was placed so: {placement}"))
}

/// What is no number becomes one that no node or CPU has.
fn numbers<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<u32> {
    values.map(|value| value.as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::guests;
    use super::*;

    fn cxl() -> &'static Guest {
        guests::ALL.iter().find(|guest| guest.name == "cxl").expect("the guest")
    }

    fn faults(check: &str, document: &Value) -> usize {
        let check = ALL.iter().find(|row| row.name == check).expect("the check");
        let ran = Ran { code: 0, stdout: document.to_string(), stderr: String::new() };
        check.faults(cxl(), &ran).len()
    }

    #[test]
    fn topology_is_compared_with_the_guest() {
        let good = json!({"nodes": [
            {"node": 0, "cpus": [0, 1], "local_cpus": [0, 1], "memory_bytes": 1},
            {"node": 1, "cpus": [2, 3], "local_cpus": [2, 3], "memory_bytes": 1},
            {"node": 2, "cpus": [], "local_cpus": [0, 1], "memory_bytes": 1},
        ]});
        assert_eq!(faults("topology", &good), 0);
        for (path, wrong) in [
            ("/nodes/2/cpus", json!([0])),
            ("/nodes/2/local_cpus", json!([2, 3])),
            ("/nodes/1/memory_bytes", json!(0)),
            ("/nodes/1/memory_bytes", Value::Null),
            ("/nodes/0/node", json!(7)),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(path).expect("the path") = wrong;
            assert_eq!(faults("topology", &bad), 1, "{path}");
        }
    }

    #[test]
    fn a_register_that_forgets_must_have_been_noticed() {
        let control = |state: &str, reason: &str| json!({"prefetch": {"control": {"state": state, "reason": reason}}});
        let noticed = "CPU 0: MSR 0x1a4 does not keep what is written";
        assert_eq!(faults("registers that forget", &control("left", noticed)), 0);
        let bad = [control("off", noticed), control("left", "CPU 0: no msr device"), json!({})];
        assert_eq!(bad.map(|document| faults("registers that forget", &document)), [1; 3]);
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
        assert_eq!(faults("matrix latency", &latency()), 0);
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
            assert_eq!(faults("matrix latency", &bad), 1, "{path}");
        }
        assert_eq!(faults("matrix bandwidth", &latency()), 7, "another matrix: no view and six cells");
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
        assert_eq!(faults("default run", &document), 1, "no idle latency");
        let placed = json!({"node": 1, "pages": 9, "on_node": 9, "verified": "numa_maps"});
        let mut metrics = list(&mut document, "metrics");
        metrics.push(json!({"name": "idle_latency", "labels": {}, "placement": placed}));
        metrics.push(json!({"name": "clock_hz", "labels": {}}));
        document["metrics"] = metrics.into();
        assert_eq!(faults("default run", &document), 0);
        *document.pointer_mut("/metrics/12/placement/on_node").expect("the path") = json!(8);
        assert_eq!(faults("default run", &document), 1);
    }

    #[test]
    fn a_failing_command_is_a_fault() {
        let ran = |code, stdout: &str| Ran { code, stdout: stdout.to_owned(), stderr: String::new() };
        assert_eq!(ALL[0].faults(cxl(), &ran(2, "{}")).len(), 1);
        assert_eq!(ALL[0].faults(cxl(), &ran(0, "text")).len(), 1);
    }
}
