//! `cargo xtask lab`: the machines that a developer does not own.

pub mod debian;
pub mod folder;
pub mod vm;

use anyhow::bail;

use crate::Outcome;

/// `vm …`
pub fn run(args: &[String]) -> Outcome {
    match args.split_first() {
        Some((kind, rest)) if kind == "vm" => vm::run(rest),
        Some((other, _)) => bail!("lab: no machines of kind `{other}`; there are: vm"),
        None => bail!("lab wants a kind of machine: vm"),
    }
}
