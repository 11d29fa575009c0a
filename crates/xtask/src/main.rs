//! Developer chores, run as `cargo xtask COMMAND`.
//!
//! To add one: a file with `pub fn run(args: &[String]) -> Outcome`, a row in
//! [`COMMANDS`].
#![forbid(unsafe_code)]

mod asan;
mod ci;
mod cross;
mod flaky;
mod fuzz;
mod host;
mod lab;
mod lanes;
mod loom;
mod peers;
mod runner;
mod say;
mod sh;
mod test;
mod tidy;

use std::process::ExitCode;

/// What a command ends with. An error is printed as one line; a failure that
/// has been reported already is an exit code.
type Outcome = anyhow::Result<ExitCode>;

struct Command {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        about: "formatting, clippy, tidy, docs, unit and real-run tests; needs only the Rust toolchain",
        run: test::run,
    },
    Command { name: "tidy", about: "the house rules that a program can check", run: tidy::run },
    Command {
        name: "ci",
        about: "test + virtual machines; installs Debian packages under CI=true or with --install",
        run: ci::run,
    },
    Command {
        name: "lab",
        about: "vm [--install] [--binary FILE] [NAME…] [-c 'SHELL']: check memgauge, or run a shell command, in NUMA guests",
        run: lab::run,
    },
    Command {
        name: "cross",
        about: "aarch64 [--install] [CARGO-ARGS…]: build for AArch64, run program and tests under qemu-user",
        run: cross::run,
    },
    Command { name: "loom", about: "the start line of a block's threads, in every order of them", run: loom::run },
    Command { name: "asan", about: "the tests of memgauge-sys under AddressSanitizer", run: asan::run },
    Command {
        name: "fuzz",
        about: "[--minutes N] [TARGET…]: the stored corpus and N minutes of each fuzz target",
        run: fuzz::run,
    },
    Command { name: "flaky", about: "[--runs N] [NAME…]: the tests, N times; what fails now and then", run: flaky::run },
    Command {
        name: "peers",
        about: "[--pairs N] [--only PART,…] [--buffer SIZE] [--binary FILE] [--write]: beside the programs that measure the same, where they are found",
        run: peers::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(code) => code,
        Err(error) => {
            say::error(&format!("xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Outcome {
    sh::enter_workspace()?;
    let name = args.first().map_or("help", String::as_str);
    if let Some(command) = COMMANDS.iter().find(|command| command.name == name) {
        return (command.run)(args.get(1..).unwrap_or_default());
    }
    for command in COMMANDS {
        say::line(&format!("cargo xtask {:<6}{}", command.name, command.about));
    }
    match name {
        "help" | "-h" | "--help" => Ok(ExitCode::SUCCESS),
        _ => anyhow::bail!("no command `{name}`"),
    }
}
