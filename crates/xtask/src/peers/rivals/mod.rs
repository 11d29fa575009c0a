//! Programs that move bytes, each with what of ours it is held against.

mod libc;
mod likwid;
mod mbw;
mod pmbw;
mod stream;
mod stress;
mod sysbench;
mod tinymembench;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::peers::child;
use crate::peers::machine::Machine;
use crate::sh;

/// What is asked of a peer.
#[derive(Clone, Copy)]
pub struct Want<'a> {
    /// By memgauge's name.
    pub mix: &'static str,
    /// The CPUs to run on, one thread each.
    pub cpus: &'a [u64],
    /// Bytes of all streams of one thread, about.
    pub working_set: u64,
    pub machine: &'a Machine,
}

impl<'a> Want<'a> {
    /// A duel on just these CPUs. `theirs` is one run of the peer on them, in application bytes a second.
    fn duel(
        &self,
        peer: &str,
        mixes: &'static [&'static str],
        bytes: u64,
        theirs: impl Fn(&[u64]) -> Result<f64> + 'a,
    ) -> Duel<'a> {
        let cpus = self.cpus;
        let (name, pages) = (name(self, peer), self.machine.default_pages());
        Duel { name, mixes, cpus: cpus.to_vec(), bytes, pages, theirs: Box::new(move || theirs(cpus)) }
    }

    pub fn threads(&self) -> u64 {
        self.cpus.len() as u64
    }

    /// Bytes of one stream of one thread: whole base pages and a multiple of every loop's stride.
    pub fn stream_bytes(&self) -> u64 {
        (self.working_set / streams(self.mix)).div_ceil(4096) * 4096
    }
}

/// A peer's loop and the same of ours.
pub struct Duel<'a> {
    /// `copy, 2 threads, STREAM`
    pub name: String,
    /// Ours: one mix, or several whose times are added up where the peer gives but a sum.
    pub mixes: &'static [&'static str],
    pub cpus: Vec<u64>,
    /// Of each stream of each thread.
    pub bytes: u64,
    pub pages: &'static str,
    /// One run: application bytes a second, loads and stores, as memgauge counts.
    pub theirs: Box<dyn Fn() -> Result<f64> + 'a>,
}

/// A program that moves bytes.
pub trait Rival {
    /// With its version and what is particular about it.
    fn about(&self) -> String;
    /// None where it has no loop for that mix, size or thread count.
    fn duel<'a>(&'a self, want: &Want<'a>) -> Option<Result<Duel<'a>>>;
}

type Found = Result<Box<dyn Rival>, String>;

/// Those that are found, and what is missing.
pub fn find() -> (Vec<Box<dyn Rival>>, Vec<String>) {
    let all: [Found; 7] =
        [likwid::find(), stream::find(), mbw::find(), sysbench::find(), stress::find(), pmbw::find(), tinymembench::find()];
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for rival in all {
        match rival {
            Ok(rival) => found.push(rival),
            Err(absent) => missing.push(absent),
        }
    }
    (found, missing)
}

/// Arrays that a mix goes through.
fn streams(mix: &str) -> u64 {
    match mix.trim_end_matches("-nt") {
        "copy" | "scale" => 2,
        "add" | "triad" => 3,
        _ => 1,
    }
}

/// Application bytes that one pass of a mix moves, in array lengths.
pub fn weight(mix: &str) -> f64 {
    match streams(mix) {
        1 => 1.0,
        2 => 2.0,
        _ => 3.0,
    }
}

/// `copy, 2 threads, STREAM`
fn name(want: &Want<'_>, peer: &str) -> String {
    match want.threads() {
        1 => format!("{}, 1 thread, {peer}", want.mix),
        threads => format!("{}, {threads} threads, {peer}", want.mix),
    }
}

/// Confined to these CPUs, by taskset.
pub fn pinned(binary: &Path, cpus: &[u64]) -> Command {
    let list: Vec<String> = cpus.iter().map(u64::to_string).collect();
    let mut command = Command::new("taskset");
    command.args(["-c", &list.join(",")]).arg(binary);
    command
}

/// A program that has no package: by the variable, else on PATH.
pub fn named(name: &str, variable: &str, origin: &str) -> Result<PathBuf, String> {
    match std::env::var_os(variable).map(PathBuf::from) {
        Some(path) if path.is_file() => Ok(path),
        Some(path) => Err(format!("{name}: {variable}={} is no file", path.display())),
        None => sh::which(name).ok_or_else(|| format!("{name}: not on PATH and {variable} is not set; from {origin}")),
    }
}

fn packaged(name: &str) -> Result<PathBuf, String> {
    sh::which(name).ok_or_else(|| format!("{name} (Debian package {name})"))
}

/// What follows the mark, as a number above 0.
fn number_after(said: &str, mark: &str) -> Option<f64> {
    let rest = said.split_once(mark)?.1.trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0)
}

/// One run, read by `parse`.
fn figure(command: &mut Command, parse: impl Fn(&str) -> Option<f64>) -> Result<f64> {
    let name = command.get_args().nth(2).unwrap_or_default().display().to_string();
    let said = child::run(command)?;
    match parse(&said).filter(|value| value.is_finite() && *value > 0.0) {
        Some(value) => Ok(value),
        None => bail!("{name} wrote no figure: {}", child::last_lines(&said)),
    }
}

/// The first line that the program writes for `--version` or the like, in one word or two.
fn first_line(command: &mut Command) -> Result<String> {
    let said = child::run(command)?;
    Ok(said.lines().find(|line| !line.trim().is_empty()).context("names no version")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_where_its_mark_stands() {
        assert_eq!(number_after("1024.00 MiB transferred (1840.92 MiB/sec)", "transferred ("), Some(1840.92));
        assert_eq!(number_after("rate:  12 MB", "rate:"), Some(12.0));
        for bad in ["rate: nan", "rate: 0.0", "rate: -1", "other: 1"] {
            assert_eq!(number_after(bad, "rate:"), None, "{bad}");
        }
    }
}
