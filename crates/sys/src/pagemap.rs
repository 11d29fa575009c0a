//! Which physical memory an arena has, from `/proc/self/pagemap`.
//!
//! Source: the kernel's `Documentation/admin-guide/mm/pagemap.rst`. In a guest these are the addresses that the guest sees, not
//! those of the host's memory modules.

use std::{fs::File, io, ops::Range, os::unix::fs::FileExt};

use crate::{arena::Arena, errno::Errno, limits::page_size};

/// One 8-byte entry a base page.
const ENTRY: usize = 8;
/// Entries that are read at once.
const CHUNK: usize = 1 << 16;
/// The page is in memory.
const PRESENT: u64 = 1 << 63;
/// The page's frame number; 0 for who may not know it.
const FRAME: u64 = (1 << 55) - 1;

/// Where an arena lies in physical memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Physical {
    /// Physical addresses, bytes: rising, no two of them touching.
    pub ranges: Vec<Range<u64>>,
    /// Base pages that are not in memory.
    pub absent: u64,
}

/// Why physical addresses are not to be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PhysicalError {
    /// Frame numbers read as 0: `CAP_SYS_ADMIN` is needed in the first user namespace.
    #[error("/proc/self/pagemap hides frame numbers without CAP_SYS_ADMIN")]
    Hidden,
    /// The file can't be opened or read.
    #[error("/proc/self/pagemap: {0}")]
    Unreadable(Errno),
}

/// Asks for the frame of each of the arena's pages. Call it after populating. Frames stay where they are only while the kernel
/// migrates nothing.
///
/// # Errors
///
/// A [`PhysicalError`].
pub fn physical(arena: &Arena) -> Result<Physical, PhysicalError> {
    let file = File::open("/proc/self/pagemap").map_err(unreadable)?;
    let page = page_size();
    let first = arena.at(0).addr().get() / page;
    let mut frames = Frames::default();
    let mut buffer = vec![0; CHUNK * ENTRY];
    let mut next = first;
    let mut left = arena.len() / page;
    while left > 0 {
        let chunk = &mut buffer[..left.min(CHUNK) * ENTRY];
        file.read_exact_at(chunk, (next * ENTRY) as u64).map_err(unreadable)?;
        let entries = chunk.as_chunks::<ENTRY>().0;
        entries.iter().for_each(|entry| frames.take(u64::from_ne_bytes(*entry)));
        next += entries.len();
        left -= entries.len();
    }
    frames.close(page as u64)
}

fn unreadable(error: io::Error) -> PhysicalError {
    // A short read has no number of its own.
    PhysicalError::Unreadable(Errno(error.raw_os_error().unwrap_or(libc::EIO)))
}

/// Frames seen so far, as runs in the order of virtual addresses.
#[derive(Default)]
struct Frames {
    runs: Vec<Range<u64>>,
    hidden: bool,
    absent: u64,
}

impl Frames {
    fn take(&mut self, entry: u64) {
        let frame = entry & FRAME;
        match self.runs.last_mut() {
            _ if entry & PRESENT == 0 => self.absent += 1,
            _ if frame == 0 => self.hidden = true,
            Some(run) if run.end == frame => run.end += 1,
            _ => self.runs.push(frame..frame + 1),
        }
    }

    fn close(mut self, page: u64) -> Result<Physical, PhysicalError> {
        if self.hidden {
            return Err(PhysicalError::Hidden);
        }
        self.runs.sort_unstable_by_key(|run| run.start);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for run in self.runs {
            let bytes = run.start * page..run.end * page;
            match ranges.last_mut() {
                Some(last) if last.end == bytes.start => last.end = bytes.end,
                _ => ranges.push(bytes),
            }
        }
        Ok(Physical { ranges, absent: self.absent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: &[u64]) -> Result<Physical, PhysicalError> {
        let mut frames = Frames::default();
        entries.iter().for_each(|entry| frames.take(*entry));
        frames.close(4096)
    }

    #[test]
    fn runs_of_frames_join_whatever_their_order() {
        // Soft-dirty and exclusively mapped, bits 55 and 56, are no part of a frame.
        let flags = PRESENT | 1 << 55 | 1 << 56;
        let seen = of(&[flags | 8, flags | 9, flags | 3, 0, flags | 10, flags | 2]).unwrap();
        assert_eq!(seen.ranges, [2 * 4096..4 * 4096, 8 * 4096..11 * 4096]);
        assert_eq!(seen.absent, 1);
    }

    #[test]
    fn a_page_in_swap_has_no_frame() {
        let swapped = 1 << 62 | 0x1234;
        assert_eq!(of(&[swapped]).unwrap(), Physical { ranges: Vec::new(), absent: 1 });
    }

    #[test]
    fn frames_that_read_as_zero_are_hidden_not_at_address_zero() {
        assert_eq!(of(&[PRESENT]), Err(PhysicalError::Hidden));
    }
}
