//! `cargo xtask lab vm`: memgauge in guests with the memory layouts that a
//! developer's machine lacks. QEMU emulates them (no KVM), so times in a guest
//! mean nothing: shape and placement are checked, never a figure.

mod boot;
mod checks;
mod cpio;
mod emulator;
mod guests;
mod image;
mod libraries;
mod transcript;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::folder::Lab;
use crate::{Outcome, cross, host, say, sh};
use boot::Payload;
use emulator::Emulator;
use guests::Guest;
use image::Kernel;
use transcript::Ran;

/// For all commands of a guest together.
const LIMIT: Duration = Duration::from_secs(400);

/// `[--install] [--binary FILE] [NAME…] [-c 'SHELL']`
pub fn run(args: &[String]) -> Outcome {
    let options = Options::parse(args)?;
    let room = Room::prepare(options.install, options.binary, &options.guests)?;
    match options.shell {
        Some(shell) => show(&room, &options.guests, &shell),
        None => {
            let (passed, failed) = check(&room, &options.guests);
            say::line(&format!("{passed} passed, {failed} failed"));
            Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

/// All guests as a step of `ci`.
pub fn stage(install: bool) -> Result<()> {
    let all: Vec<&Guest> = guests::ALL.iter().collect();
    match check(&Room::prepare(install, None, &all)?, &all) {
        (_, 0) => Ok(()),
        (_, failed) => bail!("lab vm: {failed} checks failed"),
    }
}

struct Options {
    install: bool,
    guests: Vec<&'static Guest>,
    shell: Option<String>,
    /// In place of the release binary, which is then not built.
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

/// What guests are started with.
struct Room {
    lab: Lab,
    install: bool,
    /// In place of the release binary; for guests of this host's architecture.
    binary: Option<PathBuf>,
    /// One for each kernel that guests ask for.
    payloads: Vec<(Kernel, Payload)>,
}

impl Room {
    /// What can't be had is said before anything is booted.
    fn prepare(install: bool, binary: Option<PathBuf>, guests: &[&Guest]) -> Result<Self> {
        host::provide(install, &needs(guests))?;
        let mut room = Self { lab: Lab::open()?, install, binary, payloads: Vec::new() };
        for guest in guests {
            room.provide(guest)?;
        }
        Ok(room)
    }

    fn provide(&mut self, guest: &Guest) -> Result<()> {
        if guest.cxl {
            Emulator::cxl(&self.lab, self.install)?;
        }
        if self.payloads.iter().any(|(have, _)| *have == guest.kernel) {
            return Ok(());
        }
        let (program, libraries) = match guest.kernel.is_arm() {
            true => (cross::program(self.install)?, libraries::of_arm()),
            false if std::env::consts::ARCH != "x86_64" => {
                bail!("lab vm: guest {} is x86-64 and takes this host's binary, which is {}", guest.name, std::env::consts::ARCH)
            }
            false => {
                let program = self.binary.take().map_or_else(sh::release_binary, Ok)?;
                self.binary = Some(program.clone());
                let libraries = libraries::of_host(&program)?;
                (program, libraries)
            }
        };
        let boot = image::boot(&self.lab, guest.kernel, self.install)?;
        self.payloads.push((guest.kernel, Payload::new(boot, &program, libraries)?));
        Ok(())
    }

    fn run(&self, guest: &Guest, commands: &[String]) -> Result<Vec<Ran>> {
        let payload = self.payloads.iter().find(|(kernel, _)| *kernel == guest.kernel).context("no such kernel")?;
        let emulator = match (guest.cxl, guest.kernel.is_arm()) {
            (true, _) => Emulator::cxl(&self.lab, self.install)?,
            (false, true) => Emulator::arm(),
            (false, false) => Emulator::x86(),
        };
        boot::run(&self.lab, &emulator, guest, &payload.1, commands, LIMIT)
    }
}

/// The programs that the guests need.
fn needs(guests: &[&Guest]) -> Vec<&'static [host::Need]> {
    let mut needs = vec![host::GUESTS];
    if guests.iter().any(|guest| !guest.kernel.is_arm()) {
        needs.push(host::X86_GUESTS);
    }
    if guests.iter().any(|guest| guest.kernel.is_arm()) {
        needs.extend([host::ARM_GUESTS, host::ARM_CROSS]);
    }
    needs
}

/// Runs one shell command in each guest and prints what it wrote.
fn show(room: &Room, guests: &[&Guest], shell: &str) -> Outcome {
    let mut all_well = true;
    for guest in guests {
        say::stage(&format!("guest {}: {}", guest.name, guest.about));
        for ran in room.run(guest, &[shell.to_owned()])? {
            if !ran.stderr.is_empty() {
                say::error(ran.stderr.trim_end());
            }
            say::line(ran.stdout.trim_end());
            all_well &= ran.code == 0;
        }
    }
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs every check in each guest and prints a line for each; how many passed and failed. One guest after the other: with two at a
/// time those of eight CPUs crawl (four minutes in place of one).
fn check(room: &Room, guests: &[&Guest]) -> (usize, usize) {
    let mut sum = (0, 0);
    for guest in guests {
        let checked = Checked::of(room, guest);
        checked.say();
        sum = (sum.0 + checked.passed, sum.1 + checked.failed);
    }
    sum
}

/// What came of a guest's checks.
struct Checked {
    passed: usize,
    failed: usize,
    head: String,
    lines: Vec<String>,
}

impl Checked {
    fn of(room: &Room, guest: &Guest) -> Self {
        let begun = Instant::now();
        let commands: Vec<String> = guest.checks.iter().map(|check| check.command.to_owned()).collect();
        let outcome = room.run(guest, &commands);
        let head = format!("guest {}: {} ({} s)", guest.name, guest.about, begun.elapsed().as_secs());
        let mut checked = Self { passed: 0, failed: 0, head, lines: Vec::new() };
        if let Err(error) = &outcome {
            checked.failed += 1;
            checked.lines.push(format!("FAIL {}: {error:#}", guest.name));
        }
        // What did not end has no outcome, and the guest's error is a failure of its own.
        let ran = outcome.as_ref().map_or(&[][..], Vec::as_slice);
        for (check, ran) in guest.checks.iter().zip(ran) {
            let faults = check.faults(guest, ran);
            if faults.is_empty() {
                checked.passed += 1;
                checked.lines.push(format!("ok   {} {} ({} s)", guest.name, check.name, ran.seconds));
            } else {
                checked.failed += 1;
                checked.lines.push(format!("FAIL {} {}: {}", guest.name, check.name, faults.join("; ")));
            }
        }
        checked
    }

    fn say(&self) {
        say::stage(&self.head);
        say::line(&self.lines.join("\n"));
    }
}
