//! `memgauge`: the only crate that prints, exits, or knows argv.
#![forbid(unsafe_code)]

mod args;
mod documents;
mod environment;
mod exit;
mod files;
mod folder;
mod import;
mod mlc;
mod outputs;
mod prefetch;
mod progress;
mod repeat;
mod say;
mod simulation;
mod spine;
mod trouble;

use args::Stop;
use std::process::ExitCode;
use trouble::Trouble;

fn main() -> ExitCode {
    let argv: Vec<_> = std::env::args_os().collect();
    if let Some(words) = mlc::words(&argv) {
        return ExitCode::from(mlc::run(&words));
    }
    let outcome = match args::read(argv) {
        Ok(call) => measured(call),
        Err(Stop::Text(text)) => {
            say::result(&text).map(|()| exit::DONE).map_err(|error| Trouble::Failed(format!("stdout: {error}")))
        }
        Err(Stop::Refused(refusal)) => Err(refusal.into()),
    };
    let code = outcome.unwrap_or_else(|trouble| {
        say::line(&trouble.to_string());
        trouble.code()
    });
    ExitCode::from(code)
}

/// The call with what its files hold.
fn measured(mut call: args::Call) -> Result<u8, Trouble> {
    if let Some(path) = &call.fill {
        call.request.fill = files::patterns(path)?;
    }
    spine::run(&call)
}
