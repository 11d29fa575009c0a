//! Idle latency: the headline, its twin without keep-alive, full-random on huge and base pages, single accesses.

use crate::checks::value;
use crate::draft::Draft;
use memgauge_model::{Cpu, CpuList, Job, Measure, Refusal, Thread};

pub(super) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    let (observer, node) = (draft.roles.observer, draft.roles.watched);
    let keepers = asked_keepers(draft)?;
    let reason = match draft.request.keepalive {
        _ if !keepers.is_empty() => None,
        Some(false) => Some("asked for by --keepalive off".to_owned()),
        _ => Some("no CPU outside the observer's core is allowed".to_owned()),
    };
    let time_ns = draft.timing.point_ns;
    for kind in draft.choices.chases.clone() {
        let (arena, ring) = draft.chase(observer, node, kind);
        let mut threads = vec![Thread { cpu: observer, job: Job::Chase { arena, ring } }];
        threads.extend(busy(&keepers));
        let measure = Measure::Idle { node, keepalive: !keepers.is_empty(), keepalive_reason: reason.clone() };
        draft.point(measure, threads, time_ns);
    }
    let (arena, ring) = draft.chase(observer, node, draft.choices.headline());
    if !keepers.is_empty() && draft.request.keepalive.is_none() && draft.request.keepalive_cpus.is_none() {
        // The headline's twin: their difference is what power saving costs.
        let measure = Measure::Idle { node, keepalive: false, keepalive_reason: None };
        draft.point(measure, vec![Thread { cpu: observer, job: Job::Chase { arena, ring } }], time_ns);
    }
    let mut threads = vec![Thread { cpu: observer, job: Job::TimedChase { arena, ring } }];
    threads.extend(busy(&keepers));
    draft.point(Measure::Access { node }, threads, time_ns);
    Ok(())
}

fn busy(keepers: &[Cpu]) -> impl Iterator<Item = Thread> {
    keepers.iter().map(|&cpu| Thread { cpu, job: Job::KeepAlive })
}

/// The CPUs that stay busy beside an idle chase: those that were named, else one, if it shall and can.
pub(super) fn keepers(draft: &Draft) -> Vec<Cpu> {
    match &draft.request.keepalive_cpus {
        Some(named) => named.iter().collect(),
        None => keeper(draft).into_iter().collect(),
    }
}

/// The CPU that stays busy beside an idle chase, if one shall and can.
pub(super) fn keeper(draft: &Draft) -> Option<Cpu> {
    neighbour(draft).filter(|_| draft.request.keepalive != Some(false))
}

/// All of them, or a refusal where they were asked for and can't be.
fn asked_keepers(draft: &Draft) -> Result<Vec<Cpu>, Refusal> {
    let Some(named) = &draft.request.keepalive_cpus else { return Ok(asked_keeper(draft)?.into_iter().collect()) };
    let (site, observer) = (draft.site, draft.roles.observer);
    let Some(shared) = named.iter().find(|cpu| site.same_core(*cpu, observer)) else { return Ok(named.iter().collect()) };
    let problem = format!("CPU {shared} is on the core of the observer, CPU {observer}, which it would slow down");
    let rest: CpuList = named.iter().filter(|cpu| !site.same_core(*cpu, observer)).collect();
    let remedy = if rest.is_empty() { "name CPUs of other cores".to_owned() } else { format!("use {rest}") };
    Err(Refusal::new("--keepalive-cpus", value(draft.request, "--keepalive-cpus", named), problem, remedy))
}

/// The same, or a refusal where one was asked for and can't be.
pub(super) fn asked_keeper(draft: &Draft) -> Result<Option<Cpu>, Refusal> {
    let keeper = keeper(draft);
    if draft.request.keepalive == Some(true) && keeper.is_none() {
        let problem = format!("no CPU outside the core of the observer, CPU {}, is allowed", draft.roles.observer);
        let typed = value(draft.request, "--keepalive", "on");
        return Err(Refusal::new("--keepalive", typed, problem, "use --keepalive off, or allow another core"));
    }
    Ok(keeper)
}

/// A CPU on another core, of the observer's own node if there is one: it keeps that node's uncore awake.
fn neighbour(draft: &Draft) -> Option<Cpu> {
    let (site, observer) = (draft.site, draft.roles.observer);
    let free = |cpu: &Cpu| !site.same_core(*cpu, observer);
    let own = site.node_of(observer).map_or(&[][..], |node| site.own_cpus(node));
    own.iter().copied().find(free).or_else(|| site.cpus.iter().find(free))
}
