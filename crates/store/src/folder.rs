//! A folder of its own for a run's documents.

use crate::{FileTarget, StoreError, leftover};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A new or empty folder. One that was made for a run which then wrote nothing goes away with this value.
#[derive(Debug)]
pub struct FolderTarget {
    path: PathBuf,
    made: bool,
}

impl FolderTarget {
    /// Makes the folder, in one that is there, or finds it empty; and looks whether it takes files.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where it holds something already or can't be written.
    pub fn prepare(path: &Path) -> Result<Self, StoreError> {
        let made = match fs::metadata(path) {
            Ok(found) if !found.is_dir() => return Err(StoreError::NotAFolder(path.to_path_buf())),
            Ok(_) => {
                leftover::sweep(path, None);
                if fs::read_dir(path).map_err(StoreError::io(path))?.next().is_some() {
                    return Err(StoreError::NotEmpty(path.to_path_buf()));
                }
                false
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(path).map_err(StoreError::io(path))?;
                true
            }
            Err(error) => return Err(StoreError::io(path)(error)),
        };
        let target = Self { path: path.to_path_buf(), made };
        FileTarget::prepare(&path.join("report.json"))?;
        Ok(target)
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

impl Drop for FolderTarget {
    fn drop(&mut self) {
        if self.made {
            // Only an empty folder can be removed so; one with documents in it stays.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_made_for_nothing_goes_and_what_was_there_stays() {
        let above = tempfile::tempdir().unwrap();
        let (made, found) = (above.path().join("made"), above.path().join("found"));
        fs::create_dir(&found).unwrap();
        for path in [&made, &found] {
            drop(FolderTarget::prepare(path).unwrap());
        }
        assert!(!made.exists() && found.exists());
        FolderTarget::prepare(&made).unwrap().write("report.json", b"{}").unwrap();
        assert!(made.join("report.json").exists());
    }

    #[test]
    fn what_a_killed_run_left_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(format!(".report.json.{}.partial", u32::MAX)), "{").unwrap();
        FolderTarget::prepare(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

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
