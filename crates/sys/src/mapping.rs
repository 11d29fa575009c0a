//! A range of address space that unmaps itself.

use std::{fs::File, os::fd::AsRawFd, ptr::NonNull};

use libc::c_int;

use crate::{errno::Errno, pages::Pages, raw::check};

/// Reserved address space. Only what [`open`](Self::open) or [`open_huge`](Self::open_huge) made
/// accessible may be touched; the rest is guard.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

impl Mapping {
    /// Reserves `len` bytes (whole base pages) that nobody can touch.
    pub(crate) fn reserve(len: usize) -> Result<Self, Errno> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: at an address of the kernel's choice, so that no existing mapping is replaced.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        NonNull::new(start.cast()).map(|start| Self { start, len }).ok_or(Errno(libc::ENOMEM))
    }

    /// The address of the first byte.
    pub(crate) fn address(&self) -> usize {
        self.start.as_ptr().addr()
    }

    /// Makes `len` bytes from `offset` (whole base pages, inside) readable and writable, zeroed.
    pub(crate) fn open(&self, offset: usize, len: usize) -> Result<NonNull<u8>, Errno> {
        let start = self.at(offset, len);
        // SAFETY: the range lies in this mapping, which nobody refers into yet.
        let returned = unsafe { libc::mprotect(start.as_ptr().cast(), len, libc::PROT_READ | libc::PROT_WRITE) };
        check(returned.into()).map(|_| start)
    }

    /// Puts huge pages of `page` bytes in place of `len` bytes from `offset` (aligned to `page`).
    /// The pages are taken from the pool's promise now, so that a short pool shows here.
    pub(crate) fn open_huge(self, offset: usize, len: usize, page: u64) -> Result<(Self, NonNull<u8>), Errno> {
        let start = self.at(offset, len);
        let shift = c_int::try_from(page.trailing_zeros()).unwrap_or(0) << libc::MAP_HUGE_SHIFT;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_HUGETLB | shift;
        let prot = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the range lies in this mapping, which nobody refers into yet.
        let mapped = unsafe { libc::mmap(start.as_ptr().cast(), len, prot, flags, -1, 0) };
        if mapped != libc::MAP_FAILED {
            return Ok((self, start));
        }
        let errno = Errno::last();
        self.abandon(offset, len);
        Err(errno)
    }

    /// Puts `len` bytes of a file, from its start, in place of `len` bytes from `offset`. Tells whether they are the storage itself: only
    /// there the kernel takes MAP_SYNC.
    pub(crate) fn open_file(self, offset: usize, len: usize, file: &File) -> Result<(Self, NonNull<u8>, bool), Errno> {
        let start = self.at(offset, len);
        let prot = libc::PROT_READ | libc::PROT_WRITE;
        let mut refused = Errno(0);
        for (flags, dax) in [(libc::MAP_SHARED_VALIDATE | libc::MAP_SYNC, true), (libc::MAP_SHARED, false)] {
            let (flags, file) = (flags | libc::MAP_FIXED, file.as_raw_fd());
            // SAFETY: the range lies in this mapping, which nobody refers into yet.
            let mapped = unsafe { libc::mmap(start.as_ptr().cast(), len, prot, flags, file, 0) };
            if mapped != libc::MAP_FAILED {
                return Ok((self, start, dax));
            }
            refused = Errno::last();
            // Whatever else the answer was, the range may be gone, and somebody else's by now.
            if !matches!(refused.0, libc::EOPNOTSUPP | libc::EINVAL) {
                break;
            }
        }
        self.abandon(offset, len);
        Err(refused)
    }

    /// Advises the kernel about memory in this mapping. For advice that changes no contents.
    pub(crate) fn advise(&self, start: NonNull<u8>, len: usize, advice: Advice) -> Result<(), Errno> {
        // SAFETY: `Advice` has only what leaves contents and access as they are.
        let returned = unsafe { libc::madvise(start.as_ptr().cast(), len, advice as c_int) };
        check(returned.into()).map(drop)
    }

    /// Gives up all but a hole: a failed MAP_FIXED may have unmapped it already, and another thread
    /// may have mapped something there since. If not, some address space stays reserved for good,
    /// which costs no memory.
    fn abandon(self, offset: usize, len: usize) {
        let parts = [(0, offset), (offset + len, self.len - offset - len)];
        for (offset, len) in parts.into_iter().filter(|&(_, len)| len > 0) {
            let start = self.at(offset, len);
            // SAFETY: the range lies in this mapping, outside the hole; nobody refers into it.
            unsafe { libc::munmap(start.as_ptr().cast(), len) };
        }
        std::mem::forget(self);
    }

    fn at(&self, offset: usize, len: usize) -> NonNull<u8> {
        assert!(offset <= self.len && len <= self.len - offset, "range outside the mapping");
        // SAFETY: the offset was just checked to lie in the mapping.
        unsafe { self.start.add(offset) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is this mapping's own, and who owns the mapping has let go of it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Advice that leaves a range's contents and access as they are.
#[derive(Clone, Copy)]
#[repr(i32)]
pub(crate) enum Advice {
    HugePage = libc::MADV_HUGEPAGE,
    NoHugePage = libc::MADV_NOHUGEPAGE,
    DontFork = libc::MADV_DONTFORK,
    DontDump = libc::MADV_DONTDUMP,
    PopulateWrite = libc::MADV_POPULATE_WRITE,
}

impl Advice {
    /// What to advise for a kind of pages.
    pub(crate) fn for_pages(pages: Pages) -> Option<Self> {
        match pages {
            Pages::Base => Some(Self::NoHugePage),
            Pages::Thp => Some(Self::HugePage),
            Pages::Huge { .. } => None,
        }
    }
}
