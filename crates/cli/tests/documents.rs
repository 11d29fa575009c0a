//! Results from elsewhere: what another program printed, and commands that are repeated.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod schema;

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

const IDLE: &str = "Intel(R) Memory Latency Checker - v3.11b\nCommand line parameters: --latency_matrix \n\n\
                    Measuring idle latencies for random access (in ns)...\n\t\tNuma node\nNuma node\t     0\t\n       0\t  88.9\t\n";

fn run(folder: &Path, args: &[&str]) -> Output {
    Command::cargo_bin("memgauge").unwrap().current_dir(folder).args(args).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn an_output_becomes_a_document_as_the_schema_says() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("old.txt"), IDLE).unwrap();
    let document: Value =
        serde_json::from_str(stdout(&run(folder.path(), &["import", "mlc", "old.txt", "--format", "json"]))).unwrap();
    assert_eq!(schema::faults(&document), Vec::<String>::new());
    assert_eq!(document["metrics"][0]["value"], 88.9);
    let text = run(folder.path(), &["import", "mlc", "old.txt"]);
    assert!(stdout(&text).contains("imported: ") && stdout(&text).contains("88.9"), "{}", stdout(&text));
}

#[test]
fn several_outputs_are_several_documents_and_one_table() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("b")).unwrap();
    std::fs::write(folder.path().join("old.txt"), IDLE).unwrap();
    std::fs::write(folder.path().join("b/old.txt"), IDLE.replace("88.9", "90.9")).unwrap();
    let words = ["import", "mlc", "old.txt", "b/old.txt", "--format", "vc-csv", "--out", "documents"];
    let output = run(folder.path(), &words);
    assert_eq!(stdout(&output), "metric,min,max,avg,unit\nidle-latency_nodes_0_0,88.9,90.9,89.9,nanoseconds\n");
    for (name, value) in [("old.json", 88.9), ("old-2.json", 90.9)] {
        let bytes = std::fs::read(folder.path().join("documents").join(name)).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap()["metrics"][0]["value"], value);
    }
}

#[test]
fn what_is_no_output_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("none.txt"), "nothing\n").unwrap();
    let cases = [
        (&["import", "mlc"][..], "import mlc: which file?"),
        (&["import", "mlc", "gone.txt"], "import mlc gone.txt: no such file"),
        (&["import", "mlc", "none.txt"], "import mlc none.txt: no figure of the Memory Latency Checker is in it"),
        (&["import", "mlc", "."], "import mlc .: is a directory"),
        (&["import", "mlc", "a", "b", "--json", "c"], "--json c: takes one document, and there are several"),
        (&["repeat", "-n", "2"], "repeat: which command?"),
        (&["repeat", "--", "idle"], "--runs: how often?"),
        (&["repeat", "-n", "0", "--", "idle"], "--runs 0: how often?"),
        (&["repeat", "-n", "2", "--", "idel"], "idel: no such command"),
        (&["repeat", "-n", "2", "--", "topology"], "repeat topology: measures nothing"),
        (&["repeat", "-n", "2", "--", "idle", "--json=x"], "--json: has no meaning for a command that is repeated"),
        (&["repeat", "-n", "2", "--", "repeat", "-n", "2", "--", "idle"], "repeat repeat -n 2 -- idle: measures nothing"),
        (&["idle", "--runs", "2"], "--runs: has no meaning for idle"),
    ];
    for (words, line) in cases {
        let output = run(folder.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).starts_with(&format!("memgauge: {line}")), "{words:?}: {}", stderr(&output));
        assert_eq!((stderr(&output).matches('\n').count(), output.stdout.len()), (1, 0), "{words:?}");
    }
}

#[test]
fn repeated_runs_are_told_by_least_most_and_average() {
    let folder = tempfile::tempdir().unwrap();
    let words = "repeat -n 3 --quiet --out runs -- matrix latency --simulate icelake-2s".split(' ').collect::<Vec<_>>();
    let output = run(folder.path(), &words);
    let of = |name: &str| {
        let bytes = std::fs::read(folder.path().join("runs").join(name)).unwrap();
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let metrics = document["metrics"].as_array().unwrap().clone();
        let cell = |metric: &&Value| {
            metric["name"] == "matrix_latency" && metric["labels"]["from"] == "0" && metric["labels"]["to"] == "1"
        };
        (metrics.iter().find(cell).unwrap()["value"].as_f64().unwrap() * 10.0).round() / 10.0
    };
    let values = ["run-1.json", "run-2.json", "run-3.json"].map(of);
    let row = stdout(&output).lines().find(|line| line.starts_with("SIMULATED idle-latency_nodes_0_1,")).unwrap();
    let numbers: Vec<f64> = row.split(',').filter_map(|cell| cell.parse().ok()).collect();
    assert_eq!(numbers[0], values.iter().copied().fold(f64::INFINITY, f64::min));
    assert_eq!(numbers[1], values.iter().copied().fold(0.0, f64::max));
    assert!((numbers[2] - values.iter().sum::<f64>() / 3.0).abs() < 1e-9, "{row} {values:?}");
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_run_that_fails_ends_the_repetition_with_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["repeat", "-n", "3", "--", "idle", "--simulate", "icelake-2s", "--cpu", "999999"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("memgauge: run 1 of 3 ended with exit code 2; 0 before it are complete\n"), "{said}");
    assert!(said.contains("--cpu 999999") && !said.contains("run 2 of 3"), "{said}");
}

fn send(child: &Child, signal: &str) {
    let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_signal_reaches_a_real_run_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("memgauge"));
    command.args("repeat -n 9 -- idle --time 60s --buffer 4MiB".split(' ')).env("TMPDIR", folder.path());
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    // The first run's folder is made before it starts.
    while std::fs::read_dir(folder.path()).unwrap().next().is_none() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    send(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{}", stderr(&output));
    assert!(began.elapsed() < Duration::from_secs(60), "it waited for the run");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the temporary folder is gone");
}
