//! A stop that is asked for at any step, and in the middle of each.

use crate::scene::two_cpus;
use crate::streams::stream;
use crate::support::{IDLE, arena, chase, plan, point, rings};
use memgauge_engine::{Hardware, Progress, Step, run};
use memgauge_model::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static STOP: AtomicBool = AtomicBool::new(false);

/// One point of each kind of work.
fn all_kinds(cpus: [u32; 2]) -> Plan {
    let mut plan = plan(&cpus);
    // It never ends by itself.
    plan.rounds.looks = vec![1000];
    let ring = arena(&mut plan, cpus[0], Pages::Base, rings(32 << 20, &[(Order::FullRandom, 128)]));
    let array = arena(&mut plan, cpus[1], Pages::Base, Holds::Streams { streams: 1, bytes: 32 << 20 });
    let lines = arena(&mut plan, cpus[0], Pages::Base, Holds::C2c { bytes: 128 << 10, push: 4 << 20 });
    let long = 300_000_000;
    point(&mut plan, IDLE, vec![chase(cpus[0], ring, 0)], long);
    let timed = Thread { cpu: cpus[0], job: Job::TimedChase { arena: ring, ring: 0 } };
    point(&mut plan, Measure::Access { node: 0 }, vec![timed, Thread { cpu: cpus[1], job: Job::KeepAlive }], long);
    point(&mut plan, Measure::Peak { mix: Mix::Read }, vec![stream(cpus[1], array, Mix::Read)], long);
    for kind in [C2cKind::Hitm, C2cKind::Store] {
        let threads = cpus.map(|cpu| Thread { cpu, job: Job::C2c { arena: lines, kind } }).to_vec();
        let (scope, via, repeat) = (C2cScope::Cpu, C2cVia::L2, false);
        let measure = Measure::C2c { from: cpus[0], to: cpus[1], home: 0, kind, scope, via, repeat };
        point(&mut plan, measure, threads, long);
    }
    plan
}

/// Asks to stop some time after a step.
struct At {
    step: usize,
    after: Duration,
    seen: usize,
    asked: Option<Instant>,
}

impl Progress for At {
    fn step(&mut self, _: &Step<'_>) {
        self.seen += 1;
        if self.seen != self.step || self.asked.is_some() {
            return;
        }
        self.asked = Some(Instant::now() + self.after);
        if self.after.is_zero() {
            STOP.store(true, Ordering::Relaxed);
        } else {
            let after = self.after;
            std::thread::spawn(move || {
                std::thread::sleep(after);
                STOP.store(true, Ordering::Relaxed);
            });
        }
    }
}

#[test]
fn real_a_stop_at_any_step_ends_the_run_soon_and_keeps_what_there_is() {
    let Some(cpus) = two_cpus() else { return };
    let plan = all_kinds(cpus);
    // Memory, then each point.
    for step in 1..=1 + plan.points.len() {
        for after in [0, 40] {
            STOP.store(false, Ordering::Relaxed);
            let mut at = At { step, after: Duration::from_millis(after), seen: 0, asked: None };
            let mut hardware = Hardware::new(None, &STOP).unwrap();
            let run = run(&plan, &mut hardware, &mut at);
            assert!(matches!(run.end, End::Interrupted { .. }), "step {step}, {after} ms: {:?}", run.end);
            let took = at.asked.unwrap().elapsed();
            assert!(took < Duration::from_secs(10), "step {step}, {after} ms: took {took:?}");
            let measured = run.points.iter().filter(|point| !point.rounds.is_empty()).count();
            // All points before the one in hand.
            assert!(measured >= step.saturating_sub(2), "step {step}, {after} ms: {measured}");
        }
    }
}
