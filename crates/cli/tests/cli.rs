//! The binary as scripts see it: exit codes, one line of error, nothing on stdout beside a result.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../../sys/tests/common/child.rs"]
mod child;
mod schema;

use assert_cmd::Command;
use assert_cmd::cargo::CommandCargoExt as _;
use std::process::{Command as Process, Output, Stdio};
use std::time::{Duration, Instant};

/// A measurement that is over soon.
const SHORT: [&str; 6] = ["idle", "--buffer", "4MiB", "--time", "60ms", "--quiet"];

fn memgauge(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("memgauge").unwrap();
    command.args(args).env_remove("NO_COLOR").timeout(Duration::from_secs(120));
    command
}

fn run(args: &[&str]) -> Output {
    memgauge(args).output().unwrap()
}

/// A CPU that can be measured on.
fn first_cpu() -> String {
    let machine = serde_json::from_slice::<serde_json::Value>(&run(&["topology", "--format", "json"]).stdout).unwrap();
    assert_eq!(schema::faults_of("Machine", &machine), Vec::<String>::new());
    machine["allowed_cpus"][0].to_string()
}

/// Exit 2, nothing on stdout, one line that begins with `line`.
fn refused(args: &[&str], line: &str) {
    let output = run(args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{args:?} printed a result");
    assert!(stderr.starts_with(&format!("memgauge: {line}")), "{args:?}: {stderr}");
    assert_eq!(stderr.matches('\n').count(), 1, "{args:?}: {stderr}");
    assert!(stderr.contains("; "), "{args:?} names no remedy: {stderr}");
}

#[test]
fn what_this_machine_lacks_is_refused_by_name() {
    refused(&["idle", "--cpu", "999999"], "--cpu 999999: ");
    refused(&["loaded", "--load-cpus", "999999"], "--load-cpus 999999: ");
    refused(&["idle", "--node", "999999"], "--node 999999: ");
    refused(&["idle", "--buffer", "0"], "--buffer 0: ");
    refused(&["idle", "--buffer", "900TiB"], "--buffer 900TiB: ");
    let foreign = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
    refused(&["peak", "--isa", foreign], &format!("--isa {foreign}: "));
}

#[test]
fn values_that_cannot_be_read_are_refused() {
    refused(&["--buffer", "-5"], "--buffer -5: ");
    refused(&["--buffer", "100MB"], "--buffer 100MB: ");
    refused(&["--load-cpus", ""], "--load-cpus: ");
    refused(&["--load-cpus", "0-"], "--load-cpus 0-: ");
    refused(&["--delays", "0,,1"], "--delays 0,,1: ");
    refused(&["--time", "5"], "--time 5: ");
    refused(&["--precision", "0%"], "--precision 0%: ");
    refused(&["--mix", "reads"], "--mix reads: ");
    refused(&["--seed", "\u{1b}[31m\n"], "--seed ?[31m?: ");
    refused(&["c2c", "--full"], "--full: ");
    refused(&["--nonsense"], "--nonsense: ");
    refused(&["nonsense"], "nonsense: ");
}

#[test]
fn the_observer_is_no_load() {
    let cpu = first_cpu();
    refused(&["loaded", "--cpu", &cpu, "--load-cpus", &cpu], &format!("--load-cpus {cpu}: "));
}

/// Rust's start puts /dev/null in its place: without a look before that, all would seem well.
#[test]
fn a_closed_stdout_is_no_place_for_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.json");
    let closed = |args: &str| {
        let call = format!("exec \"$0\" {args} >&-");
        let output = Process::new("sh").args(["-c", &call]).arg(assert_cmd::cargo::cargo_bin("memgauge")).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for args in ["idle", "--dry-run", "topology --json -"] {
        let (code, line) = closed(args);
        assert_eq!((code, line.matches('\n').count()), (Some(2), 1), "{args}: {line}");
        assert!(line.starts_with("memgauge: stdout is closed") && line.contains("; "), "{args}: {line}");
    }
    assert_eq!(closed("--version"), (Some(1), "memgauge: stdout: closed\n".to_owned()));
    assert_eq!(closed(&format!("--dry-run --json {}", file.display())), (Some(0), String::new()));
    assert!(std::fs::metadata(&file).unwrap().len() > 0);
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_measuring() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("file"), "kept").unwrap();
    let begun = Instant::now();
    for (flag, name) in [("--json", "none/a.json"), ("--out", "none/run")] {
        let path = path(name);
        refused(&[flag, &path], &format!("{flag} {path}: the folder that it would stand in is not there"));
    }
    refused(&["--json", folder.path().to_str().unwrap()], "--json ");
    refused(&["--out", folder.path().to_str().unwrap()], "--out ");
    refused(&["--out", &path("file")], "--out ");
    refused(&["--out", "/proc/none"], "--out /proc/none: ");
    assert!(begun.elapsed() < Duration::from_secs(10), "something was measured");
    assert_eq!(std::fs::read_to_string(path("file")).unwrap(), "kept");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn help_and_version_are_results() {
    let version = run(&["--version"]);
    assert_eq!(version.stdout, format!("memgauge {}\n", env!("CARGO_PKG_VERSION")).as_bytes());
    for args in [["--help"].as_slice(), &["-h"], &["loaded", "--help"], &["matrix", "--help"]] {
        let help = run(args);
        assert!(help.status.success() && help.stderr.is_empty() && help.stdout.len() > 500, "{args:?}");
    }
}

#[test]
fn a_captured_machine_is_read_and_can_only_be_planned_for() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().to_str().unwrap();
    refused(&["topology", "--root", path], &format!("--root {path}: "));
    refused(&["idle", "--root", path], &format!("--root {path}: "));
}

#[test]
fn a_dry_run_prints_a_plan_and_measures_nothing() {
    let text = run(&["--dry-run"]);
    assert!(text.status.success(), "{}", String::from_utf8_lossy(&text.stderr));
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(["Roles", "Memory", "Time"].iter().all(|word| text.contains(word)), "{text}");
    let plan = run(&["loaded", "--delay", "100", "--seed", "7", "--dry-run", "--format", "json"]);
    let plan: serde_json::Value = serde_json::from_slice(&plan.stdout).unwrap();
    assert_eq!((&plan["request"]["seed"], &plan["request"]["given"]["--delay"]), (&7.into(), &"100".into()));
    assert!(plan["estimate"]["windows_ns"].as_u64().unwrap() > 0);
    assert_eq!(schema::faults_of("Plan", &plan), Vec::<String>::new());
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let mut child = Process::cargo_bin("memgauge")
        .unwrap()
        .args(["topology", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The reading end closes before the program has anything to say.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}

#[test]
fn a_full_disk_behind_stdout_is_one_line() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Process::cargo_bin("memgauge").unwrap().arg("topology").stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "memgauge: stdout: no space left on device\n");
}

/// Tests that measure. Their names put them into the group that runs alone.
mod real_runs {
    use super::*;
    use serde_json::Value;

    /// The document that a call prints, which the schema allows.
    fn document(args: &[&str]) -> Value {
        let output = run(&[args, &["--format", "json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        valid(&output.stdout)
    }

    fn valid(document: &[u8]) -> Value {
        let document = serde_json::from_slice(document).unwrap();
        assert_eq!(schema::faults(&document), Vec::<String>::new());
        document
    }

    #[test]
    fn real_two_runs_differ_in_their_last_digits() {
        let args = [SHORT.as_slice(), &["--seed", "7"]].concat();
        let [one, two] = [document(&args), document(&args)];
        assert_eq!(one["schema"], "memgauge-result/1");
        assert_eq!(one["command"]["seed"], 7);
        assert_eq!(one["command"]["argv"][0], "idle");
        let values = |document: &Value| {
            let metrics = document["metrics"].as_array().unwrap();
            metrics
                .iter()
                .filter(|metric| metric["unit"] == "ns")
                .map(|metric| metric["value"].as_f64().unwrap())
                .collect::<Vec<_>>()
        };
        assert!(!values(&one).is_empty());
        assert_ne!(values(&one), values(&two), "{} {}", one["status"], one["unavailable"]);
    }

    #[test]
    fn real_outputs_agree() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let read = |name: &str| serde_json::from_slice::<Value>(&std::fs::read(path(name)).unwrap()).unwrap();
        let outputs = ["--json", &path("a.json"), "--out", &path("out"), "--raw", "--no-bundle"];
        let text = run(&[SHORT.as_slice(), &outputs].concat());
        assert!(String::from_utf8(text.stdout).unwrap().contains("Verdict"));
        assert_eq!(read("a.json"), read("out/report.json"));
        assert_eq!(schema::faults(&read("a.json")), Vec::<String>::new());
        assert_eq!(read("a.json")["raw"], read("out/record.json")["run"]["points"]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn real_each_kind_of_figure_is_what_the_schema_allows() {
        let cpu = &first_cpu();
        let loaded = ["loaded", "--delay", "100", "--cpu", cpu, "--load-cpus", cpu, "--share-core"];
        for call in [["peak"].as_slice(), &["matrix", "latency"], &["matrix", "bandwidth"], &loaded] {
            let report = document(&[call, &["--buffer", "1MiB", "--time", "20ms", "--quiet", "--raw"]].concat());
            assert!(report["raw"].is_array(), "{call:?}");
        }
    }

    #[test]
    fn real_a_sweep_rises_where_the_first_cache_ends() {
        let alone = ["sweep", "--load-cpus", "none", "--time", "20ms", "--quiet"];
        let report = document(&[alone.as_slice(), &["--buffer", "512KiB", "--pages", "base"]].concat());
        let metrics = report["metrics"].as_array().unwrap();
        let view = &report["sweeps"][0];
        assert_eq!((&view["name"], &view["over"]), (&"sweep_latency".into(), &"bytes".into()));
        let value = |point: &Value| {
            let metric = usize::try_from(point["metric"].as_u64().unwrap()).unwrap();
            (point["at"].as_u64().unwrap(), metrics[metric]["value"].as_f64().unwrap())
        };
        // On a busy machine a size may have no value: those that are there are of the grid, in its order.
        let points: Vec<(u64, f64)> = view["points"].as_array().unwrap().iter().map(value).collect();
        let sizes: Vec<u64> = (12..=19_u64).flat_map(|octave| (4..8).map(move |quarter| quarter << (octave - 2))).collect();
        assert!(points.len() > 14 && points.is_sorted_by(|a, b| a.0 < b.0), "{points:?}");
        assert!(points.iter().all(|point| sizes.contains(&point.0)), "{points:?}");
        let fastest = points.iter().filter(|point| point.0 <= 16 << 10).map(|point| point.1).fold(f64::INFINITY, f64::min);
        let slowest = points.iter().filter(|point| point.0 >= 256 << 10).map(|point| point.1).fold(0.0, f64::max);
        assert!(slowest > 1.5 * fastest, "{points:?}");
        let text = String::from_utf8(run(&[alone.as_slice(), &["--buffer", "8KiB"]].concat()).stdout).unwrap();
        assert!(text.contains("Caches found") && text.contains("sizes in all"), "{text}");
    }

    #[test]
    fn real_a_scan_shows_every_region_and_says_when_caches_hold_them() {
        let scan = ["scan", "--buffer", "4MiB", "--limit", "64MiB", "--time", "40ms", "--quiet", "--raw"];
        let report = document(&scan);
        let plan = &report["plan"];
        let regions: usize = plan["scans"].as_array().unwrap().iter().map(|scan| scan["arenas"].as_array().unwrap().len()).sum();
        assert!((5..=16).contains(&regions), "{}", plan["scans"]);
        let metrics = report["metrics"].as_array().unwrap().iter().filter(|metric| metric["name"] == "scan_bandwidth");
        let metrics: Vec<&Value> = metrics.collect();
        // On a busy machine one or the other may have no value.
        assert!(metrics.len() * 2 > regions && metrics.iter().all(|metric| metric["placement"]["pages"].as_u64().unwrap() > 0));
        assert!(plan["phases"].as_array().unwrap().iter().all(|phase| phase["held"].is_object()));
    }

    #[test]
    fn real_a_full_disk_is_one_line_and_the_text_stands() {
        let output = run(&[SHORT.as_slice(), &["--json", "/dev/full"]].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(!output.stdout.is_empty());
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "memgauge: --json /dev/full: no space left on device\n");
    }

    #[test]
    fn real_the_first_signal_ends_it_soon_with_what_there_is() {
        for (signal, number) in [(libc::SIGINT, 130), (libc::SIGTERM, 143)] {
            let mut command = Process::cargo_bin("memgauge").unwrap();
            command.args(["idle", "--buffer", "4MiB", "--time", "60s", "--format", "json"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = child::with_default_signals(&mut command).spawn().unwrap();
            // Long enough to be measuring, whatever the machine.
            std::thread::sleep(Duration::from_millis(1500));
            child::send(&child, signal);
            let sent = Instant::now();
            let output = child.wait_with_output().unwrap();
            // The promise is one second; a test machine may be busy.
            assert!(sent.elapsed() < Duration::from_secs(5), "took {:?}", sent.elapsed());
            assert_eq!(output.status.code(), Some(number), "{}", String::from_utf8_lossy(&output.stderr));
            let document = valid(&output.stdout);
            assert_ne!(document["status"]["state"], "complete");
        }
    }

    #[test]
    fn real_strict_fails_on_a_rejected_result_only() {
        let cpu = first_cpu();
        // A load on the observer's own core is rejected whatever comes out.
        let load =
            ["loaded", "--cpu", &cpu, "--load-cpus", &cpu, "--share-core", "--buffer", "1MiB", "--time", "60ms", "--delay", "0"];
        let text = run(&load);
        assert_eq!(text.status.code(), Some(0), "{}", String::from_utf8_lossy(&text.stderr));
        assert!(text.stdout.starts_with(b"! REJECTED"), "{}", String::from_utf8_lossy(&text.stdout));
        assert_eq!(run(&[load.as_slice(), &["--strict"]].concat()).status.code(), Some(3));
    }
}
