//! Who observes, who loads, whose memory.

use crate::support::*;
use memgauge_model::{CpuList, Job, Measure, What};

fn loads(lab: &Lab, flags: &[(&str, &str)]) -> (Option<u32>, String, u32) {
    let plan = plan(lab, What::Loaded, flags);
    (plan.observer, plan.loads.to_string(), plan.target)
}

#[test]
fn loads_stay_off_the_core_of_the_observer() {
    assert_eq!(loads(&two_cpus(), &[]), (Some(0), "1".into(), 0));
    assert_eq!(loads(&two_sockets(), &[]), (Some(0), "1-7,9-15".into(), 0));
    assert_eq!(loads(&two_sockets(), &[("--smt", "one")]), (Some(0), "1-7".into(), 0));
    assert_eq!(loads(&two_sockets(), &[("--cpu", "10")]), (Some(10), "0-1,3-9,11-15".into(), 0));
    assert_eq!(loads(&two_sockets(), &[("--load-cpus", "8,2")]), (Some(4), "2,8".into(), 0));
    assert_eq!(loads(&hybrid(), &[]), (Some(0), "2-7".into(), 0));
    assert_eq!(loads(&two_sockets().allow("5,7,13"), &[]), (Some(5), "7".into(), 1));
}

#[test]
fn target_and_observer_find_each_other() {
    assert_eq!(loads(&two_sockets(), &[("--node", "1")]), (Some(1), "0,2-8,10-15".into(), 1));
    assert_eq!(loads(&two_sockets(), &[("--cpu", "0"), ("--node", "1")]).2, 1);
    assert_eq!(loads(&cxl(), &[("--node", "2")]), (Some(4), "0-3,5-7".into(), 2));
    assert_eq!(loads(&gaps(), &[]), (Some(16), "17,80-81".into(), 3));
    assert_eq!(loads(&memoryless(), &[]), (Some(2), "0-1,3".into(), 1));
    let stranded = plan(&memoryless(), What::Idle, &[("--cpu", "0")]);
    assert_eq!(stranded.target, 1);
    assert!(stranded.notes.iter().any(|note| note.contains("node 1 is the nearest")), "{:?}", stranded.notes);
}

#[test]
fn a_shared_core_is_had_when_asked_for_and_rejected() {
    let share = [("--share-core", "")];
    let plan_of = |lab: &Lab, flags: &[(&str, &str)]| plan(lab, What::Loaded, flags);
    let one = plan_of(&one_core(), &share);
    assert_eq!((one.loads.to_string(), one.rejected.len()), ("1".into(), 1));
    let same = plan_of(&two_cpus(), &[("--cpu", "0"), ("--load-cpus", "0-1"), ("--share-core", "")]);
    assert_eq!(same.rejected, ["CPU 0 loads and observes at once (--share-core)"]);
    let sibling = plan_of(&two_sockets(), &[("--cpu", "0"), ("--load-cpus", "8"), ("--share-core", "")]);
    assert_eq!(sibling.rejected, ["CPU 8 loads on the core of the observer, CPU 0 (--share-core)"]);
    assert!(plan_of(&two_cpus(), &share).rejected.is_empty());
}

#[test]
fn the_keepalive_is_on_another_core_or_says_why_not() {
    let states = |lab: &Lab, flags: &[(&str, &str)]| -> Vec<(bool, bool, Vec<u32>)> {
        let points = plan(lab, What::Idle, flags).points;
        let state = |p: &memgauge_model::Point| match &p.measure {
            Measure::Idle { keepalive, keepalive_reason, .. } => Some((*keepalive, keepalive_reason.is_some(), cpus_of(p))),
            _ => None,
        };
        points.iter().filter_map(state).collect()
    };
    let two = states(&two_sockets(), &[]);
    assert_eq!(two.first(), Some(&(true, false, vec![0, 2])));
    assert_eq!(two.last(), Some(&(false, false, vec![0])), "the twin");
    assert!(states(&one_core(), &[]).iter().all(|state| *state == (false, true, vec![0])));
    assert!(states(&two_cpus(), &[("--keepalive", "off")]).iter().all(|state| *state == (false, true, vec![0])));
    assert!(states(&two_cpus(), &[("--keepalive", "on")]).iter().all(|state| *state == (true, false, vec![0, 1])));
}

#[test]
fn placement_classes_are_a_guests_alone() {
    let guest = plan(&two_cpus(), What::All, &[]);
    for point in &guest.points {
        let moving = point.threads.iter().filter(|thread| thread.job != Job::KeepAlive).count();
        assert_eq!(point.class_pair, (moving > 1).then_some((0, 1)), "{:?}", point.measure);
    }
    let metal = plan(&two_sockets(), What::All, &[]);
    assert!(metal.points.iter().all(|point| point.class_pair.is_none()));
}

/// Thousands of loads don't fit on one node; those near it do.
#[test]
fn far_loads_are_left_out_where_the_target_cannot_hold_them() {
    let lab = giant().with(|machine| machine.nodes.iter_mut().for_each(|node| node.available_bytes = 128 * GIB));
    let near = plan(&lab, What::Loaded, &[]);
    assert_eq!(near.loads, lab.0.nodes[0].cpus.without(&CpuList::from(vec![0, 1024])));
    assert!(near.notes.iter().any(|note| note.contains("only CPUs near it load it")), "{:?}", near.notes);
}
