//! The machine as it is shown, against the guest as it was made.

use serde_json::Value;

use super::super::guests::{Guest, Node};
use super::read::{items, number, numbers};

/// CPUs, cores, packages and nodes.
pub fn faults(guest: &Guest, document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for (key, expected) in
        [("present_cpus", guest.present_cpus()), ("online_cpus", guest.online_cpus()), ("allowed_cpus", guest.allowed_cpus())]
    {
        compare(&mut faults, key, numbers(&document[key]), expected);
    }
    for (key, threads) in [("cores", guest.shape.2), ("packages", guest.shape.1 * guest.shape.2)] {
        let found: Vec<Vec<u32>> = items(&document[key]).map(numbers).collect();
        let online = guest.online_cpus();
        let expected: Vec<Vec<u32>> = online.chunk_by(|a, b| a / threads == b / threads).map(<[u32]>::to_vec).collect();
        compare(&mut faults, key, found, expected);
    }
    compare(&mut faults, "page_bytes", document["memory"]["page_bytes"].as_u64(), Some(guest.page_bytes));
    let mut allowed = numbers(&document["allowed_nodes"]);
    allowed.retain(|id| guest.nodes.iter().any(|node| node.id == *id && node.mib > 0));
    compare(&mut faults, "allowed_nodes with memory", allowed, guest.columns());
    let ids: Vec<u32> = items(&document["nodes"]).map(|node| number(&node["node"])).collect();
    compare(&mut faults, "nodes", ids, guest.nodes.iter().map(|node| node.id).collect());
    for (node, found) in guest.nodes.iter().zip(items(&document["nodes"])) {
        let mut of_node = Vec::new();
        node_faults(guest, node, found, &mut of_node);
        faults.extend(of_node.iter().map(|fault| format!("node {}: {fault}", node.id)));
    }
    faults
}

fn node_faults(guest: &Guest, node: &Node, found: &Value, faults: &mut Vec<String>) {
    compare(faults, "cpus", numbers(&found["cpus"]), guest.cpus_of(node));
    compare(faults, "local_cpus", numbers(&found["local_cpus"]), guest.local_cpus(node));
    let memory = found["memory_bytes"].as_u64();
    if memory.is_none_or(|bytes| (bytes > 0) != (node.mib > 0)) {
        faults.push(format!("memory_bytes {memory:?} of {} MiB", node.mib));
    }
    for other in guest.nodes {
        let distance = found["distances"][other.id.to_string()].as_u64();
        compare(faults, &format!("distance to {}", other.id), distance, Some(u64::from(guest.distance(node.id, other.id))));
    }
    if let Some(kind) = node.device {
        compare(faults, "subtype", found["subtype"].as_str(), Some(kind));
    }
    for (bytes, pages) in node.pools {
        let pool = items(&found["huge_pages"]).find(|pool| pool["page_bytes"] == *bytes);
        let counts = pool.map(|pool| (pool["total"].as_u64(), pool["free"].as_u64()));
        compare(faults, &format!("pages of {bytes} bytes"), counts, Some((Some(*pages), Some(*pages))));
    }
    stated_paths(guest, node, found, faults);
}

/// Firmware's figures of the best path to the node.
fn stated_paths(guest: &Guest, node: &Node, found: &Value, faults: &mut Vec<String>) {
    let to_node = guest.paths.iter().filter(|path| path.to == node.id);
    let Some(best) = to_node.min_by_key(|path| path.ns) else { return };
    let class = &found["access"][0];
    compare(faults, "initiators", numbers(&class["initiators"]), vec![best.from]);
    compare(faults, "stated latency", class["read_latency_ns"].as_u64(), Some(u64::from(best.ns)));
    compare(faults, "stated bandwidth", class["read_bandwidth"].as_u64(), Some(u64::from(best.mib_s) * 1_000_000));
}

fn compare<T: PartialEq + std::fmt::Debug>(faults: &mut Vec<String>, what: &str, found: T, expected: T) {
    if found != expected {
        faults.push(format!("{what} {found:?}, not {expected:?}"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::guests;
    use super::*;

    fn guest(name: &str) -> &'static Guest {
        guests::ALL.iter().find(|guest| guest.name == name).expect("the guest")
    }

    fn cxl() -> Value {
        json!({
            "present_cpus": [0, 1, 2, 3], "online_cpus": [0, 1, 2, 3], "allowed_cpus": [0, 1, 2, 3],
            "allowed_nodes": [0, 1, 2], "memory": {"page_bytes": 4096},
            "cores": [[0], [1], [2], [3]], "packages": [[0, 1], [2, 3]],
            "nodes": [
                {"node": 0, "cpus": [0, 1], "local_cpus": [0, 1], "memory_bytes": 1, "distances": {"0": 10, "1": 21, "2": 26}},
                {"node": 1, "cpus": [2, 3], "local_cpus": [2, 3], "memory_bytes": 1, "distances": {"0": 21, "1": 10, "2": 36}},
                {"node": 2, "cpus": [], "local_cpus": [0, 1], "memory_bytes": 1, "distances": {"0": 26, "1": 36, "2": 10}},
            ],
        })
    }

    #[test]
    fn it_is_compared_with_the_guest() {
        assert_eq!(faults(guest("cxl"), &cxl()), Vec::<String>::new());
        for (path, wrong) in [
            ("/nodes/2/cpus", json!([0])),
            ("/nodes/2/local_cpus", json!([2, 3])),
            ("/nodes/1/memory_bytes", json!(0)),
            ("/nodes/1/memory_bytes", Value::Null),
            ("/nodes/1/distances/2", json!(26)),
            ("/nodes/0/node", json!(7)),
            ("/online_cpus", json!([0, 1, 2])),
            ("/memory/page_bytes", json!(16384)),
            ("/allowed_nodes", json!([0, 1])),
            ("/cores", json!([[0, 1], [2, 3]])),
            ("/packages", json!([[0], [1], [2], [3]])),
        ] {
            let mut bad = cxl();
            *bad.pointer_mut(path).expect("the path") = wrong;
            assert_eq!(faults(guest("cxl"), &bad).len(), 1, "{path}");
        }
    }

    #[test]
    fn what_firmware_states_and_what_is_reserved_must_be_shown() {
        let of = |name, node: usize, found: Value| {
            let mut faults = Vec::new();
            let guest = guest(name);
            node_faults(guest, &guest.nodes[node], &found, &mut faults);
            // Cores, distances and the like are looked at above.
            faults.retain(|fault| ["initiators", "stated", "pages"].iter().any(|word| fault.starts_with(word)));
            faults.len()
        };
        let class = |from: u32, ns: u32| json!({"access": [{"initiators": [from], "read_latency_ns": ns, "read_bandwidth": 32_000_000_000_u64}]});
        assert_eq!([of("hmat", 2, class(1, 250)), of("hmat", 2, class(0, 320)), of("hmat", 2, json!({}))], [0, 2, 3]);
        let pools = |total: u32| json!({"huge_pages": [{"page_bytes": 2 << 20, "total": total, "free": 8}, {"page_bytes": 1 << 30, "total": 0, "free": 0}]});
        assert_eq!([of("pages", 0, pools(8)), of("pages", 0, pools(9)), of("pages", 0, json!({}))], [0, 1, 2]);
    }
}
