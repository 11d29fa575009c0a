//! Pure: Request + Machine to Plan, or a typed refusal with the remedy.
//!
//! ```text
//! checks ─► site ─► roles ─► points ─► sizes, phases ─► budget, estimate
//!           what    who      what is    what memory     what it costs
//!           may be  observes measured   holds
//!           used    and loads
//! ```
//!
//! Same request and machine, same plan: there is no IO, no clock and no randomness here.
#![forbid(unsafe_code)]

mod budget;
mod capacity;
mod checks;
mod choices;
mod counters;
mod draft;
mod estimate;
mod notes;
mod pages;
mod phases;
mod points;
mod prefetch;
mod quota;
mod regions;
mod roles;
mod site;
mod sizes;
mod timing;
mod traffic;

use draft::Draft;
use memgauge_model::{Machine, Plan, Refusal, Request, What};
use roles::Reach;

/// Decides who does what, where and how long.
///
/// # Errors
/// A [`Refusal`] that names flag, value, problem and remedy, where the request can't be met on this machine.
pub fn build(request: &Request, machine: &Machine) -> Result<Plan, Refusal> {
    checks::form(request, machine)?;
    match build_with(request, machine, Reach::Everywhere, 0) {
        Ok(plan) => Ok(plan),
        Err(Failure::Memory { .. }) if request.what == What::Sweep && request.buffer.is_none() => {
            build_with(request, machine, Reach::Everywhere, 1).map_err(Failure::refusal)
        }
        // Far loads fill one node's memory with buffers of every CPU of the machine; the near ones often still fit.
        Err(Failure::Memory { refusal, far_loads: true }) => build_with(request, machine, Reach::Near, 0).map_err(|_| refusal),
        Err(other) => Err(other.refusal()),
    }
}

/// Why there is no plan.
enum Failure {
    /// For any reason.
    Refused(Refusal),
    /// For want of memory.
    Memory {
        /// In words.
        refusal: Refusal,
        /// Would fewer loads, those near the target, be a way out?
        far_loads: bool,
    },
}

impl Failure {
    fn refusal(self) -> Refusal {
        match self {
            Self::Refused(refusal) | Self::Memory { refusal, .. } => refusal,
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

fn build_with(request: &Request, machine: &Machine, reach: Reach, octaves_less: u32) -> Result<Plan, Failure> {
    let site = site::Site::new(machine)?;
    let roles = roles::assign(request, &site, reach)?;
    let timing = timing::Timing::new(request)?;
    let choices = choices::Choices::new(request, machine)?;
    let mut draft = Draft::new(request, &site, &roles, &choices, &timing);
    draft.octaves_less = octaves_less;
    points::draw(&mut draft)?;

    let sized = sizes::fit(&draft).map_err(|refusal| Failure::Memory { refusal, far_loads: roles.far_loads })?;
    points::sweep::keep_within(&mut draft, &sized);
    quota::settle(&mut draft, &sized);
    let phases = phases::pack(&draft, &sized);
    let budget = budget::budget(&draft, &sized, &phases);
    let (rounds, windows, estimate) = estimate::settle(&mut draft, &sized, &phases);
    let notes = notes::all(&draft, &sized);
    let counters = counters::plan(machine, &draft.points);
    let prefetch = prefetch::plan(request, machine, &draft.points);
    Ok(Plan {
        simulated: machine.simulated,
        request: request.clone(),
        observer: draft.has_observer().then_some(roles.observer),
        loads: if draft.has_loads() { roles.loads.clone() } else { Default::default() },
        target: roles.target,
        points: draft.points,
        arenas: sized.arenas,
        phases,
        curves: draft.curves,
        searches: draft.searches,
        scans: draft.scans,
        map: draft.map,
        prefetch,
        counters,
        rounds,
        windows,
        budget,
        estimate,
        notes,
        rejected: if matches!(request.what, What::All | What::Loaded) { roles.rejected.clone() } else { Vec::new() },
        unavailable: draft.unavailable,
    })
}
