//! The whole way — plan, engine, analysis — over simulated machines, held against what these are described to do.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod coverage;
mod faults;
mod pairs;
mod support;
mod truth;
