//! Runs a [`Plan`](memgauge_model::Plan): arenas, pinned workers, rounds and windows, placement checks.
//!
//! [`run`] walks the plan's rounds over a [`Backend`]; [`Hardware`] is the backend that measures the machine it runs on,
//! [`Simulated`](simulated::Simulated) one that answers as a described machine would.
//! What is decided on the way (when warm-up is over, which delays a curve takes, when a figure is precise enough) follows
//! rules that the plan carries, and every decision stands in the [`Run`](memgauge_model::Run).
#![forbid(unsafe_code)]

mod backend;
mod curve;
mod hardware;
mod neighbours;
mod rounds;
mod schedule;
mod siblings;
pub mod simulated;
mod slow;
mod spent;
mod tournament;

pub use backend::{Backend, Bench, Failure, PhaseOutcome, Progress, Quiet, Step, Task, Wide, WideTask};
pub use hardware::Hardware;
pub use schedule::run;
pub use siblings::probe as probe_siblings;
