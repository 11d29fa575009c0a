//! Roles: the observer, the loads, and the memory that they aim at.

use crate::checks::value;
use crate::site::Site;
use crate::traffic;
use memgauge_model::{Cpu, CpuList, NodeId, Refusal, Request, Smt, What};

/// From where loads may come that nobody named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Every allowed CPU.
    Everywhere,
    /// Those near the target's memory.
    Near,
}

/// Who does what.
pub(crate) struct Roles {
    /// Watches: one dependent chase.
    pub observer: Cpu,
    /// Load: streams.
    pub loads: CpuList,
    /// Whose memory the observer and the loads use.
    pub target: NodeId,
    /// Whose memory the observer uses: the target, or that of the CPU that touches it first.
    pub watched: NodeId,
    /// Were loads chosen here that are far from the target?
    pub far_loads: bool,
    /// Why the result can't stand.
    pub rejected: Vec<String>,
    /// One line each.
    pub notes: Vec<String>,
}

/// Gives every role to somebody. Loads may come out empty: what needs them says so.
pub(crate) fn assign(request: &Request, site: &Site, reach: Reach) -> Result<Roles, Refusal> {
    // Where nobody watches, the first load stands for the place that the others aim at.
    let first = traffic::load_cpus(request, None).filter(|_| request.no_observer).and_then(|loads| loads.first());
    let observer = match request.cpu.or(first) {
        Some(cpu) => cpu,
        None => choose_observer(request, site)?,
    };
    let watcher = Some(observer).filter(|_| !request.no_observer);
    let touched = request.touch_cpu.map(|cpu| site.memory_of(cpu));
    let told = traffic::of(request, observer).and_then(|line| line.node);
    let named = traffic::load_cpus(request, watcher);
    let own = || site.memory_of(observer);
    let target = request.node.or(touched.filter(|_| request.what == What::Idle)).or(told).unwrap_or_else(own);
    let watched = touched.unwrap_or(target);
    let mut roles =
        Roles { observer, loads: CpuList::default(), target, watched, far_loads: false, rejected: vec![], notes: vec![] };
    if request.node.is_none() && touched.is_none() && site.node_of(observer).is_some_and(|home| home != target) {
        roles.notes.push(format!("the node of CPU {observer} has no memory that may be used; node {target} is the nearest"));
    }
    match &named {
        Some(list) => {
            named_loads(request, site, observer, list, &mut roles)?;
            roles.loads = list.clone();
        }
        None => own_choice(request, site, reach, &mut roles),
    }
    Ok(roles)
}

/// The first CPU near the target; near the first node that has any, where no target is named. It keeps off the cores of
/// loads that were named.
fn choose_observer(request: &Request, site: &Site) -> Result<Cpu, Refusal> {
    let named = traffic::load_cpus(request, None);
    let taken = |cpu: Cpu| match &named {
        Some(list) if watches_loads(request) && !request.share_core => list.iter().any(|load| site.same_core(load, cpu)),
        Some(list) if watches_loads(request) => list.contains(cpu),
        _ => false,
    };
    let first_free = |cpus: &CpuList| cpus.iter().find(|cpu| !taken(*cpu));
    let near: Vec<CpuList> = match request.node {
        Some(node) => vec![site.local_cpus(node)],
        None => site.nodes.iter().map(|node| site.own_cpus(node).iter().copied().collect()).collect(),
    };
    near.iter().find_map(&first_free).or_else(|| first_free(&site.cpus)).ok_or_else(|| {
        let flag = traffic::flag(request);
        let problem = "leaves no core for the observer";
        Refusal::new(flag, value(request, flag, named.clone().unwrap_or_default()), problem, "leave one core out of the list")
    })
}

fn watches_loads(request: &Request) -> bool {
    matches!(request.what, What::All | What::Loaded) && !request.no_observer
}

/// Refuses loads on the observer's core, unless that is wanted.
fn named_loads(request: &Request, site: &Site, observer: Cpu, list: &CpuList, roles: &mut Roles) -> Result<(), Refusal> {
    let Some(load) = list.iter().find(|load| site.same_core(*load, observer)).filter(|_| watches_loads(request)) else {
        return Ok(());
    };
    if request.share_core {
        roles.rejected.push(shared(load, observer));
        return Ok(());
    }
    let problem = if load == observer {
        format!("CPU {load} is the observer")
    } else {
        format!("CPU {load} shares the core of the observer, CPU {observer}")
    };
    let rest: CpuList = list.iter().filter(|load| !site.same_core(*load, observer)).collect();
    let remedy = if rest.is_empty() { "name CPUs of other cores".to_owned() } else { format!("use {rest}") };
    let remedy = format!("{remedy}, or --share-core (the result is then rejected)");
    let flag = traffic::flag(request);
    Err(Refusal::new(flag, value(request, flag, list), problem, remedy))
}

fn own_choice(request: &Request, site: &Site, reach: Reach, roles: &mut Roles) {
    let observer = roles.observer;
    let off_core =
        |cpu: &Cpu| request.no_observer || if request.share_core { *cpu != observer } else { !site.same_core(*cpu, observer) };
    let all: CpuList = site.cpus.iter().filter(off_core).collect();
    let all = if request.smt == Smt::One { site.one_a_core(&all) } else { all };
    let near = all.intersection(&site.local_cpus(roles.target));
    let far = near.len() < all.len() && !request.local_loads;
    roles.far_loads = !near.is_empty() && far && matches!(request.what, What::All | What::Loaded);
    roles.loads = if reach == Reach::Near { near } else { all };
    if reach == Reach::Near {
        let target = roles.target;
        roles.notes.push(format!("node {target} can't hold the buffers of every load; only CPUs near it load it"));
        roles.far_loads = false;
    }
    if let Some(load) = roles.loads.iter().find(|load| !request.no_observer && site.same_core(*load, observer)) {
        roles.rejected.push(shared(load, observer));
    }
}

fn shared(load: Cpu, observer: Cpu) -> String {
    match load == observer {
        true => format!("CPU {load} loads and observes at once (--share-core)"),
        false => format!("CPU {load} loads on the core of the observer, CPU {observer} (--share-core)"),
    }
}
