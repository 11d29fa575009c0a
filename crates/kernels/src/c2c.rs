//! Core-to-core transfers: a ping-pong on one line, and a chase through lines
//! that another core owns.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::arch;
use crate::clock::Clock;
use crate::rng::Rng;

/// Bytes from node to node in a [`Window`]: two lines, so that a prefetcher of
/// adjacent lines does not do the work.
pub const WINDOW_STRIDE: usize = 128;
const LINE: usize = 64;
/// The word of a node that the owner dirties; word 0 is the link.
const DIRTY_WORD: usize = 1;

/// Why memory is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum C2cError {
    /// It does not begin on a 64-byte boundary.
    Unaligned,
    /// It is below one line ([`Line`]) or two nodes ([`Window`]).
    TooSmall {
        /// What there is.
        bytes: usize,
        /// What is needed.
        needed: usize,
    },
}

impl std::fmt::Display for C2cError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Unaligned => write!(f, "the memory does not begin on a 64-byte boundary"),
            Self::TooSmall { bytes, needed } => {
                write!(f, "{bytes} bytes where {needed} are needed")
            }
        }
    }
}

impl std::error::Error for C2cError {}

/// Memory as words that several threads may use.
fn words(memory: &mut [u8], needed: usize) -> Result<&[AtomicU64], C2cError> {
    let bytes = memory.len();
    if !memory.as_ptr().addr().is_multiple_of(LINE) {
        return Err(C2cError::Unaligned);
    }
    if bytes < needed {
        return Err(C2cError::TooSmall { bytes, needed });
    }
    // SAFETY: aligned (checked), within the slice, any bytes are a valid AtomicU64,
    // and the exclusive borrow leaves no other access for its lifetime.
    Ok(unsafe { std::slice::from_raw_parts(memory.as_mut_ptr().cast(), bytes / 8) })
}

/// One cache line that two threads hand values over by.
#[derive(Debug)]
pub struct Line<'a> {
    word: &'a AtomicU64,
}

impl<'a> Line<'a> {
    /// The first line of `memory`, whose home node is thus the caller's choice;
    /// set to 0. Leave the next line unused.
    ///
    /// # Errors
    ///
    /// [`C2cError`].
    pub fn new(memory: &'a mut [u8]) -> Result<Self, C2cError> {
        let word = &words(memory, LINE)?[0];
        word.store(0, Ordering::SeqCst);
        Ok(Self { word })
    }

    /// Publishes `value` and everything written before.
    #[inline]
    pub fn signal(&self, value: u64) {
        self.word.store(value, Ordering::Release);
    }

    /// Polls until the line holds `value`; false after `spin_limit` polls.
    #[inline]
    #[must_use]
    pub fn wait(&self, value: u64, spin_limit: u64) -> bool {
        for _ in 0..spin_limit {
            if self.word.load(Ordering::Acquire) == value {
                return true;
            }
        }
        false
    }

    /// Like [`wait`](Line::wait); false, too, as soon as the line holds `end`, by which a partner says that it has left.
    #[inline]
    #[must_use]
    pub fn wait_unless(&self, value: u64, end: u64, spin_limit: u64) -> bool {
        for _ in 0..spin_limit {
            let seen = self.word.load(Ordering::Acquire);
            if seen == value || seen == end {
                return seen == value;
            }
        }
        false
    }

    /// The present value.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.word.load(Ordering::Acquire)
    }
}

/// How a ping-pong writes the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PingOp {
    /// Poll by loads for the partner's value, then store one's own.
    Store,
    /// Try compare-and-swap from the partner's value to one's own.
    Cas,
}

/// A ping-pong that both sides agree upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PingPong {
    /// Store or compare-and-swap.
    pub op: PingOp,
    /// The line's value at the beginning: [`Line::value`] before either side
    /// starts, or the [`end`](PingPong::end) of a ping-pong that succeeded.
    pub first: u64,
    /// Timed round trips; one more before them waits for the partner.
    pub round_trips: u64,
    /// Polls (tries, with [`PingOp::Cas`]) for one answer before giving up.
    pub spin_limit: u64,
}

impl PingPong {
    /// The line's value after success.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.first.wrapping_add(2 * (self.round_trips + 1))
    }

    /// The side that times: ticks of `round_trips` round trips (half of one is a
    /// transfer), or `None` if the partner failed to answer in time.
    #[must_use]
    pub fn lead(&self, line: &Line<'_>, clock: &Clock) -> Option<u64> {
        self.step(line, self.first)?;
        let mut value = self.first.wrapping_add(2);
        self.answered(line, value)?;
        let start = clock.start();
        for _ in 0..self.round_trips {
            self.step(line, value)?;
            value = value.wrapping_add(2);
        }
        self.answered(line, value)?;
        Some(clock.stop().wrapping_sub(start))
    }

    /// The other side; `None` if the leader failed to answer in time.
    #[must_use]
    pub fn follow(&self, line: &Line<'_>) -> Option<()> {
        let mut value = self.first.wrapping_add(1);
        for _ in 0..=self.round_trips {
            self.step(line, value)?;
            value = value.wrapping_add(2);
        }
        Some(())
    }

    #[inline]
    fn answered(&self, line: &Line<'_>, value: u64) -> Option<()> {
        line.wait(value, self.spin_limit).then_some(())
    }

    /// Waits for `value` and replaces it by the next.
    #[inline]
    fn step(&self, line: &Line<'_>, value: u64) -> Option<()> {
        let next = value.wrapping_add(1);
        match self.op {
            PingOp::Store => {
                if !line.wait(value, self.spin_limit) {
                    return None;
                }
                line.signal(next);
                Some(())
            }
            PingOp::Cas => (0..self.spin_limit)
                .any(|_| {
                    let swap = |ok, err| line.word.compare_exchange(value, next, ok, err);
                    swap(Ordering::AcqRel, Ordering::Relaxed).is_ok()
                })
                .then_some(()),
        }
    }
}

/// Reads each line of `memory` once, so that what this core held before is pushed out of its caches. Returns the lines read.
pub fn read_through(memory: &[u8]) -> usize {
    let mut lines = 0;
    for byte in memory.iter().step_by(LINE) {
        // A value that nobody uses would not be loaded.
        std::hint::black_box(*byte);
        lines += 1;
    }
    arch::full_fence();
    lines
}

/// Lines that one core owns and another then reads in one dependent pass.
///
/// Nodes at [`WINDOW_STRIDE`], linked through word 0 to a random single cycle of
/// byte offsets. All of it may be called from several threads; for a figure that
/// means something they take turns by a [`Line`].
#[derive(Debug)]
pub struct Window<'a> {
    words: &'a [AtomicU64],
    nodes: usize,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Window<'a> {
    /// Uses all of `memory` (128–256 KiB, not beyond half the owner's L2).
    ///
    /// # Errors
    ///
    /// [`C2cError`].
    pub fn new(memory: &'a mut [u8], rng: &mut Rng) -> Result<Self, C2cError> {
        let words = words(memory, 2 * WINDOW_STRIDE)?;
        let window = Self { words, nodes: words.len() * 8 / WINDOW_STRIDE, memory: PhantomData };
        window.relink(rng);
        Ok(window)
    }

    /// Hops of a pass.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes as u64
    }

    /// Links a fresh cycle: for prefetchers that remember a chain. Dirties the lines.
    pub fn relink(&self, rng: &mut Rng) {
        self.link(0).store(0, Ordering::Relaxed);
        for i in 1..self.nodes {
            let j = rng.below(i as u64) as usize;
            let after = self.link(j).load(Ordering::Relaxed);
            self.link(i).store(after, Ordering::Relaxed);
            self.link(j).store((i * WINDOW_STRIDE) as u64, Ordering::Relaxed);
        }
        fence(Ordering::SeqCst);
    }

    /// Owner, kind HITM: stores into each node's line, so that this core holds
    /// all of them modified, then fences.
    pub fn own_modified(&self) {
        for i in 0..self.nodes {
            let word = &self.words[i * WINDOW_STRIDE / 8 + DIRTY_WORD];
            let value = word.load(Ordering::Relaxed);
            word.store(value.wrapping_add(1), Ordering::Relaxed);
        }
        arch::full_fence();
    }

    /// Owner, kind HIT: flushes each node's line and loads it again, so that this
    /// core holds all of them clean, then fences. False, and nothing done, where
    /// the architecture cannot flush.
    #[must_use]
    pub fn own_clean(&self) -> bool {
        for i in 0..self.nodes {
            // SAFETY: a word of the borrowed memory; flushing changes no content.
            if !unsafe { arch::flush_line(self.link(i).as_ptr().cast()) } {
                return false;
            }
        }
        arch::full_fence();
        for i in 0..self.nodes {
            std::hint::black_box(self.link(i).load(Ordering::Relaxed));
        }
        arch::full_fence();
        true
    }

    /// Reader: ticks of one dependent pass over all nodes.
    #[must_use]
    pub fn read_pass(&self, clock: &Clock) -> u64 {
        let base = self.words.as_ptr().cast();
        let start = clock.start();
        // SAFETY: links are only ever written by `relink`, always to offsets of
        // other links within the borrowed memory, and each load is of one aligned
        // word that other threads write atomically at most.
        let last = unsafe { arch::chase(base, 0, self.nodes as u64) };
        let ticks = clock.stop().wrapping_sub(start);
        std::hint::black_box(last);
        ticks
    }

    fn link(&self, i: usize) -> &AtomicU64 {
        &self.words[i * WINDOW_STRIDE / 8]
    }
}

#[cfg(test)]
mod tests;
