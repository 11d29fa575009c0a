//! `cargo xtask cross aarch64`: the workspace built for AArch64, its tests and the program run under qemu-user.

mod debian_rust;
mod degraded;
mod toolchain;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::lab::folder::Lab;
use crate::{Outcome, host, runner, say, sh};
use toolchain::Toolchain;

/// Rust's name of the target.
pub const TARGET: &str = "aarch64-unknown-linux-gnu";
/// Debian's emulator of single programs, and where it finds the loader and the libraries.
const RUNNER: &str = "qemu-aarch64-static -L /usr/aarch64-linux-gnu";
/// Loops, system calls, what the kernel says of a machine, and arithmetic that must come out alike to the last bit.
const OF_THE_ARCHITECTURE: [&str; 8] =
    ["-p", "memgauge-kernels", "-p", "memgauge-sys", "-p", "memgauge-machine", "-p", "memgauge-stats"];
const LINKER: &str = "aarch64-linux-gnu-gcc";

/// `aarch64 [--install] [CARGO-ARGS…]`: without arguments for cargo the program and all tests.
pub fn run(args: &[String]) -> Outcome {
    let Some((target, rest)) = args.split_first() else { bail!("cross wants a target: aarch64") };
    if target != "aarch64" {
        bail!("cross: no target `{target}`; there is aarch64");
    }
    let install = host::may_install(rest);
    let cargo: Vec<&str> = rest.iter().map(String::as_str).filter(|arg| *arg != "--install").collect();
    let cross = Cross::prepare(install)?;
    match cargo.split_first() {
        None => {
            cross.all()?;
            Ok(ExitCode::SUCCESS)
        }
        Some((subcommand, more)) => {
            let mut command = sh::cargo(&[*subcommand, "--target", TARGET]);
            cross.dress(command.args(more));
            sh::stage(&format!("cargo {subcommand} for {TARGET}"), &mut command)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// What depends on the architecture, as a step of `ci`: the other crates compute alike everywhere, and guests run the whole program.
pub fn stage(install: bool) -> Result<()> {
    Cross::prepare(install)?.with(&OF_THE_ARCHITECTURE)
}

/// Builds what `stage` runs, and runs nothing.
pub fn build(install: bool) -> Result<Command> {
    let mut command = sh::cargo(&["test", "--no-run", "--profile", "ci", "--locked", "--target", TARGET]);
    Cross::prepare(install)?.dress(command.args(OF_THE_ARCHITECTURE));
    Ok(command)
}

/// The program for AArch64, as the tests build it.
pub fn program(install: bool) -> Result<PathBuf> {
    Cross::prepare(install)?.program()
}

/// What it takes to build for AArch64 and to run that.
struct Cross {
    toolchain: Toolchain,
}

impl Cross {
    fn prepare(install: bool) -> Result<Self> {
        host::provide(install, &[host::ARM_CROSS])?;
        Ok(Self { toolchain: Toolchain::find(&Lab::open()?)? })
    }

    fn all(&self) -> Result<()> {
        self.with(&["--workspace"])
    }

    /// The program, and the tests of these packages.
    fn with(&self, packages: &[&str]) -> Result<()> {
        let program = self.program()?;
        degraded::check(&program)?;
        say::stage(
            "left out under an emulator: tests that measure (real_…), and thousands of simulated runs (coverage), which are arithmetic",
        );
        match runner::tests(&|command| self.dress(command.args(packages).args(["--target", TARGET])), &["real_", "coverage::"])? {
            true => Ok(()),
            false => bail!("tests for {TARGET} failed"),
        }
    }

    fn program(&self) -> Result<PathBuf> {
        let mut build = sh::cargo(&["build", "--profile", "ci", "--locked", "--quiet", "--target", TARGET]);
        self.dress(&mut build);
        sh::stage(&format!("build the program for {TARGET}"), &mut build)?;
        Ok(sh::target_folder()?.join(TARGET).join("ci/memgauge"))
    }

    /// Gives a command of cargo the toolchain, the linker and the emulator.
    fn dress(&self, command: &mut Command) {
        let of_target = format!("CARGO_TARGET_{}", TARGET.to_uppercase().replace('-', "_"));
        command.env(format!("{of_target}_LINKER"), LINKER).env(format!("{of_target}_RUNNER"), RUNNER);
        // Tests that start a program themselves ask for it.
        command.env("MEMGAUGE_TEST_RUNNER", RUNNER);
        self.toolchain.dress(command);
    }
}

/// A program for AArch64, started under the emulator.
fn emulated(program: &Path) -> Command {
    let mut words = RUNNER.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).arg(program);
    command
}
