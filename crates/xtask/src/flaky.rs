//! `cargo xtask flaky`: the tests again and again, for those that fail now and then.

use std::collections::BTreeMap;
use std::process::{ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{Outcome, say, sh};

/// `[--runs N] [NAME…]`: all tests (those with one of these in their names), N times (20).
pub fn run(args: &[String]) -> Outcome {
    let (mut runs, mut names) = (20_u32, Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--runs" => runs = args.next().and_then(|text| text.parse().ok()).context("--runs wants a number")?,
            name => names.push(name),
        }
    }
    let mut failed: BTreeMap<String, u32> = BTreeMap::new();
    for number in 1..=runs {
        let begun = Instant::now();
        let once = once(&names)?;
        say::stage(&format!(
            "run {number} of {runs}: {} passed, {} failed, {} s",
            once.passed,
            once.failed.len(),
            begun.elapsed().as_secs()
        ));
        for name in once.failed {
            say::line(&format!("FAILED in run {number}: {name}"));
            *failed.entry(name).or_default() += 1;
        }
    }
    failed.iter().for_each(|(name, times)| say::line(&format!("{name}: failed in {times} of {runs} runs")));
    say::line(&format!("{} tests failed in some of {runs} runs", failed.len()));
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What one run of all tests came to.
#[derive(Debug, Default, PartialEq)]
struct Once {
    passed: usize,
    failed: Vec<String>,
}

fn once(names: &[&str]) -> Result<Once> {
    // As `test` runs them without nextest: the tests that measure must not meet.
    let mut command = sh::cargo(&["test", "--workspace", "--all-targets", "--profile", "ci", "--locked", "--no-fail-fast"]);
    let output = command.args(["--", "--test-threads=1"]).args(names).stderr(Stdio::null()).output()?;
    let once = read(&String::from_utf8_lossy(&output.stdout));
    // A binary that dies names no test.
    if once.passed == 0 || (!output.status.success() && once.failed.is_empty()) {
        bail!("cargo test: {}, and it names no test that failed", output.status);
    }
    Ok(once)
}

fn read(said: &str) -> Once {
    let mut once = Once::default();
    for line in said.lines() {
        // What a test prints may stand between its name and its outcome.
        if let Some(name) = line.strip_prefix("    ").filter(|name| !name.contains(' ')) {
            if !once.failed.iter().any(|failed| failed == name) {
                once.failed.push(name.to_owned());
            }
        } else if let Some(counts) = line.strip_prefix("test result: ") {
            let passed = counts.split_whitespace().nth(1).and_then(|count| count.parse().ok());
            once.passed += passed.unwrap_or(0);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::{Once, read};

    #[test]
    fn names_of_failures_are_taken_from_the_closing_list() {
        let said = "running 2 tests\ntest a::fits ... ok\ntest b::leaks ... noise\nFAILED\n\nfailures:\n\n---- b::leaks stdout ----\n\
                    thread panicked\n\n\nfailures:\n    b::leaks\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n\
                    test result: ok. 3 passed; 0 failed\n";
        assert_eq!(read(said), Once { passed: 4, failed: vec!["b::leaks".to_owned()] });
    }
}
