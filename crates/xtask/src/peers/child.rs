//! Programs that may not end, run for their output.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// What one run may take. Set-up of some GiB included, and the minute for which memgauge waits for another run.
const LIMIT: Duration = Duration::from_secs(150);

/// Runs a command and returns its stdout; its failure carries what it wrote.
pub fn run(command: &mut Command) -> Result<String> {
    within(command, LIMIT)
}

/// Nothing polls while the program runs: both measure on the same CPUs.
fn within(command: &mut Command, limit: Duration) -> Result<String> {
    let name = command.get_program().display().to_string();
    command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run {name}"))?;
    let Some((stdout, stderr)) = both_outputs(&mut child, limit)? else {
        child.kill()?;
        child.wait()?;
        bail!("{name}: still running after {} s", limit.as_secs());
    };
    let status = child.wait()?;
    if !status.success() {
        bail!("{name}: {status}: {}", last_lines(&format!("{stdout}\n{stderr}")));
    }
    Ok(stdout)
}

/// Stdout and stderr to their ends, or None when the time is over.
fn both_outputs(child: &mut Child, limit: Duration) -> Result<Option<(String, String)>> {
    let until = Instant::now() + limit;
    let stdout = collect(child.stdout.take().context("no stdout")?);
    let stderr = collect(child.stderr.take().context("no stderr")?);
    let mut texts = Vec::new();
    for receiver in [stdout, stderr] {
        match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(text) => texts.push(text?),
            Err(_) => return Ok(None),
        }
    }
    Ok(texts.pop().and_then(|stderr| Some((texts.pop()?, stderr))))
}

fn collect(mut from: impl Read + Send + 'static) -> mpsc::Receiver<std::io::Result<String>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = from.read_to_end(&mut bytes);
        // Nobody listens any more once the time is over.
        let _ = sender.send(read.map(|_| String::from_utf8_lossy(&bytes).into_owned()));
    });
    receiver
}

/// The end of what was written, in one line.
pub fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.get(lines.len().saturating_sub(3)..).unwrap_or_default().join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_larger_than_a_pipe_arrives_whole() {
        let text =
            run(&mut shell("i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done"));
        assert_eq!(text.expect("runs").len(), 3000 * 41);
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let error = within(&mut shell("exec sleep 100"), Duration::from_millis(50)).expect_err("too long");
        assert!(error.to_string().contains("still running"), "{error}");
    }

    #[test]
    fn a_failure_says_what_was_written() {
        let error = run(&mut shell("echo no memory >&2; exit 3")).expect_err("fails");
        assert!(error.to_string().contains("no memory"), "{error}");
    }
}
