//! Prefetchers of the cores that chase: off while a block runs, on again before the next.

use super::Hardware;
use crate::backend::{Failure, Task};
use memgauge_model::{CpuList, Reason};
use memgauge_sys::guard::{GuardError, RegisterGuard};

/// Prefetchers that are off until this is dropped.
pub struct Off<'h> {
    guard: &'h RegisterGuard,
    cpus: Vec<u32>,
}

/// Switches them off where the plan wants that for this point and a guard allows it.
pub fn off<'h>(hardware: &'h Hardware, task: &Task<'_>) -> Result<Option<Off<'h>>, Failure> {
    let cpus = task.plan.points.get(task.point).and_then(|point| task.plan.prefetch_off_for(point));
    let Some((guard, cpus)) = hardware.prefetchers.as_ref().zip(cpus.map(CpuList::iter)) else { return Ok(None) };
    let off = Off { guard, cpus: cpus.collect() };
    guard.set(&off.cpus).map_err(failed)?;
    Ok(Some(off))
}

impl Off<'_> {
    /// Puts them back.
    ///
    /// # Errors
    ///
    /// Where they did not stay off throughout: the block is then none of a chase without prefetchers.
    pub fn end(mut self) -> Result<(), Failure> {
        let cpus = std::mem::take(&mut self.cpus);
        self.guard.put_back(&cpus).map_err(failed)
    }
}

impl Drop for Off<'_> {
    fn drop(&mut self) {
        if !self.cpus.is_empty() {
            // The block has failed, and says so; what stays set here is put back when the guard goes.
            let _ = self.guard.put_back(&self.cpus);
        }
    }
}

fn failed(error: GuardError) -> Failure {
    Failure::point(Reason::NoPermission, format!("prefetchers did not stay off: {error}"))
}
