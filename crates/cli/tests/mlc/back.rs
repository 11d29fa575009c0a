//! There and back: what is printed, read again, is what the document has, to the printed decimals.

use super::mlc;
use assert_cmd::Command;
use serde_json::Value;

/// Labels that the text tells otherwise than the document: pages of a scan are called 4 KB there, regions have no number.
const OTHERWISE: [&str; 3] = ["pages", "region", "threads"];

struct There {
    document: Value,
    imported: Value,
}

/// Runs it on a described machine; its document, and what was made of its text.
fn there(args: &[&str]) -> There {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (json, text) = (path("document.json"), path("text"));
    let ours = ["--simulate", "icelake-2s", "--seed", "7", "--quiet", "--json", &json];
    let output = mlc(&[args, &ours].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::write(&text, &output.stdout).unwrap();
    let mut import = Command::cargo_bin("memgauge").unwrap();
    let imported = import.args(["import", "mlc", &text, "--format", "json", "--no-bundle"]).output().unwrap();
    assert!(imported.status.success(), "{args:?}: {}", String::from_utf8_lossy(&imported.stderr));
    // A run without a mode has a document a section.
    let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let documents = files.filter(|file| file.extension().is_some_and(|extension| extension == "json"));
    let metrics = documents.flat_map(|file| {
        let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        document["metrics"].as_array().unwrap().clone()
    });
    let document = serde_json::json!({ "metrics": metrics.collect::<Vec<_>>() });
    There { document, imported: serde_json::from_slice(&imported.stdout).unwrap() }
}

fn figures<'a>(document: &'a Value, name: &str) -> Vec<&'a Value> {
    document["metrics"].as_array().unwrap().iter().filter(|metric| metric["name"] == name).collect()
}

/// The document's figure that the imported one is of: the same labels, as far as both have them; of several thread counts the highest,
/// and of several figures the first.
fn original<'a>(document: &'a Value, imported: &Value) -> &'a Value {
    let labels = imported["labels"].as_object().unwrap();
    let alike = |metric: &&&Value| {
        let told = |(label, value): (&String, &Value)| {
            OTHERWISE.contains(&label.as_str()) || metric["labels"].get(label).is_none_or(|own| own == value)
        };
        labels.iter().all(told)
    };
    let found = figures(document, imported["name"].as_str().unwrap());
    let threads = |metric: &Value| metric["labels"]["threads"].as_str().map_or(0, |count| count.parse::<u32>().unwrap());
    let found = found.iter().filter(alike).copied();
    found.rev().max_by_key(|metric| threads(metric)).unwrap_or_else(|| panic!("nothing like {imported}"))
}

/// So many figures of this name, each with so many decimals of 1/`unit`.
fn hold(args: &[&str], all: &[(&str, usize, usize, f64)]) {
    let There { document, imported } = there(args);
    for &(name, count, decimals, unit) in all {
        let back = figures(&imported, name);
        assert_eq!(back.len(), count, "{args:?}: {name}");
        for metric in back {
            let value = original(&document, metric)["value"].as_f64().unwrap();
            let printed = format!("{:.decimals$}", value / unit).parse::<f64>().unwrap() * unit;
            assert_eq!(metric["value"].as_f64(), Some(printed), "{args:?}: {metric}");
        }
    }
}

#[test]
fn matrices_come_back() {
    hold(&["--latency_matrix", "-t1"], &[("matrix_latency", 4, 1, 1.0)]);
    hold(&["--latency_matrix", "-a", "-X", "-t1"], &[("matrix_latency", 160, 1, 1.0)]);
    let rates = |args: &[&str]| hold(args, &[("matrix_bandwidth_dram", 4, 1, 1e6)]);
    rates(&["--bandwidth_matrix", "-t1"]);
    rates(&["--bandwidth_matrix", "-W5", "-t1"]);
}

#[test]
fn maxima_come_back() {
    hold(&["--peak_injection_bandwidth", "-t1"], &[("peak_bandwidth_dram", 5, 1, 1e6)]);
    hold(&["--max_bandwidth", "-t1"], &[("max_bandwidth_dram", 5, 2, 1e6)]);
}

#[test]
fn chases_and_transfers_come_back() {
    hold(&["--idle_latency", "-c3", "-j1", "-t1"], &[("idle_latency", 1, 1, 1.0)]);
    hold(&["--idle_latency", "-f4", "-t1"], &[("idle_latency", 1, 1, 1.0)]);
    hold(&["--c2c_latency"], &[("c2c_latency", 6, 1, 1.0)]);
    hold(&["--c2c_latency", "-w4", "-c2"], &[("c2c_latency", 1, 1, 1.0)]);
}

#[test]
fn a_curve_comes_back() {
    for (loads, watched) in [(["-k1-15", "-j0"].as_slice(), 19), (&["-W5"], 19), (&["-T"], 0)] {
        let args = [&["--loaded_latency", "-t1"], loads].concat();
        hold(&args, &[("loaded_latency", watched, 2, 1.0), ("loaded_bandwidth_dram", 19, 1, 1e6)]);
    }
}

#[test]
fn a_whole_run_comes_back() {
    let all = [
        ("matrix_latency", 4, 1, 1.0),
        ("peak_bandwidth_dram", 5, 1, 1e6),
        ("matrix_bandwidth_dram", 4, 1, 1e6),
        ("loaded_latency", 19, 2, 1.0),
        ("loaded_bandwidth_dram", 19, 1, 1e6),
        ("c2c_latency", 6, 1, 1.0),
    ];
    hold(&[], &all);
}

/// Region by region, in the order in which they stand; whole 10^6 B/s are printed, without the rest.
#[test]
fn a_scan_comes_back() {
    let There { document, imported } = there(&["--memory_bandwidth_scan", "-j1", "-q1"]);
    let rates = |document: &Value| {
        let all = figures(document, "scan_bandwidth");
        let mut all: Vec<_> = all.iter().map(|metric| (metric["value"].as_f64().unwrap() / 1e6).floor() * 1e6).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    assert!(rates(&document).len() > 100);
    assert_eq!(rates(&imported), rates(&document));
}

#[test]
fn a_histogram_is_the_documents() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("document.json");
    let args = ["--idle_latency", "-f3", "-t1", "--simulate", "icelake-2s", "--quiet", "--json", json.to_str().unwrap()];
    let output = mlc(&args);
    let text = String::from_utf8(output.stdout).unwrap();
    let document: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let histogram = &document["histograms"][0];
    let bins = histogram["bins"].as_array().unwrap();
    let rows = super::behind(&text, "base_freq_range Occurrence_count");
    assert!(bins.len() > 3 && rows.len() == bins.len() + 1, "{text}");
    for (row, bin) in rows.iter().zip(bins) {
        let [from, to] = ["from", "to"].map(|end| bin[end].as_u64().unwrap());
        assert_eq!((to - from, from % 8), (8, 0));
        assert_eq!(*row, format!("[{from:03}-{:03}]\t{}", to - 1, bin["count"]));
    }
    assert_eq!(*rows.last().unwrap(), format!("[>4096]\t{}", histogram["beyond"]));
}

#[test]
fn real_memory_of_files_is_told_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (memory, json) = (folder.path().join("memory"), folder.path().join("document.json"));
    std::fs::create_dir(&memory).unwrap();
    let place = format!("-J{}", memory.display());
    let args = ["--idle_latency", &place, "-r", "-b32m", "-x1", "--quiet", "--json", json.to_str().unwrap()];
    let output = mlc(&args);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap().contains("Each iteration took "));
    let document: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let notes = document["notes"].as_array().unwrap().iter().filter_map(Value::as_str);
    let told = notes.filter(|note| note.starts_with(&format!("memory is of files in {} (", memory.display()))).count();
    assert_eq!(told, 1);
    let idle = figures(&document, "idle_latency");
    assert!(!idle.is_empty() && idle.iter().all(|figure| figure["labels"]["memory"] == "file"));
    assert_eq!(std::fs::read_dir(&memory).unwrap().count(), 0);
}

#[test]
fn a_folder_that_can_hold_no_memory_is_refused_in_a_line() {
    let said = |args: &[&str]| {
        let output = mlc(args);
        assert_eq!(output.status.code(), Some(22));
        String::from_utf8(output.stderr).unwrap()
    };
    let absent = said(&["--idle_latency", "-J/nowhere/at/all", "-b32m"]);
    assert!(absent.contains("-J /nowhere/at/all: no file can be made and mapped there: No such file or directory"), "{absent}");
    let described = said(&["--idle_latency", "-J/tmp", "-b32m", "--simulate", "icelake-2s"]);
    assert!(described.contains("-J /tmp: a machine that is only described has no files; leave it out"), "{described}");
}
