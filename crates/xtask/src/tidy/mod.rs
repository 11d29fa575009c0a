//! `cargo xtask tidy`: the house rules that a program can check.
//!
//! One file a rule under `rules/`; the list is [`rules::ALL`].

mod blank;
mod rules;
mod tree;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::{Outcome, say};
use tree::{Finding, Tree};

/// Checks every rule and prints each finding as `path:line: text`.
pub fn run(args: &[String]) -> Outcome {
    if let Some(extra) = args.first() {
        bail!("tidy takes no argument, got `{extra}`");
    }
    let findings = findings()?;
    Ok(if findings == 0 {
        say::line(&format!("tidy: {} rules hold", rules::ALL.len()));
        ExitCode::SUCCESS
    } else {
        say::line(&format!("tidy: {findings} findings"));
        ExitCode::FAILURE
    })
}

/// The same as a step of `test`.
pub fn stage() -> Result<()> {
    say::stage("tidy");
    match findings()? {
        0 => Ok(()),
        count => bail!("tidy: {count} findings"),
    }
}

fn findings() -> Result<usize> {
    let tree = Tree::read()?;
    let mut count = 0;
    for rule in rules::ALL {
        for Finding { path, line, text } in (rule.check)(&tree) {
            say::line(&format!("{path}:{line}: {text} [{}]", rule.name));
            count += 1;
        }
    }
    Ok(count)
}
