//! Binding a kernel to memory and driving it over its streams.

use super::order::Block;
use super::{BURST_BYTES, FLUSHED_BURSTS, Kernel, LINE, Walk};
use crate::arch;

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

    /// Whether a cursor's places are whole bursts inside the streams.
    fn holds(&self, cursor: &Cursor, (read, _, write): (usize, usize, usize)) -> bool {
        let inside = |at: usize, len: usize, granule: usize| match granule {
            0 => at == 0,
            _ => at < len && at.is_multiple_of(granule),
        };
        inside(cursor.read, self.read_len(), read) && inside(cursor.write, self.write_len(), write)
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
    /// XOR of all 64-bit words that a [checked](Kernel::checked) read has loaded.
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
    /// Block-random: the multiplied index of the next line (see `order`).
    pub(super) read_index: u64,
    /// The same for the write stream.
    pub(super) write_index: u64,
    /// Sequential: passes over the bursts, 1 with a delay. Block-random: steps of the
    /// read block - 1.
    pub(super) read_mask: u64,
    /// Block-random: steps of the write block - 1.
    pub(super) write_mask: u64,
}

/// Bursts that one call may do by passing small streams several times.
const MAX_PASSED: u64 = 1 << 16;

impl Job {
    fn passes(&self, walk: Walk) -> u64 {
        if walk == Walk::Sequential { self.read_mask } else { 1 }
    }
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
    /// least one unless `max_bursts` is 0. Without a delay, several whole passes over
    /// small streams may be one call (up to 65536 bursts).
    ///
    /// # Panics
    ///
    /// If `streams` was bound to a kernel of another shape, or `cursor` is not a
    /// place in them.
    pub fn run(&self, streams: &mut Streams<'_>, cursor: &mut Cursor, max_bursts: u64, delay: u32) -> u64 {
        assert_eq!(streams.shape, self.shape(), "streams of another shape");
        assert!(streams.holds(cursor, self.shape()), "cursor outside its streams");
        let mut done = 0;
        while done < max_bursts {
            let segment = self.segment(streams, cursor, max_bursts - done, delay);
            // SAFETY: the segment ends before its streams (or their blocks) do, they
            // are borrowed for its whole time, and the catalog checked the ISA.
            cursor.check ^= unsafe { (self.body)(&segment) };
            if self.flush {
                let bytes = segment.bursts as usize * self.write_granule();
                // SAFETY: what the segment has just stored, which is borrowed; `flushing` asked whether the CPU can.
                unsafe { arch::flush_behind(segment.write, bytes) };
            }
            done += segment.bursts * segment.passes(self.walk);
            if self.advance(streams, cursor, segment.bursts) {
                break;
            }
        }
        if self.op.is_nt() {
            arch::store_fence();
        }
        done
    }

    /// The longest stretch from `cursor` on that a loop can do without a bend.
    fn segment(&self, streams: &mut Streams<'_>, cursor: &Cursor, max: u64, delay: u32) -> Job {
        let loads = self.op.loads();
        let (read_len, write_len) = (streams.read_len(), streams.write_len());
        let left = |len: usize, at: usize, granule: usize| (len - at).checked_div(granule).map_or(u64::MAX, |n| n as u64);
        let mut bursts =
            max.min(left(read_len, cursor.read, self.read_granule())).min(left(write_len, cursor.write, self.write_granule()));
        if self.flush {
            bursts = bursts.min(FLUSHED_BURSTS);
        }
        let (mut read_at, mut write_at) = (cursor.read, cursor.write);
        let (mut read_index, mut write_index) = (0, 0);
        let (mut read_mask, mut write_mask) = (1, 0);
        let mut region = 0;
        if let Walk::BlockRandom { block_lines } = self.walk {
            let block_steps = block_lines as usize;
            if read_len > 0 {
                let block = Block::at(cursor.read, read_len, loads, block_steps);
                bursts = bursts.min(block.bursts_left);
                (read_at, read_index) = (block.begin, block.index);
                (read_mask, region) = (block.steps as u64 - 1, block.region);
            }
            if write_len > 0 {
                let block = Block::at(cursor.write, write_len, 1, block_steps);
                bursts = bursts.min(block.bursts_left);
                (write_at, write_index) = (block.begin, block.index);
                write_mask = block.steps as u64 - 1;
            }
        }
        let whole = self.ends(streams, bursts) && (cursor.read, cursor.write) == (0, 0);
        if whole && delay == 0 && !self.flush && self.walk == Walk::Sequential {
            read_mask = (max.min(MAX_PASSED) / bursts).max(1);
        }
        let [read0, read1] = streams.read.map(|s| s.as_ptr().wrapping_add(read_at));
        let read1 = if self.op.read_streams() == 2 { read1 } else { std::ptr::without_provenance(region) };
        Job {
            read0,
            read1,
            write: streams.write.as_mut_ptr().wrapping_add(write_at),
            bursts,
            delay: u64::from(delay),
            read_index,
            write_index,
            read_mask,
            write_mask,
        }
    }

    /// Whether `bursts` are a whole pass of each stream in use.
    fn ends(&self, streams: &Streams<'_>, bursts: u64) -> bool {
        let bursts = bursts as usize;
        bursts * self.read_granule() == streams.read_len() && bursts * self.write_granule() == streams.write_len()
    }

    /// Moves the cursor; true if a stream came to its end and wrapped.
    fn advance(&self, streams: &Streams<'_>, cursor: &mut Cursor, bursts: u64) -> bool {
        let bursts = bursts as usize;
        cursor.read += bursts * self.read_granule();
        cursor.write += bursts * self.write_granule();
        let read_end = self.read_granule() > 0 && cursor.read == streams.read_len();
        let write_end = self.write_granule() > 0 && cursor.write == streams.write_len();
        if read_end {
            cursor.read = 0;
        }
        if write_end {
            cursor.write = 0;
        }
        read_end || write_end
    }
}
