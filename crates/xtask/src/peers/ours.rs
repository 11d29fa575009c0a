//! memgauge itself, run as a user would and read from its result document.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::peers::child;
use crate::peers::machine::Machine;
use crate::sh;

/// 6 rounds, the least that make an interval, of about 30 ms each: the precision of one run is not
/// what is asked for here, and a short run meets the same machine as the peer beside it.
const EFFORT: [&str; 4] = ["--time", "600ms", "--precision", "50%"];

pub struct Ours {
    binary: PathBuf,
}

/// One figure of a run.
#[derive(Debug, Clone)]
pub struct Figure {
    /// ns or B/s, as the document has it.
    pub value: f64,
    /// By `memgauge-result/1`, of each stream of each thread.
    pub bytes: u64,
    pub placement: Placement,
    /// The run called itself rejected, mostly for disturbed windows.
    pub rejected: bool,
}

/// How far apart the host had put the CPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Placement {
    /// Not told apart: one thread, or no VM.
    Indifferent,
    /// By ping-pong, ns.
    Apart(f64),
    Unknown,
}

/// A run without a figure that could be compared: the kind of reason, and after a colon the particulars.
pub type Void = String;

impl Ours {
    /// The given binary, else the release binary, built first.
    pub fn at(binary: Option<PathBuf>) -> Result<Self> {
        Ok(Self { binary: binary.map_or_else(build, Ok)? })
    }

    pub fn machine(&self) -> Result<Machine> {
        Machine::of(&self.document(&["topology", "--format", "json"])?)
    }

    /// `memgauge 0.1.0`
    pub fn version(&self) -> Result<String> {
        Ok(child::run(Command::new(&self.binary).arg("--version"))?.trim().to_owned())
    }

    pub fn latency(&self, cpu: u64, order: &str, pages: &str, stride: u64, bytes: u64) -> Result<Result<Figure, Void>> {
        let (cpu, stride, bytes) = (cpu.to_string(), stride.to_string(), bytes.to_string());
        let what = ["idle", "--cpu", &cpu, "--order", order, "--pages", pages, "--stride", &stride, "--buffer", &bytes];
        let document = self.measure(&[&what[..], &["--keepalive", "off"]].concat())?;
        Ok(figure(&document, "idle_latency", &[("pages", pages), ("order", order), ("keepalive", "no")]))
    }

    /// By one thread on each of the CPUs.
    pub fn read(&self, cpus: &[u64], pages: &str, bytes: u64) -> Result<Result<Figure, Void>> {
        let list: Vec<String> = cpus.iter().map(u64::to_string).collect();
        let (list, bytes) = (list.join(","), bytes.to_string());
        let document = self.measure(&["peak", "--mix", "read", "--load-cpus", &list, "--pages", pages, "--buffer", &bytes])?;
        Ok(figure(&document, "peak_bandwidth", &[("pages", pages), ("threads", &cpus.len().to_string())]))
    }

    fn measure(&self, what: &[&str]) -> Result<Value> {
        self.document(&[what, &EFFORT, &["--format", "json", "--no-bundle", "--quiet"]].concat())
    }

    fn document(&self, args: &[&str]) -> Result<Value> {
        let said = child::run(Command::new(&self.binary).args(args))?;
        serde_json::from_str(&said).with_context(|| format!("memgauge {}: not JSON", args.join(" ")))
    }
}

fn build() -> Result<PathBuf> {
    sh::stage("build the release binary", &mut sh::cargo(&["build", "--release", "--locked", "--quiet"]))?;
    let metadata = sh::output(&mut sh::cargo(&["metadata", "--format-version=1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_slice(&metadata)?;
    let target = metadata.get("target_directory").and_then(Value::as_str);
    Ok(PathBuf::from(target.context("cargo metadata names no target directory")?).join("release/memgauge"))
}

/// The metric of that name and those labels, unless the run is no evidence.
fn figure(document: &Value, name: &str, labels: &[(&str, &str)]) -> Result<Figure, Void> {
    let is_it = |entry: &&Value| {
        text(entry, "/name") == name && labels.iter().all(|(key, value)| text(entry, &format!("/labels/{key}")) == *value)
    };
    let list = |key: &str| document.get(key).and_then(Value::as_array).into_iter().flatten();

    // Where the host moved CPUs in mid-run, the rounds of the rarer class stand here.
    if let Some(absent) = list("unavailable").find(is_it) {
        return Err(text(absent, "/detail").to_owned());
    }
    let metric = list("metrics").find(is_it).ok_or_else(|| format!("no {name}"))?;
    let state = text(document, "/status/state");
    if !["complete", "rejected"].contains(&state) {
        return Err(format!("ours {state}"));
    }
    let (got, pages) = (text(metric, "/placement/kind"), text(metric, "/labels/pages"));
    if got != pages {
        return Err(format!("got {got} pages, not {pages}"));
    }
    let value = metric.get("value").and_then(Value::as_f64).filter(|value| value.is_finite() && *value > 0.0);
    Ok(Figure {
        value: value.ok_or("no value")?,
        bytes: text(metric, "/labels/bytes").parse().map_err(|_| "no bytes".to_owned())?,
        placement: placement(text(metric, "/labels/class"), list("notes").filter_map(Value::as_str)),
        rejected: state == "rejected",
    })
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The class's word can't be compared between runs; the note says what it is in ns.
fn placement<'a>(class: &str, mut notes: impl Iterator<Item = &'a str>) -> Placement {
    let before = match class {
        "" => return Placement::Indifferent,
        "one" => "one placement class, ",
        "near" => "class near is ",
        "far" => "class far ",
        _ => return Placement::Unknown,
    };
    let nanoseconds = |note: &str| note.split_once(before)?.1.split_once(" ns")?.0.parse::<f64>().ok();
    notes.find_map(nanoseconds).map_or(Placement::Unknown, Placement::Apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(class: &str) -> Value {
        json!({
            "status": {"state": "complete", "reasons": []},
            "metrics": [
                {"name": "peak_bandwidth", "labels": {"threads": "1", "pages": "base", "bytes": "4096"}, "value": 1e10,
                 "placement": {"kind": "base"}},
                {"name": "peak_bandwidth", "labels": {"threads": "2", "pages": "base", "bytes": "4096", "class": class}, "value": 2e10,
                 "placement": {"kind": "base"}},
            ],
            "unavailable": [],
            "notes": ["x", "CPUs 0 and 1: class near is 41 ns by ping-pong, class far 184 ns"],
        })
    }

    fn read(document: &Value, threads: usize) -> Result<Figure, Void> {
        figure(document, "peak_bandwidth", &[("pages", "base"), ("threads", &threads.to_string())])
    }

    #[test]
    fn a_figure_is_that_of_its_threads_with_its_class_in_nanoseconds() {
        let two = read(&document("far"), 2).expect("is there");
        assert_eq!((two.value, two.bytes, two.placement), (2e10, 4096, Placement::Apart(184.0)));
        let one = read(&document("far"), 1).expect("is there");
        assert_eq!((one.value, one.placement), (1e10, Placement::Indifferent));
        assert_eq!(
            placement("one", ["CPUs 0 and 1: one placement class, 39 ns by ping-pong"].into_iter()),
            Placement::Apart(39.0)
        );
        assert_eq!(placement("near", ["reworded"].into_iter()), Placement::Unknown);
    }

    #[test]
    fn a_run_that_is_no_evidence_says_why() {
        assert!(read(&document("far"), 3).is_err());
        assert!(figure(&document("far"), "peak_bandwidth", &[("pages", "thp")]).is_err());
        let mut lost = document("far");
        lost["metrics"][1]["placement"]["kind"] = json!("mixed");
        assert!(read(&lost, 2).is_err_and(|why| why == "got mixed pages, not base"));

        let mut rejected = document("far");
        rejected["status"]["state"] = json!("rejected");
        assert!(read(&rejected, 2).is_ok_and(|figure| figure.rejected));
        rejected["status"]["state"] = json!("partial");
        assert!(read(&rejected, 2).is_err_and(|why| why == "ours partial"));

        let mut moved = document("far");
        moved["unavailable"] =
            json!([{"name": "peak_bandwidth", "labels": {"threads": "2", "pages": "base"}, "detail": "class changed"}]);
        assert!(read(&moved, 2).is_err_and(|why| why == "class changed"));
        assert!(read(&moved, 1).is_ok());
    }
}
