//! Reading small files under a root that may be anything: live, captured, damaged or hostile.
//!
//! Every read is bounded. In a captured tree only regular files are opened (a FIFO would block for ever), and symbolic links
//! are followed by hand, so that `/sys/bus/…` means the tree's own and no link leads out of it.

use crate::Root;
use memgauge_model::{Avail, CpuList, Reason};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use crate::list;

/// No file of sysfs or procfs that is read whole is longer; a longer one is read up to here.
pub(crate) const CAP: u64 = 1 << 20;

/// More names than any folder that is listed has.
const MOST_NAMES: usize = 1 << 17;

/// As in the kernel: beyond this many links there is a loop.
const MOST_LINKS: usize = 40;

/// Why a file gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Miss {
    /// There is no such file.
    Absent,
    /// It may not be read.
    Denied,
    /// It is no file, or reading it failed.
    Unreadable(String),
}

impl Miss {
    /// As a missing value of the document.
    pub(crate) fn avail<T>(&self, path: &str) -> Avail<T> {
        let reason = match self {
            Self::Absent => Reason::NotPresent,
            Self::Denied => Reason::NoPermission,
            Self::Unreadable(_) => Reason::NotSupported,
        };
        Avail::missing(reason, self.text(path))
    }

    /// In words, with the file's name.
    pub(crate) fn text(&self, path: &str) -> String {
        let what = match self {
            Self::Absent => "no such file",
            Self::Denied => "permission denied",
            Self::Unreadable(what) => what,
        };
        format!("/{path}: {what}")
    }
}

/// The files under a root. Paths are relative to it: `sys/devices/system/cpu/online`.
pub(crate) struct Files<'r> {
    root: &'r Root,
    /// Folders whose links have been followed, by the path that was asked for.
    folders: RefCell<HashMap<String, Option<PathBuf>>>,
}

impl<'r> Files<'r> {
    pub(crate) fn new(root: &'r Root) -> Self {
        Self { root, folders: RefCell::default() }
    }

    /// May the live machine be asked?
    pub(crate) fn live(&self) -> bool {
        self.root.is_live()
    }

    /// The first `cap` bytes of a file.
    pub(crate) fn bytes(&self, path: &str, cap: u64) -> Result<Vec<u8>, Miss> {
        let full = self.locate(path)?;
        let mut bytes = Vec::with_capacity(4096.min(cap as usize));
        let file = File::open(full).map_err(|e| miss(&e))?;
        file.take(cap).read_to_end(&mut bytes).map_err(|e| miss(&e))?;
        Ok(bytes)
    }

    /// A text up to `cap` bytes, without the white space and NUL bytes around it.
    pub(crate) fn head(&self, path: &str, cap: u64) -> Result<String, Miss> {
        let bytes = self.bytes(path, cap)?;
        let is_text = |b: &u8| *b != 0 && !b.is_ascii_whitespace();
        let from = bytes.iter().position(is_text).unwrap_or(bytes.len());
        let to = bytes.iter().rposition(is_text).map_or(from, |last| last + 1);
        let text = &bytes[from..to];
        Ok(std::str::from_utf8(text).map_or_else(|_| String::from_utf8_lossy(text).into_owned(), str::to_owned))
    }

    /// A text.
    pub(crate) fn text(&self, path: &str) -> Result<String, Miss> {
        self.head(path, CAP)
    }

    /// A text that is not empty, or the reason why there is none.
    pub(crate) fn word(&self, path: &str) -> Avail<String> {
        match self.text(path) {
            Ok(text) if text.is_empty() => Avail::missing(Reason::NotPresent, format!("/{path}: empty")),
            Ok(text) => Avail::Known(text),
            Err(miss) => miss.avail(path),
        }
    }

    /// A decimal number; `None` for anything else.
    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        self.text(path).ok()?.parse().ok()
    }

    /// A decimal number, or the reason why there is none.
    pub(crate) fn figure(&self, path: &str) -> Avail<u64> {
        match self.text(path) {
            Ok(text) => match text.parse() {
                Ok(number) => Avail::Known(number),
                Err(_) => Avail::missing(Reason::NotSupported, format!("/{path}: not a number")),
            },
            Err(miss) => miss.avail(path),
        }
    }

    /// The members of a list file (`0-3,8`) that `within` has.
    pub(crate) fn list(&self, path: &str, within: &CpuList) -> Option<CpuList> {
        list::ranges(&self.text(path).ok()?).map(|ranges| ranges.within(within))
    }

    /// The members of a mask file (`00000000,0000ffff`) that `within` has.
    pub(crate) fn mask(&self, path: &str, within: &CpuList) -> Option<CpuList> {
        list::mask(&self.text(path).ok()?).map(|ranges| ranges.within(within))
    }

    /// The names in a folder, in no order; none if it can't be listed.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let Some(full) = self.folder(path) else { return Vec::new() };
        let Ok(entries) = fs::read_dir(full) else { return Vec::new() };
        entries.take(MOST_NAMES).filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
    }

    /// The numbers N of the entries `prefixN`, rising.
    pub(crate) fn numbered(&self, path: &str, prefix: &str) -> Vec<u32> {
        let number = |name: &String| {
            let digits = name.strip_prefix(prefix)?;
            digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse::<u32>().ok())?
        };
        let mut numbers: Vec<u32> = self.names(path).iter().filter_map(number).filter(|n| *n < list::LARGEST).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Is there anything of that name?
    pub(crate) fn exists(&self, path: &str) -> bool {
        self.find(path).is_some_and(|full| fs::symlink_metadata(full).is_ok())
    }

    /// Where a path leads once all links are followed, below the root.
    pub(crate) fn target(&self, path: &str) -> Option<String> {
        let full = self.walk(path)?;
        Some(full.strip_prefix(self.root.base()).ok()?.to_string_lossy().into_owned())
    }

    /// The real path of a file that may be opened.
    fn locate(&self, path: &str) -> Result<PathBuf, Miss> {
        if self.live() {
            return Ok(Path::new("/").join(path));
        }
        let mut full = self.find(path).ok_or(Miss::Absent)?;
        let mut meta = fs::symlink_metadata(&full).map_err(|e| miss(&e))?;
        if meta.is_symlink() {
            full = self.walk(path).ok_or(Miss::Absent)?;
            meta = fs::symlink_metadata(&full).map_err(|e| miss(&e))?;
        }
        if meta.is_file() { Ok(full) } else { Err(Miss::Unreadable("not a file".to_owned())) }
    }

    /// A path in its real folder; what is there may be anything, a link included.
    fn find(&self, path: &str) -> Option<PathBuf> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if matches!(name, "" | "." | "..") { self.walk(path) } else { Some(self.folder(folder)?.join(name)) }
    }

    /// A folder's real path. Kept: a machine of 10,000 CPUs has as many folders, each with a dozen files.
    fn folder(&self, path: &str) -> Option<PathBuf> {
        if self.live() || path.is_empty() {
            return Some(self.root.base().join(path));
        }
        if let Some(known) = self.folders.borrow().get(path) {
            return known.clone();
        }
        let found = self.find(path).and_then(|full| match fs::symlink_metadata(&full) {
            Ok(meta) if meta.is_symlink() => self.walk(path),
            Ok(meta) if meta.is_dir() => Some(full),
            _ => None,
        });
        self.folders.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }

    /// Follows a path from the root, link by link; `..` stops at the root, and absolute links begin there.
    fn walk(&self, path: &str) -> Option<PathBuf> {
        let mut here: Vec<OsString> = Vec::new();
        let mut ahead = steps(Path::new(path));
        let mut links = 0;
        while let Some(step) = ahead.pop() {
            match step.to_str() {
                Some("..") => {
                    here.pop();
                    continue;
                }
                Some("/") => {
                    here.clear();
                    continue;
                }
                _ => here.push(step),
            }
            let full = self.under(&here);
            if !fs::symlink_metadata(&full).ok()?.is_symlink() {
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return None;
            }
            let link = fs::read_link(&full).ok()?;
            here.pop();
            ahead.extend(steps(&link));
        }
        Some(self.under(&here))
    }

    fn under(&self, parts: &[OsString]) -> PathBuf {
        let mut full = self.root.base().to_path_buf();
        full.extend(parts);
        full
    }
}

/// A path's steps, last first, so that the next one can be popped.
fn steps(path: &Path) -> Vec<OsString> {
    let step = |component: Component<'_>| match component {
        Component::RootDir => Some(OsString::from("/")),
        Component::ParentDir => Some(OsString::from("..")),
        Component::Normal(name) => Some(name.to_owned()),
        Component::CurDir | Component::Prefix(_) => None,
    };
    let mut steps: Vec<OsString> = path.components().filter_map(step).collect();
    steps.reverse();
    steps
}

fn miss(error: &std::io::Error) -> Miss {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Miss::Absent,
        ErrorKind::PermissionDenied => Miss::Denied,
        _ => Miss::Unreadable(error.to_string()),
    }
}
