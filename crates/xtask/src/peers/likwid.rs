//! likwid-bench: which arguments mean the same as ours, and what it prints.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::peers::child;
use crate::peers::machine::Machine;
use crate::sh;

/// Of a run's measured part; it calibrates its clock and fills its memory besides.
const SECONDS: f64 = 0.7;

pub struct Likwid {
    binary: PathBuf,
    /// The read loop for this machine.
    kernel: String,
}

/// One run.
#[derive(Debug, PartialEq)]
pub struct Run {
    /// B/s.
    pub bandwidth: f64,
    pub bytes_per_thread: u64,
    /// Where its threads ran, in their order.
    pub cpus: Vec<u64>,
}

impl Likwid {
    /// Or what is missing.
    pub fn find(machine: &Machine) -> Result<Self, String> {
        let binary = sh::which("likwid-bench").ok_or("likwid-bench (Debian package likwid)")?;
        let list = child::run(Command::new(&binary).arg("-a")).map_err(|error| format!("likwid-bench: {error:#}"))?;
        let kernel = kernel(&machine.architecture, &machine.flags, &list).ok_or("likwid-bench with a load kernel")?;
        Ok(Self { binary, kernel })
    }

    /// `likwid-bench 5.2.2 load_avx512`
    pub fn version(&self) -> Result<String> {
        let said = child::run(Command::new(&self.binary).arg("-v"))?;
        let version = said.split_whitespace().last().context("likwid-bench names no version")?;
        Ok(format!("likwid-bench {version} {}", self.kernel))
    }

    /// How many CPUs it sees.
    pub fn threads(&self) -> Result<u64> {
        let said = child::run(Command::new(&self.binary).arg("-p"))?;
        whole_machine(&said).with_context(|| format!("likwid-bench -p names no domain N: {}", child::last_lines(&said)))
    }

    /// Passes over the memory that take about 0.7 s, found by a short run, and that run.
    pub fn probe(&self, threads: u64, bytes: u64) -> Result<(u64, Run)> {
        let run = self.run(threads, bytes, 2)?;
        Ok((passes(run.bandwidth, threads, bytes), run))
    }

    /// Each thread allocates and reads `bytes` (a multiple of 1000), so many times.
    pub fn run(&self, threads: u64, bytes: u64, passes: u64) -> Result<Run> {
        // Its size is that of all threads together. -W: each thread touches what it reads.
        let group = format!("N:{}kB:{threads}", bytes.saturating_mul(threads) / 1000);
        let mut command = Command::new(&self.binary);
        let said = child::run(command.args(["-t", &self.kernel, "-i", &passes.to_string(), "-W", &group]))?;
        let run = parse(&said).with_context(|| format!("likwid-bench wrote no result: {}", child::last_lines(&said)))?;
        // It shortens what does not divide by its loop.
        if run.bytes_per_thread.abs_diff(bytes) > bytes / 1000 {
            bail!("likwid-bench read {} bytes a thread, not {bytes}", run.bytes_per_thread);
        }
        Ok(run)
    }
}

/// The widest plain load that the CPU has and likwid-bench knows.
fn kernel(architecture: &str, flags: &[String], list: &str) -> Option<String> {
    let has = |flag: &str| flags.iter().any(|known| known == flag);
    let candidates: &[(&str, bool)] = match architecture {
        "x86_64" => &[("load_avx512", has("avx512f")), ("load_avx", has("avx2")), ("load_sse", true)],
        _ => &[("load_neon", true), ("load", true)],
    };
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    candidates.iter().find(|(name, fits)| *fits && names.contains(name)).map(|(name, _)| (*name).to_owned())
}

/// CPUs in the domain of the whole node: a tag line with their list.
fn whole_machine(said: &str) -> Option<u64> {
    let list = said.lines().find_map(|line| line.trim().strip_prefix("Tag N:"))?;
    u64::try_from(list.split_whitespace().count()).ok().filter(|count| *count > 0)
}

fn passes(bandwidth: f64, threads: u64, bytes: u64) -> u64 {
    #[expect(clippy::cast_precision_loss, reason = "a count to choose by")]
    let once = bytes.saturating_mul(threads) as f64 / bandwidth;
    let fitting = (SECONDS / once).floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
    let passes = fitting.clamp(1.0, 1e6) as u64;
    passes
}

fn parse(said: &str) -> Option<Run> {
    let field = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let cpu = |line: &str| line.split_once("running on hwthread ")?.1.split_whitespace().next()?.parse().ok();
    let megabytes: f64 = field("MByte/s:")?.parse().ok()?;
    let run = Run {
        bandwidth: megabytes * 1e6,
        bytes_per_thread: field("Size per thread:")?.parse().ok()?,
        cpus: said.lines().filter(|line| line.starts_with("Group: ")).filter_map(cpu).collect(),
    };
    (run.bandwidth.is_finite() && run.bandwidth > 0.0 && !run.cpus.is_empty()).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are read, in the form of 5.2.
    const SAID: &str = "\
Allocate: Process running on hwthread 0 (Domain N) - Vector length 16000000/128000000 Offset 0 Alignment 512
Group: 0 Thread 0 Global Thread 0 running on hwthread 4 - Vector length 8000000 Offset 0
Group: 0 Thread 1 Global Thread 1 running on hwthread 6 - Vector length 8000000 Offset 8000000
Size (Byte):\t\t128000000
Size per thread:\t64000000
MByte/s:\t\t16559.08
Cycles per update:\t1.014543
";

    #[test]
    fn a_run_is_read_with_its_cpus() {
        let run = parse(SAID).expect("complete");
        assert_eq!((run.bandwidth, run.bytes_per_thread, run.cpus), (16559.08 * 1e6, 64_000_000, vec![4, 6]));
        assert_eq!(parse(&SAID.replace("16559.08", "nan")), None);
        assert_eq!(parse(&SAID.replace("Group", "Grp")), None);
        assert_eq!(parse("Unknown test case load_x"), None);
    }

    #[test]
    fn the_widest_loop_that_both_have_is_taken() {
        let list = "load - Double-precision load\nload_avx - x\nload_avx512 - x\nload_sse - x\n";
        let pick = |architecture: &str, flags: &[&str], list: &str| {
            kernel(architecture, &flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>(), list)
        };
        assert_eq!(pick("x86_64", &["avx2", "avx512f"], list).as_deref(), Some("load_avx512"));
        assert_eq!(pick("x86_64", &["avx2"], list).as_deref(), Some("load_avx"));
        assert_eq!(pick("x86_64", &["avx512f"], "load_sse - x").as_deref(), Some("load_sse"));
        assert_eq!(pick("aarch64", &[], list).as_deref(), Some("load"));
        assert_eq!(pick("aarch64", &[], ""), None);
    }

    #[test]
    fn threads_are_those_of_the_whole_machine() {
        assert_eq!(whole_machine("Domain 0:\n\tTag N: 0 2 1 3\nDomain 1:\n\tTag S0: 0 2\n"), Some(4));
        assert_eq!(whole_machine("Tag S0: 0"), None);
    }

    #[test]
    fn passes_fill_the_time_and_are_at_least_one() {
        assert_eq!(passes(10e9, 2, 1_000_000_000), 3);
        assert_eq!(passes(1e9, 2, 1_000_000_000), 1);
    }
}
