//! `cargo xtask test`: everything that needs only the Rust toolchain.

use anyhow::{Result, bail};

use crate::{Outcome, runner, sh, tidy};

/// Runs all steps; the test run comes last, so that its closing line is the last line.
pub fn run(args: &[String]) -> Outcome {
    if let Some(extra) = args.first() {
        bail!("test takes no argument, got `{extra}`");
    }
    before_tests()?;
    runner::run()
}

/// Formatting, lints, house rules, documentation and its examples; the quick ones first.
pub fn before_tests() -> Result<()> {
    sh::stage("rustfmt", &mut sh::cargo(&["fmt", "--all", "--check"]))?;
    tidy::stage()?;
    sh::stage(
        "clippy",
        sh::cargo(&["clippy", "--workspace", "--all-targets", "--locked"]).args(["--quiet", "--", "-D", "warnings"]),
    )?;
    sh::stage(
        "documentation",
        sh::cargo(&["doc", "--workspace", "--no-deps", "--locked", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"),
    )
}
