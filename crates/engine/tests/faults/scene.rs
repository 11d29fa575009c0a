//! A run with somebody who does harm to it.

use crate::streams::stream;
use crate::support::{IDLE, arena, chase, plan, point, rings};
use memgauge_analysis::analyze;
use memgauge_engine::simulated::{names, preset};
use memgauge_engine::{Hardware, Progress, Step, run};
use memgauge_model::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

static NEVER: AtomicBool = AtomicBool::new(false);

/// Windows of a block together, ns.
pub const BLOCK_NS: u64 = 300_000_000;
/// From the moment on at which a thread is pinned, until windows are measured: the warm-up and some.
pub const WARM: Duration = Duration::from_millis(80);
/// Of a block's 300 ms: far more than the fifth that a figure bears.
pub const LONG: Duration = Duration::from_millis(200);
/// No run with a fault takes longer, however busy the machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The first two CPUs to measure on; none under an emulator, whose times tell nothing, or where there is one alone.
pub fn two_cpus() -> Option<[u32; 2]> {
    let cpus = memgauge_sys::cpu::affinity().unwrap();
    let emulated = std::env::var_os("MEMGAUGE_TEST_RUNNER").is_some();
    cpus.as_slice().first_chunk().copied().filter(|_| !emulated)
}

/// Two rounds of a chase on the first CPU.
pub fn observer_alone(cpus: [u32; 2], pages: Pages) -> Plan {
    let mut plan = plan(&cpus);
    let ring = arena(&mut plan, cpus[0], pages, rings(64 << 20, &[(Order::FullRandom, 128)]));
    point(&mut plan, IDLE, vec![chase(cpus[0], ring, 0)], BLOCK_NS);
    plan
}

/// Two rounds of a chase on the first CPU beside a stream on the second.
pub fn observer_and_load(cpus: [u32; 2]) -> Plan {
    let mut plan = plan(&cpus);
    let ring = arena(&mut plan, cpus[0], Pages::Base, rings(64 << 20, &[(Order::FullRandom, 128)]));
    let array = arena(&mut plan, cpus[1], Pages::Base, Holds::Streams { streams: 1, bytes: 64 << 20 });
    let measure = Measure::Loaded { curve: 0, delay: DelayRef::Fixed(0) };
    let threads = vec![chase(cpus[0], ring, 0), stream(cpus[1], array, Mix::Read)];
    point(&mut plan, measure, threads, BLOCK_NS);
    plan.curves.push(CurvePlan {
        mix: Mix::Read,
        observer: Some(cpus[0]),
        node: 0,
        loads: CpuList::from(vec![cpus[1]]),
        slots: 0,
        pilot: Vec::new(),
        pilot_ns: 0,
    });
    plan
}

/// What came of a run.
pub struct Done {
    pub record: Record,
    pub report: Report,
}

/// Runs the plan on this machine; `harm` is done at each block's beginning, by another thread.
pub fn harmed(plan: Plan, harm: impl FnMut() + Send) -> Done {
    let begun = Instant::now();
    let run = std::thread::scope(|scope| {
        let (tell, told) = channel();
        scope.spawn(move || each(told, harm));
        let mut hardware = Hardware::new(None, &NEVER).unwrap();
        run(&plan, &mut hardware, &mut Blocks(tell))
    });
    assert!(begun.elapsed() < LIMIT, "took {:?}", begun.elapsed());
    let tool = Tool { name: "memgauge".into(), version: String::new(), build: String::new() };
    let (seed, seconds) = (0, begun.elapsed().as_secs_f64());
    let command = Command { argv: vec![], seed, started: String::new(), seconds, environment: BTreeMap::new() };
    // Which machine it is bears on nothing that is asked here.
    let machine = preset(names().next().unwrap()).unwrap().machine();
    let record = Record { tool, command, machine, plan, before: BTreeMap::new(), after: BTreeMap::new(), run };
    Done { report: analyze(&record), record }
}

fn each(told: Receiver<()>, mut harm: impl FnMut()) {
    while told.recv().is_ok() {
        harm();
        // What was told meanwhile is over.
        while told.try_recv().is_ok() {}
    }
}

/// Tells of each block before it begins.
struct Blocks(Sender<()>);

impl Progress for Blocks {
    fn step(&mut self, step: &Step<'_>) {
        if step.what != "preparing memory" {
            // Nobody listens any more who has failed: the scope says so.
            let _ = self.0.send(());
        }
    }
}

impl Done {
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.record.run.points.iter().flat_map(|point| &point.rounds)
    }

    pub fn windows(&self) -> impl Iterator<Item = &Window> {
        self.blocks().flat_map(|block| &block.windows)
    }

    /// Every kind of disturbance that any window has.
    pub fn disturbances(&self) -> BTreeSet<Disturbance> {
        let limits = &self.record.plan.windows.limits;
        self.windows().flat_map(|window| window.disturbances(limits)).collect()
    }

    /// The result is rejected, and these words stand among the reasons.
    pub fn is_rejected_for(&self, words: &str) {
        let status = &self.report.status;
        assert_eq!(status.state, State::Rejected, "{:?}", status.reasons);
        assert!(status.reasons.iter().any(|reason| reason.contains(words)), "{words}: {:?}", status.reasons);
    }
}
