//! Making an arena's pages exist, before anything is measured, without dying of it.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{arena::Arena, errno::Errno, limits::page_size, mapping::Advice, pages::Pages, raw::check};

/// How much is populated between two looks at the stop flag: some tens of milliseconds' worth.
const SLICE: usize = 64 << 20;

/// Why pages could not be made. Those before `offset` exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PopulateError {
    /// The range is not inside the arena.
    #[error("bytes {offset} to {offset} + {len} are not inside the arena")]
    OutOfRange {
        /// Where the range begins.
        offset: usize,
        /// Bytes in it.
        len: usize,
    },
    /// The stop flag was set.
    #[error("stopped before byte {offset}")]
    Stopped {
        /// Where it stopped.
        offset: usize,
    },
    /// No memory: the node, the huge-page pool, or the cgroup has no more.
    #[error("no memory for the page at byte {offset}: {errno}")]
    NoMemory {
        /// The slice that failed begins here.
        offset: usize,
        /// `ENOMEM`, or `EFAULT` where touching the page would have raised SIGBUS.
        errno: Errno,
    },
    /// The kernel found broken memory.
    #[error("broken memory behind byte {offset}")]
    Poisoned {
        /// The slice that failed begins here.
        offset: usize,
    },
    /// Any other answer.
    #[error("can't populate memory at byte {offset}: {errno}")]
    Kernel {
        /// The slice that failed begins here.
        offset: usize,
        /// The kernel's answer.
        errno: Errno,
    },
}

impl Arena {
    /// Makes all pages exist, placed by the arena's binding or else by the calling thread's CPU.
    ///
    /// # Errors
    ///
    /// A [`PopulateError`].
    pub fn populate(&self, stop: &AtomicBool) -> Result<(), PopulateError> {
        self.populate_range(0, self.len(), stop)
    }

    /// Makes the pages of a range exist, rounded outwards to whole pages. Threads may populate
    /// parts of one arena at a time. Contents don't change, so slices may be in use.
    ///
    /// `MADV_POPULATE_WRITE` (Linux 5.14) does it and reports what would else be SIGBUS. Older
    /// kernels are made to write each page's first word back to itself (a futex operation): the
    /// kernel then meets the fault, so that this path, too, gets an error and not a signal, and
    /// takes nothing from the huge-page pool that is not there. Running into a cgroup's or the
    /// machine's limit on ordinary memory can still get the process killed: a budget must prevent
    /// that.
    ///
    /// # Errors
    ///
    /// A [`PopulateError`].
    pub fn populate_range(&self, offset: usize, len: usize, stop: &AtomicBool) -> Result<(), PopulateError> {
        self.populate_by(offset, len, stop, |offset, len| match self.advise_range(offset, len, Advice::PopulateWrite) {
            Err(errno) if errno.is_refusal() || errno.0 == libc::EINVAL => self.touch(offset, len),
            done => done,
        })
    }

    fn populate_by(
        &self,
        offset: usize,
        len: usize,
        stop: &AtomicBool,
        slice: impl Fn(usize, usize) -> Result<(), Errno>,
    ) -> Result<(), PopulateError> {
        let end = offset.checked_add(len).filter(|&end| end <= self.len());
        let end = end.ok_or(PopulateError::OutOfRange { offset, len })?;
        let step = self.step();
        let end = end.next_multiple_of(step);
        let mut offset = offset / step * step;
        let mut tries = 0;
        while offset < end {
            if stop.load(Ordering::Relaxed) {
                return Err(PopulateError::Stopped { offset });
            }
            // Slices end at multiples of their size, so that threads' parts fall on the same ones.
            let slice_end = (offset + 1).next_multiple_of(SLICE.max(step)).min(end);
            match slice(offset, slice_end - offset) {
                Ok(()) => (offset, tries) = (slice_end, 0),
                Err(Errno(libc::EINTR | libc::EAGAIN)) if tries < 100 => tries += 1,
                Err(errno) => return Err(failure(offset, errno)),
            }
        }
        Ok(())
    }

    /// Has the kernel fault in each page of a range (whole pages).
    fn touch(&self, offset: usize, len: usize) -> Result<(), Errno> {
        (offset..offset + len).step_by(self.step()).try_for_each(|offset| self.touch_page(offset))
    }

    fn touch_page(&self, offset: usize) -> Result<(), Errno> {
        // "Or with 0, wake nobody": an atomic read and write of the same value, done by the kernel.
        let operation = libc::FUTEX_OP(libc::FUTEX_OP_OR, 0, libc::FUTEX_OP_CMP_EQ, 0);
        let word = self.at(offset).as_ptr();
        // SAFETY: the word lies in the arena, at the start of a page; its value stays what it is,
        // at every instant, whoever reads it meanwhile.
        let returned = unsafe {
            libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE_OP | libc::FUTEX_PRIVATE_FLAG, 0, 0usize, word, operation)
        };
        check(returned).map(drop)
    }

    /// Bytes in the smallest page that the arena may consist of.
    fn step(&self) -> usize {
        match self.pages() {
            Pages::Base | Pages::Thp => page_size(),
            // An arena is a multiple of its unit, which therefore fits.
            Pages::Huge { bytes } => usize::try_from(bytes).unwrap_or(self.len()),
        }
    }
}

fn failure(offset: usize, errno: Errno) -> PopulateError {
    match errno.0 {
        libc::ENOMEM | libc::EFAULT => PopulateError::NoMemory { offset, errno },
        libc::EHWPOISON => PopulateError::Poisoned { offset },
        _ => PopulateError::Kernel { offset, errno },
    }
}
