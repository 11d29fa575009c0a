//! `cargo xtask loom`: the start line of a block's threads, in every order in which they can go through it, and with every value
//! that the memory model lets them see.

use std::process::ExitCode;

use crate::{Outcome, sh};

use anyhow::{Result, bail};

pub fn run(args: &[String]) -> Outcome {
    if let Some(extra) = args.first() {
        bail!("loom takes no argument, got `{extra}`");
    }
    stage()?;
    Ok(ExitCode::SUCCESS)
}

pub fn stage() -> Result<()> {
    // Not optimised: building for loom takes longer than what two threads can do.
    let mut test = sh::cargo(&["test", "--quiet", "--locked", "--package", "memgauge-engine", "--lib"]);
    test.env("CARGO_ENCODED_RUSTFLAGS", "--cfg\x1floom").env_remove("RUSTFLAGS");
    test.arg("--target-dir").arg(sh::target_folder()?.join("loom")).args(["--", "start::model"]);
    sh::stage("loom over the start line", &mut test)
}
