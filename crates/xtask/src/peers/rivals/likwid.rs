//! likwid-bench: which arguments mean the same as ours, and what it prints. Its MByte/s are application bytes, without the
//! reads that plain stores cause, as are ours; its kernels `…_mem` store non-temporally.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Duel, Found, Rival, Want, name, streams};
use crate::peers::child;
use crate::sh;

/// Of a run's measured part; it calibrates its clock and fills its memory besides.
const SECONDS: f64 = 0.7;
/// Passes over the memory of one run, at most.
const MOST: f64 = 1e9;

pub struct Likwid {
    binary: PathBuf,
    version: String,
    /// `load_avx512 - Double-precision …`, one a line.
    list: String,
}

/// One run.
#[derive(Debug, PartialEq)]
struct Run {
    /// B/s.
    bandwidth: f64,
    /// All streams.
    bytes_per_thread: u64,
    /// Where its threads ran, in their order.
    cpus: Vec<u64>,
}

/// What it is told.
#[derive(Clone)]
struct Call {
    kernel: String,
    threads: u64,
    /// Of all streams of a thread.
    bytes: u64,
}

pub fn find() -> Found {
    let binary = sh::which("likwid-bench").ok_or("likwid-bench (Debian package likwid)")?;
    let say =
        |argument: &str| child::run(Command::new(&binary).arg(argument)).map_err(|error| format!("likwid-bench: {error:#}"));
    let (list, version) = (say("-a")?, say("-v")?);
    let version = version.split_whitespace().last().unwrap_or_default().to_owned();
    Ok(Box::new(Likwid { binary, version, list }))
}

impl Rival for Likwid {
    fn about(&self) -> String {
        format!("likwid-bench {} (the widest kernel)", self.version)
    }

    fn duel<'a>(&'a self, want: &Want<'a>) -> Option<Result<Duel<'a>>> {
        let (family, mixes): (_, &'static [&'static str]) = match want.mix {
            "read" => ("load", &["read"]),
            "write" => ("store", &["write"]),
            "write-nt" => ("store_mem", &["write-nt"]),
            "copy" => ("copy", &["copy"]),
            "copy-nt" => ("copy_mem", &["copy-nt"]),
            "triad" => ("stream", &["triad"]),
            "triad-nt" => ("stream_mem", &["triad-nt"]),
            _ => return None,
        };
        let kernel = kernel(family, &want.machine.architecture, &want.machine.flags, &self.list)?;
        let bytes = want.stream_bytes();
        let call = Call { kernel, threads: want.threads(), bytes: bytes * streams(want.mix) };
        Some(self.prepared(want, call, bytes, mixes))
    }
}

impl Likwid {
    /// A short run tells how many passes take 0.7 s, and on which CPUs.
    fn prepared<'a>(&'a self, want: &Want<'a>, call: Call, bytes: u64, mixes: &'static [&'static str]) -> Result<Duel<'a>> {
        let first = self.run(&call, 2)?;
        // Two passes over a cache take no time that could be measured: a longer run after it.
        let second = self.run(&call, passes(first.bandwidth / 20.0, &call))?;
        let passes = passes(second.bandwidth, &call);
        let (cpus, name) = (second.cpus, format!("{} {}", name(want, "likwid-bench"), call.kernel));
        let own = cpus.clone();
        let theirs = move || -> Result<f64> {
            let run = self.run(&call, passes)?;
            if run.cpus != own {
                bail!("likwid-bench ran on CPUs {:?}, before on {own:?}", run.cpus);
            }
            Ok(run.bandwidth)
        };
        Ok(Duel { name, mixes, cpus, bytes, pages: want.machine.default_pages(), theirs: Box::new(theirs) })
    }

    fn run(&self, call: &Call, passes: u64) -> Result<Run> {
        // Its size is that of all threads together. -W: each thread touches what it reads.
        let group = format!("N:{}B:{}", call.bytes.saturating_mul(call.threads), call.threads);
        let mut command = Command::new(&self.binary);
        let said = child::run(command.args(["-t", &call.kernel, "-i", &passes.to_string(), "-W", &group]))?;
        let run = parse(&said).with_context(|| format!("likwid-bench wrote no result: {}", child::last_lines(&said)))?;
        // It shortens what does not divide by its loop.
        if run.bytes_per_thread.abs_diff(call.bytes) > call.bytes / 50 {
            bail!("likwid-bench went through {} bytes a thread, not {}", run.bytes_per_thread, call.bytes);
        }
        Ok(run)
    }
}

/// The widest that the CPU has and likwid-bench knows.
fn kernel(family: &str, architecture: &str, flags: &[String], list: &str) -> Option<String> {
    let has = |flag: &str| flags.iter().any(|known| known == flag);
    let widths: &[(&str, bool)] = match architecture {
        "x86_64" => &[
            ("_avx512_fma", has("avx512f")),
            ("_avx512", has("avx512f")),
            ("_avx_fma", has("fma")),
            ("_avx", has("avx2")),
            ("_sse", true),
        ],
        _ => &[("_neon", true), ("", true)],
    };
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    widths
        .iter()
        .filter(|(_, fits)| *fits)
        .map(|(width, _)| format!("{family}{width}"))
        .find(|name| names.contains(&name.as_str()))
}

fn passes(bandwidth: f64, call: &Call) -> u64 {
    #[expect(clippy::cast_precision_loss, reason = "a count to choose by")]
    let once = call.bytes.saturating_mul(call.threads) as f64 / bandwidth;
    let fitting = (SECONDS / once).floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
    let passes = fitting.clamp(1.0, MOST) as u64;
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
        let list = "load - Double-precision load\nload_avx - x\nload_avx512 - x\nload_sse - x\nstream_avx512_fma - x\n";
        let pick = |family: &str, architecture: &str, flags: &[&str], list: &str| {
            kernel(family, architecture, &flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>(), list)
        };
        assert_eq!(pick("load", "x86_64", &["avx2", "avx512f"], list).as_deref(), Some("load_avx512"));
        assert_eq!(pick("stream", "x86_64", &["avx2", "avx512f"], list).as_deref(), Some("stream_avx512_fma"));
        assert_eq!(pick("load", "x86_64", &["avx2"], list).as_deref(), Some("load_avx"));
        assert_eq!(pick("load", "x86_64", &["avx512f"], "load_sse - x").as_deref(), Some("load_sse"));
        assert_eq!(pick("load", "aarch64", &[], list).as_deref(), Some("load"));
        assert_eq!(pick("store_mem", "x86_64", &["avx512f"], list), None);
    }

    #[test]
    fn passes_fill_the_time_and_are_at_least_one() {
        let call = Call { kernel: "load".to_owned(), threads: 2, bytes: 1_000_000_000 };
        assert_eq!((passes(10e9, &call), passes(1e9, &call)), (3, 1));
    }
}
