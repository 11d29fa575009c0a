//! The kernel moves a thread off its CPU, as it does when the CPU goes offline or out of the cpuset.

use crate::scene::{WARM, harmed, observer_alone, observer_and_load, two_cpus};
use crate::support::{arena, plan, point};
use crate::threads::{move_to, pinned_to};
use memgauge_model::*;

#[test]
fn real_an_observer_on_another_cpu_is_seen() {
    let Some(cpus) = two_cpus() else { return };
    let done = harmed(observer_alone(cpus, Pages::Base), || {
        // The first to be pinned there makes the reference chase, for a millisecond.
        std::thread::sleep(WARM);
        let Some(observer) = pinned_to(cpus[0]) else { return };
        move_to(observer, cpus[1]);
    });
    done.is_rejected_for(Disturbance::WrongCpu.text());
}

#[test]
fn real_a_load_on_the_observers_cpu_is_seen() {
    let Some(cpus) = two_cpus() else { return };
    let done = harmed(observer_and_load(cpus), || {
        let Some(load) = pinned_to(cpus[1]) else { return };
        std::thread::sleep(WARM);
        move_to(load, cpus[0]);
    });
    done.is_rejected_for(Disturbance::WrongCpu.text());
}

/// Two that throw a line to each other from one CPU take a time slice for each throw: a game of milliseconds would take half
/// an hour.
#[test]
fn real_a_ping_pong_on_one_cpu_ends() {
    let Some(cpus) = two_cpus() else { return };
    let mut plan = plan(&cpus);
    let lines = arena(&mut plan, cpus[0], Pages::Base, Holds::C2c { bytes: 128 << 10, push: 4 << 20 });
    let kind = C2cKind::Store;
    let threads = cpus.map(|cpu| Thread { cpu, job: Job::C2c { arena: lines, kind } });
    let (scope, via) = (C2cScope::Cpu, C2cVia::L2);
    let measure = Measure::C2c { from: cpus[0], to: cpus[1], home: 0, kind, scope, via, repeat: false };
    point(&mut plan, measure, threads.to_vec(), 40_000_000);
    plan.rounds.looks = vec![4];
    // A thread may be found when its block is all but over: three are moved.
    let mut moved = 0;
    let done = harmed(plan, || {
        if moved < 3 {
            moved += i32::from(pinned_to(cpus[1]).is_some_and(|reader| move_to(reader, cpus[0])));
        }
    });
    let silent = |event: &Event| matches!(&event.what, EventKind::PointFailed { detail, .. } if detail.contains("did not answer each other"));
    let noticed = done.disturbances().contains(&Disturbance::WrongCpu) || done.record.run.events.iter().any(silent);
    assert!(noticed, "{:?}", done.record.run.events);
}
