//! multichase: which arguments mean the same as ours, and what it prints.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::peers::rivals::named;
use crate::peers::{child, ratios};
use crate::sh;

/// Names the binary where it is not on PATH.
const VARIABLE: &str = "MEMGAUGE_MULTICHASE";

/// Half a second each; one more comes first and is dropped.
const SAMPLES: &str = "4";

pub struct Multichase {
    binary: PathBuf,
    taskset: PathBuf,
}

/// One chase, in its terms.
#[derive(Debug, Clone, Copy)]
pub struct Chase {
    pub cpu: u64,
    pub bytes: u64,
    pub stride: u64,
    /// Bytes in which lines are shuffled before the next such window; the whole buffer for a full shuffle.
    pub window: u64,
    pub huge: bool,
}

impl Multichase {
    /// Or what is missing.
    pub fn find() -> Result<Self, String> {
        let binary = named("multichase", VARIABLE, "github.com/google/multichase, built by its make")?;
        let taskset = sh::which("taskset").ok_or("taskset, which pins multichase (Debian package util-linux)")?;
        Ok(Self { binary, taskset })
    }

    /// It has no version of its own: the commit, where it lies in its checkout.
    pub fn version(&self) -> String {
        let folder = self.binary.parent().filter(|folder| folder.join(".git").exists());
        let commit = folder
            .and_then(|folder| sh::output(Command::new("git").arg("-C").arg(folder).args(["rev-parse", "--short", "HEAD"])).ok());
        let commit = commit.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
        commit.map_or_else(|| "multichase".to_owned(), |commit| format!("multichase {commit}"))
    }

    /// ns a hop: the median of its samples, as ours is one. Its headline is their best, which lies below a median by
    /// whatever the machine's noise is (a full-random chase in a guest spreads by 10 % within seconds); their average holds every
    /// moment in which the host took the CPU away, which memgauge leaves out.
    pub fn run(&self, chase: &Chase) -> Result<f64> {
        let said = child::run(&mut self.command(chase))?;
        latency(&said).with_context(|| format!("multichase wrote no latency: {}", child::last_lines(&said)))
    }

    /// It binds its thread to the first CPU that it may use, and touches its memory from there.
    fn command(&self, chase: &Chase) -> Command {
        let mut command = Command::new(&self.taskset);
        command.args(["-c", &chase.cpu.to_string()]).arg(&self.binary);
        command.args(["-c", "simple", "-v", "-n", SAMPLES]);
        command.args(["-m", &chase.bytes.to_string(), "-s", &chase.stride.to_string(), "-T", &chase.window.to_string()]);
        // Without -H it asks for base pages explicitly.
        if chase.huge {
            command.arg("-H");
        }
        command
    }
}

/// Of the rows `  122.6  avg=122.6` that `-v` prints, one a sample.
fn latency(said: &str) -> Option<f64> {
    let row = |line: &str| line.split_once("avg=").and_then(|(_, ns)| ns.trim().parse().ok());
    let samples: Vec<f64> = said.lines().filter_map(row).filter(|ns: &f64| ns.is_finite() && *ns > 0.0).collect();
    (!samples.is_empty()).then(|| ratios::median(samples))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latency_is_the_median_of_the_samples() {
        let said = "samples (one column per thread):\n  122.6  avg=122.6\n  98.1  avg=98.1\n  130.0  avg=130.0\n 98.1\n";
        assert_eq!(latency(said), Some(122.6));
        for bad in ["", "usage: multichase [options]", "98.1\n", "  nan  avg=nan", "  -1  avg=-1", "timed out: 3 samples"] {
            assert_eq!(latency(bad), None, "{bad}");
        }
    }

    #[test]
    fn huge_pages_are_asked_for_only_where_wanted() {
        let peer = Multichase { binary: "multichase".into(), taskset: "taskset".into() };
        let args = |huge| -> Vec<String> {
            let chase = Chase { cpu: 3, bytes: 1 << 30, stride: 128, window: 1 << 19, huge };
            peer.command(&chase).get_args().map(|arg| arg.to_string_lossy().into_owned()).collect()
        };
        let common = "-c 3 multichase -c simple -v -n 4 -m 1073741824 -s 128 -T 524288";
        assert_eq!(args(false).join(" "), common);
        assert_eq!(args(true).join(" "), format!("{common} -H"));
    }
}
