//! Phases that are held: a scan's regions, over a backend that only plays.

use crate::play::{play, windows};
use crate::support::{arena, plan, point};
use memgauge_engine::{Failure, Quiet, run};
use memgauge_model::*;

const RULE: AgainRule = AgainRule { k: 5.0, least: 0.03, most: 2, controls: 3, rounds: 4 };

/// So many regions, read by two threads, in a phase that is held.
fn scan(regions: u32) -> Plan {
    let mut plan = plan(&[0, 1]);
    for region in 0..regions {
        let arena = arena(&mut plan, 0, Pages::Thp, Holds::Region { parts: 2, bytes: 4 << 20 });
        let (mix, isa, delay) = (Mix::Read, Isa::Portable, DelayRef::Fixed(0));
        let job = |part| Job::Stream { arena, part: Some(part), mix, isa, block_lines: None, delay, manner: Manner::default() };
        let threads = [0, 1].map(|part| Thread { cpu: part, job: job(part) }).to_vec();
        point(&mut plan, Measure::Scan { node: 0, region, mix }, threads, 30_000_000);
    }
    plan.phases[0].held = Some(RULE);
    plan.rounds.looks = vec![6];
    plan
}

/// Rounds of each point's figure, and those made again.
fn rounds(run: &Run) -> (Vec<usize>, Vec<usize>) {
    (run.points.iter().map(|p| p.rounds.len()).collect(), run.points.iter().map(|p| p.again.len()).collect())
}

#[test]
fn arenas_stay_for_all_rounds_each_in_another_order() {
    let mut backend = play(|task, at| Ok(windows(0.0, 1e9 * (100.0 + ((task.point * 7 + at) % 5) as f64 / 5.0))));
    let done = run(&scan(8), &mut backend, &mut Quiet);
    assert_eq!((&done.end, backend.phases.len()), (&End::Complete, 1));
    assert_eq!(rounds(&done), (vec![6; 8], vec![0; 8]));
    let order: Vec<PointId> = backend.measured.iter().map(|(point, _, _)| *point).collect();
    assert!(order.chunks(8).all(|round| (0..8).all(|point| round.contains(&point))));
    assert!(order.chunks(8).any(|round| round != &order[..8]), "{order:?}");
    let [found] = &done.again[..] else { panic!("{:?}", done.again) };
    assert_eq!((found.values, found.slow.len(), found.controls.len()), (8, 0, 0));
    assert!(found.fence.unwrap() < 100e9 && found.median.unwrap() > 100e9);
}

#[test]
fn slow_regions_are_measured_again_beside_ordinary_ones_and_keep_their_figure() {
    let speed = |point: PointId| match point {
        3 => 80e9,
        5 => 70e9,
        6 => 90e9,
        ordinary => 100e9 + ordinary as f64 * 1e8,
    };
    let mut backend = play(|task, _| Ok(windows(0.0, speed(task.point))));
    let done = run(&scan(12), &mut backend, &mut Quiet);
    let [found] = &done.again[..] else { panic!("{:?}", done.again) };
    assert_eq!((&found.slow[..], found.measured), (&[5, 3, 6][..], 2), "the slowest first, no more than the rule allows");
    assert_eq!(found.controls.len(), 3);
    let (figures, again) = rounds(&done);
    assert_eq!(figures, [6; 12]);
    for (point, again) in again.iter().enumerate() {
        let chosen = found.slow[..2].contains(&point) || found.controls.contains(&point);
        assert_eq!(*again, if chosen { 4 } else { 0 }, "{point}");
    }
    assert!(found.controls.iter().all(|point| !found.slow.contains(point)));
    let blocks = done.points.iter().flat_map(|point| point.rounds.iter().chain(&point.again));
    assert!(blocks.into_iter().all(|block| block.placements.len() == 1 && block.placements[0].after.is_some()));
    // All places of a slow one, the larger ones of others.
    for place in &done.physical {
        let Avail::Known(physical) = &place.physical else { panic!("{place:?}") };
        let kept = if found.slow.contains(&place.arena) { 40 } else { 32 };
        assert_eq!((physical.ranges.len(), physical.left_out), (kept, 40 - kept as u64));
    }
    assert_eq!(done.physical.len(), 12);
}

#[test]
fn a_region_measured_while_its_cpus_were_near_each_other_is_not_slow() {
    let mut plan = scan(8);
    plan.points.iter_mut().for_each(|point| point.class_pair = Some((0, 1)));
    // Two CPUs of one core read half as fast as two of two. Whoever comes first in the first four rounds finds them near.
    let mut backend = play(|_, at| Ok(windows(0.0, if at <= 32 && at % 8 == 1 { 50e9 } else { 100e9 })));
    backend.classes = (0..32).flat_map(|at| [if at % 8 == 0 { 40.0 } else { 184.0 }; 2]).chain([184.0; 64]).collect();
    let done = run(&plan, &mut backend, &mut Quiet);
    let near = |block: &&Block| block.class_after_ns == Some(40.0);
    assert_eq!(done.points.iter().flat_map(|point| &point.rounds).filter(near).count(), 4);
    assert_eq!((done.again[0].values, &done.again[0].slow[..], done.again[0].median), (8, &[][..], Some(100e9)));
}

#[test]
fn mixes_and_kinds_of_pages_have_fences_of_their_own() {
    let mut plan = scan(14);
    for region in 0..7 {
        plan.arenas[region].pages = Pages::Huge1G;
    }
    let mut backend = play(|task, _| Ok(windows(0.0, if task.point < 7 { 110e9 } else { 100e9 })));
    let done = run(&plan, &mut backend, &mut Quiet);
    let fences: Vec<_> = done.again.iter().map(|found| (found.pages, found.values, found.slow.len())).collect();
    assert_eq!(fences, [(Pages::Thp, 7, 0), (Pages::Huge1G, 7, 0)]);
}

#[test]
fn too_few_regions_have_no_fence() {
    let mut backend = play(|task, _| Ok(windows(0.0, if task.point == 0 { 10e9 } else { 100e9 })));
    let done = run(&scan(4), &mut backend, &mut Quiet);
    assert_eq!((done.again[0].fence, &done.again[0].slow[..]), (None, &[][..]));
}

#[test]
fn a_signal_keeps_what_was_measured_and_where_it_was() {
    let mut backend = play(|_, _| Ok(windows(0.0, 100e9)));
    backend.stop_after = 11;
    let done = run(&scan(8), &mut backend, &mut Quiet);
    assert_eq!(done.end, End::Interrupted { signal: "SIGINT".to_owned() });
    let blocks: Vec<&Block> = done.points.iter().flat_map(|point| &point.rounds).collect();
    assert_eq!((blocks.len(), done.physical.len(), done.again.len()), (11, 8, 0));
    assert!(blocks.iter().all(|block| block.placements[0].after.is_some()), "{blocks:?}");
}

#[test]
fn one_stopped_while_measuring_again_is_kept_too() {
    let mut backend = play(|task, _| Ok(windows(0.0, if task.point == 2 { 50e9 } else { 100e9 })));
    backend.stop_after = 8 * 6 + 3;
    let done = run(&scan(8), &mut backend, &mut Quiet);
    assert_eq!(done.end, End::Interrupted { signal: "SIGINT".to_owned() });
    let (figures, again) = rounds(&done);
    assert_eq!((figures, again.iter().sum::<usize>(), &done.again[0].slow[..]), (vec![6; 8], 3, &[2][..]));
}

#[test]
fn one_regions_failure_leaves_the_others() {
    let mut backend = play(|task, _| match task.point {
        2 => Err(Failure::point(Reason::NotPresent, "gone")),
        _ => Ok(windows(0.0, 100e9)),
    });
    let done = run(&scan(8), &mut backend, &mut Quiet);
    assert_eq!(done.end, End::Complete);
    assert_eq!(rounds(&done).0, [6, 6, 0, 6, 6, 6, 6, 6]);
    let failed = EventKind::PointFailed { point: 2, reason: Reason::NotPresent, detail: "gone".to_owned() };
    assert_eq!(done.events.iter().map(|event| &event.what).collect::<Vec<_>>(), [&failed]);
    assert_eq!(done.again[0].values, 7);
}

#[test]
fn other_phases_have_their_rounds_as_ever() {
    let mut plan = scan(8);
    let again = Phase { held: None, ..plan.phases[0].clone() };
    plan.phases.push(Phase { points: vec![7], arenas: vec![7], ..again });
    plan.phases[0].points.pop();
    let mut backend = play(|_, _| Ok(windows(0.0, 100e9)));
    let done = run(&plan, &mut backend, &mut Quiet);
    assert_eq!(rounds(&done).0, [6; 8]);
    assert_eq!(backend.phases.len(), 1 + 6);
}
