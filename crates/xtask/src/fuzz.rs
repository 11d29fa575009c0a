//! `cargo xtask fuzz`: the fuzz targets, by libFuzzer, whose instrumentation stable Rust can give.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{Outcome, lanes, say, sh};

/// A workspace of its own.
const FOLDER: &str = "fuzz";
/// In the order in which they run.
const TARGETS: [&str; 6] = ["argv", "document", "import", "mlc", "smbios", "tree"];
/// What `cargo fuzz --sanitizer none` passes: counters at each edge, and the operands of comparisons. An address sanitizer would
/// find nothing in code that is safe throughout; `cargo xtask asan` has it for the crate that is not.
const FLAGS: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
/// An input that takes longer hangs.
const LONGEST_S: u64 = 10;
const MEMORY_MB: u64 = 2048;

/// `[--minutes N] [TARGET…]`: the stored corpus and N minutes (1) of each.
pub fn run(args: &[String]) -> Outcome {
    let (mut seconds, mut targets) = (60, Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--minutes" {
            let minutes: u64 = args.next().and_then(|text| text.parse().ok()).context("--minutes wants a number")?;
            seconds = minutes * 60;
        } else {
            let known = TARGETS.into_iter().find(|target| target == arg);
            targets.push(known.with_context(|| format!("no target {arg}: it is one of {}", TARGETS.join(", ")))?);
        }
    }
    of(if targets.is_empty() { &TARGETS } else { &targets }, seconds)?;
    Ok(std::process::ExitCode::SUCCESS)
}

/// All of them, so many seconds each.
pub fn stage(seconds: u64) -> Result<()> {
    of(&TARGETS, seconds)
}

/// Builds the targets, runs what is stored, then so many seconds of each.
fn of(targets: &[&str], seconds: u64) -> Result<()> {
    let (host, built) = (sh::host_target()?, sh::target_folder()?.join("fuzz"));
    sh::stage("fuzz targets", &mut build()?)?;
    lanes::each(targets, |target| one(target, &built, &host, seconds)).into_iter().collect()
}

/// Builds all targets, and runs none.
pub fn build() -> Result<Command> {
    // Sanitizer coverage is for the targets alone: with a target named, build scripts and macros are built without.
    let mut build = sh::cargo(&["build", "--release", "--locked", "--quiet", "--manifest-path"]);
    build.arg(format!("{FOLDER}/Cargo.toml")).args(["--target", &sh::host_target()?, "--target-dir"]);
    build.arg(sh::target_folder()?.join("fuzz"));
    build.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}")).env_remove("RUSTFLAGS");
    Ok(build)
}

fn one(target: &str, built: &Path, host: &str, seconds: u64) -> Result<()> {
    let program = built.join(host).join("release").join(target);
    let (found, crashes) = (built.join("corpus").join(target), built.join("crashes").join(target));
    for folder in [&found, &crashes] {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let stored = Path::new(FOLDER).join("corpus").join(target);
    // What is found goes into the first folder, so that the repository's stays as it is.
    let mut command = Command::new(&program);
    command.args([&found, &stored]).arg(format!("-artifact_prefix={}/", crashes.display()));
    // To libFuzzer no seconds are without end; here they are the corpus alone.
    let length = if seconds == 0 { "-runs=0".to_owned() } else { format!("-max_total_time={seconds}") };
    command.args([length, format!("-timeout={LONGEST_S}"), format!("-rss_limit_mb={MEMORY_MB}")]);
    let output = command.output().with_context(|| format!("cannot run {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        say::line(&said);
        bail!("fuzz {target}: the input is in {}; run it alone with {} FILE", crashes.display(), program.display());
    }
    let done = said.lines().rev().find(|line| line.starts_with("Done ")).unwrap_or("Done");
    say::stage(&format!("fuzz {target}: {}", done.trim_start_matches("Done ")));
    Ok(())
}
