//! The test run: cargo-nextest where it is installed, else `cargo test`.
//!
//! Both build with `[profile.ci]`: optimised, since measured loops in a debug
//! build say nothing, and with debug assertions, since tests should see them.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use crate::{Outcome, say, sh};

/// Runs every test of the workspace. The last line printed is the runner's own
/// summary, also on failure: the exit code says the rest.
pub fn run() -> Outcome {
    examples()?;
    let everything = |command: &mut Command| {
        command.arg("--workspace");
    };
    Ok(exit(tests(&everything, &[])?))
}

/// Builds what `run` runs, and runs nothing.
pub fn build() -> Command {
    sh::cargo(&["test", "--no-run", "--workspace", "--profile", "ci", "--locked", "--quiet"])
}

/// Tests but those that have one of `left_out` in their names: did they pass? `dress` tells cargo's command of which packages, and what it
/// needs for another target.
pub fn tests(dress: &dyn Fn(&mut Command), left_out: &[&str]) -> Result<bool> {
    let has_nextest = sh::cargo(&["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if has_nextest { nextest(dress, left_out) } else { cargo_test(dress, left_out) }
}

/// Documentation examples, which nextest does not run.
fn examples() -> Result<()> {
    let mut command = sh::cargo(&["test", "--workspace", "--doc", "--profile", "ci"]);
    command.args(["--locked", "--quiet"]);
    let said = sh::output(&mut command);
    said.map(drop).context("documentation examples")
}

fn nextest(dress: &dyn Fn(&mut Command), left_out: &[&str]) -> Result<bool> {
    say::stage("tests (cargo-nextest)");
    let mut command = sh::cargo(&["nextest", "run", "--cargo-profile", "ci", "--locked"]);
    for part in left_out {
        command.args(["-E", &format!("not test(/{part}/)")]);
    }
    dress(&mut command);
    Ok(command.status()?.success())
}

/// One thread for everything: the tests that measure the machine must not meet.
fn cargo_test(dress: &dyn Fn(&mut Command), left_out: &[&str]) -> Result<bool> {
    say::stage("tests (cargo test: cargo-nextest is not installed)");
    let mut command = sh::cargo(&["test", "--all-targets", "--profile", "ci"]);
    dress(command.args(["--locked", "--no-fail-fast"]));
    let mut child = command
        .args(["--", "--test-threads=1"])
        .args(left_out.iter().flat_map(|part| ["--skip", part]))
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().context("cargo test has no stdout")?;
    let mut total = Tally::default();
    for line in BufReader::new(output).lines() {
        let line = line?;
        total.add(&line);
        say::line(&line);
    }
    let passed = child.wait()?.success();
    if total.passed == 0 {
        bail!("cargo test ran no test");
    }
    // One binary's closing line is not the whole: sum them.
    say::line(&format!("{} passed, {} failed", total.passed, total.failed));
    Ok(passed)
}

fn exit(passed: bool) -> ExitCode {
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Sums the closing lines of several test binaries.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    passed: u64,
    failed: u64,
}

impl Tally {
    fn add(&mut self, line: &str) {
        let Some(counts) = line.strip_prefix("test result: ") else {
            return;
        };
        // "ok. 3 passed; 0 failed; 0 ignored; …"
        let words: Vec<&str> = counts.split_whitespace().collect();
        for pair in words.windows(2) {
            let [count, what] = pair else { continue };
            let Ok(count) = count.parse::<u64>() else {
                continue;
            };
            match what.trim_end_matches(';') {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn closing_lines_are_summed_and_other_lines_are_not() {
        let mut total = Tally::default();
        for line in [
            "running 5 tests",
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s",
            "9 passed; 9 failed",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.50s",
        ] {
            total.add(line);
        }
        assert_eq!(total, Tally { passed: 7, failed: 1 });
    }
}
