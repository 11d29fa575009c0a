//! Pure: Request + Machine to Plan, or a typed refusal with the remedy.
#![forbid(unsafe_code)]

use memgauge_model::{Machine, Plan, Refusal, Request};

/// Decides who does what, where and how long.
///
/// # Errors
/// A [`Refusal`] that names flag, value, problem and remedy, where the request can't be met on this machine.
pub fn build(request: &Request, machine: &Machine) -> Result<Plan, Refusal> {
    let _ = (request, machine);
    Err(Refusal::new("", "", "the plan is not built yet", "wait"))
}
