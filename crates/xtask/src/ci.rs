//! `cargo xtask ci`: all of `test`, and what needs more than the toolchain.

use anyhow::bail;

use crate::{Outcome, host, runner, test, vm};

/// Quick checks, then guests, then the tests, whose closing line ends the output.
pub fn run(args: &[String]) -> Outcome {
    if let Some(extra) = args.iter().find(|arg| *arg != "--install") {
        bail!("ci takes --install only, got `{extra}`");
    }
    let install = host::may_install(args);
    // What is missing is said at once, not after minutes of compiling.
    host::provide(install)?;
    test::before_tests()?;
    vm::stage(install)?;
    runner::run()
}
