//! Signals at every stage of a run. Whatever comes when: it ends soon, what was measured stands and says so, nothing is left
//! behind, and after a SIGKILL the next run goes as if nothing had been.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../../sys/tests/common/child.rs"]
mod child;
mod schema;
#[path = "../../sys/tests/common/terminal.rs"]
mod terminal;

use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// No stage takes longer to come, nor an end to come after a signal, however busy the machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A run with a terminal for its progress line, and a folder for its documents.
struct Run {
    child: Child,
    /// What its terminal shows, piece by piece.
    screen: Receiver<String>,
    shown: String,
}

impl Run {
    fn start(args: &str, out: &Path) -> Self {
        let (mut screen, line) = terminal::open();
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("memgauge"));
        command.args(args.split(' ')).args(["--format", "json", "--out"]).arg(out);
        command.env("TERM", "xterm").stdin(Stdio::null()).stdout(File::create(stdout(out)).unwrap()).stderr(line);
        let child = child::with_default_signals(&mut command).spawn().unwrap();
        // The command holds the terminal's other end, too: only without it the screen ends with the child.
        drop(command);
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = screen.read(&mut bytes) {
                if tell.send(String::from_utf8_lossy(&bytes[..length]).into_owned()).is_err() {
                    break;
                }
            }
        });
        Self { child, screen: told, shown: String::new() }
    }

    /// Waits until the progress line has said this so many times.
    fn reach(&mut self, words: &str, times: usize) {
        while self.shown.matches(words).count() < times {
            match self.screen.recv_timeout(PATIENCE) {
                Ok(piece) => self.shown.push_str(&piece),
                Err(_) => panic!("`{words}` never came: {}", self.shown),
            }
        }
    }

    /// Waits until it has so much memory, KiB.
    fn fill(&self, kib: u64) {
        let begun = Instant::now();
        let resident = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
            line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0_u64)
        };
        while resident() < kib {
            assert!(begun.elapsed() < PATIENCE, "never had so much memory: {} KiB", resident());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Sends a signal and waits for the end: exit code, or the signal that ended it.
    fn end(mut self, signal: i32) -> (Option<i32>, Option<i32>) {
        child::send(&self.child, signal);
        let sent = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if sent.elapsed() > PATIENCE {
                self.child.kill().unwrap();
                panic!("hangs after signal {signal}: {}", self.shown);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        (status.code(), status.signal())
    }
}

/// Where a run's stdout goes: beside its folder.
fn stdout(out: &Path) -> std::path::PathBuf {
    out.with_extension("json")
}

/// The document of a run that was stopped.
fn document(out: &Path) -> Value {
    let document = serde_json::from_slice(&std::fs::read(stdout(out)).unwrap()).unwrap();
    assert_eq!(schema::faults(&document), Vec::<String>::new());
    document
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Pools of huge pages, and journals of what was changed.
fn machine() -> Vec<String> {
    let pools = std::fs::read_to_string("/proc/meminfo").unwrap();
    let mut state: Vec<String> = pools.lines().filter(|line| line.starts_with("HugePages_")).map(str::to_owned).collect();
    let journals = Path::new("/run/memgauge");
    state.extend(if journals.is_dir() { names(journals) } else { Vec::new() });
    state
}

/// A stage: how a run comes to it.
struct Stage {
    name: &'static str,
    args: &'static str,
    come: fn(&mut Run),
}

/// Large enough to be met while it is filled.
const LARGE: &str = "idle --buffer 768MiB --pages base --time 5s";
const LOADED: &str = "loaded --buffer 4MiB --time 5s";

const STAGES: [Stage; 10] = [
    Stage { name: "mapping", args: LARGE, come: |run| run.reach("preparing memory", 1) },
    Stage { name: "filling", args: LARGE, come: |run| run.fill(200 << 10) },
    Stage { name: "linking", args: LARGE, come: |run| run.fill(760 << 10) },
    Stage { name: "warm-up", args: "idle --buffer 4MiB --time 5s", come: |run| run.reach("idle latency", 1) },
    Stage {
        name: "windows",
        args: "idle --buffer 4MiB --time 5s",
        come: |run| {
            run.reach("idle latency", 1);
            std::thread::sleep(Duration::from_millis(150));
        },
    },
    Stage { name: "between rounds", args: "idle --buffer 4MiB --time 3s", come: |run| run.reach("preparing memory", 2) },
    Stage { name: "single accesses", args: "idle --buffer 4MiB --time 3s", come: |run| run.reach("single accesses", 1) },
    Stage { name: "pilot", args: LOADED, come: |run| run.reach("finding delays", 1) },
    Stage { name: "a load", args: LOADED, come: |run| run.reach("latency under load", 1) },
    Stage { name: "transfers", args: "c2c --time 5s", come: |run| run.reach("core to core", 2) },
];

/// Stages with several threads need CPUs of several cores.
fn here(stage: &Stage) -> bool {
    let cpus = memgauge_sys::cpu::affinity().unwrap().len();
    cpus > 1 || !["pilot", "a load", "transfers"].contains(&stage.name)
}

#[test]
fn real_a_first_signal_at_any_stage_ends_it_with_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let before = machine();
    let signals = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].into_iter().cycle();
    for (stage, signal) in STAGES.iter().zip(signals).filter(|(stage, _)| here(stage)) {
        let out = folder.path().join(stage.name);
        let mut run = Run::start(stage.args, &out);
        (stage.come)(&mut run);
        assert_eq!(run.end(signal), (Some(128 + signal), None), "{}", stage.name);
        let document = document(&out);
        assert_ne!(document["status"]["state"], "complete", "{}", stage.name);
        let reasons = document["status"]["reasons"].to_string();
        assert!(reasons.contains("interrupted by SIG"), "{}: {reasons}", stage.name);
        assert_eq!(names(&out), ["record.json", "report.json"], "{}", stage.name);
    }
    assert_eq!(machine(), before);
}

#[test]
fn real_after_a_sigkill_at_any_stage_the_next_run_goes_as_if_nothing_had_been() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let before = machine();
    for stage in STAGES.iter().step_by(2).filter(|stage| here(stage)) {
        let mut run = Run::start(stage.args, &out);
        (stage.come)(&mut run);
        assert_eq!(run.end(libc::SIGKILL), (None, Some(libc::SIGKILL)), "{}", stage.name);
        assert_eq!(names(&out), Vec::<String>::new(), "{}", stage.name);
    }
    let short = "idle --buffer 4MiB --time 60ms --quiet --format json --out";
    let next = Command::new(assert_cmd::cargo::cargo_bin("memgauge")).args(short.split(' ')).arg(&out).output().unwrap();
    assert_eq!(next.status.code(), Some(0), "{}", String::from_utf8_lossy(&next.stderr));
    assert_eq!(names(&out), ["record.json", "report.json"]);
    assert_eq!(machine(), before);
}

/// Before anything was begun there is nothing to keep: the signal may have its own way.
#[test]
fn real_a_signal_at_any_moment_of_the_start_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (turn, signal) in (0..12).zip([libc::SIGINT, libc::SIGTERM, libc::SIGKILL].into_iter().cycle()) {
        let out = folder.path().join(turn.to_string());
        let run = Run::start("idle --buffer 4MiB --time 5s", &out);
        std::thread::sleep(Duration::from_millis(turn * 4));
        match run.end(signal) {
            (Some(code), None) => {
                assert_eq!(code, 128 + signal);
                // Before its turn had come there is no document.
                if std::fs::metadata(stdout(&out)).unwrap().len() > 0 {
                    assert_ne!(document(&out)["status"]["state"], "complete");
                }
            }
            (None, Some(killer)) => {
                assert_eq!(killer, signal);
                assert!(!out.exists() || names(&out).is_empty());
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A run that waits for another one's end.
#[test]
fn real_a_signal_ends_a_run_that_waits_for_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Run::start("idle --buffer 4MiB --time 60s", &folder.path().join("first"));
    first.reach("idle latency", 1);
    let out = folder.path().join("second");
    let mut second = Run::start("idle --buffer 4MiB --time 60s", &out);
    second.reach("another run", 1);
    assert_eq!(second.end(libc::SIGINT), (Some(130), None));
    assert!(!out.exists(), "nothing was measured");
    assert_eq!(first.end(libc::SIGTERM), (Some(143), None));
}

/// Who reads the result is slow: a signal while it is written takes nothing from it.
#[test]
fn real_a_signal_while_it_writes_leaves_the_result_whole() {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("memgauge"));
    // More than a pipe holds.
    command.args("idle --buffer 1MiB --time 1s --raw --quiet --format json".split(' ')).stdout(Stdio::piped());
    let mut child = child::with_default_signals(&mut command).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut document = vec![0];
    // The first byte comes when everything is measured.
    stdout.read_exact(&mut document).unwrap();
    child::send(&child, libc::SIGTERM);
    std::thread::sleep(Duration::from_millis(200));
    stdout.read_to_end(&mut document).unwrap();
    assert!(document.len() > 100_000, "{} bytes: it fits into the pipe", document.len());
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(schema::faults(&document), Vec::<String>::new());
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", document["status"]);
}
