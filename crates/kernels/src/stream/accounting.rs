//! What kernels there are and what each of them moves.

use super::BURST_LINES;
use crate::isa::Isa;

/// What a kernel does with a line. The arithmetic is on `f64` as in STREAM's
/// definitions (these are STREAM-like kernels, not STREAM). `Nt`: by
/// non-temporal stores, which end with a store fence inside the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// Loads one stream.
    Read,
    /// Stores [`WRITE_WORD`](super::WRITE_WORD).
    Write,
    /// As `Write`, non-temporal.
    WriteNt,
    /// c = a.
    Copy,
    /// As `Copy`, non-temporal.
    CopyNt,
    /// b = q·c.
    Scale,
    /// As `Scale`, non-temporal.
    ScaleNt,
    /// c = a + b.
    Add,
    /// As `Add`, non-temporal.
    AddNt,
    /// a = b + q·c, with b the first read stream.
    Triad,
    /// As `Triad`, non-temporal.
    TriadNt,
    /// Loads two lines of one stream, stores their XOR to one of another.
    Load2Store1,
    /// As `Load2Store1`, non-temporal.
    Load2Store1Nt,
    /// Three lines loaded for one stored.
    Load3Store1,
    /// As `Load3Store1`, non-temporal.
    Load3Store1Nt,
    /// Eight lines loaded for one stored.
    Load8Store1,
}

impl Op {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Read,
        Self::Write,
        Self::WriteNt,
        Self::Copy,
        Self::CopyNt,
        Self::Scale,
        Self::ScaleNt,
        Self::Add,
        Self::AddNt,
        Self::Triad,
        Self::TriadNt,
        Self::Load2Store1,
        Self::Load2Store1Nt,
        Self::Load3Store1,
        Self::Load3Store1Nt,
        Self::Load8Store1,
    ];

    /// The lower-case name used in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::WriteNt => "write-nt",
            Self::Copy => "copy",
            Self::CopyNt => "copy-nt",
            Self::Scale => "scale",
            Self::ScaleNt => "scale-nt",
            Self::Add => "add",
            Self::AddNt => "add-nt",
            Self::Triad => "triad",
            Self::TriadNt => "triad-nt",
            Self::Load2Store1 => "load2-store1",
            Self::Load2Store1Nt => "load2-store1-nt",
            Self::Load3Store1 => "load3-store1",
            Self::Load3Store1Nt => "load3-store1-nt",
            Self::Load8Store1 => "load8-store1",
        }
    }

    /// The inverse of [`Op::name`].
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }

    /// Whether its stores are non-temporal.
    #[must_use]
    pub fn is_nt(self) -> bool {
        matches!(
            self,
            Self::WriteNt
                | Self::CopyNt
                | Self::ScaleNt
                | Self::AddNt
                | Self::TriadNt
                | Self::Load2Store1Nt
                | Self::Load3Store1Nt
        )
    }

    /// Lines loaded from each read stream for one step of a burst.
    pub(super) fn loads(self) -> usize {
        match self {
            Self::Load2Store1 | Self::Load2Store1Nt => 2,
            Self::Load3Store1 | Self::Load3Store1Nt => 3,
            Self::Load8Store1 => 8,
            _ => 1,
        }
    }

    /// Read streams: 0, 1 or 2.
    pub(super) fn read_streams(self) -> usize {
        match self {
            Self::Write | Self::WriteNt => 0,
            Self::Add | Self::AddNt | Self::Triad | Self::TriadNt => 2,
            _ => 1,
        }
    }

    pub(super) fn stores(self) -> bool {
        self != Self::Read
    }
}

/// How much of each line is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lines {
    /// All 64 bytes.
    Full,
    /// The first 8 bytes: a store then cannot do without reading the line first.
    Partial,
}

impl Lines {
    /// `full` or `partial`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial => "partial",
        }
    }
}

/// The order in which a stream's lines are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Walk {
    /// Rising addresses.
    Sequential,
    /// Block after block, every line of a block once in a pseudo-random order
    /// computed on the fly.
    ///
    /// For a mix that loads N lines per store the block of the read stream is N
    /// regions of `block_lines` each, and the N lines come one from each region.
    BlockRandom {
        /// A power of two, 4 to 2^24; a shorter end of a stream is split into
        /// smaller powers of two.
        block_lines: u32,
    },
}

/// What one burst moves, as the loop is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accounting {
    /// Application bytes loaded, over all read streams.
    pub bytes_loaded: u64,
    /// Application bytes stored.
    pub bytes_stored: u64,
    /// Cache lines loaded from, over all read streams.
    pub lines_loaded: u64,
    /// Cache lines stored to.
    pub lines_stored: u64,
    /// Whether the stores are non-temporal.
    pub nt: bool,
    /// Whether non-temporal is but a hint that the core may ignore (AArch64's STNP).
    pub nt_is_hint: bool,
    /// Distinct read streams: 0, 1 or 2.
    pub read_streams: u8,
    /// Distinct write streams: 0 or 1.
    pub write_streams: u8,
}

impl Accounting {
    pub(super) fn of(op: Op, lines: Lines, isa: Isa) -> Self {
        let bytes_a_line = match lines {
            Lines::Full => 64,
            Lines::Partial => 8,
        };
        let lines_loaded = (BURST_LINES * op.loads() * op.read_streams()) as u64;
        let lines_stored = if op.stores() { BURST_LINES as u64 } else { 0 };
        Self {
            bytes_loaded: lines_loaded * bytes_a_line,
            bytes_stored: lines_stored * bytes_a_line,
            lines_loaded,
            lines_stored,
            nt: op.is_nt(),
            nt_is_hint: op.is_nt() && isa == Isa::Neon,
            read_streams: op.read_streams() as u8,
            write_streams: u8::from(op.stores()),
        }
    }
}
