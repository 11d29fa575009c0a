//! The order of things, over a backend that only plays.

#[cfg(test)]
mod held;
mod play;
mod support;

use memgauge_engine::{Failure, Quiet, run};
use memgauge_model::*;
use play::{play, windows};
use support::{IDLE, arena, chase, plan, point, rings};

/// Three idle points on one arena.
fn three() -> Plan {
    let mut plan = plan(&[0]);
    let ring = arena(&mut plan, 0, Pages::Thp, rings(1 << 20, &[(Order::FullRandom, 128)]));
    (0..3).for_each(|_| {
        point(&mut plan, IDLE, vec![chase(0, ring, 0)], 60_000_000);
    });
    plan
}

#[test]
fn every_point_is_measured_once_a_round_in_an_order_that_the_seed_decides() {
    let mut plan = three();
    plan.rounds.looks = vec![6];
    let order_with = |seed: u64| {
        let mut plan = plan.clone();
        plan.request.seed = seed;
        let mut backend = play(|_, _| Ok(windows(100.0, 0.0)));
        let done = run(&plan, &mut backend, &mut Quiet);
        assert_eq!(done.end, End::Complete);
        assert!(done.points.iter().all(|record| record.rounds.len() == 6));
        for block in done.points.iter().flat_map(|record| &record.rounds) {
            assert!(block.placements[0].after.is_some(), "what the phase found reaches its blocks");
        }
        let seeds: std::collections::BTreeSet<u64> = backend.phases.iter().map(|(_, seed)| *seed).collect();
        assert_eq!(seeds.len(), 6, "every round has memory and permutation of its own");
        backend.measured.iter().map(|(point, _, _)| *point).collect::<Vec<_>>()
    };
    assert_eq!(order_with(1), order_with(1));
    assert_ne!(order_with(1), order_with(2));
    let order = order_with(3);
    assert!(order.chunks(3).any(|round| round != &order[..3]), "rounds differ in order: {order:?}");
}

#[test]
fn phases_have_their_turns_and_those_between_are_shuffled() {
    let mut plan = three();
    point(&mut plan, IDLE, vec![chase(0, 0, 0)], 60_000_000);
    let phase = |(point, turn)| Phase { arenas: vec![0], points: vec![point], turn, held: None };
    plan.phases = [(0, Turn::Last), (1, Turn::Any), (2, Turn::First), (3, Turn::Any)].map(phase).to_vec();
    plan.rounds.looks = vec![12];
    let mut backend = play(|_, _| Ok(windows(100.0, 0.0)));
    run(&plan, &mut backend, &mut Quiet);
    let order: Vec<PointId> = backend.measured.iter().map(|(point, _, _)| *point).collect();
    assert_eq!(order.len(), 48);
    assert!(order.chunks(4).all(|round| round[0] == 2 && round[3] == 0), "{order:?}");
    assert!(order.chunks(4).any(|round| round[1] != order[1]), "{order:?}");
}

#[test]
fn points_with_a_span_come_last_and_in_the_order_of_its_size() {
    let mut plan = three();
    for bytes in [9 << 10, 4 << 10, 4 << 10, 7 << 10] {
        let measure = Measure::SweepLatency { node: 0, span: Span { bytes, settle: true }, keepalive: false };
        point(&mut plan, measure, vec![chase(0, 0, 0)], 60_000_000);
    }
    plan.rounds.looks = vec![8];
    let mut backend = play(|_, _| Ok(windows(100.0, 0.0)));
    run(&plan, &mut backend, &mut Quiet);
    let order: Vec<PointId> = backend.measured.iter().map(|(point, _, _)| *point).collect();
    for round in order.chunks(7) {
        assert!(round[..3].iter().all(|point| *point < 3), "{round:?}");
        assert!(round[3..5].iter().all(|point| [4, 5].contains(point)) && round[5..] == [6, 3], "{round:?}");
    }
    assert!(order.chunks(7).any(|round| round[3..5] != order[3..5]), "equals stay in random order");
}

#[test]
fn rounds_go_on_until_each_point_is_precise_and_no_longer() {
    let mut plan = three();
    plan.rounds = RoundRule { looks: vec![6, 9, 13, 19], precision: Some(0.01), whole_ns: None };
    // Point 0 is steady, point 1 settles within 1 % by the second look's interval, point 2 never does.
    let mut backend = play(|task, at| {
        let noise = [0.0, if at < 4 { 0.05 } else { 0.0 }, 0.2][task.point];
        Ok(windows(100.0 * (1.0 + noise * if at % 2 == 0 { 1.0 } else { -1.0 }), 0.0))
    });
    let done = run(&plan, &mut backend, &mut Quiet);
    let rounds: Vec<usize> = done.points.iter().map(|record| record.rounds.len()).collect();
    assert_eq!(rounds, [6, 9, 19]);
}

#[test]
fn a_flip_of_the_class_marks_the_block_and_repeats_it() {
    let mut plan = three();
    plan.points.truncate(1);
    plan.phases[0].points = vec![0];
    plan.points[0].class_pair = Some((0, 1));
    plan.rounds.looks = vec![1];
    let mut backend = play(|_, _| Ok(windows(100.0, 0.0)));
    backend.classes = vec![41.0, 184.0, 184.0, 183.0];
    let done = run(&plan, &mut backend, &mut Quiet);
    let superseded: Vec<bool> = done.points[0].rounds.iter().map(|block| block.superseded).collect();
    assert_eq!(superseded, [true, false]);
    assert!(done.events.iter().any(|event| matches!(event.what, EventKind::ClassChanged { point: 0, .. })));
}

/// 60 ms of windows, of which `disturbed` of three waited for their CPU.
fn waiting(disturbed: usize) -> Block {
    let mut block = windows(100.0, 0.0);
    block.windows[..disturbed].iter_mut().for_each(|window| window.signs.wait_ns = 1_000_000);
    block
}

#[test]
fn a_disturbed_block_is_measured_again_and_the_least_disturbed_one_counts() {
    let mut plan = three();
    plan.rounds.looks = vec![6];
    // In the fourth round point 1 meets a busy host: two of three windows, then all, then one.
    let mut seen = Vec::new();
    let mut backend = play(|task, _| {
        seen.push(task.point);
        let turn = seen.iter().filter(|point| **point == task.point).count();
        Ok(waiting(if task.point == 1 { [0, 0, 0, 2, 3, 1].get(turn - 1).copied().unwrap_or(0) } else { 0 }))
    });
    let done = run(&plan, &mut backend, &mut Quiet);
    let fourth: Vec<bool> = done.points[1].rounds.iter().filter(|b| b.round == 3).map(|b| b.superseded).collect();
    assert_eq!(fourth, [true, true, false]);
    assert_eq!(done.points.iter().map(|record| record.rounds.len()).collect::<Vec<_>>(), [6, 8, 6]);
    assert_eq!(done.events.iter().filter(|event| event.what == EventKind::Disturbed { point: 1 }).count(), 2);
}

#[test]
fn a_host_that_never_rests_does_not_double_the_run() {
    let mut plan = three();
    plan.rounds.looks = vec![19];
    let mut backend = play(|_, _| Ok(waiting(3)));
    let done = run(&plan, &mut backend, &mut Quiet);
    let blocks: usize = done.points.iter().map(|record| record.rounds.len()).sum();
    // Every fourth block of all is one more.
    assert!((70..=76).contains(&blocks), "{blocks} for {} rounds of three", 19);
    for record in &done.points {
        let counted = record.rounds.iter().filter(|block| !block.superseded).count();
        assert_eq!(counted, 19, "each round keeps one block");
    }
}

#[test]
fn blocks_measured_again_do_not_take_a_limited_run_beyond_its_time() {
    // A round takes 0.24 s, and the host is busy in the last one: with time for some blocks more, and with none to spare.
    for (whole_ns, again) in [(6 * 320_000_000, 5), (6 * 241_000_000, 2)] {
        let mut plan = three();
        plan.rounds = RoundRule { looks: vec![6], precision: None, whole_ns: Some(whole_ns) };
        let mut backend = play(|_, at| Ok(waiting(if at > 5 * 3 { 3 } else { 0 })));
        let done = run(&plan, &mut backend, &mut Quiet);
        assert_eq!(done.events.iter().filter(|event| matches!(event.what, EventKind::Disturbed { .. })).count(), again);
        assert!(backend.now <= whole_ns + whole_ns / 14 + 80_000_000, "{} for {whole_ns}", backend.now);
    }
}

#[test]
fn a_signal_keeps_what_was_measured() {
    let mut plan = three();
    plan.rounds.looks = vec![6];
    let mut backend = play(|_, _| Ok(windows(100.0, 0.0)));
    backend.stop_after = 7;
    let done = run(&plan, &mut backend, &mut Quiet);
    assert_eq!(done.end, End::Interrupted { signal: "SIGINT".to_owned() });
    assert_eq!(done.points.iter().map(|record| record.rounds.len()).sum::<usize>(), 7);
}

#[test]
fn a_slow_machine_shortens_its_windows_to_keep_the_time() {
    let mut plan = three();
    plan.rounds = RoundRule { looks: vec![6], precision: None, whole_ns: Some(600_000_000) };
    // The plan hoped for half of a round's time beside the windows.
    plan.estimate = Estimate { setup_ns: 6, rounds: 6, ..Estimate::default() };
    plan.rounds.whole_ns = Some(6 * 200_000_000);
    let mut backend = play(|_, _| Ok(windows(100.0, 0.0)));
    let done = run(&plan, &mut backend, &mut Quiet);
    let times: Vec<u64> = backend.measured.iter().map(|(_, _, time)| *time).collect();
    assert!(times[..3].iter().all(|time| *time == 60_000_000), "the first round shows what it takes");
    assert!(times[3..].iter().all(|time| *time < 60_000_000));
    assert!(done.events.iter().any(|event| matches!(event.what, EventKind::Shortened { round: 1, .. })));
}

#[test]
fn brief_points_have_their_rounds_first_and_later_ones_have_their_time_back() {
    let mut plan = three();
    let measure = Measure::SweepLatency { node: 0, span: Span { bytes: 4 << 10, settle: true }, keepalive: false };
    let brief = point(&mut plan, measure, vec![chase(0, 0, 0)], 300_000_000);
    plan.points[brief].brief = Some(2);
    plan.rounds.looks = vec![6];
    // Six rounds of three windows and their warm-up, twice the brief one: as much as there is time for, and little more.
    let round = 1_000_000 + 3 * 80_000_000;
    plan.rounds.whole_ns = Some(6 * round + 2 * 320_000_000 + 5_000_000);
    plan.estimate = Estimate { setup_ns: 6 * (round - 180_000_000), rounds: 6, ..Estimate::default() };
    let mut backend = play(|_, _| Ok(windows(100.0, 0.0)));
    let done = run(&plan, &mut backend, &mut Quiet);
    let rounds: Vec<Vec<u32>> =
        done.points.iter().map(|record| record.rounds.iter().map(|block| block.round).collect()).collect();
    assert_eq!(rounds[brief], [0, 1]);
    assert!(rounds[..brief].iter().all(|rounds| rounds.len() == 6));
    let times = |of: bool| backend.measured.iter().filter(move |(point, ..)| (*point == brief) == of).map(|(.., time)| *time);
    assert!(times(true).all(|time| time == 300_000_000));
    assert!(times(false).all(|time| time >= 59_000_000), "{:?}", backend.measured);
}

#[test]
fn the_best_candidate_alone_is_measured_again() {
    let mut plan = three();
    for (at, delay) in [0, 2, 8].into_iter().enumerate() {
        plan.points[at].measure = Measure::Max { mix: Mix::Read, delay };
    }
    plan.searches = vec![Search { candidates: vec![0, 1, 2], rounds: 2 }];
    plan.rounds.looks = vec![6];
    let mut backend = play(|task, _| Ok(windows(100.0, [50e9, 60e9, 40e9][task.point])));
    let done = run(&plan, &mut backend, &mut Quiet);
    assert_eq!(done.searches[0].winner, 1);
    assert_eq!(done.searches[0].seen.len(), 3);
    assert_eq!(done.points.iter().map(|record| record.rounds.len()).collect::<Vec<_>>(), [0, 6, 0]);
    assert!(backend.measured.iter().all(|(point, delay, _)| *delay == [0, 2, 8][*point]));
}

#[test]
fn a_curves_delays_come_from_its_pilot_and_stay_for_all_rounds() {
    let mut plan = three();
    for slot in 0..3 {
        plan.points[slot].measure = Measure::Loaded { curve: 0, delay: DelayRef::Slot(slot) };
    }
    let pilot = vec![0, 100, 1000, 10_000];
    plan.curves = vec![CurvePlan {
        mix: Mix::Read,
        observer: Some(0),
        node: 0,
        loads: vec![1].into(),
        slots: 3,
        pilot: pilot.clone(),
        pilot_ns: 10_000_000,
    }];
    plan.rounds.looks = vec![6];
    let mut backend = play(|task, _| Ok(windows(100.0, 256.0 * 3e9 / f64::from(task.delay + 30))));
    let done = run(&plan, &mut backend, &mut Quiet);
    let [curve] = done.curves.as_slice() else { panic!() };
    assert_eq!(curve.pilot.iter().map(|(delay, _)| *delay).collect::<Vec<_>>(), pilot);
    assert_eq!(curve.delays.len(), 3);
    for (point, record) in done.points.iter().enumerate() {
        assert_eq!(record.rounds.len(), 6);
        assert!(record.rounds.iter().all(|block| block.delay == Some(curve.delays[point])));
    }
}

#[test]
fn one_points_failure_is_an_event_and_a_fatal_one_ends_the_run() {
    let mut plan = three();
    plan.rounds.looks = vec![2];
    let mut backend = play(|task, _| match task.point {
        1 => Err(Failure::point(Reason::NoPermission, "no")),
        _ => Ok(windows(100.0, 0.0)),
    });
    let done = run(&plan, &mut backend, &mut Quiet);
    assert_eq!(done.end, End::Complete);
    assert_eq!(done.points.iter().map(|record| record.rounds.len()).collect::<Vec<_>>(), [2, 0, 2]);
    let failed = EventKind::PointFailed { point: 1, reason: Reason::NoPermission, detail: "no".to_owned() };
    assert_eq!(done.events.iter().map(|event| &event.what).collect::<Vec<_>>(), [&failed]);
    let mut backend = play(|_, _| Err(Failure::Fatal("gone".to_owned())));
    assert_eq!(run(&plan, &mut backend, &mut Quiet).end, End::Failed { reason: "gone".to_owned() });
}
