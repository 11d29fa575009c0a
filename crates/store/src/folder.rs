//! A folder of its own for a run's documents.

use crate::{FileTarget, StoreError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A new or empty folder.
#[derive(Debug)]
pub struct FolderTarget {
    path: PathBuf,
}

impl FolderTarget {
    /// Makes the folder, in one that is there, or finds it empty; and looks whether it takes files.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where it holds something already or can't be written.
    pub fn prepare(path: &Path) -> Result<Self, StoreError> {
        match fs::metadata(path) {
            Ok(found) if !found.is_dir() => return Err(StoreError::NotAFolder(path.to_path_buf())),
            Ok(_) => {
                if fs::read_dir(path).map_err(StoreError::io(path))?.next().is_some() {
                    return Err(StoreError::NotEmpty(path.to_path_buf()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(path).map_err(StoreError::io(path))?;
            }
            Err(error) => return Err(StoreError::io(path)(error)),
        }
        FileTarget::prepare(&path.join("report.json"))?;
        Ok(Self { path: path.to_path_buf() })
    }

    /// Writes a document into it.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), StoreError> {
        FileTarget::prepare(&self.path.join(name))?.write(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_or_empty_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert!(matches!(FolderTarget::prepare(&path.join("b")), Err(StoreError::NoParent(_))));
        assert!(!path.exists());
        for _ in 0..2 {
            FolderTarget::prepare(&path).unwrap();
        }
        FolderTarget::prepare(&path).unwrap().write("report.json", b"{}").unwrap();
        assert!(matches!(FolderTarget::prepare(&path), Err(StoreError::NotEmpty(_))));
        assert!(matches!(FolderTarget::prepare(&path.join("report.json")), Err(StoreError::NotAFolder(_))));
    }
}
