//! `cargo xtask vm`: memgauge in guests with the memory layouts that a
//! developer's machine lacks.

use anyhow::{Result, bail};

use crate::Outcome;

/// `[--install] [NAME…] [-c 'SHELL']`
pub fn run(_args: &[String]) -> Outcome {
    bail!("vm: being built")
}

/// The guests as a step of `ci`.
pub fn stage(_install: bool) -> Result<()> {
    bail!("vm: being built")
}
