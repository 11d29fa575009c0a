//! Where the machine is read from: the live system, or a captured tree of its files.

use std::path::{Path, PathBuf};

/// The place under which `sys`, `proc`, `dev` and `etc` lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    base: PathBuf,
    live: bool,
}

impl Root {
    /// The live machine: its files, and what only system calls and instructions tell (affinity, memory policy, CPUID, MSRs).
    #[must_use]
    pub fn system() -> Self {
        Self { base: PathBuf::from("/"), live: true }
    }

    /// A captured tree. Nothing of the live machine is asked, whatever the path is.
    #[must_use]
    pub fn tree(path: impl Into<PathBuf>) -> Self {
        Self { base: path.into(), live: false }
    }

    /// May the live machine be asked?
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// The folder itself.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// `/` for the live machine, else the tree's folder name.
    #[must_use]
    pub fn label(&self) -> String {
        match self.base.file_name() {
            Some(name) if !self.live => name.to_string_lossy().into_owned(),
            _ => self.base.display().to_string(),
        }
    }
}
