//! Captured machines: what is read must be what `lstopo` read from the same tree (`*.expected.json`), but for the differences
//! that `topology/differences.toml` gives reasons for.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use memgauge_machine::{Root, read};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// More trees than this in the list of differences, and the reader is wrong rather than the trees.
const MOST_TREES_APART: usize = 3;

const KEYS: [&str; 6] = ["online_cpus", "allowed_cpus", "cores", "packages", "nodes", "caches"];

#[derive(serde::Deserialize)]
struct Differences {
    #[serde(default)]
    difference: Vec<Difference>,
}

#[derive(serde::Deserialize)]
struct Difference {
    tree: String,
    key: String,
    why: String,
}

#[test]
fn captured_trees_match_lstopo() {
    let Some(folder) = trees() else { return };
    let known = differences();
    let archives = archives(&folder);
    assert!(archives.len() >= 20, "only {} archives in {}", archives.len(), folder.display());
    let next = AtomicUsize::new(0);
    let work = || {
        let claim = || archives.get(next.fetch_add(1, Ordering::Relaxed));
        std::iter::from_fn(claim).flat_map(|archive| unlike(&folder, archive)).collect::<Vec<_>>()
    };
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    let found: Vec<Unlike> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let is = |d: &Difference, found: &Unlike| d.tree == found.tree && d.key == found.key;
    let faults: Vec<String> = found.iter().filter(|found| !known.iter().any(|d| is(d, found))).map(ToString::to_string).collect();
    for d in &known {
        assert!(found.iter().any(|found| is(d, found)), "{}: {} no longer differs: strike the line", d.tree, d.key);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn differences_are_few_and_have_reasons() {
    let known = differences();
    let trees: BTreeSet<&str> = known.iter().map(|d| d.tree.as_str()).collect();
    assert!(trees.len() <= MOST_TREES_APART, "{trees:?}");
    for d in &known {
        assert!(KEYS.contains(&d.key.as_str()), "{}: no such key as {}", d.tree, d.key);
        assert!(d.why.len() > 40, "{}: {} lacks a reason", d.tree, d.key);
    }
}

/// A key whose value is not lstopo's.
struct Unlike {
    tree: String,
    key: &'static str,
    expected: Value,
    read: Value,
}

impl std::fmt::Display for Unlike {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}\n  expected {}\n  read     {}", self.tree, self.key, self.expected, self.read)
    }
}

fn unlike(folder: &Path, archive: &Path) -> Vec<Unlike> {
    let tree = archive.file_name().unwrap().to_string_lossy().replace(".tar.bz2", "");
    let expected: Value = serde_json::from_reader(File::open(folder.join(format!("{tree}.expected.json"))).unwrap()).unwrap();
    let unpacked = scratch();
    tar::Archive::new(bzip2::read::BzDecoder::new(File::open(archive).unwrap())).unpack(unpacked.path()).unwrap();
    let root = fs::read_dir(unpacked.path()).unwrap().next().unwrap().unwrap().path();
    let machine = read(&Root::tree(root)).unwrap_or_else(|error| panic!("{tree}: {error}"));
    let got = serde_json::to_value(&machine).unwrap();
    assert_eq!(serde_json::from_value::<memgauge_model::Machine>(got.clone()).unwrap(), machine, "{tree}: JSON there and back");
    let pairs = KEYS.into_iter().map(|key| (key, part(&expected, key), part(&got, key)));
    let unlike = pairs.filter(|(_, expected, read)| expected != read);
    unlike.map(|(key, expected, read)| Unlike { tree: tree.clone(), key, expected, read }).collect()
}

/// A folder in memory where there is one: 60,000 small files are slow on a disk.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A key's value in the form that both documents share; sets of CPUs in the order of their members.
fn part(document: &Value, key: &str) -> Value {
    let node =
        |node: &Value| -> Value { ["node", "local_cpus", "memory_bytes", "subtype"].map(|field| node[field].clone()).into() };
    match key {
        "nodes" => document[key].as_array().unwrap().iter().map(node).collect(),
        "caches" => ["L1", "L2", "L3"].iter().map(|level| in_order(&document[key][level])).collect(),
        "cores" | "packages" => in_order(&document[key]),
        _ => document[key].clone(),
    }
}

fn in_order(sets: &Value) -> Value {
    let mut sets = sets.as_array().unwrap().clone();
    sets.sort_by_key(|entry| {
        let cpus = entry.get("cpus").unwrap_or(entry);
        cpus.as_array().and_then(|cpus| cpus.first()?.as_u64())
    });
    sets.into()
}

fn differences() -> Vec<Difference> {
    toml::from_str::<Differences>(include_str!("topology/differences.toml")).unwrap().difference
}

fn archives(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.to_string_lossy().ends_with(".tar.bz2"));
    all.sort();
    all
}

/// The archives are not in the repository: they lie beside it, or where MEMGAUGE_TREES says.
fn trees() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/topologies");
    let folder = std::env::var_os("MEMGAUGE_TREES").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{}: no captured trees; set MEMGAUGE_TREES", folder.display());
    note(&format!("skipped: no captured trees in {}; set MEMGAUGE_TREES", folder.display()));
    None
}

#[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
fn note(text: &str) {
    eprintln!("{text}");
}
