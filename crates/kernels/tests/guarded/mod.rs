//! Memory between two pages that may not be touched.

use std::ops::{Deref, DerefMut};

/// `len` bytes, flush with an inaccessible page at one end.
pub struct Guarded {
    map: *mut u8,
    map_len: usize,
    data: *mut u8,
    len: usize,
}

/// Which end touches its guard page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Flush {
    Begin,
    End,
}

impl Guarded {
    pub fn new(len: usize, flush: Flush) -> Self {
        // SAFETY: no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let inner = len.next_multiple_of(page);
        let map_len = inner + 2 * page;
        let (prot, flags) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh anonymous mapping.
        let map = unsafe { libc::mmap(std::ptr::null_mut(), map_len, prot, flags, -1, 0) };
        assert_ne!(map, libc::MAP_FAILED);
        let map = map.cast::<u8>();
        let begin = map.wrapping_add(page);
        let rw = libc::PROT_READ | libc::PROT_WRITE;
        if inner > 0 {
            // SAFETY: inside that mapping.
            let done = unsafe { libc::mprotect(begin.cast(), inner, rw) };
            assert_eq!(done, 0);
        }
        let data = match flush {
            Flush::Begin => begin,
            Flush::End => begin.wrapping_add(inner - len),
        };
        Self { map, map_len, data, len }
    }
}

impl Deref for Guarded {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: readable, initialised by the kernel to zero, ours alone.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
}

impl DerefMut for Guarded {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`, and writable.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and no borrow outlives `self`.
        unsafe { libc::munmap(self.map.cast(), self.map_len) };
    }
}
