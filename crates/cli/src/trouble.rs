//! How a call can end badly, and the exit code for it.

use crate::exit;
use memgauge_model::Refusal;
use memgauge_store::StoreError;
use std::fmt;
use std::path::Path;

/// An end without a result.
#[derive(Debug)]
pub enum Trouble {
    /// The call can't be met; nothing was allocated or changed.
    Refused(Refusal),
    /// It failed on the way.
    Failed(String),
    /// A signal came before anything was measured.
    Stopped(i32),
}

impl Trouble {
    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Refused(_) => exit::USAGE,
            Self::Failed(_) => exit::FAILED,
            Self::Stopped(signal) => signal_code(*signal),
        }
    }

    /// An output that can't be had, found before measuring.
    pub fn output(flag: &str, path: &Path, error: &StoreError) -> Self {
        let remedy = match error {
            StoreError::NotEmpty(_) => "name a new or an empty folder",
            StoreError::NotAFolder(_) => "name a folder",
            StoreError::IsFolder(_) => "name a file in it",
            StoreError::NoParent(_) => "make that folder first, or name another place",
            StoreError::Io { .. } if flag == "--out" => "name a folder that can be made and written",
            StoreError::Io { .. } => "name a file in a folder that is there and can be written",
        };
        Self::Refused(Refusal::new(flag, path.to_string_lossy(), error.to_string(), remedy))
    }

    /// An output that failed while it was written.
    pub fn write(flag: &str, path: &Path, error: &impl fmt::Display) -> Self {
        Self::Failed(format!("{flag} {}: {error}", path.display()))
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Failed(reason) => f.write_str(reason),
            Self::Stopped(_) => f.write_str("stopped before anything was measured"),
        }
    }
}

/// 128 and the signal's number, as a shell reports it.
pub fn signal_code(signal: i32) -> u8 {
    u8::try_from(signal).map_or(exit::FAILED, |signal| exit::SIGNAL.saturating_add(signal))
}
