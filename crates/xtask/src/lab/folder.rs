//! The folder in which the lab keeps what it has fetched or made.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::host;

/// Where guests keep what they need between runs.
pub struct Lab {
    folder: PathBuf,
}

impl Lab {
    /// Its folder, made if need be.
    pub fn open() -> Result<Self> {
        let folder = host::lab();
        fs::create_dir_all(&folder).with_context(|| format!("cannot make the lab's folder {}", folder.display()))?;
        sweep(&folder)?;
        Ok(Self { folder })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// A folder of the lab for one run.
    pub fn scratch(&self, name: &str) -> Result<Scratch> {
        let folder = self.folder.join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Scratch(folder))
    }

    /// The folder of that name; made when it is not there, by one process at a time: `make` fills it, with another folder for its
    /// own use. It must not ask for another one meanwhile.
    pub fn cached(&self, name: &str, make: impl FnOnce(&Path, &Path) -> Result<()>) -> Result<PathBuf> {
        let path = self.folder.join(name);
        let lock = File::create(self.folder.join("lock"))?;
        lock.lock()?;
        if !path.exists() {
            let (part, scratch) = (self.scratch(&format!("part-{name}"))?, self.scratch(&format!("fetch-{name}"))?);
            make(part.path(), scratch.path())?;
            fs::rename(part.path(), &path)?;
        }
        Ok(path)
    }
}

/// Removes what runs left that were killed: their folders end with their process id.
fn sweep(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let pid = name.rsplit_once('-').and_then(|(_, pid)| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// A folder that goes away with its owner.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be removed is only a little disk.
        fs::remove_dir_all(&self.0).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::sweep;

    #[test]
    fn only_folders_of_dead_processes_are_swept() {
        let lab = tempfile::tempdir().expect("a folder");
        let mine = format!("2s-{}", std::process::id());
        // Beyond what Linux gives to a process.
        for name in ["2s-4194305", "kept", mine.as_str()] {
            std::fs::create_dir(lab.path().join(name)).expect("a folder");
        }
        sweep(lab.path()).expect("swept");
        let left = ["2s-4194305", "kept", mine.as_str()].map(|name| lab.path().join(name).exists());
        assert_eq!(left, [false, true, true]);
    }
}
