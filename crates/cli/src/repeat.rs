//! `repeat`: a measuring command several times, each time in a process of its own, as if it had been called so often.

use crate::args::{self, Call, Command, Stop};
use crate::documents::Several;
use crate::trouble::{Trouble, signal_code};
use crate::{exit, say};
use memgauge_model::{Refusal, Report, State};
use memgauge_sys::signals;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The front end whose arguments are read elsewhere.
const MLC: &str = "mlc";
/// Longer than any run.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);
/// The process of the run that goes on; 0 between runs.
static RUNNING: AtomicU32 = AtomicU32::new(0);

/// Runs it, then prints all runs together and writes each one's document.
///
/// # Errors
///
/// A refusal of the command, or what keeps its processes from being started. A run that fails ends the repetition: what was
/// measured by then is printed, and its exit code is ours.
pub fn run(call: &Call) -> Result<u8, Trouble> {
    let (runs, words) = (call.repeated.0.unwrap_or(1), &call.repeated.1);
    check(words)?;
    let several = Several::prepare(&call.output)?;
    signals::install().map_err(failed("signals"))?;
    pass_on();
    let folder = Folder::make().map_err(failed("temporary folder"))?;
    let (mut named, mut code) = (Vec::new(), exit::DONE);
    for run in 1..=runs {
        if let Some(signal) = signals::stop_requested() {
            code = signal_code(signal.number());
            break;
        }
        if !call.output.quiet {
            say::line(&format!("run {run} of {runs}"));
        }
        let file = folder.0.join("document.json");
        code = once(words, call.output.quiet, &file)?;
        if code != exit::DONE && code != exit::REJECTED {
            say::line(&format!("run {run} of {runs} ended with exit code {code}; {} before it are complete", named.len()));
            break;
        }
        named.push((format!("run-{run}.json"), document(&file)?));
        fs::remove_file(&file).map_err(failed("temporary folder"))?;
    }
    if !named.is_empty() {
        several.write(call, &named)?;
    }
    let rejected = named.iter().any(|(_, report)| report.status.state == State::Rejected);
    Ok(match code {
        exit::DONE if call.output.strict && rejected => exit::REJECTED,
        other => other,
    })
}

/// Is it a call that measures, and leaves to us where its document goes?
fn check(words: &[String]) -> Result<(), Refusal> {
    const OURS: [&str; 4] = ["--json", "--out", "--format", "--dry-run"];
    let name = |word: &str| word.split_once('=').map_or(word, |(flag, _)| flag).to_owned();
    if let Some(flag) = words.iter().map(|word| name(word)).find(|word| OURS.contains(&word.as_str())) {
        return Err(Refusal::new(&flag, "", "has no meaning for a command that is repeated", "write it before the two hyphens"));
    }
    if words.first().is_some_and(|word| word == MLC) {
        return Ok(());
    }
    let argv = std::iter::once("memgauge").chain(words.iter().map(String::as_str)).map(OsString::from);
    match args::read(argv.collect()) {
        Ok(inner) if matches!(inner.command, Command::Measure(_)) => Ok(()),
        Err(Stop::Refused(refusal)) => Err(refusal),
        Ok(_) | Err(Stop::Text(_)) => {
            Err(Refusal::new("repeat", words.join(" "), "measures nothing", "name a command that does, such as matrix latency"))
        }
    }
}

/// One run; its exit code.
fn once(words: &[String], quiet: bool, file: &Path) -> Result<u8, Trouble> {
    let program = std::env::current_exe().map_err(failed("own program"))?;
    let mut process = Process::new(program);
    process.args(words).arg("--json").arg(file).stdin(Stdio::null()).stdout(Stdio::null());
    if quiet && words.first().is_none_or(|word| word != MLC) && !words.iter().any(|word| word == "--quiet") {
        process.arg("--quiet");
    }
    // A group of its own: Ctrl-C reaches it once, from us, and not a second time from the terminal, which would kill it.
    let mut child = process.process_group(0).spawn().map_err(failed("own program"))?;
    RUNNING.store(child.id(), Ordering::Release);
    // Nothing of ours runs until it ends: no polling disturbs what is measured.
    let status = child.wait().map_err(failed("own program"))?;
    RUNNING.store(0, Ordering::Release);
    if let Some(signal) = signals::stop_requested() {
        return Ok(signal_code(signal.number()));
    }
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::FAILED))
}

/// Sleeps until a signal reaches us, and hands it to the run.
fn pass_on() {
    std::thread::spawn(|| {
        if let (true, Some(signal)) = (signals::sleep_unless_stopped(FOR_EVER), signals::stop_requested()) {
            let running = RUNNING.load(Ordering::Acquire);
            if running != 0 {
                // It may just have ended by itself.
                let _ = signals::send(running, signal);
            }
        }
    });
}

fn document(file: &Path) -> Result<Report, Trouble> {
    let bytes = fs::read(file).map_err(failed("document of the run"))?;
    memgauge_import::document(&bytes).map_err(failed("document of the run"))
}

fn failed<E: std::fmt::Display>(what: &'static str) -> impl FnOnce(E) -> Trouble {
    move |error| Trouble::Failed(format!("{what}: {error}"))
}

/// A folder that nobody else reads, gone with this value.
struct Folder(PathBuf);

impl Folder {
    fn make() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("memgauge-repeat-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
