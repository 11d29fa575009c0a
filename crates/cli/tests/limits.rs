//! The binary where it may not do what it likes: sandboxes, other users, few CPUs, little memory, half a file system. Each gives a
//! right result that names what was missing, or one clear line.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../../sys/tests/common/sandbox.rs"]
mod sandbox;
mod schema;

use serde_json::Value;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

/// A measurement that is over soon.
const SHORT: &str = "idle --buffer 4MiB --time 60ms --quiet --format json";

fn memgauge(args: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("memgauge"));
    command.args(args.split(' ')).env("LC_ALL", "C");
    command
}

/// Runs the program inside what a shell line prepares; `$@` stands for the call.
fn inside(shell: &str, wrap: &[&str], args: &str) -> Output {
    let mut words = wrap.iter().copied().chain(["sh", "-c", shell, "sh"]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).arg(assert_cmd::cargo::cargo_bin("memgauge")).args(args.split(' ')).env("LC_ALL", "C");
    command.output().unwrap()
}

/// A result that the schema allows.
fn document(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let document = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema::faults(&document), Vec::<String>::new());
    document
}

/// One line, exit 1 or 2, no result.
fn refusal(output: &Output) -> String {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(matches!(output.status.code(), Some(1 | 2)), "{:?}: {stderr}", output.status);
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(stderr.starts_with("memgauge: ") && stderr.matches('\n').count() == 1, "{stderr}");
    stderr
}

/// Figures of that name have values.
fn measured(document: &Value, name: &str) -> bool {
    let named = |metric: &&Value| metric["name"] == name;
    document["metrics"].as_array().unwrap().iter().filter(named).any(|metric| metric["value"].as_f64().unwrap() > 0.0)
}

fn has_note(document: &Value, words: &str) -> bool {
    document["notes"].as_array().unwrap().iter().any(|note| note.as_str().unwrap().contains(words))
}

fn allowed_cpus() -> Vec<String> {
    let machine: Value = serde_json::from_slice(&memgauge("topology --format json").output().unwrap().stdout).unwrap();
    machine["allowed_cpus"].as_array().unwrap().iter().map(Value::to_string).collect()
}

/// Does this command work here? Where not, that is said, and under CI it fails the test by name.
fn can(command: &str) -> bool {
    let works = Command::new("sh").args(["-c", command]).output().is_ok_and(|output| output.status.success());
    works || skipped(command)
}

/// Says that something is not tested here, for want of `what`.
fn skipped(what: &str) -> bool {
    assert!(std::env::var_os("CI").is_none(), "needed for this test: {what}");
    // Past the test runner, which shows what a test says only when it fails.
    let _ = writeln!(std::io::stderr(), "skipped for want of: {what}");
    false
}

/// Runs `call` from a thread to which these system calls are refused; what it starts inherits that.
fn refused(calls: &[libc::c_long], call: impl FnOnce() -> Output + Send) -> Output {
    let calls: Vec<_> = calls.iter().map(|call| (*call, libc::EPERM)).collect();
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            sandbox::refuse(&calls).unwrap();
            call()
        });
        thread.join().unwrap()
    })
}

#[test]
fn real_where_placement_calls_are_refused_it_measures_and_says_so() {
    let calls = [libc::SYS_mbind, libc::SYS_set_mempolicy, libc::SYS_move_pages, libc::SYS_perf_event_open];
    let document = document(&refused(&calls, || memgauge(SHORT).output().unwrap()));
    assert!(measured(&document, "idle_latency"));
    assert!(has_note(&document, "mbind"), "{}", document["notes"]);
    let metrics = document["metrics"].as_array().unwrap();
    let verified: Vec<&str> = metrics.iter().filter_map(|metric| metric["placement"]["verified"].as_str()).collect();
    assert!(!verified.is_empty() && !verified.contains(&"move_pages"), "{verified:?}");
    let missing = document["unavailable"].as_array().unwrap();
    let counters = missing.iter().find(|gap| gap["name"].as_str().unwrap().starts_with("counter_")).unwrap();
    assert!(!counters["remedy"].as_str().unwrap().is_empty(), "{counters}");
}

#[test]
fn real_where_threads_may_not_be_pinned_nothing_is_claimed() {
    let output = refused(&[libc::SYS_sched_setaffinity], || memgauge(SHORT).output().unwrap());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("memgauge: ") && stderr.matches('\n').count() == 1, "{stderr}");
    // The document says the same, and holds no latency of a thread that runs anywhere.
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema::faults(&document), Vec::<String>::new());
    assert!(
        document["metrics"].as_array().unwrap().is_empty() && document["status"]["state"] != "complete",
        "{}",
        document["status"]
    );
}

#[test]
fn real_another_user_needs_no_rights() {
    if std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) != 0) {
        return; // Then every other test is this one.
    }
    // The build folder may be closed to others.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("memgauge");
    std::fs::copy(assert_cmd::cargo::cargo_bin("memgauge"), &copy).unwrap();
    for path in [folder.path(), &copy] {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let output = Command::new(&copy).args(SHORT.split(' ')).current_dir("/").uid(65534).gid(65534).output().unwrap();
    let document = document(&output);
    assert!(measured(&document, "idle_latency"));
}

#[test]
fn real_one_cpu_measures_alone_and_a_load_is_refused() {
    let cpus = allowed_cpus();
    let last = cpus.last().unwrap();
    assert!(can(&format!("taskset -c {last} true")));
    let on_one = |args: &str| inside("exec \"$@\"", &["taskset", "-c", last], args);
    let document = document(&on_one(SHORT));
    assert!(measured(&document, "idle_latency"));
    assert_eq!(document["machine"]["allowed_cpus"], serde_json::from_str::<Value>(&format!("[{last}]")).unwrap());
    let line = refusal(&on_one("loaded --buffer 1MiB --time 20ms"));
    assert!(line.contains("; "), "names no remedy: {line}");
    if cpus.len() > 1 {
        let line = refusal(&on_one(&format!("idle --cpu {}", cpus[0])));
        assert!(line.contains("--cpu"), "{line}");
    }
}

#[test]
fn real_limits_of_the_shell() {
    // Address space: what is asked for does not fit, or it does.
    let line = refusal(&inside("ulimit -v 400000; exec \"$@\"", &["env"], "idle --buffer 1GiB --quiet"));
    assert!(line.contains("--buffer 1GiB") || line.contains("address space"), "{line}");
    document(&inside("ulimit -v 400000; exec \"$@\"", &["env"], SHORT));
    // Locked memory, file sizes, few files.
    document(&inside("ulimit -l 0; ulimit -n 20; exec \"$@\"", &["env"], SHORT));
}

#[test]
fn real_half_a_file_system() {
    let namespace = ["unshare", "--user", "--map-root-user", "--mount"];
    if !can("unshare --user --map-root-user --mount true") {
        return;
    }
    let without_sys = document(&inside("mount -t tmpfs none /sys && exec \"$@\"", &namespace, SHORT));
    assert!(measured(&without_sys, "idle_latency"));
    let machine = without_sys["machine"].to_string();
    assert!(machine.contains("unavailable"), "{machine}");
    let without_cpuinfo = document(&inside("mount --bind /dev/null /proc/cpuinfo && exec \"$@\"", &namespace, SHORT));
    assert!(measured(&without_cpuinfo, "idle_latency"));
    let read_only = "mount --make-rprivate / && mount -o remount,bind,ro / && exec \"$@\"";
    let read_only = inside(read_only, &namespace, &format!("{SHORT} --no-bundle"));
    assert!(measured(&document(&read_only), "idle_latency"));
}
