//! One file.

use crate::{StoreError, leftover};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that was found writable. What is there stays as it is until [`write`](Self::write).
#[derive(Debug)]
pub struct FileTarget {
    path: PathBuf,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// A new file beside it, renamed over it: a reader sees the old or the new, whole.
    Rename,
    /// In place: its folder takes no new file, but the file itself can be written.
    InPlace,
    /// A pipe, a terminal, a device: no such thing as a rename. Open from the first look on.
    Stream(File),
}

impl FileTarget {
    /// Looks whether `path` can be written, and leaves nothing behind. A FIFO is opened here and now, so this waits until
    /// somebody reads it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where it can't.
    pub fn prepare(path: &Path) -> Result<Self, StoreError> {
        let io = || StoreError::io(path);
        if is_descriptor(path) {
            // Whatever it leads to is already being written by somebody: add to it, never replace it.
            let stream = OpenOptions::new().append(true).open(path).map_err(io())?;
            return Ok(Self { path: path.to_path_buf(), way: Way::Stream(stream) });
        }
        // `Path` forgets a trailing slash, which the kernel takes for a folder's.
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(StoreError::IsFolder(path.to_path_buf()));
        }
        // Through symbolic links: the file that they lead to is replaced, not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| through_links(path));
        let found = match fs::metadata(&path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(io()(error)),
        };
        let way = match found {
            Some(found) if found.is_dir() => return Err(StoreError::IsFolder(path)),
            Some(found) if !found.is_file() => Way::Stream(OpenOptions::new().write(true).open(&path).map_err(io())?),
            Some(_) => {
                OpenOptions::new().append(true).open(&path).map_err(io())?;
                match try_beside(&path) {
                    Ok(()) => Way::Rename,
                    Err(_) => Way::InPlace,
                }
            }
            None => {
                try_beside(&path).map_err(io())?;
                Way::Rename
            }
        };
        Ok(Self { path, way })
    }

    /// Writes all of it.
    ///
    /// # Errors
    ///
    /// What the system says: disk full, reader gone. Of a regular file the old content then still stands.
    pub fn write(&mut self, content: &[u8]) -> Result<(), StoreError> {
        let io = StoreError::io(&self.path);
        match &mut self.way {
            Way::Rename => replace(&self.path, content).map_err(io),
            Way::InPlace => fs::write(&self.path, content).map_err(io),
            Way::Stream(stream) => stream.write_all(content).and_then(|()| stream.flush()).map_err(io),
        }
    }
}

/// A name for a file that is open already.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc"].iter().any(|known| path.starts_with(known))
}

/// Where a link leads, also when nothing is there yet. The kernel follows no more than 40 of them.
fn through_links(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().map_or_else(|| next.clone(), |folder| folder.join(&next)),
            Err(_) => break,
        }
    }
    path
}

/// Can a file be made beside it?
fn try_beside(path: &Path) -> io::Result<()> {
    if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
        leftover::sweep(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }, Some(name));
    }
    let (beside, _) = create_beside(path)?;
    fs::remove_file(beside)
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let (beside, mut file) = create_beside(path)?;
    let written = file
        .write_all(content)
        .and_then(|()| fs::metadata(path).map_or(Ok(()), |old| file.set_permissions(old.permissions())))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The first error is the one to tell; a leftover is the lesser evil.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let beside = path.with_file_name(leftover::partial(name));
    let file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
    Ok((beside, file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_new_file_is_whole_and_nothing_stands_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let mut target = FileTarget::prepare(&path).unwrap();
        assert!(!path.exists(), "looking made a file");
        target.write(b"{}\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"{}\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_old_file_keeps_its_mode_and_a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.json"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        let mut target = FileTarget::prepare(&link).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        target.write(b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_link_to_nothing_yet_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (link, further) = (folder.path().join("link"), folder.path().join("further"));
        symlink("further", &link).unwrap();
        symlink("a.json", &further).unwrap();
        FileTarget::prepare(&link).unwrap().write(b"new").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a.json")).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::symlink_metadata(&further).unwrap().is_symlink());
        symlink("round", folder.path().join("round")).unwrap();
        FileTarget::prepare(&folder.path().join("round")).unwrap_err();
    }

    #[test]
    fn what_cannot_be_written_is_said_before() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(FileTarget::prepare(folder.path()), Err(StoreError::IsFolder(_))));
        let error = FileTarget::prepare(&folder.path().join("none/a.json")).unwrap_err();
        assert!(matches!(error, StoreError::NoParent(_)), "{error}");
    }

    #[test]
    fn a_full_device_is_an_error_and_not_a_panic() {
        let mut full = FileTarget::prepare(Path::new("/dev/full")).unwrap();
        assert_eq!(full.write(b"{}").unwrap_err().to_string(), "no space left on device");
    }
}
