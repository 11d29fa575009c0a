//! A worker stands still.

use crate::scene::{LONG, WARM, harmed, observer_and_load, two_cpus};
use crate::threads::{pinned_to, stall};
use memgauge_model::{Disturbance, EventKind, Reason};
use std::time::Duration;

#[test]
fn real_a_load_that_stands_still_for_a_while_is_seen() {
    let Some(cpus) = two_cpus() else { return };
    let done = harmed(observer_and_load(cpus), || {
        let Some(load) = pinned_to(cpus[1]) else { return };
        std::thread::sleep(WARM);
        stall(load, LONG);
    });
    let stood_still: f64 = done.windows().map(|window| window.signs.gap_ns).sum();
    assert!(stood_still > 50e6, "{stood_still} ns");
    done.is_rejected_for(Disturbance::Gaps.text());
}

/// The others end when their patience does; the one that stood still is named, not those that waited for it.
#[test]
fn real_a_load_that_does_not_come_on_costs_the_round_and_is_named() {
    let Some(cpus) = two_cpus() else { return };
    let mut plan = observer_and_load(cpus);
    plan.points[0].time_ns = 20_000_000;
    // Long enough to be hit in; patience is four times all of this and 2 s: 3.3 s.
    (plan.windows.warmup_min_ns, plan.windows.warmup_max_ns) = (300_000_000, 300_000_000);
    let mut times = 0;
    let done = harmed(plan, move || {
        times += 1;
        if times == 1 {
            pinned_to(cpus[1]).into_iter().for_each(|load| stall(load, Duration::from_secs(5)));
        }
    });
    let failed = done.record.run.events.iter().find_map(|event| match &event.what {
        EventKind::PointFailed { reason, detail, .. } => Some((*reason, detail.as_str())),
        _ => None,
    });
    let named = format!("the thread on CPU {} did not keep up", cpus[1]);
    assert!(failed.is_some_and(|(reason, detail)| reason == Reason::OutOfTime && detail.contains(&named)), "{failed:?}");
    assert_eq!(done.blocks().count(), 1, "the other round stands");
    assert!(done.report.notes.iter().any(|note| note.contains(&named)), "{:?}", done.report.notes);
}
