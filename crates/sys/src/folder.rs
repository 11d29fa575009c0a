//! Folders whose files are memory: files without a name, and what is known of where they lie.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::{fd::AsRawFd, unix::fs::OpenOptionsExt},
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{errno::Errno, limits::page_size, mapping::Mapping, raw::check};

/// Names of files that are gone at once, one after the other.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// What is known of a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Folder {
    /// The kind of file system, as mounts name it; `unknown` where they can't be read.
    pub kind: String,
    /// Bytes that this process may still take.
    pub free: u64,
    /// Are its files' pages the storage itself (DAX)? Else they are the page cache's, in ordinary memory.
    pub dax: bool,
}

/// Asks about a folder: by a file in it, of one page and without a name.
///
/// # Errors
///
/// The kernel's answer, where no file can be made and mapped there.
pub fn ask(folder: &Path) -> Result<Folder, Errno> {
    let file = nameless(folder)?;
    let free = free(&file)?;
    claim(&file, page_size())?;
    let mapping = Mapping::reserve(page_size())?;
    // Only storage that is mapped itself can promise what MAP_SYNC does.
    let (_mapping, _, dax) = mapping.open_file(0, page_size(), &file)?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let kind = fs::canonicalize(folder).ok().and_then(|path| kind(&mounts, &path));
    Ok(Folder { kind: kind.unwrap_or_else(|| "unknown".to_owned()), free, dax })
}

/// A file that nobody else can open, and that is gone when it is closed and unmapped, however the process ends.
pub(crate) fn nameless(folder: &Path) -> Result<File, Errno> {
    let open = || {
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600);
        options
    };
    let unnamed = open().custom_flags(libc::O_TMPFILE | libc::O_EXCL).open(folder).map_err(Errno::from);
    match unnamed {
        // File systems without such files, and kernels that take the flag for O_DIRECTORY.
        Err(Errno(libc::EOPNOTSUPP | libc::EISDIR | libc::EINVAL | libc::ENOSYS)) => {}
        other => return other,
    }
    loop {
        let name = format!(".memgauge-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = folder.join(name);
        match open().create_new(true).open(&path) {
            Ok(file) => {
                fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Makes the file `len` bytes long and has the storage for all of them kept for it: a page without would raise SIGBUS when it is
/// written.
pub(crate) fn claim(file: &File, len: usize) -> Result<(), Errno> {
    let bytes = libc::off_t::try_from(len).map_err(|_| Errno(libc::EFBIG))?;
    loop {
        // SAFETY: takes numbers; the descriptor is open as long as `file` is borrowed.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes) } {
            0 => return Ok(()),
            libc::EINTR => {}
            errno => return Err(Errno(errno)),
        }
    }
}

fn free(file: &File) -> Result<u64, Errno> {
    let mut answer = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the kernel writes one statvfs, which there is room for; the descriptor is open.
    let returned = unsafe { libc::fstatvfs(file.as_raw_fd(), answer.as_mut_ptr()) };
    check(returned.into())?;
    // SAFETY: the call succeeded, so that all of it is written.
    let answer = unsafe { answer.assume_init() };
    #[expect(clippy::useless_conversion, reason = "their types differ between targets")]
    let (blocks, bytes) = (u64::from(answer.f_bavail), u64::from(answer.f_frsize));
    Ok(blocks.saturating_mul(bytes))
}

/// The kind of the file system that `path` lies on: of the mounts above it the deepest, of equals the last.
/// `36 35 98:0 /root /mnt rw,noatime master:1 - ext4 /dev/sda1 rw`.
fn kind(mounts: &str, path: &Path) -> Option<String> {
    let above = |line: &&str| line.split(' ').nth(4).is_some_and(|point| path.starts_with(unescaped(point)));
    let depth = |line: &&str| line.split(' ').nth(4).map_or(0, |point| Path::new(&unescaped(point)).components().count());
    let line = mounts.lines().filter(above).max_by_key(depth)?;
    Some(line.split_once(" - ")?.1.split(' ').next()?.to_owned())
}

/// Blanks in names are written as `\040`.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, plain)| text.replace(code, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_mount_above_is_the_folders() {
        let mounts = "1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:5 / /mnt/my\\040pmem rw shared:1 - xfs /dev/pmem0 rw,dax\n\
                      3 1 0:6 / /mnt rw - tmpfs none rw\n4 3 0:7 / /mnt rw - nfs4 host:/ rw\n";
        let of = |path: &str| kind(mounts, Path::new(path)).unwrap();
        assert_eq!((of("/mnt/my pmem/x").as_str(), of("/mnt/my").as_str(), of("/mnts").as_str()), ("xfs", "nfs4", "ext4"));
        assert_eq!(kind("", Path::new("/")), None);
    }

    #[test]
    fn nothing_is_left_and_more_than_fits_is_refused() {
        let folder = std::env::temp_dir().join(format!("memgauge-folder-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let file = nameless(&folder).unwrap();
        claim(&file, 3 * page_size()).unwrap();
        assert_eq!((file.metadata().unwrap().len(), fs::read_dir(&folder).unwrap().count()), (3 * page_size() as u64, 0));
        let seen = ask(&folder).unwrap();
        assert!(seen.free > 0 && !seen.kind.is_empty());
        // Beyond what any file system has in a file, so that none begins to take it.
        assert_eq!(claim(&file, isize::MAX as usize / page_size() * page_size()), Err(Errno(libc::EFBIG)));
        fs::remove_dir(&folder).unwrap();
        assert_eq!(ask(&folder), Err(Errno(libc::ENOENT)));
    }
}
