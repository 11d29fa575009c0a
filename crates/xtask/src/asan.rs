//! `cargo xtask asan`: the tests of the crate that wraps system calls, under AddressSanitizer. It sees no inline assembly, so the kernels
//! are tested between guard pages instead.

use crate::{Outcome, sh};

use anyhow::{Result, bail};

pub fn run(args: &[String]) -> Outcome {
    if let Some(extra) = args.first() {
        bail!("asan takes no argument, got `{extra}`");
    }
    stage()?;
    Ok(std::process::ExitCode::SUCCESS)
}

pub fn stage() -> Result<()> {
    // A target named keeps the sanitizer out of build scripts and macros.
    let mut test = sh::cargo(&["test", "--quiet", "--locked", "--package", "memgauge-sys", "--target", &sh::host_target()?]);
    // The toolchain brings the sanitizer's runtime, but guards its flag.
    test.env("RUSTC_BOOTSTRAP", "1").env("CARGO_ENCODED_RUSTFLAGS", "-Zsanitizer=address").env_remove("RUSTFLAGS");
    test.arg("--target-dir").arg(sh::target_folder()?.join("asan"));
    // Tests that die of a guard page must die of the signal.
    test.env("ASAN_OPTIONS", "handle_segv=0:handle_sigbus=0");
    sh::stage("address sanitizer over memgauge-sys", &mut test)
}
