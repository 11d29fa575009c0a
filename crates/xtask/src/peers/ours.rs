//! memgauge itself, run as a user would and read from its result document.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::peers::child;
use crate::peers::machine::Machine;
use crate::peers::multichase::Chase;
use crate::peers::rivals::{pinned, weight};
use crate::sh;

/// 6 rounds, the least that make an interval, of about 30 ms each: the precision of one run is not
/// what is asked for here, and a short run meets the same machine as the peer beside it.
pub const SHORT: &[&str] = &["--time", "600ms", "--precision", "50%"];
/// What a user gets who says nothing.
pub const USUAL: &[&str] = &[];
const AS_DOCUMENT: &[&str] = &["--format", "json", "--no-bundle", "--quiet"];

pub struct Ours {
    binary: PathBuf,
}

/// One figure of a run.
#[derive(Debug, Clone)]
pub struct Figure {
    /// ns or B/s, as the document has it.
    pub value: f64,
    /// Stated at 95 %.
    pub interval: Option<(f64, f64)>,
    /// By `memgauge-result/1`, of each stream of each thread; None of a figure that has no buffer.
    pub bytes: Option<u64>,
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
        Ok(Self { binary: binary.map_or_else(sh::release_binary, Ok)? })
    }

    pub fn machine(&self) -> Result<Machine> {
        Machine::of(&self.document(&["topology", "--format", "json"])?)
    }

    /// `memgauge 0.1.0`
    pub fn version(&self) -> Result<String> {
        Ok(child::run(Command::new(&self.binary).arg("--version"))?.trim().to_owned())
    }

    /// Without keep-alive: multichase has none.
    pub fn latency(&self, chase: &Chase, order: &str, effort: &[&str]) -> Result<Result<Figure, Void>> {
        let [cpu, stride, bytes] = [chase.cpu, chase.stride, chase.bytes].map(|number| number.to_string());
        let pages = if chase.huge { "thp" } else { "base" };
        let what = ["idle", "--cpu", &cpu, "--order", order, "--pages", pages, "--stride", &stride, "--buffer", &bytes];
        let document = self.measure(&[&what[..], &["--keepalive", "off"], effort].concat())?;
        Ok(figure(&document, "idle_latency", &[("pages", pages), ("order", order), ("keepalive", "no")]))
    }

    /// By one thread on each of the CPUs. Several mixes are one figure: all their bytes in the sum of their times.
    pub fn peak(&self, mixes: &[&str], cpus: &[u64], pages: &str, bytes: u64) -> Result<Result<Figure, Void>> {
        let (names, list, bytes) = (mixes.join(","), listed(cpus), bytes.to_string());
        let what = ["peak", "--mix", &names, "--load-cpus", &list, "--pages", pages, "--buffer", &bytes];
        let document = self.measure(&[&what[..], SHORT].concat())?;
        let threads = cpus.len().to_string();
        let of = |mix: &&str| figure(&document, "peak_bandwidth", &[("pages", pages), ("threads", &threads), ("mix", mix)]);
        let figures: Result<Vec<Figure>, Void> = mixes.iter().map(of).collect();
        Ok(figures.and_then(|figures| together(mixes, &figures)))
    }

    /// Half a round trip of one line by compare-and-swap. Confined to two CPUs, there is but one pair.
    pub fn compare_and_swap(&self, first: u64, second: u64) -> Result<Result<Figure, Void>> {
        let mut command = pinned(&self.binary, &[first, second]);
        command.args(["c2c", "--method", "pingpong"]).args(SHORT).args(AS_DOCUMENT);
        Ok(figure(&read(&mut command)?, "c2c_latency", &[("kind", "cas"), ("method", "pingpong")]))
    }

    fn measure(&self, what: &[&str]) -> Result<Value> {
        self.document(&[what, AS_DOCUMENT].concat())
    }

    fn document(&self, args: &[&str]) -> Result<Value> {
        read(Command::new(&self.binary).args(args))
    }
}

fn read(command: &mut Command) -> Result<Value> {
    let said = child::run(command)?;
    serde_json::from_str(&said).with_context(|| format!("{command:?}: not JSON"))
}

fn listed(cpus: &[u64]) -> String {
    cpus.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// An interval of a sum would need the windows, so there is none.
fn together(mixes: &[&str], figures: &[Figure]) -> Result<Figure, Void> {
    let first = figures.first().ok_or("no mix")?;
    if figures.len() == 1 {
        return Ok(first.clone());
    }
    let bytes: f64 = mixes.iter().map(|mix| weight(mix)).sum();
    let time: f64 = mixes.iter().zip(figures).map(|(mix, figure)| weight(mix) / figure.value).sum();
    let rejected = figures.iter().any(|figure| figure.rejected);
    Ok(Figure { value: bytes / time, interval: None, rejected, ..first.clone() })
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
    // Lines handed over lie in no buffer whose pages could be asked for.
    if !pages.is_empty() && got != pages {
        return Err(format!("got {got} pages, not {pages}"));
    }
    let value = metric.get("value").and_then(Value::as_f64).filter(|value| value.is_finite() && *value > 0.0);
    Ok(Figure {
        value: value.ok_or("no value")?,
        interval: interval(metric),
        bytes: text(metric, "/labels/bytes").parse().ok(),
        placement: placement(text(metric, "/labels/class"), list("notes").filter_map(Value::as_str)),
        rejected: state == "rejected",
    })
}

fn interval(metric: &Value) -> Option<(f64, f64)> {
    let end = |index: usize| metric.get("ci95")?.get(index)?.as_f64();
    Some((end(0)?, end(1)?))
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
                 "ci95": [0.9e10, 1.1e10],
                 "placement": {"kind": "base"}},
                {"name": "peak_bandwidth", "labels": {"threads": "2", "pages": "base", "bytes": "4096", "class": class}, "value": 2e10,
                 "placement": {"kind": "base"}},
            ],
            "unavailable": [],
            "notes": ["x", "CPUs 0 and 1: class near is 41 ns by ping-pong, class far 184 ns"],
        })
    }

    fn of_threads(document: &Value, threads: usize) -> Result<Figure, Void> {
        figure(document, "peak_bandwidth", &[("pages", "base"), ("threads", &threads.to_string())])
    }

    #[test]
    fn a_figure_is_that_of_its_threads_with_its_class_in_nanoseconds() {
        let two = of_threads(&document("far"), 2).expect("is there");
        assert_eq!((two.value, two.bytes, two.placement), (2e10, Some(4096), Placement::Apart(184.0)));
        let one = of_threads(&document("far"), 1).expect("is there");
        assert_eq!((one.value, one.placement), (1e10, Placement::Indifferent));
        assert_eq!((one.interval, two.interval), (Some((0.9e10, 1.1e10)), None));
        assert_eq!(
            placement("one", ["CPUs 0 and 1: one placement class, 39 ns by ping-pong"].into_iter()),
            Placement::Apart(39.0)
        );
        assert_eq!(placement("near", ["reworded"].into_iter()), Placement::Unknown);
    }

    #[test]
    fn several_mixes_are_all_bytes_in_all_the_time() {
        let one = of_threads(&document("far"), 2).expect("is there");
        let figures = [Figure { value: 10.0, ..one.clone() }, Figure { value: 30.0, ..one }];
        // Two arrays at 10 and three at 30: five in 0.2 + 0.1.
        let both = together(&["copy-nt", "triad-nt"], &figures).expect("two");
        assert!((both.value - 5.0 / 0.3).abs() < 1e-12);
        assert!(together(&[], &[]).is_err());
    }

    #[test]
    fn a_run_that_is_no_evidence_says_why() {
        assert!(of_threads(&document("far"), 3).is_err());
        assert!(figure(&document("far"), "peak_bandwidth", &[("pages", "thp")]).is_err());
        let mut lost = document("far");
        lost["metrics"][1]["placement"]["kind"] = json!("mixed");
        assert!(of_threads(&lost, 2).is_err_and(|why| why == "got mixed pages, not base"));

        let mut rejected = document("far");
        rejected["status"]["state"] = json!("rejected");
        assert!(of_threads(&rejected, 2).is_ok_and(|figure| figure.rejected));
        rejected["status"]["state"] = json!("partial");
        assert!(of_threads(&rejected, 2).is_err_and(|why| why == "ours partial"));

        let mut moved = document("far");
        moved["unavailable"] =
            json!([{"name": "peak_bandwidth", "labels": {"threads": "2", "pages": "base"}, "detail": "class changed"}]);
        assert!(of_threads(&moved, 2).is_err_and(|why| why == "class changed"));
        assert!(of_threads(&moved, 1).is_ok());
    }
}
