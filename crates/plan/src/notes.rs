//! What the user should know of the choices made and of what limits them.

use crate::draft::Draft;
use crate::sizes::Sized;
use memgauge_model::{CpuList, Smt};

/// One line each.
pub(crate) fn all(draft: &Draft, sized: &Sized) -> Vec<String> {
    let mut notes = [&draft.roles.notes[..], &draft.choices.notes, &draft.notes, &sized.notes].concat();
    notes.extend(policy(draft));
    notes.extend(quota(draft));
    notes.extend(hybrid(draft));
    if draft.octaves_less > 0 {
        notes.push("memory is short: working sets end at 2 × the last-level cache".to_owned());
    }
    if draft.request.smt == Smt::One && draft.request.load_cpus.as_ref().is_some_and(|list| !list.is_empty()) {
        notes.push("--load-cpus names the CPUs; --smt one chooses none of them".to_owned());
    }
    notes
}

fn policy(draft: &Draft) -> Option<String> {
    let policy = draft.site.machine.limits.memory_policy.known().filter(|policy| *policy != "default")?;
    Some(match &draft.site.bound {
        Some(bound) => format!("inherited memory policy {policy}: only memory of node {bound} is used"),
        None => format!("inherited memory policy {policy}: buffers are bound to their nodes all the same"),
    })
}

fn quota(draft: &Draft) -> Option<String> {
    let quota = *draft.site.machine.limits.cpu_quota.known()?;
    let most = draft.points.iter().map(|point| point.threads.len()).max()?;
    #[expect(clippy::cast_precision_loss, reason = "a count of threads")]
    (quota < most as f64).then(|| format!("the cgroup's CPU quota of {quota} CPUs will throttle points of up to {most} threads"))
}

fn hybrid(draft: &Draft) -> Option<String> {
    let kinds = &draft.site.machine.core_kinds;
    let mixed = draft.points.iter().find_map(|point| {
        let cpus: CpuList = point.threads.iter().map(|thread| thread.cpu).collect();
        let names: Vec<&str> = kinds.iter().filter(|kind| kind.cpus.intersects(&cpus)).map(|kind| kind.name.as_str()).collect();
        (names.len() > 1).then(|| names.join(" and "))
    })?;
    Some(format!("hybrid CPU: figures of several threads mix {mixed} cores"))
}
