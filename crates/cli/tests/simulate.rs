//! `--simulate`: every command answers, and nothing that comes out can be taken for a measurement.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod schema;

use assert_cmd::Command;
use serde_json::Value;
use std::process::Output;
use std::time::Duration;

fn simulate(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("memgauge").unwrap();
    let seed: &[&str] = if args.contains(&"topology") { &[] } else { &["--seed", "7"] };
    command.args(args).args(seed).arg("--quiet").timeout(Duration::from_secs(120)).output().unwrap()
}

fn stdout(args: &[&str]) -> String {
    let output = simulate(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const COMMANDS: [&[&str]; 10] = [
    &[],
    &["idle"],
    &["peak"],
    &["max"],
    &["matrix", "latency"],
    &["matrix", "bandwidth"],
    &["loaded"],
    &["c2c"],
    &["sweep", "--load-cpus", "none", "--pages", "thp"],
    &["scan", "--limit", "4GiB"],
];

#[test]
fn each_command_gives_a_text_of_marked_lines() {
    for command in COMMANDS {
        let text = stdout(&[command, &["--simulate", "cxl-2s"]].concat());
        assert!(text.contains("SIMULATED"), "{command:?}: {text}");
        for line in text.lines().filter(|line| !line.is_empty()) {
            assert!(["SIM ", "~SIM ", "!SIM "].iter().any(|mark| line.starts_with(mark)), "{command:?}: {line}");
        }
    }
}

#[test]
fn documents_tables_machines_and_plans_say_so_too() {
    let document: Value = serde_json::from_str(&stdout(&["idle", "--simulate", "graviton", "--format", "json"])).unwrap();
    assert_eq!(schema::faults(&document), Vec::<String>::new());
    assert_eq!((&document["simulated"], &document["status"]["state"]), (&true.into(), &"complete".into()));
    assert_eq!(document["metrics"][0]["placement"]["verified"], "simulated");
    let table = stdout(&["idle", "--simulate", "graviton", "--format", "csv"]);
    let (names, rows) = table.split_once('\n').unwrap();
    assert!(names.contains(",state,simulated,") && rows.lines().all(|row| row.contains(",complete,yes,")), "{table}");
    for what in [["topology"].as_slice(), &["loaded", "--dry-run"]] {
        let json = stdout(&[what, &["--simulate", "graviton", "--format", "json"]].concat());
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["simulated"], true, "{what:?}");
        assert!(stdout(&[what, &["--simulate", "graviton"]].concat()).lines().next().unwrap().contains("SIMULATED"));
    }
}

#[test]
fn a_file_describes_a_machine_and_what_is_wrong_with_it_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let preset = include_str!("../../engine/src/simulated/presets/graviton.toml");
    let good = write("good.toml", &preset.replace("Arm server, 64 cores", "My machine"));
    assert!(stdout(&["idle", "--simulate", &good]).contains("My machine"));
    let unknown = write("unknown.toml", &format!("colour = \"red\"\n{preset}"));
    let wrong = write("wrong.toml", &preset.replace("ns = 117", "ns = -1"));
    let cases = [
        (
            vec!["--simulate", "pdp-11"],
            "--simulate pdp-11: no preset, and as a file: no such file or directory; use icelake-2s,".to_owned(),
        ),
        (vec!["--simulate", &unknown], format!("--simulate {unknown}: line 1: unknown field `colour`")),
        (vec!["--simulate", &wrong], format!("--simulate {wrong}: nodes.memory.ns: -1 is not at least")),
        (vec!["--simulate", "graviton", "--root", "/"], "--simulate: can't stand beside --root".to_owned()),
        (vec!["--simulate", "graviton", "--cpu", "64"], "--cpu 64: ".to_owned()),
        (vec!["--simulate", "graviton", "--prefetch", "off"], "--prefetch off: ".to_owned()),
    ];
    for (args, line) in cases {
        let output = simulate(&[&["idle"], args.as_slice()].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {stderr}");
        assert!(stderr.starts_with(&format!("memgauge: {line}")) && stderr.matches('\n').count() == 1, "{args:?}: {stderr}");
    }
}
