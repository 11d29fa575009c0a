//! Bandwidth kernels: the catalog, what each of them moves, and how it is run.
//!
//! A kernel works in *bursts* of four lines (256 application bytes) of every
//! stream of its mix, each followed by a delay in core cycles. Without a delay a
//! separate, further unrolled loop runs that holds no trace of one.

mod accounting;
mod order;
mod run;

#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(target_arch = "x86_64")]
#[macro_use]
mod x86;

pub use accounting::{Accounting, Lines, Op, Walk};
pub use run::{Cursor, StreamError, Streams};

use crate::arch;
use crate::isa::Isa;
use run::Job;

/// The word that the [`Op::Write`] kernels store, over and over: 1.0 and a bit,
/// so that it is neither zero nor what [`crate::touch::fill`] wrote.
pub const WRITE_WORD: u64 = 0x3ff0_8000_0000_0001;
/// The factor q of the scale and triad kernels.
pub const FACTOR: f64 = 3.0;
/// Lines of each stream in a burst.
pub const BURST_LINES: usize = 4;
/// Bursts after which a [flushing](Kernel::flushing) kernel flushes what they stored.
pub const FLUSHED_BURSTS: u64 = 4;
/// Application bytes of each stream in a burst (full lines).
pub const BURST_BYTES: usize = BURST_LINES * LINE;
const LINE: usize = 64;

/// Runs the bursts of a job; a checking one returns the XOR of the words read.
///
/// Unsafe to call: the job's pointers and indices must be good for its bursts,
/// and the CPU must have the instruction set.
type Loop = unsafe fn(&Job) -> u64;

/// A bandwidth loop that can run on this CPU.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    op: Op,
    lines: Lines,
    walk: Walk,
    isa: Isa,
    flush: bool,
    body: Loop,
}

impl Kernel {
    /// The kernel of that description, if it exists and this CPU can run it.
    ///
    /// There is none with non-temporal stores in [`Isa::Portable`], and none for
    /// a [`Walk::BlockRandom`] whose block is not a power of two in
    /// `4..=2^24` lines. [`Lines::Partial`] moves 8 bytes a line by scalar
    /// instructions whatever the vector instruction set.
    #[must_use]
    pub fn find(op: Op, lines: Lines, walk: Walk, isa: Isa) -> Option<Self> {
        if !isa.is_available() {
            return None;
        }
        if let Walk::BlockRandom { block_lines } = walk
            && !(block_lines.is_power_of_two() && (4..=1 << 24).contains(&block_lines))
        {
            return None;
        }
        Some(Self { op, lines, walk, isa, flush: false, body: body(op, lines, walk, isa, false)? })
    }

    /// The same kernel, which for [`Op::Read`] also keeps [`Cursor::check`]: every
    /// load is XORed instead of dropped. That proves what is read, and costs
    /// up to a third of an L1-resident buffer's bandwidth; others don't change
    /// (what they load shows in what they store).
    #[must_use]
    pub fn checked(self) -> Self {
        let body = body(self.op, self.lines, self.walk, self.isa, true);
        Self { body: body.unwrap_or(self.body), ..self }
    }

    /// The same kernel, which also flushes each line that it has stored from all caches, [`FLUSHED_BURSTS`] bursts at a time and without
    /// waiting for that. None where nothing is stored, in another order than [`Walk::Sequential`], and on CPUs whose flushes wait for
    /// each other (x86-64 without CLFLUSHOPT) or that have none.
    #[must_use]
    pub fn flushing(self) -> Option<Self> {
        let can = self.op.stores() && self.walk == Walk::Sequential && arch::flushes_behind();
        can.then_some(Self { flush: true, ..self })
    }

    /// The operation.
    #[must_use]
    pub fn op(&self) -> Op {
        self.op
    }

    /// The instruction set.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Full or partial lines.
    #[must_use]
    pub fn lines(&self) -> Lines {
        self.lines
    }

    /// The order of lines.
    #[must_use]
    pub fn walk(&self) -> Walk {
        self.walk
    }

    /// What one burst moves.
    #[must_use]
    pub fn accounting(&self) -> Accounting {
        Accounting::of(self.op, self.lines, self.isa)
    }

    /// Such as `copy-nt/avx512/full/seq` or `read/neon/partial/block-4096`.
    #[must_use]
    pub fn name(&self) -> String {
        let (op, isa, lines) = (self.op.name(), self.isa.name(), self.lines.name());
        match self.walk {
            Walk::Sequential if self.flush => format!("{op}/{isa}/{lines}/seq/flush"),
            Walk::Sequential => format!("{op}/{isa}/{lines}/seq"),
            Walk::BlockRandom { block_lines } => {
                format!("{op}/{isa}/{lines}/block-{block_lines}")
            }
        }
    }
}

fn body(op: Op, lines: Lines, walk: Walk, isa: Isa, checked: bool) -> Option<Loop> {
    let random = walk != Walk::Sequential;
    match isa {
        // It always checks: volatile reads are consumed anyway.
        Isa::Portable => portable::find(op, lines, random),
        #[cfg(target_arch = "x86_64")]
        Isa::Sse2 | Isa::Avx2 | Isa::Avx512 => x86::find(op, lines, random, checked, isa),
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => Some(neon::find(op, lines, random, checked)),
        _ => {
            let _ = checked;
            None
        }
    }
}
