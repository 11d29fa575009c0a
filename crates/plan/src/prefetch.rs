//! Whether prefetchers are switched off, and on which CPUs.

use crate::checks::value;
use memgauge_model::{Avail, Cpu, CpuList, Machine, Point, Prefetch, PrefetchPlan, Reason, Refusal, Request};
use std::collections::BTreeMap;

/// Refuses `--prefetch off` where the machine can't do it, as far as it tells without writing.
pub(crate) fn check(request: &Request, machine: &Machine) -> Result<(), Refusal> {
    let (Prefetch::Off, Avail::Unavailable { unavailable, detail }) = (request.prefetch, &machine.platform.prefetch_control)
    else {
        return Ok(());
    };
    let remedy = match unavailable {
        Reason::NotPresent => "load the driver (modprobe msr), or use --prefetch auto",
        Reason::NoPermission => "run as root without kernel lockdown, or use --prefetch auto",
        _ => "use --prefetch auto",
    };
    let problem = format!("prefetchers can't be switched off: {detail}");
    Err(Refusal::new("--prefetch", value(request, "--prefetch", "off"), problem, remedy))
}

/// Every CPU that chases, with all hardware threads of its core: a core's prefetchers serve them all, and on some CPUs the
/// bits of one thread are enough to keep them on.
pub(crate) fn plan(request: &Request, machine: &Machine, points: &[Point]) -> PrefetchPlan {
    let left = |why: &str| PrefetchPlan { left: Some(why.to_owned()), ..PrefetchPlan::default() };
    let registers = match (request.prefetch, &machine.platform.prefetch_control) {
        (Prefetch::Leave, _) => return left("asked for by --prefetch leave"),
        (_, Avail::Unavailable { detail, .. }) => return left(detail),
        (Prefetch::Auto | Prefetch::Off, Avail::Known(registers)) => registers.clone(),
    };
    let first = points.iter().filter_map(|point| point.threads.first());
    let cpus = first.filter(|thread| thread.job.chases()).map(|thread| thread.cpu);
    let cores: BTreeMap<Cpu, CpuList> = cpus.map(|cpu| (cpu, machine.core_of(cpu))).collect();
    if cores.is_empty() {
        return left("no figure of this command is a chase's");
    }
    PrefetchPlan { registers, cores, left: None }
}
