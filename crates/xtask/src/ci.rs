//! `cargo xtask ci`: all of `test`, and what needs more than the toolchain.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::lab::vm;
use crate::{Outcome, asan, cross, fuzz, host, lanes, loom, runner, say, test};

/// Of each fuzz target.
const FUZZ_S: u64 = 15;

/// Quick checks, then guests, hostile input, the tests for AArch64 under an emulator, and the tests, whose closing line ends the output.
pub fn run(args: &[String]) -> Outcome {
    if let Some(extra) = args.iter().find(|arg| *arg != "--install") {
        bail!("ci takes --install only, got `{extra}`");
    }
    let install = host::may_install(args);
    // What is missing is said at once, not after minutes of compiling.
    let needs = [host::FUZZING, host::GUESTS, host::X86_GUESTS, host::ARM_GUESTS, host::ARM_CROSS];
    timed("packages", || host::provide(install, &needs))?;
    timed("checks before the tests", test::before_tests)?;
    timed("address sanitizer and loom", || both(&[asan::stage, loom::stage]))?;
    // Most guests keep one CPU busy.
    let builds = vec![fuzz::build()?, runner::build(), cross::build(install)?];
    timed("virtual machines", || lanes::with_behind(builds, || vm::stage(install)))?;
    timed("fuzzing", || fuzz::stage(FUZZ_S))?;
    timed("AArch64", || cross::stage(install))?;
    runner::run()
}

/// Two steps at a time.
fn both(steps: &[fn() -> Result<()>]) -> Result<()> {
    lanes::each(steps, |step| step()).into_iter().collect()
}

/// Says how long a step took: the whole must stay below 25 minutes on two CPUs.
fn timed(what: &str, step: impl FnOnce() -> Result<()>) -> Result<()> {
    let begun = Instant::now();
    let outcome = step();
    say::stage(&format!("{what}: {} s", begun.elapsed().as_secs()));
    outcome
}
