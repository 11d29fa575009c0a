//! Prefetchers: what a killed run left is put back first; then a guard for this one.

use crate::say;
use crate::trouble::Trouble;
use memgauge_machine::PREFETCH_REGISTERS;
use memgauge_model::{CpuList, Plan, Prefetch, PrefetchState, Refusal, RegisterChange};
use memgauge_sys::guard::{self, Recovered, RegisterGuard, Setting};
use std::path::Path;

/// Where the devices are.
const ROOT: &str = "/";

/// Puts back what a run left changed that was killed, and says so.
pub fn recover() {
    let Some(folder) = guard::default_folder() else { return };
    let known = PREFETCH_REGISTERS.map(|register| (register.msr, register.mask));
    for recovered in guard::recover(Path::new(ROOT), &folder, &known) {
        if !matches!(recovered, Recovered::Live { .. }) {
            say::line(&recovered.to_string());
        }
    }
}

/// Takes the registers that the plan names, journalled; `alone` is whether no other run measures on this host.
///
/// # Errors
///
/// A refusal where `--prefetch off` can't be had.
pub fn take(plan: &Plan, alone: bool) -> Result<(Option<RegisterGuard>, PrefetchState), Trouble> {
    let left = |reason: String| Ok((None, PrefetchState::Left { reason }));
    if let Some(why) = &plan.prefetch.left {
        return left(why.clone());
    }
    match try_take(plan, alone) {
        Ok(guard) => {
            let change = |c: &guard::Change| RegisterChange { cpu: c.cpu, msr: c.msr, old: c.old, new: c.new };
            let changes = guard.changes().iter().map(change).collect();
            Ok((Some(guard), PrefetchState::Off { changes }))
        }
        Err(why) if plan.request.prefetch == Prefetch::Off => {
            let problem = format!("prefetchers can't be switched off: {why}");
            Err(Refusal::new("--prefetch", "off", problem, "use --prefetch auto, which measures around them").into())
        }
        Err(why) => left(why),
    }
}

fn try_take(plan: &Plan, alone: bool) -> Result<RegisterGuard, String> {
    if !alone {
        return Err("another run measures on this host".to_owned());
    }
    let folder = guard::default_folder().ok_or("no folder for the journal: XDG_RUNTIME_DIR is not set")?;
    let cpus: CpuList = plan.prefetch.cores.values().flat_map(CpuList::iter).collect();
    let settings =
        |cpu| plan.prefetch.registers.iter().map(move |register| Setting { cpu, msr: register.msr, mask: register.mask });
    let wanted: Vec<Setting> = cpus.iter().flat_map(settings).collect();
    RegisterGuard::take(Path::new(ROOT), &folder, &wanted).map_err(|error| error.to_string())
}
