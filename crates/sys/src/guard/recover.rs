//! After a run that was killed: what it left changed is put back.

use super::journal::{self, Contents, Found};
use super::{Change, put_back};
use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

/// What became of a journal that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Recovered {
    /// Registers of a dead run were put back.
    PutBack {
        /// The process that had changed them.
        pid: u32,
        /// Their CPUs, rising.
        cpus: Vec<u32>,
    },
    /// Nothing was to be done: nothing is as that run set it any more, or the machine was booted anew since.
    Closed {
        /// The process.
        pid: u32,
    },
    /// The run lives: its journal is its own.
    Live {
        /// The process.
        pid: u32,
    },
    /// It is no journal to go by; nothing was written, and it stays.
    Ignored {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Something could not be put back; the journal stays.
    Failed {
        /// The file.
        path: PathBuf,
        /// What failed.
        why: String,
    },
}

impl fmt::Display for Recovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PutBack { pid, cpus } => {
                let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
                write!(f, "put back the prefetchers of CPUs {}, which a killed run (process {pid}) had left off", cpus.join(","))
            }
            Self::Closed { pid } => {
                write!(f, "closed the journal of a run that was killed (process {pid}); nothing was left changed")
            }
            Self::Live { pid } => write!(f, "process {pid} holds the prefetchers at present"),
            Self::Ignored { path, why } => write!(f, "{}: not followed, {why}; remove it", path.display()),
            Self::Failed { path, why } => write!(f, "{}: {why}; could not put back, the next run tries again", path.display()),
        }
    }
}

/// Looks through `folder` for journals of dead runs and puts back every register that still holds what such a run set.
/// Only bits of `known` registers, by number and mask, are ever written.
#[must_use]
pub fn recover(root: &Path, folder: &Path, known: &[(u32, u64)]) -> Vec<Recovered> {
    journal::found(folder).into_iter().map(|found| one(root, known, found)).collect()
}

fn one(root: &Path, known: &[(u32, u64)], found: Found) -> Recovered {
    match found {
        Found::Live { pid } => Recovered::Live { pid },
        Found::Bad { path, why } => Recovered::Ignored { path, why },
        // The lock is held until the file is gone.
        Found::Left { path, contents, _locked } => follow(root, known, path, &contents),
    }
}

fn follow(root: &Path, known: &[(u32, u64)], path: PathBuf, contents: &Contents) -> Recovered {
    let pid = contents.owner.pid;
    let boot_id = match journal::boot_id() {
        Ok(id) => id,
        Err(error) => return Recovered::Failed { path, why: error.to_string() },
    };
    // A reboot has put everything back.
    let changes: &[Change] = if boot_id == contents.boot_id { &contents.changes } else { &[] };
    let ours = |change: &Change| {
        let within = |(msr, mask): &(u32, u64)| *msr == change.msr && (change.old ^ change.new) & !mask == 0;
        known.iter().any(within)
    };
    if let Some(change) = changes.iter().find(|change| !ours(change)) {
        return Recovered::Ignored { path, why: format!("it names other bits of MSR {:#x} than prefetchers'", change.msr) };
    }
    let mut cpus = Vec::new();
    for change in changes {
        match put_back(root, change) {
            Ok(true) => cpus.push(change.cpu),
            Ok(false) => {}
            Err(error) => return Recovered::Failed { path, why: error.to_string() },
        }
    }
    if let Err(error) = fs::remove_file(&path) {
        return Recovered::Failed { path, why: error.to_string() };
    }
    cpus.sort_unstable();
    cpus.dedup();
    if cpus.is_empty() { Recovered::Closed { pid } } else { Recovered::PutBack { pid, cpus } }
}
