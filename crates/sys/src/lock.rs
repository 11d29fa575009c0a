//! One measuring run a host: an advisory lock that runs wait for.

use std::{
    env,
    fs::{self, File, OpenOptions, Permissions, TryLockError},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

const NAME: &str = "memgauge.lock";

/// How long to sleep between two tries.
const POLL: Duration = Duration::from_millis(100);

/// The host's lock, held until dropped. The kernel releases it if the process dies.
#[derive(Debug)]
pub struct HostLock {
    /// Closing the file releases the lock. The file itself stays: removing it would let a third
    /// run lock a new file while a second waits for the old one.
    _file: File,
    path: PathBuf,
}

/// Another run has the lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Busy {
    /// The lock's file.
    pub path: PathBuf,
    /// The process that holds it, where the kernel tells (not from inside another PID namespace).
    pub holder: Option<u32>,
}

/// What came of asking for the lock.
#[derive(Debug)]
pub enum LockOutcome {
    /// This run has it.
    Held(HostLock),
    /// Another run still has it: the wait ended, or `stop` was set.
    Busy(Busy),
    /// No file can be locked here.
    Unavailable(io::Error),
}

impl HostLock {
    /// Takes the lock: `/run/lock/memgauge.lock`, else `memgauge.lock` in the temporary folder.
    /// If another run has it, calls `on_wait` once and tries again until `max_wait` is over or
    /// `stop` is set.
    pub fn acquire(max_wait: Duration, on_wait: impl FnMut(&Busy), stop: &AtomicBool) -> LockOutcome {
        let folders = [PathBuf::from("/run/lock"), env::temp_dir()];
        Self::acquire_in(&folders, max_wait, on_wait, stop)
    }

    /// Like [`acquire`](Self::acquire), in the first of `folders` that allows it.
    pub fn acquire_in(folders: &[PathBuf], max_wait: Duration, mut on_wait: impl FnMut(&Busy), stop: &AtomicBool) -> LockOutcome {
        let start = Instant::now();
        let mut refusal = io::Error::from(io::ErrorKind::NotFound);
        for folder in folders {
            let path = folder.join(NAME);
            match open(&path).and_then(|file| lock(file, &path, start, max_wait, &mut on_wait, stop)) {
                Ok(outcome) => return outcome,
                Err(error) => refusal = error,
            }
        }
        LockOutcome::Unavailable(refusal)
    }

    /// The file that is locked.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn lock(
    file: File,
    path: &Path,
    start: Instant,
    max_wait: Duration,
    on_wait: &mut impl FnMut(&Busy),
    stop: &AtomicBool,
) -> io::Result<LockOutcome> {
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => {
                let path = path.to_owned();
                return Ok(LockOutcome::Held(HostLock { _file: file, path }));
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let busy = || Busy { path: path.to_owned(), holder: holder(&file) };
        let left = max_wait.saturating_sub(start.elapsed());
        if left.is_zero() || stop.load(Ordering::Relaxed) {
            return Ok(LockOutcome::Busy(busy()));
        }
        if !told {
            told = true;
            on_wait(&busy());
        }
        thread::sleep(POLL.min(left));
    }
}

/// Opens the lock's file, whoever made it; makes it for everyone if it is not there. In a folder
/// that all may write to, nothing is written into the file and no link is followed: it may be bait.
fn open(path: &Path) -> io::Result<File> {
    // O_CREAT on another user's file is refused in such folders (protected_regular), so opening and
    // making are two steps; whoever loses the race to make it opens what the winner made.
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for _ in 0..3 {
        match open_existing(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        match create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            created => return created,
        }
    }
    Err(last)
}

fn open_existing(path: &Path) -> io::Result<File> {
    let open = |write| {
        OpenOptions::new()
            .read(true)
            .write(write)
            // O_NONBLOCK: a FIFO planted there must not hold us up.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)
    };
    // flock needs no write access, except on NFS.
    let file = open(true).or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => open(false),
        _ => Err(error),
    })?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

fn create(path: &Path) -> io::Result<File> {
    let file =
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o666).custom_flags(libc::O_NOFOLLOW).open(path)?;
    // The umask may have taken away what other users need to lock it too. Without it the lock still
    // works among this user's runs.
    let _ = file.set_permissions(Permissions::from_mode(0o666));
    Ok(file)
}

fn holder(file: &File) -> Option<u32> {
    let inode = file.metadata().ok()?.ino();
    find_holder(&fs::read_to_string("/proc/locks").ok()?, inode)
}

/// Finds the process in lines such as `1: FLOCK  ADVISORY  WRITE 4711 00:1a:533 0 EOF`. The device
/// is not compared: stat and this file name it differently on some file systems.
fn find_holder(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let mut fields = line.split_whitespace().skip_while(|field| *field != "FLOCK");
        let pid = fields.nth(3)?.parse().ok()?;
        let found: u64 = fields.next()?.rsplit(':').next()?.parse().ok()?;
        // 0 is a process outside this PID namespace.
        (found == inode && pid != 0).then_some(pid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_by_inode() {
        let locks = "\
1: POSIX  ADVISORY  WRITE 12 fe:00:533 0 EOF
2: FLOCK  ADVISORY  WRITE 4711 00:1a:533 0 EOF
2: -> FLOCK  ADVISORY  WRITE 4712 00:1a:533 0 EOF
3: FLOCK  ADVISORY  WRITE 0 00:1a:534 0 EOF
4: FLOCK  ADVISORY  WRITE -1 00:1a:535 0 EOF
5: OFDLCK ADVISORY  READ  -1 00:05:536 0 EOF
";
        assert_eq!(find_holder(locks, 533), Some(4711));
        for unknown in [534, 535, 536, 999] {
            assert_eq!(find_holder(locks, unknown), None);
        }
    }
}
