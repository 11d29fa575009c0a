//! `cargo xtask ci`: all of `test`, and what needs more than the toolchain.

use anyhow::bail;

use crate::{Outcome, asan, fuzz, host, runner, test, vm};

/// Of each fuzz target.
const FUZZ_S: u64 = 15;

/// Quick checks, then hostile input, guests, and the tests, whose closing line ends the output.
pub fn run(args: &[String]) -> Outcome {
    if let Some(extra) = args.iter().find(|arg| *arg != "--install") {
        bail!("ci takes --install only, got `{extra}`");
    }
    let install = host::may_install(args);
    // What is missing is said at once, not after minutes of compiling.
    host::provide(install)?;
    test::before_tests()?;
    asan::stage()?;
    fuzz::stage(FUZZ_S)?;
    vm::stage(install)?;
    runner::run()
}
