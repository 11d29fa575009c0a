//! The program by the name of the Memory Latency Checker: what scripts and parsers find.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod back;
mod curve;
mod tutorial;

use assert_cmd::Command;
use std::process::Output;
use std::time::Duration;

fn mlc(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("memgauge").unwrap();
    command.arg("mlc").args(args).env_remove("MEMGAUGE_MLC_VERSION").timeout(Duration::from_secs(120)).output().unwrap()
}

/// stdout of a run on a described machine.
fn simulated(args: &[&str]) -> String {
    let output = mlc(&[args, &["--simulate", "icelake-2s", "--seed", "7", "--quiet"]].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Lines that begin with this, behind which is what readers take.
fn behind<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    text.lines().skip_while(|line| !line.starts_with(start)).skip(1).collect()
}

#[test]
fn the_first_line_is_honest_and_found_and_the_call_is_echoed_without_what_is_ours() {
    let text = simulated(&["-t1", "--idle_latency", "-b64m"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "memgauge, SIMULATED, output format of Intel(R) Memory Latency Checker - v3.11b");
    assert_eq!(lines[1], "Command line parameters: -t1 --idle_latency -b64m ");
    assert_eq!(lines[2..4], ["", "Using buffer size of 64.000MiB"]);
    let last = lines.last().unwrap();
    assert!(last.starts_with("Each iteration took ") && last.contains(" base frequency clocks (\t"), "{text}");
}

#[test]
fn a_loaded_curve_has_a_row_a_delay() {
    let rows = |args: &[&str]| {
        let text = simulated(args);
        let rows = behind(&text, "=====").into_iter().map(str::to_owned).collect::<Vec<_>>();
        assert!(rows.iter().all(|row| row.starts_with(' ') && row.split('\t').count() == 3), "{text}");
        rows
    };
    let all = rows(&["--loaded_latency", "-c0", "-k1-15", "-j0", "-R", "-b100m", "-t1"]);
    assert_eq!((all.len(), &all[0][..6], &all[18][..6]), (19, " 00000", " 20000"));
    assert_eq!(rows(&["--loaded_latency", "-d0", "-t1"]).len(), 1);
}

#[test]
fn matrices_are_split_at_tabs() {
    for mode in ["--latency_matrix", "--bandwidth_matrix"] {
        let text = simulated(&[mode, "-t1"]);
        let table = behind(&text, "\t\tNuma node");
        let cells = |line: &str| line.split('\t').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        assert_eq!(cells(table[0]), ["Numa node", "0", "1", ""]);
        for (at, row) in table[1..3].iter().enumerate() {
            let cells = cells(row);
            assert_eq!((cells.len(), cells[0].clone()), (4, at.to_string()), "{text}");
            assert!(cells[1].parse::<f64>().unwrap() > 0.0 && cells[2].parse::<f64>().unwrap() > 0.0, "{text}");
        }
    }
}

#[test]
fn maxima_end_with_five_rows_and_an_empty_line() {
    let text = simulated(&["--max_bandwidth", "-Z", "-t1"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[lines.len() - 6].starts_with("ALL Reads        :\t") && lines.last() == Some(&""), "{text}");
}

#[test]
fn errors_are_one_line_and_22() {
    let help = mlc(&["--help"]);
    assert_eq!(help.status.code(), Some(22));
    let text = String::from_utf8(help.stdout).unwrap();
    assert!(text.starts_with("Invalid Argument:--help\n") && text.contains("--loaded_latency"), "{text}");
    for (args, line) in [
        (["--idle_latency", "-y"].as_slice(), "Invalid Argument:-y"),
        (&["--loaded_latency", "-R", "-W5"], "-R: "),
        (&["--loaded_latency", "-m3"], "-m 3: "),
        (&["--loaded_latency", "-o/none"], "-o /none: "),
        (&["--idle_latency", "-j9", "--simulate", "icelake-2s"], "-j 9: no such node"),
    ] {
        let output = mlc(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), output.stdout.len(), stderr.matches('\n').count()),
            (Some(22), 0, 1),
            "{args:?}: {stderr}"
        );
        assert!(stderr.starts_with(&format!("memgauge: {line}")), "{args:?}: {stderr}");
    }
}

#[test]
fn the_name_alone_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    for (name, code) in [("mlc", 22), ("mlc310", 22), ("mlc_avx512", 22), ("mlcx", 0)] {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink(assert_cmd::cargo::cargo_bin("memgauge"), &path).unwrap();
        let output = std::process::Command::new(&path).arg("--help").output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_whole_run_has_five_sections_in_order_and_a_document_of_each() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("result.json");
    let text = simulated(&["--json", json.to_str().unwrap()]);
    let headings =
        ["Measuring idle latencies", "Measuring Peak", "Measuring Memory", "Measuring Loaded", "Measuring cache-to-cache"];
    let found: Vec<usize> =
        headings.iter().map(|heading| text.find(heading).unwrap_or_else(|| panic!("{heading}: {text}"))).collect();
    assert!(found.is_sorted() && !text.contains("Command line") && !text.contains("Using buffer"), "{text}");
    // Only the ratios of the peak section begin with a digit.
    let mut rest = text.lines().filter(|line| !line.contains(" Reads-Writes :"));
    assert!(!rest.any(|line| line.starts_with(|c: char| c.is_ascii_digit())), "{text}");
    for section in ["latency_matrix", "peak_injection_bandwidth", "bandwidth_matrix", "loaded_latency", "c2c_latency"] {
        let file = folder.path().join(format!("result.{section}.json"));
        let document: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(document["simulated"], true, "{section}");
    }
}
