//! Running a part of a test in another process: the test's own program, started again.

#![expect(clippy::unwrap_used, reason = "a test's helper")]

use std::process::{Child, Command, Stdio};

const PART: &str = "MEMGAUGE_TEST_PART";

/// Starts `part` of the test `name` in a process of its own, under `sh` with `before` in front, its
/// output to be read. In that process, runs `part` and gives `None`: the test then returns.
pub fn start(name: &str, before: &str, part: impl FnOnce()) -> Option<Child> {
    if std::env::var(PART).is_ok_and(|asked| asked == name) {
        part();
        return None;
    }
    let program = std::env::current_exe().unwrap();
    // Under an emulator the program doesn't start by itself; the runner is then given.
    let runner = std::env::var("MEMGAUGE_TEST_RUNNER").unwrap_or_default();
    let script = format!("{before} exec {runner} \"$0\" --exact {name} --nocapture --test-threads 1");
    let child = Command::new("sh")
        .args(["-c", &script])
        .arg(program)
        .env(PART, name)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    Some(child.unwrap())
}
