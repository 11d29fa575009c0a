//! Latency under load: one curve a mix. The observer chases while the loads stream from the same node's memory, or each from its own.

use super::{assigned, rfo_probe};
use crate::checks::value;
use crate::choices;
use crate::draft::Draft;
use crate::traffic;
use memgauge_model::{Cpu, CurvePlan, DelayRef, Delays, Job, MLC_DELAYS, Measure, Mix, NodeId, Refusal, Thread, What};

/// Points of an automatic curve, in the default run and in the command.
const SLOTS: (usize, usize) = (10, 12);
/// Delays that the pilot tries: from all to nothing.
const PILOT: [u32; 11] = [0, 50, 100, 200, 400, 700, 1300, 2500, 5000, 9000, 20000];
const PILOT_NS: u64 = 20_000_000;
/// The default run has less time, and its pilot needs no more than a window.
const SHORT_PILOT_NS: u64 = 10_000_000;

pub(super) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    if draft.roles.loads.is_empty() {
        return without_loads(draft);
    }
    let whole_run = draft.request.what == What::All;
    // What is assigned is one curve, whatever its threads do.
    let mixes = match draft.request.assignments.first() {
        Some(first) => vec![first.mix],
        None => choices::mixes(draft.request, What::Loaded),
    };
    for &mix in &mixes {
        match draft.request.delays.clone().unwrap_or(Delays::Auto) {
            Delays::Auto => {
                let slots = if whole_run { SLOTS.0 } else { SLOTS.1 };
                let refs = (0..slots).map(DelayRef::Slot).collect();
                curve(draft, mix, refs, slots, PILOT.to_vec());
            }
            Delays::Mlc => fixed(draft, mix, &MLC_DELAYS),
            Delays::List(list) => fixed(draft, mix, &list),
        }
    }
    let threads = loads(draft);
    rfo_probe(draft, &threads, &mixes, false);
    Ok(())
}

fn fixed(draft: &mut Draft, mix: Mix, delays: &[u32]) {
    let distinct: std::collections::BTreeSet<u32> = delays.iter().copied().collect();
    curve(draft, mix, distinct.into_iter().map(DelayRef::Fixed).collect(), 0, Vec::new());
}

fn curve(draft: &mut Draft, mix: Mix, delays: Vec<DelayRef>, slots: usize, pilot: Vec<u32>) {
    let (observer, node) = (Some(draft.roles.observer).filter(|_| draft.has_observer()), draft.roles.target);
    let threads = loads(draft);
    let curve = draft.curves.len();
    let pilot_ns = if draft.request.what == What::All { SHORT_PILOT_NS } else { PILOT_NS };
    let loads = draft.roles.loads.clone();
    draft.curves.push(CurvePlan { mix, observer, node, loads, slots, pilot, pilot_ns });
    let chase = observer.map(|cpu| {
        let (arena, ring) = draft.chase(cpu, draft.roles.watched, draft.choices.headline());
        assigned::observe(draft, arena);
        Thread { cpu, job: Job::Chase { arena, ring } }
    });
    for delay in delays {
        let mut all: Vec<Thread> = chase.iter().cloned().collect();
        let streams = if draft.request.assignments.is_empty() {
            draft.streams(&threads, mix, delay)
        } else {
            assigned::streams(draft, delay)
        };
        all.extend(streams);
        draft.point(Measure::Loaded { curve, delay }, all, draft.timing.point_ns);
    }
}

fn loads(draft: &Draft) -> Vec<(Cpu, NodeId)> {
    let node = |cpu| if draft.request.local_loads { draft.site.memory_of(cpu) } else { draft.roles.target };
    draft.roles.loads.iter().map(|cpu| (cpu, node(cpu))).collect()
}

/// The default run does without the curve; the command can't.
fn without_loads(draft: &mut Draft) -> Result<(), Refusal> {
    let observer = draft.roles.observer;
    let named = draft.request.load_cpus.is_some() || !draft.request.assignments.is_empty();
    let detail = if named {
        "no load CPU is named".to_owned()
    } else {
        format!("no CPU outside the core of the observer, CPU {observer}, is allowed")
    };
    let remedy = if named { "name CPUs in --load-cpus" } else { "allow another core (taskset, cpuset)" };
    if draft.request.what == What::All {
        draft.missing("loaded_latency", &[], &detail, remedy);
        draft.missing("loaded_bandwidth", &[], &detail, remedy);
        return Ok(());
    }
    if named {
        let flag = traffic::flag(draft.request);
        let typed = value(draft.request, flag, "none");
        return Err(Refusal::new(flag, typed, "a loaded curve needs a load", "name CPUs, or leave it out"));
    }
    Err(Refusal::new("", "", format!("a loaded curve needs a load, and {detail}"), remedy))
}
