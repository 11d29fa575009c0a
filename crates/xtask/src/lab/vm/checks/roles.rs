//! Who measures, who loads, whose memory: as planned.

use serde_json::Value;

use super::super::guests::Guest;
use super::read::{items, number, numbers};

/// The loads are all CPUs that may be used but those of the observer's core; and in no point does anybody stream on the core
/// of one that chases.
pub fn faults(guest: &Guest, plan: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let observer = number(&plan["observer"]);
    let mut apart = guest.allowed_cpus();
    apart.retain(|cpu| guest.core_of(*cpu) != guest.core_of(observer));
    let loads = numbers(&plan["loads"]);
    if loads != apart || loads.is_empty() {
        faults.push(format!("observer {observer}, loads {loads:?}, not {apart:?}"));
    }
    for point in items(&plan["points"]) {
        let cpus_that = |jobs: &[&str]| {
            let threads = items(&point["threads"]).filter(|thread| jobs.iter().any(|job| thread["job"]["job"] == *job));
            threads.map(|thread| number(&thread["cpu"])).collect::<Vec<_>>()
        };
        let chasers = cpus_that(&["chase", "timed_chase"]);
        let busy = cpus_that(&["stream", "keep_alive"]);
        let shared = |cpu: &&u32| chasers.iter().any(|chaser| guest.core_of(*chaser) == guest.core_of(**cpu));
        if let Some(cpu) = busy.iter().find(shared) {
            faults.push(format!("CPU {cpu} is busy on the core of a chase on {chasers:?}: {}", point["measure"]));
        }
    }
    faults
}

/// Each pair of a node with CPUs and a node with memory is a point of both matrices, on CPUs of the one and memory of the other.
pub fn matrices(guest: &Guest, plan: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for figure in ["matrix_latency", "matrix_bandwidth"] {
        for from in guest.rows() {
            for to in guest.columns() {
                let cell = |point: &&Value| {
                    point["measure"]["figure"] == figure && point["measure"]["from"] == from && point["measure"]["to"] == to
                };
                let Some(point) = items(&plan["points"]).find(cell) else {
                    faults.push(format!("no {figure} from {from} to {to}"));
                    continue;
                };
                let own = guest.nodes.iter().find(|node| node.id == from).map(|node| guest.cpus_of(node)).unwrap_or_default();
                let in_place = |thread: &Value| {
                    let arena = plan["arenas"].get(number(&thread["job"]["arena"]) as usize);
                    let keeps_awake = thread["job"]["job"] == "keep_alive";
                    keeps_awake || own.contains(&number(&thread["cpu"])) && arena.is_some_and(|arena| arena["node"] == to)
                };
                if !items(&point["threads"]).all(in_place) {
                    faults.push(format!("{figure} from {from} to {to} is planned so: {}", point["threads"]));
                }
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::guests;
    use super::*;

    /// 2 sockets × 2 cores × 2 threads.
    fn guest() -> &'static Guest {
        guests::ALL.iter().find(|guest| guest.name == "2s").expect("the guest")
    }

    fn plan() -> Value {
        let mut points = Vec::new();
        for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for (figure, job) in [("matrix_latency", "chase"), ("matrix_bandwidth", "stream")] {
                let threads =
                    json!([{"cpu": 4 * from, "job": {"job": job, "arena": to}}, {"cpu": 6, "job": {"job": "keep_alive"}}]);
                points.push(json!({"measure": {"figure": figure, "from": from, "to": to}, "threads": threads}));
            }
        }
        json!({"observer": 0, "loads": [2, 3, 4, 5, 6, 7], "points": points, "arenas": [{"node": 0}, {"node": 1}]})
    }

    #[test]
    fn loads_keep_off_the_core_that_observes() {
        assert_eq!(faults(guest(), &plan()), Vec::<String>::new());
        for (path, wrong) in [
            ("/loads", json!([1, 2, 3, 4, 5, 6, 7])),
            ("/loads", json!([])),
            ("/observer", json!(2)),
            ("/points/0/threads/1/cpu", json!(1)),
            ("/points/4/threads/1", json!({"cpu": 5, "job": {"job": "stream"}})),
        ] {
            let mut bad = plan();
            *bad.pointer_mut(path).expect("the path") = wrong;
            assert_eq!(faults(guest(), &bad).len(), 1, "{path}");
        }
    }

    #[test]
    fn each_pair_of_nodes_is_planned_with_its_own_cpus_and_memory() {
        assert_eq!(matrices(guest(), &plan()), Vec::<String>::new());
        for (path, wrong) in [
            ("/points/2/measure/to", json!(2)),
            ("/points/2/threads/0/cpu", json!(4)),
            ("/points/2/threads/0/job/arena", json!(0)),
            ("/points/2/threads/0/job/arena", json!(9)),
        ] {
            let mut bad = plan();
            *bad.pointer_mut(path).expect("the path") = wrong;
            assert_eq!(matrices(guest(), &bad).len(), 1, "{path}");
        }
    }
}
