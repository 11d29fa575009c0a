//! Binding a kernel to memory and driving it over its streams.

use super::{BURST_BYTES, Kernel, LINE, Op, Walk};
use crate::arch;
use crate::rng::splitmix64;

/// Why memory does not fit a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamError {
    /// A stream does not begin on a 64-byte boundary.
    Unaligned,
    /// A stream is empty or its length is no multiple of what a burst moves of it.
    Length {
        /// As given.
        bytes: usize,
        /// [`Kernel::read_granule`] or [`Kernel::write_granule`].
        granule: usize,
    },
    /// The two read streams differ in length.
    Unequal,
    /// A stream that the kernel does not use is not empty.
    Unused,
}

impl std::fmt::Display for StreamError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Unaligned => write!(f, "a stream does not begin on a 64-byte boundary"),
            Self::Length { bytes, granule } => {
                write!(f, "a stream of {bytes} bytes is no multiple of {granule}")
            }
            Self::Unequal => write!(f, "the two read streams differ in length"),
            Self::Unused => write!(f, "a stream that the kernel does not use is not empty"),
        }
    }
}

impl std::error::Error for StreamError {}

/// The memory that a kernel works on.
#[derive(Debug)]
pub struct Streams<'a> {
    read: [&'a [u8]; 2],
    write: &'a mut [u8],
    /// (read granule, read streams, write granule) that were checked.
    shape: (usize, usize, usize),
}

impl<'a> Streams<'a> {
    /// Binds memory to `kernel`, and to any other with the same numbers of loads
    /// and streams; what the kernel does not use is to be empty.
    ///
    /// # Errors
    ///
    /// [`StreamError`].
    pub fn new(kernel: &Kernel, read: [&'a [u8]; 2], write: &'a mut [u8]) -> Result<Self, StreamError> {
        let used = kernel.op.read_streams();
        for (i, stream) in read.iter().enumerate() {
            check(stream, if i < used { kernel.read_granule() } else { 0 })?;
        }
        if used == 2 && read[0].len() != read[1].len() {
            return Err(StreamError::Unequal);
        }
        check(write, kernel.write_granule())?;
        Ok(Self { read, write, shape: kernel.shape() })
    }

    /// Bytes of each read stream.
    #[must_use]
    pub fn read_len(&self) -> usize {
        self.read[0].len()
    }

    /// Bytes of the write stream.
    #[must_use]
    pub fn write_len(&self) -> usize {
        self.write.len()
    }

    /// The write stream, to look at between runs.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        self.write
    }
}

fn check(stream: &[u8], granule: usize) -> Result<(), StreamError> {
    let bytes = stream.len();
    if granule == 0 {
        return if bytes == 0 { Ok(()) } else { Err(StreamError::Unused) };
    }
    if bytes == 0 || !bytes.is_multiple_of(granule) {
        return Err(StreamError::Length { bytes, granule });
    }
    if !stream.as_ptr().addr().is_multiple_of(LINE) {
        return Err(StreamError::Unaligned);
    }
    Ok(())
}

/// Where in its streams a kernel stands, in bytes of progress; each stream wraps
/// to 0 at its own end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Progress in the read stream or streams.
    pub read: usize,
    /// Progress in the write stream.
    pub write: usize,
    /// XOR of all 64-bit words that [`Op::Read`] has loaded: proof that it did.
    pub check: u64,
}

/// What a loop is told: `bursts` from the given places on, with no end between.
#[derive(Debug)]
pub(super) struct Job {
    /// Sequential: the next line. Block-random: the block's first line.
    pub(super) read0: *const u8,
    /// As `read0` for the second stream; or, block-random with several loads a
    /// store, the distance of the regions.
    pub(super) read1: *const u8,
    /// As `read0`.
    pub(super) write: *mut u8,
    /// At least 1.
    pub(super) bursts: u64,
    /// Core cycles after each burst.
    pub(super) delay: u64,
    /// Block-random: the multiplied index of the next line ([`scramble`]).
    pub(super) read_index: u64,
    /// The same for the write stream.
    pub(super) write_index: u64,
    /// Block-random: lines of the read block - 1.
    pub(super) mask: u64,
}

impl Kernel {
    /// The length of a read stream must be a multiple of this many bytes (0: there is none).
    #[must_use]
    pub fn read_granule(&self) -> usize {
        if self.op.read_streams() == 0 { 0 } else { BURST_BYTES * self.op.loads() }
    }

    /// The length of the write stream must be a multiple of this many bytes (0: there is none).
    #[must_use]
    pub fn write_granule(&self) -> usize {
        if self.op.stores() { BURST_BYTES } else { 0 }
    }

    fn shape(&self) -> (usize, usize, usize) {
        (self.read_granule(), self.op.read_streams(), self.write_granule())
    }

    /// Runs at most `max_bursts` bursts from `cursor` on, each followed by `delay`
    /// core cycles, and returns how many it did: fewer where a stream ends, but at
    /// least one unless `max_bursts` is 0.
    ///
    /// # Panics
    ///
    /// If `streams` was bound to a kernel of another shape, or `cursor` is not a
    /// place in them.
    pub fn run(&self, streams: &mut Streams<'_>, cursor: &mut Cursor, max_bursts: u64, delay: u32) -> u64 {
        let _ = (streams, cursor, max_bursts, delay);
        let _ = (arch::store_fence, splitmix64, Walk::Sequential, Op::Read);
        todo!()
    }
}
