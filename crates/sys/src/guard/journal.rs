//! What is about to be changed, on disk before it is: lines of plain text, whole or not there.
//!
//! ```text
//! memgauge-guard 1
//! boot 0b4c…            the boot that it is valid in
//! owner 4711 88123      process and its start, in ticks since boot
//! msr 0 0x1a4 0x0 0xf   CPU, register, old value, new value
//! end
//! ```
//!
//! The owner holds a lock on the file as long as it lives, which tells it from a dead one in another PID namespace too.

use super::Change;
use crate::proc;
use std::{
    env,
    ffi::OsStr,
    fmt::Write as _,
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

pub(super) type Entry = Change;

const HEAD: &str = "memgauge-guard 1";
const PREFIX: &str = "memgauge-guard-";
const SUFFIX: &str = ".journal";
/// 64 CPUs with two registers need 8 KiB.
const LARGEST: u64 = 4 << 20;

/// Where journals go: `/run/memgauge` as root, else `$XDG_RUNTIME_DIR`; none where there is no such folder.
#[must_use]
pub fn default_folder() -> Option<PathBuf> {
    if proc::geteuid() == 0 {
        return Some(PathBuf::from("/run/memgauge"));
    }
    env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute())
}

/// A journal of this process.
#[derive(Debug)]
pub(super) struct Journal {
    folder: PathBuf,
    path: PathBuf,
    /// Its lock says that the owner lives.
    _locked: File,
}

impl Journal {
    /// Writes it beside its place, syncs it, and moves it there; then the folder is synced.
    pub fn write(folder: &Path, changes: &[Change]) -> io::Result<Self> {
        make_folder(folder)?;
        let owner = Owner::this()?;
        let name = format!("{PREFIX}{}-{}{SUFFIX}", owner.pid, owner.start);
        let (path, partial) = (folder.join(&name), folder.join(format!(".{name}.partial")));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let mut file = options.open(&partial)?;
        let written = file
            .try_lock()
            .map_err(io::Error::from)
            .and_then(|()| file.write_all(text(&boot_id()?, &owner, changes).as_bytes()))
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&partial, &path))
            .and_then(|()| File::open(folder)?.sync_all());
        if let Err(error) = written {
            // The first error is the one to tell.
            let _ = fs::remove_file(&partial);
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        Ok(Self { folder: folder.to_path_buf(), path, _locked: file })
    }

    /// Everything is put back.
    pub fn remove(self) -> Result<(), (PathBuf, io::Error)> {
        fs::remove_file(&self.path).map_err(|error| (self.folder, error))
    }
}

/// A journal that was found.
pub(super) enum Found {
    /// Its owner lives.
    Live { pid: u32 },
    /// Its owner is dead; the file's lock keeps others from putting the same back at once.
    Left { path: PathBuf, contents: Contents, _locked: File },
    /// It can't be relied on.
    Bad { path: PathBuf, why: String },
}

/// What a journal says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Contents {
    pub boot_id: String,
    pub owner: Owner,
    pub changes: Vec<Change>,
}

/// A process, and when it started: numbers are used again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Owner {
    pub pid: u32,
    /// Ticks since boot.
    pub start: u64,
}

impl Owner {
    fn this() -> io::Result<Self> {
        let pid = std::process::id();
        let start = start_of(pid).ok_or_else(|| io::Error::other("/proc does not tell when this process started"))?;
        Ok(Self { pid, start })
    }

    fn lives(&self) -> bool {
        start_of(self.pid) == Some(self.start)
    }
}

/// Every journal of the folder. Where the folder is another's, or can be written by others, there is none: what stands there is no
/// word of ours.
pub(super) fn found(folder: &Path) -> Vec<Found> {
    if check_folder(folder).is_err() {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| is_journal(path)).collect();
    paths.sort();
    paths.into_iter().filter_map(|path| look(&path)).collect()
}

/// The owner of the first journal whose owner lives.
pub(super) fn live_owner(folder: &Path) -> Option<u32> {
    found(folder).iter().find_map(|found| match found {
        Found::Live { pid } => Some(*pid),
        Found::Left { .. } | Found::Bad { .. } => None,
    })
}

/// Of this boot?
pub(super) fn boot_id() -> io::Result<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(id.trim().to_owned())
}

fn is_journal(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
}

/// None where it is gone meanwhile.
fn look(path: &Path) -> Option<Found> {
    let bad = |why: String| Some(Found::Bad { path: path.to_path_buf(), why });
    // A link leads where its maker wants; a FIFO would hold us up.
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return bad(error.to_string()),
    };
    match file.metadata() {
        Ok(meta) if !meta.is_file() => return bad("no regular file".to_owned()),
        Ok(meta) if meta.uid() != proc::geteuid() => return bad("another user's".to_owned()),
        Ok(meta) if meta.mode() & 0o022 != 0 => return bad("others can write it".to_owned()),
        Ok(meta) if meta.len() > LARGEST => return bad("too large".to_owned()),
        Ok(_) => {}
        Err(error) => return bad(error.to_string()),
    }
    let locked = match file.try_lock() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        // No locks on this file system: the process tells.
        Err(TryLockError::Error(_)) => false,
    };
    let mut said = String::new();
    if let Err(error) = (&mut file).take(LARGEST).read_to_string(&mut said) {
        return bad(error.to_string());
    }
    match parse(&said) {
        Some(contents) if locked || contents.owner.lives() => Some(Found::Live { pid: contents.owner.pid }),
        Some(contents) => Some(Found::Left { path: path.to_path_buf(), contents, _locked: file }),
        None => bad("not a whole journal".to_owned()),
    }
}

fn text(boot_id: &str, owner: &Owner, changes: &[Change]) -> String {
    let mut text = format!("{HEAD}\nboot {boot_id}\nowner {} {}\n", owner.pid, owner.start);
    for Change { cpu, msr, old, new } in changes {
        // Writing into a String can't fail.
        let _ = writeln!(text, "msr {cpu} {msr:#x} {old:#x} {new:#x}");
    }
    text.push_str("end\n");
    text
}

/// None for anything that [`text`] doesn't write.
fn parse(text: &str) -> Option<Contents> {
    let mut lines = text.strip_suffix("end\n")?.lines();
    if lines.next()? != HEAD {
        return None;
    }
    let boot_id = lines.next()?.strip_prefix("boot ")?.to_owned();
    let (pid, start) = lines.next()?.strip_prefix("owner ")?.split_once(' ')?;
    let owner = Owner { pid: pid.parse().ok()?, start: start.parse().ok()? };
    let changes = lines.map(change).collect::<Option<Vec<_>>>()?;
    Some(Contents { boot_id, owner, changes })
}

fn change(line: &str) -> Option<Change> {
    let mut fields = line.strip_prefix("msr ")?.split(' ');
    let cpu = fields.next()?.parse().ok()?;
    let mut hex = || u64::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok();
    let change = Change { cpu, msr: u32::try_from(hex()?).ok()?, old: hex()?, new: hex()? };
    fields.next().is_none().then_some(change)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => check_folder(folder),
    }
}

/// A real folder of ours that nobody else can write.
fn check_folder(folder: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(folder)?;
    let wrong = |why: &str| Err(io::Error::other(why.to_owned()));
    match meta {
        meta if !meta.is_dir() => wrong("is no folder"),
        meta if meta.uid() != proc::geteuid() => wrong("is another user's"),
        meta if meta.mode() & 0o022 != 0 => wrong("others can write to it"),
        _ => Ok(()),
    }
}

/// The 22nd field of the process's `stat`; its name, the second one, may hold spaces and brackets.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents() -> Contents {
        let change = |cpu, old| Change { cpu, msr: 0xc000_0108, old, new: old | 0x2f };
        Contents { boot_id: "b".to_owned(), owner: Owner { pid: 7, start: 99 }, changes: vec![change(0, 0x3c0), change(64, 0)] }
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let said = text("b", &contents().owner, &contents().changes);
        assert_eq!(parse(&said), Some(contents()));
        for cut in 0..said.len() {
            assert_eq!(parse(&said[..cut]), None, "{:?}", &said[..cut]);
        }
        for (from, to) in [("guard 1", "guard 2"), ("msr 0", "msr x"), ("0x3c0 ", ""), ("0x3c0", "960"), ("end", "msr\nend")] {
            assert_eq!(parse(&said.replacen(from, to, 1)), None, "{to}");
        }
    }

    #[test]
    fn this_process_lives_and_its_number_alone_is_not_enough() {
        let owner = Owner::this().unwrap();
        assert!(owner.lives());
        assert!(!Owner { start: owner.start + 1, ..owner }.lives());
    }
}
