//! All pairs of CPUs: alone where they are few, in classes where they are many.

use crate::support::{GIB, Lab, MIB};
use memgauge_model::*;
use std::collections::BTreeSet;

/// Two packages of two nodes, gaps in the numbers, one CPU of an odd count with no sibling.
fn machine() -> Machine {
    Lab::new()
        .node(0, "0-3,8-11", 8 * GIB)
        .node(2, "4-7,20-23", 8 * GIB)
        .node(3, "30-34", 8 * GIB)
        .siblings(&["0,8", "1,9", "2,10", "3,11", "4,20", "5,21", "6,22", "7,23"])
        .l3("0-3,8-11", 32 * MIB)
        .l3("4,5,20,21", 16 * MIB)
        .l3("6,7,22,23", 16 * MIB)
        .l3("30-34", 32 * MIB)
        .with(|machine| {
            machine.packages = vec!["0-11,20-23".parse().unwrap(), "30-34".parse().unwrap()];
            machine.nodes[0].distances.insert(2, 12);
            machine.nodes[1].distances.insert(0, 12);
        })
        .0
}

fn plan(request: &Request) -> Result<Plan, Refusal> {
    memgauge_plan::build(request, &machine())
}

fn all_pairs() -> Request {
    Request { all_pairs: true, ..Request::new(What::C2c) }
}

#[test]
fn many_pairs_are_sampled_by_how_far_apart_they_are() {
    let plan = plan(&all_pairs()).unwrap();
    let map = plan.map.as_ref().unwrap();
    let classes: Vec<(String, u64)> = map.classes.iter().map(|class| (class.apart.to_string(), class.pairs)).collect();
    let wanted = [("core", 8), ("l3", 24 + 2 * 4 + 10), ("node", 16), ("package-12", 64), ("far-20", 16 * 5)];
    assert_eq!(classes, wanted.map(|(apart, pairs)| (apart.to_owned(), pairs)));
    assert_eq!(map.classes.iter().map(|class| class.pairs).sum::<u64>(), 21 * 20 / 2);
    let mut alone = BTreeSet::new();
    for class in &map.classes {
        assert_eq!(class.sample.len() as u64, class.pairs.min(12), "{class:?}");
        for point in &class.sample {
            let [writer, reader] = &plan.points[*point].threads[..] else { panic!("a pair") };
            let at = |cpu| map.places.iter().position(|place| place.cpu == cpu).unwrap();
            assert_eq!(map.apart(at(writer.cpu), at(reader.cpu)), class.apart);
            assert!(alone.insert((writer.cpu, reader.cpu)));
        }
    }
    // Everyone's lines have a slot of their own, in memory of the own node.
    let slots: BTreeSet<(ArenaId, u32)> = map.places.iter().map(|place| (place.arena, place.slot)).collect();
    assert_eq!(slots.len(), 21);
    for place in &map.places {
        let arena = &plan.arenas[place.arena];
        assert!(u64::from(place.slot + 1) * map.slot_bytes <= arena.bytes);
        assert!(machine().node(arena.node).unwrap().cpus.contains(place.cpu));
    }
    assert!(plan.points.iter().any(|point| matches!(point.measure, Measure::C2c { repeat: true, .. })));
    assert!(plan.notes.iter().any(|note| note.contains("210 pairs in 5 classes")), "{:?}", plan.notes);
}

#[test]
fn a_chase_is_sampled_there_and_back() {
    let plan = plan(&Request { method: Some(C2cMethod::Chase), ..all_pairs() }).unwrap();
    let map = plan.map.unwrap();
    assert_eq!((map.kind, map.classes[0].sample.len()), (C2cKind::Hitm, 16));
    assert_eq!(map.classes[4].sample.len(), 24);
}

#[test]
fn few_pairs_those_of_one_cpu_and_all_that_are_asked_for_are_measured_alone() {
    let few = Request { all_pairs: true, ..Request::new(What::C2c) };
    let small = crate::support::two_cpus().0;
    assert!(memgauge_plan::build(&few, &small).unwrap().map.is_none());
    assert!(plan(&Request { cpu: Some(0), ..all_pairs() }).unwrap().map.is_none());
    let full = plan(&Request { full_pairs: true, method: Some(C2cMethod::Pingpong), ..all_pairs() }).unwrap();
    // Two kinds, there and back, and one again.
    assert!(full.map.is_none() && full.points.len() == 2 * 21 * 20 + 1, "{}", full.points.len());
}

#[test]
fn a_way_that_pairs_at_once_have_not_is_refused() {
    let refusal = plan(&Request { via: Some(C2cVia::L3), method: Some(C2cMethod::Chase), ..all_pairs() }).unwrap_err();
    assert!(refusal.to_string().contains("use --all-pairs --full"), "{refusal}");
}
