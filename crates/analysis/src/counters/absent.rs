//! Why there are no counters, and what to do about it.

use crate::draft::{Draft, Labels, gap};
use crate::figures::Case;
use memgauge_model::{Avail, Counted, CounterEvent, Machine, Reason};

const ALL: [Counted; 4] = [Counted::DramRead, Counted::DramWrite, Counted::DtlbMisses, Counted::LlcMisses];

/// One gap for each counter that no figure has.
pub(super) fn write(case: &Case<'_>, draft: &mut Draft) {
    for counted in ALL {
        let there = |name: &str| draft.metrics.iter().any(|metric| metric.name == name);
        if there(counted.figure()) {
            continue;
        }
        let (reason, detail, remedy) = match is_dram(counted) && there(Counted::DramTotal.figure()) {
            true => {
                let detail = format!("its counters see reads and writes together: {}", Counted::DramTotal.figure());
                (Reason::NotSupported, detail, "none on this machine".to_owned())
            }
            false => why(case, counted),
        };
        draft.miss(gap(counted.figure(), &Labels::new(), reason, detail, &remedy));
    }
}

fn why(case: &Case<'_>, counted: Counted) -> (Reason, String, String) {
    let (record, machine) = (case.record, &case.record.machine);
    if !record.plan.points.iter().any(memgauge_model::Point::has_counters) {
        let detail = "counters are read beside chases and streams, not beside transfers".to_owned();
        return (Reason::NotApplicable, detail, "measure memgauge idle, peak or loaded".to_owned());
    }
    let events = if is_dram(counted) { &machine.counters.dram } else { &machine.counters.core };
    if let Avail::Unavailable { unavailable, detail } = events {
        return (*unavailable, detail.clone(), remedy(machine, counted, *unavailable));
    }
    let same = |event: &CounterEvent| event.counts == counted || is_dram(counted) && event.counts == Counted::DramTotal;
    let refused = record.run.counters.refused.iter().find_map(|refusal| {
        let event = record.plan.counters.get(refusal.event).filter(|event| same(event))?;
        Some((refusal.reason, format!("{} {}: {}", event.pmu, event.event, refusal.detail)))
    });
    match refused {
        Some((reason, detail)) => {
            let level = machine.counters.paranoid.known().map(|level| format!("; kernel.perf_event_paranoid is {level}"));
            (reason, detail + &level.unwrap_or_default(), remedy(machine, counted, reason))
        }
        None if !record.plan.counters.iter().any(same) => {
            let detail = "this machine's counters do not tell it".to_owned();
            (Reason::NotSupported, detail, "none on this machine".to_owned())
        }
        None => {
            let detail = "no block was measured whole with its counters".to_owned();
            (Reason::OutOfTime, detail, "measure again, on a quieter machine".to_owned())
        }
    }
}

fn remedy(machine: &Machine, counted: Counted, reason: Reason) -> String {
    match (reason, is_dram(counted), machine.is_guest()) {
        (Reason::NoPermission, dram, _) => {
            let level = if dram { 0 } else { 2 };
            format!(
                "set sysctl kernel.perf_event_paranoid to {level} or less, or give CAP_PERFMON; in a container, let seccomp pass perf_event_open"
            )
        }
        (Reason::NotPresent, true, true) => "none in a guest: measure on its host".to_owned(),
        (Reason::NotPresent, false, true) => "give the guest a PMU (KVM: pmu=on)".to_owned(),
        (Reason::NotPresent, true, false) => {
            "load the driver (intel_uncore, amd_uncore, arm-cmn), or use a newer kernel".to_owned()
        }
        _ => "none with this kernel and CPU".to_owned(),
    }
}

fn is_dram(counted: Counted) -> bool {
    matches!(counted, Counted::DramRead | Counted::DramWrite | Counted::DramTotal)
}
