//! Kinds of pages, their sizes, and what the huge-page pools hold.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::limits::page_size;

/// The kind of pages to back memory with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pages {
    /// Base pages, and nothing larger: transparent huge pages are switched off for the range.
    Base,
    /// Transparent huge pages, asked for; the kernel may have none to give.
    Thp,
    /// Pages of exactly this many bytes from the pool that the administrator reserved.
    Huge {
        /// Bytes in a page: 2 MiB and 1 GiB on x86; 64 KiB to 16 GiB elsewhere.
        bytes: u64,
    },
}

impl Pages {
    /// Bytes that an arena of this kind is aligned to and a multiple of.
    #[must_use]
    pub fn unit(self) -> u64 {
        match self {
            Self::Base => page_size() as u64,
            Self::Thp => thp_size().unwrap_or(page_size() as u64),
            Self::Huge { bytes } => bytes,
        }
    }

    /// What an arena for `bytes` will take: rounded up to whole units. `None` if no such number
    /// exists. (On a kernel with 64 KiB pages the unit of transparent huge pages is 512 MiB: a
    /// memory budget must count this.)
    #[must_use]
    pub fn round_up(self, bytes: u64) -> Option<u64> {
        bytes.checked_next_multiple_of(self.unit())
    }
}

/// Bytes in a (PMD-sized) transparent huge page; `None` where the kernel has none.
#[must_use]
pub fn thp_size() -> Option<u64> {
    let path = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";
    if let Some(size) = read_number(Path::new(path)).filter(|size| size.is_power_of_two()) {
        return Some(size);
    }
    // No /sys in this sandbox is no proof of no huge pages. A PMD entry spans one page full of
    // eight-byte entries on x86-64 and AArch64: 2 MiB, 32 MiB or 512 MiB.
    let known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    let page = page_size() as u64;
    (known && !Path::new("/sys/kernel/mm").exists()).then_some(page / 8 * page)
}

/// A pool of huge pages of one size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pool {
    /// Pages that nobody uses and nobody was promised.
    pub(crate) free: u64,
}

/// The pool of pages of `bytes` under `root`; `None` if the kernel has no such size (or no /sys).
pub(crate) fn pool(root: &Path, bytes: u64) -> Option<Pool> {
    let folder: PathBuf = root.join(format!("sys/kernel/mm/hugepages/hugepages-{}kB", bytes / 1024));
    let number = |name| read_number(&folder.join(name));
    let free = number("free_hugepages")?;
    // Reserved pages are counted as free until they are touched.
    let promised = number("resv_hugepages").unwrap_or(0);
    Some(Pool { free: free.saturating_sub(promised) })
}

/// Whether huge pages of `bytes` may exist. A size that does not shows before any address space is
/// taken for it; where the kernel's list can't be seen, mapping will tell.
pub(crate) fn may_have(bytes: u64) -> bool {
    pool(Path::new("/"), bytes).is_some() || !Path::new("/sys/kernel/mm/hugepages").exists()
}

fn read_number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_round_up_to_the_kind() {
        let page = page_size() as u64;
        assert_eq!(Pages::Base.round_up(page + 1), Some(2 * page));
        assert_eq!(Pages::Huge { bytes: 1 << 30 }.round_up(3), Some(1 << 30));
        assert_eq!(Pages::Huge { bytes: 1 << 30 }.round_up(u64::MAX), None);
        if let Some(thp) = thp_size() {
            assert!(thp > page);
            assert_eq!(Pages::Thp.round_up(1), Some(thp));
        }
    }

    #[test]
    fn a_pool_counts_what_is_not_promised() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sys/kernel/mm/hugepages/hugepages-2048kB");
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(pool(root.path(), 2 << 20), None);
        fs::write(folder.join("free_hugepages"), "24\n").unwrap();
        assert_eq!(pool(root.path(), 2 << 20), Some(Pool { free: 24 }));
        fs::write(folder.join("resv_hugepages"), "20\n").unwrap();
        assert_eq!(pool(root.path(), 2 << 20), Some(Pool { free: 4 }));
        assert_eq!(pool(root.path(), 1 << 30), None);
    }
}
