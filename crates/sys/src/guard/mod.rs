//! Registers that are changed for a while, and put back whatever happens.
//!
//! Before the first change a journal of old and new values is on disk. The guard puts the old values back
//! when it is dropped: at the end, on an error, on a panic, when a signal stopped the run. After a SIGKILL nothing of ours
//! runs any more; then the next start reads the journal and puts back what is still as we left it: [`recover`].

mod journal;
mod recover;

pub use journal::default_folder;
pub use recover::{Recovered, recover};

use crate::msr::{self, MsrError};
use journal::{Entry, Journal};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Bits of a register that are to be set on a CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The CPU.
    pub cpu: u32,
    /// The register.
    pub msr: u32,
    /// The bits that become 1; all others stay as they are.
    pub mask: u64,
}

/// What a guard does to a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// The CPU.
    pub cpu: u32,
    /// The register.
    pub msr: u32,
    /// Its value before, which is put back.
    pub old: u64,
    /// Its value while it is set.
    pub new: u64,
}

/// Why registers can't be held, or are no longer.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The register refuses.
    #[error(transparent)]
    Msr(#[from] MsrError),
    /// A hypervisor or the CPU took the write and forgot it.
    #[error("CPU {cpu}: MSR {msr:#x} does not keep what is written")]
    Dropped {
        /// The CPU.
        cpu: u32,
        /// The register.
        msr: u32,
    },
    /// Somebody else wrote to it meanwhile.
    #[error("CPU {cpu}: MSR {msr:#x} was changed by somebody else meanwhile")]
    Changed {
        /// The CPU.
        cpu: u32,
        /// The register.
        msr: u32,
    },
    /// Without a journal on disk nothing is changed.
    #[error("no journal can be kept in {}: {source}", .folder.display())]
    Journal {
        /// Its folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another run holds registers at present.
    #[error("another run (process {pid}) holds registers at present")]
    Busy {
        /// The process.
        pid: u32,
    },
}

/// Registers that may be set and are put back.
#[derive(Debug)]
pub struct RegisterGuard {
    root: PathBuf,
    changes: Vec<Change>,
    /// Taken when all is put back; what could not be is left to the next start.
    journal: Option<Journal>,
}

impl RegisterGuard {
    /// Writes the journal, then sets each register once and reads it back. All of them are as before when this returns,
    /// whether they can be held or not. `root` is where `dev` is, `folder` where the journal goes.
    ///
    /// # Errors
    ///
    /// A [`GuardError`] where any of the registers can't be set, and kept, and put back.
    pub fn take(root: &Path, folder: &Path, wanted: &[Setting]) -> Result<Self, GuardError> {
        let journalled = |source| GuardError::Journal { folder: folder.to_path_buf(), source };
        if let Some(pid) = journal::live_owner(folder) {
            return Err(GuardError::Busy { pid });
        }
        let change = |setting: &Setting| {
            let Setting { cpu, msr, mask } = *setting;
            msr::read(root, cpu, msr).map(|old| Change { cpu, msr, old, new: old | mask })
        };
        let changes = wanted.iter().map(change).collect::<Result<Vec<_>, _>>()?;
        let journal = Journal::write(folder, &changes).map_err(journalled)?;
        let guard = Self { root: root.to_path_buf(), changes, journal: Some(journal) };
        let cpus: Vec<u32> = wanted.iter().map(|setting| setting.cpu).collect();
        guard.set(&cpus)?;
        guard.put_back(&cpus)?;
        Ok(guard)
    }

    /// What is done to which register.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Sets the registers of these CPUs and reads them back. Where one fails, those set so far are put back.
    ///
    /// # Errors
    ///
    /// A [`GuardError`] of the first that failed.
    pub fn set(&self, cpus: &[u32]) -> Result<(), GuardError> {
        let set = self.of(cpus).try_for_each(|change| self.write(change, change.new));
        if set.is_err() {
            // The first error is the one to tell; what can't be put back now is tried again at the end.
            let _ = self.restore(self.of(cpus));
        }
        set
    }

    /// Puts the registers of these CPUs back, which [`set`](Self::set) has set.
    ///
    /// # Errors
    ///
    /// [`GuardError::Changed`] where one no longer holds what was set; it is then left alone.
    pub fn put_back(&self, cpus: &[u32]) -> Result<(), GuardError> {
        let mut outcome = Ok(());
        for change in self.of(cpus) {
            let back = match msr::read(&self.root, change.cpu, change.msr) {
                Ok(value) if value == change.new => self.write(change, change.old),
                Ok(_) => Err(GuardError::Changed { cpu: change.cpu, msr: change.msr }),
                Err(error) => Err(error.into()),
            };
            outcome = outcome.and(back);
        }
        outcome
    }

    /// Puts everything back for good and removes the journal. Dropping does the same, without telling.
    ///
    /// # Errors
    ///
    /// The first register that could not be put back; the journal then stays for the next start.
    pub fn close(mut self) -> Result<(), GuardError> {
        self.finish()
    }

    fn finish(&mut self) -> Result<(), GuardError> {
        self.restore(self.changes.iter())?;
        let Some(journal) = self.journal.take() else { return Ok(()) };
        journal.remove().map_err(|(folder, source)| GuardError::Journal { folder, source })
    }

    fn of<'a>(&'a self, cpus: &'a [u32]) -> impl Iterator<Item = &'a Change> {
        self.changes.iter().filter(|change| cpus.contains(&change.cpu))
    }

    /// Writes and reads back.
    fn write(&self, change: &Change, value: u64) -> Result<(), GuardError> {
        let Change { cpu, msr, .. } = *change;
        msr::write(&self.root, cpu, msr, value)?;
        if msr::read(&self.root, cpu, msr)? == value { Ok(()) } else { Err(GuardError::Dropped { cpu, msr }) }
    }

    /// Puts back what still is as we set it; what is not ours any more is left alone.
    fn restore<'a>(&self, changes: impl Iterator<Item = &'a Change>) -> Result<(), GuardError> {
        let mut outcome = Ok(());
        for change in changes {
            outcome = outcome.and(put_back(&self.root, change).map(drop));
        }
        outcome
    }
}

impl Drop for RegisterGuard {
    fn drop(&mut self) {
        // Nobody is left to be told; the journal stays where something failed, and the next start tries again.
        let _ = self.finish();
    }
}

/// Puts the register back if it still holds what was set; tells whether it did.
fn put_back(root: &Path, change: &Entry) -> Result<bool, GuardError> {
    let Change { cpu, msr, old, new } = *change;
    if old == new || msr::read(root, cpu, msr)? != new {
        return Ok(false);
    }
    msr::write(root, cpu, msr, old)?;
    if msr::read(root, cpu, msr)? == old { Ok(true) } else { Err(GuardError::Dropped { cpu, msr }) }
}
