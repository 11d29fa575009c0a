//! Transfers between cores.

use serde_json::Value;

use super::super::guests::Guest;
use super::figures;
use super::read::{items, metrics, number};

/// Each pair of nodes has its transfers, with the lines in place, read in between by a third core of the writer's socket.
pub fn by_a_third_core(guest: &Guest, document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for from in guest.rows() {
        for to in guest.rows() {
            let (row, column) = (from.to_string(), to.to_string());
            for kind in ["hit", "hitm"] {
                let wanted = [("via", "third"), ("kind", kind), ("from", row.as_str()), ("to", column.as_str())];
                let mut found = metrics(document, "c2c_latency")
                    .filter(|metric| wanted.iter().all(|(label, value)| metric["labels"][label] == *value))
                    .peekable();
                if found.peek().is_none() {
                    faults.push(format!("no {kind} from {from} to {to}"));
                }
                faults.extend(found.filter_map(|metric| {
                    let home = metric["labels"]["home"].as_str().and_then(|home| home.parse().ok()).unwrap_or(u32::MAX);
                    figures::placement(&metric["placement"], home)
                }));
            }
        }
    }
    let socket = |cpu: u32| guest.core_of(cpu) / guest.shape.1;
    for point in items(&document["plan"]["points"]) {
        let cpus: Vec<u32> = items(&point["threads"]).map(|thread| number(&thread["cpu"])).collect();
        let apart = |a: u32, b: u32| guest.core_of(a) != guest.core_of(b);
        let well = matches!(cpus[..], [writer, reader, third] if apart(writer, reader) && apart(third, writer) && apart(third, reader)
            && socket(third) == socket(writer));
        if !well {
            faults.push(format!("CPUs {cpus:?} take part in {}", point["measure"]));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::guests;
    use super::*;

    /// 2 sockets × 4 cores, 4 nodes.
    fn guest() -> &'static Guest {
        guests::ALL.iter().find(|guest| guest.name == "snc").expect("the guest")
    }

    fn document() -> Value {
        let (mut metrics, mut points) = (Vec::new(), Vec::new());
        for (from, to) in (0..4_u32).flat_map(|from| (0..4_u32).map(move |to| (from, to))) {
            for kind in ["hit", "hitm"] {
                let labels = json!({"via": "third", "kind": kind, "from": from.to_string(), "to": to.to_string(), "home": from.to_string()});
                let placement = json!({"node": from, "pages": 9, "on_node": 9, "verified": "move_pages"});
                metrics.push(json!({"name": "c2c_latency", "labels": labels, "placement": placement}));
            }
            let third = if from % 2 == 0 { 2 * from + 3 } else { 2 * from - 1 };
            let third = if third / 2 == to { third - 1 } else { third };
            points.push(json!({"threads": [{"cpu": 2 * from}, {"cpu": 2 * to + 1}, {"cpu": third}]}));
        }
        json!({"metrics": metrics, "plan": {"points": points}})
    }

    #[test]
    fn each_pair_has_a_third_core_of_the_writers_socket_between_its_ends() {
        assert_eq!(by_a_third_core(guest(), &document()), Vec::<String>::new());
        for (path, wrong) in [
            ("/metrics/3/labels/via", json!("l3")),
            ("/metrics/3/labels/kind", json!("cas")),
            ("/metrics/3/placement/on_node", json!(8)),
            ("/plan/points/5/threads/2/cpu", json!(7)),
            ("/plan/points/5/threads/2", Value::Null),
        ] {
            let mut bad = document();
            *bad.pointer_mut(path).expect("the path") = wrong;
            assert_eq!(by_a_third_core(guest(), &bad).len(), 1, "{path}");
        }
    }
}
