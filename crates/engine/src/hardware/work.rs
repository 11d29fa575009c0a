//! What a worker does between two stamps.

use memgauge_kernels::chase::{RingId, Rings};
use memgauge_kernels::spin;
use memgauge_kernels::stream::{Cursor, Kernel, Streams};

/// Work in chunks.
pub trait Work {
    /// Does one chunk; returns the units done.
    fn chunk(&mut self) -> u64;

    /// Chunks take `median` ticks; makes them take about `aim.0` and at most `aim.1`.
    fn tune(&mut self, median: u64, aim: (u64, u64));
}

/// Dependent loads. A unit is a hop.
pub struct Chase<'a> {
    pub rings: &'a Rings<'a>,
    pub ring: RingId,
    pub place: &'a mut u64,
    pub hops: u64,
    /// Hops of a chunk at least.
    pub least: u64,
    /// Ticks that a chunk takes at least, so that the clock's cost stays small beside it where the buffer sits in a cache.
    pub floor: u64,
}

impl Work for Chase<'_> {
    #[inline]
    fn chunk(&mut self) -> u64 {
        *self.place = self.rings.chase(self.ring, *self.place, self.hops);
        self.hops
    }

    fn tune(&mut self, median: u64, aim: (u64, u64)) {
        let wanted = scaled(self.hops, self.floor, median);
        let most = scaled(self.hops, aim.1, median);
        self.hops = wanted.max(self.least).min(most.max(1));
    }
}

/// Streams. A unit is a burst.
pub struct Stream<'a> {
    pub kernel: Kernel,
    pub streams: Streams<'a>,
    pub cursor: Cursor,
    /// How far the arrays have come, for the next block.
    pub place: &'a mut usize,
    pub bursts: u64,
    pub delay: u32,
}

impl Work for Stream<'_> {
    #[inline]
    fn chunk(&mut self) -> u64 {
        // Short where an array ends.
        self.kernel.run(&mut self.streams, &mut self.cursor, self.bursts, self.delay)
    }

    fn tune(&mut self, median: u64, aim: (u64, u64)) {
        self.bursts = scaled(self.bursts, aim.0, median).max(1);
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        *self.place = self.cursor.read.max(self.cursor.write);
    }
}

/// Keeps a core busy and touches no memory. Units count for nothing.
pub struct KeepAlive;

impl Work for KeepAlive {
    #[inline]
    fn chunk(&mut self) -> u64 {
        spin::dependent_adds(50_000);
        0
    }

    fn tune(&mut self, _: u64, _: (u64, u64)) {}
}

/// `now` units took `median` ticks: how many take `aim`?
fn scaled(now: u64, aim: u64, median: u64) -> u64 {
    let scaled = u128::from(now) * u128::from(aim) / u128::from(median.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}
