//! Documents on disk: whole or not at all, and known to be writable before anything is measured.
#![forbid(unsafe_code)]

mod file;
mod folder;
mod leftover;

pub use file::FileTarget;
pub use folder::FolderTarget;

use std::io;
use std::path::{Path, PathBuf};

/// Why something can't be written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A folder stands where a file is wanted.
    #[error("is a folder")]
    IsFolder(PathBuf),
    /// Something else stands where a folder is wanted.
    #[error("is no folder")]
    NotAFolder(PathBuf),
    /// The folder holds something.
    #[error("is not empty")]
    NotEmpty(PathBuf),
    /// The folder above is missing; it is not made, since a slip in its name would go unnoticed.
    #[error("the folder that it would stand in is not there")]
    NoParent(PathBuf),
    /// The system's answer.
    #[error("{}", reason(.source))]
    Io {
        /// What was written to.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl StoreError {
    fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| {
            let missing = |parent: &Path| !parent.as_os_str().is_empty() && !parent.exists();
            if source.kind() == io::ErrorKind::NotFound && path.parent().is_some_and(missing) {
                return Self::NoParent(path);
            }
            Self::Io { path, source }
        }
    }
}

/// The system's words without its number: `no space left on device`.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
