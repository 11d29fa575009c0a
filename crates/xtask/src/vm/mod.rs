//! `cargo xtask vm`: memgauge in guests with the memory layouts that a
//! developer's machine lacks. QEMU emulates them (no KVM), so times in a guest
//! mean nothing: shape and placement are checked, never a figure.

mod boot;
mod checks;
mod cpio;
mod guests;
mod image;
mod transcript;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{Outcome, host, say, sh};
use boot::Payload;
use guests::Guest;
use image::Lab;

/// For all commands of a guest together.
const LIMIT: Duration = Duration::from_secs(400);

/// `[--install] [--binary FILE] [NAME…] [-c 'SHELL']`
pub fn run(args: &[String]) -> Outcome {
    let options = Options::parse(args)?;
    let (lab, payload) = prepare(options.install, options.binary)?;
    match options.shell {
        Some(shell) => show(&lab, &payload, &options.guests, &shell),
        None => {
            let (passed, failed) = check(&lab, &payload, &options.guests);
            say::line(&format!("{passed} passed, {failed} failed"));
            Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

/// All guests as a step of `ci`.
pub fn stage(install: bool) -> Result<()> {
    let (lab, payload) = prepare(install, None)?;
    match check(&lab, &payload, &guests::ALL.iter().collect::<Vec<_>>()) {
        (_, 0) => Ok(()),
        (_, failed) => bail!("vm: {failed} checks failed"),
    }
}

struct Options {
    install: bool,
    guests: Vec<&'static Guest>,
    shell: Option<String>,
    /// Instead of the release binary, which is then not built.
    binary: Option<PathBuf>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self { install: host::may_install(args), guests: Vec::new(), shell: None, binary: None };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--install" => {}
                "-c" => options.shell = Some(args.next().context("-c wants a shell command")?.clone()),
                "--binary" => options.binary = Some(args.next().context("--binary wants a file")?.into()),
                name => options.guests.push(guest(name)?),
            }
        }
        if options.guests.is_empty() {
            options.guests = guests::ALL.iter().collect();
        }
        Ok(options)
    }
}

fn guest(name: &str) -> Result<&'static Guest> {
    guests::ALL.iter().find(|guest| guest.name == name).with_context(|| {
        let all: Vec<String> = guests::ALL.iter().map(|guest| format!("{} ({})", guest.name, guest.about)).collect();
        format!("no guest `{name}`; there are {}", all.join(", "))
    })
}

fn prepare(install: bool, binary: Option<PathBuf>) -> Result<(Lab, Payload)> {
    if std::env::consts::ARCH != "x86_64" {
        bail!("vm: the guests are x86-64 and take this host's binary, which is {}", std::env::consts::ARCH);
    }
    host::provide(install)?;
    let binary = binary.map_or_else(build, Ok)?;
    let lab = Lab::open()?;
    let payload = Payload::new(&lab, &binary, install)?;
    Ok((lab, payload))
}

/// Builds the release binary and says where it is.
fn build() -> Result<PathBuf> {
    sh::stage("build the release binary", &mut sh::cargo(&["build", "--release", "--locked", "--quiet"]))?;
    let metadata = sh::output(&mut sh::cargo(&["metadata", "--format-version=1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_slice(&metadata)?;
    let target = metadata.get("target_directory").and_then(Value::as_str);
    Ok(PathBuf::from(target.context("cargo metadata names no target directory")?).join("release/memgauge"))
}

/// Runs one shell command in each guest and prints what it wrote.
fn show(lab: &Lab, payload: &Payload, guests: &[&Guest], shell: &str) -> Outcome {
    let mut all_well = true;
    for guest in guests {
        say::stage(&format!("guest {}: {}", guest.name, guest.about));
        for ran in boot::run(lab, guest, payload, &[shell.to_owned()], LIMIT)? {
            if !ran.stderr.is_empty() {
                say::error(ran.stderr.trim_end());
            }
            say::line(ran.stdout.trim_end());
            all_well &= ran.code == 0;
        }
    }
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs every check in each guest and prints a line for each; how many passed and failed.
fn check(lab: &Lab, payload: &Payload, guests: &[&Guest]) -> (usize, usize) {
    let commands: Vec<String> = checks::ALL.iter().map(|check| check.command.to_owned()).collect();
    let (mut passed, mut failed) = (0, 0);
    for guest in guests {
        say::stage(&format!("guest {}: {}", guest.name, guest.about));
        let outcome = boot::run(lab, guest, payload, &commands, LIMIT);
        // What did not end has no outcome, and the guest's error is a failure of its own.
        let ran = outcome.as_ref().map_or(&[][..], Vec::as_slice);
        if let Err(error) = &outcome {
            say::line(&format!("FAIL {}: {error:#}", guest.name));
            failed += 1;
        }
        for (check, ran) in checks::ALL.iter().zip(ran) {
            let faults = check.faults(guest, ran);
            if faults.is_empty() {
                passed += 1;
                say::line(&format!("ok   {} {}", guest.name, check.name));
            } else {
                failed += 1;
                say::line(&format!("FAIL {} {}: {}", guest.name, check.name, faults.join("; ")));
            }
        }
    }
    (passed, failed)
}
