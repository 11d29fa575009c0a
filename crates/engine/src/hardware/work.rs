//! What a worker does between two stamps.

use memgauge_kernels::chase::{Order, RingError, RingId, Rings};
use memgauge_kernels::{Rng, spin};
use std::sync::atomic::AtomicBool;

/// Work in chunks.
pub trait Work {
    /// What has to be done on the worker's own CPU before all start together; nothing where the point has no span.
    ///
    /// # Errors
    ///
    /// The ring can't be linked over the span, or `stop` was set.
    fn begin(&mut self, _stop: &AtomicBool) -> Result<(), RingError> {
        Ok(())
    }

    /// Does one chunk; returns the units done.
    fn chunk(&mut self) -> u64;

    /// Chunks take `median` ticks; makes them take about `aim.0` and at most `aim.1`. Returns whether they changed.
    fn tune(&mut self, median: u64, aim: (u64, u64)) -> bool;
}

/// A ring that is linked over a part of its buffer.
pub struct Stretch {
    pub order: Order,
    pub bytes: usize,
    /// Read all of it once?
    pub settle: bool,
    pub rng: Rng,
}

/// Dependent loads. A unit is a hop.
pub struct Chase<'m, 'a> {
    pub rings: &'m mut Rings<'a>,
    pub ring: RingId,
    pub place: &'m mut u64,
    pub stretch: Option<Stretch>,
    pub hops: u64,
    /// Hops of a chunk at least.
    pub least: u64,
    /// Ticks that a chunk takes at least, so that the clock's cost stays small beside it where the buffer sits in a cache.
    pub floor: u64,
}

impl Work for Chase<'_, '_> {
    fn begin(&mut self, stop: &AtomicBool) -> Result<(), RingError> {
        let Some(stretch) = &mut self.stretch else { return Ok(()) };
        self.rings.span(stop, self.ring, stretch.order, stretch.bytes, &mut stretch.rng)?;
        // From the start, whose lines have by then been read longest ago. Where nothing is read, the chase goes on from where it
        // has come: on the same way again it would meet what it left in the cache.
        if stretch.settle {
            *self.place = self.rings.start(self.ring);
            self.rings.read_through(stretch.bytes);
        } else if *self.place >= stretch.bytes as u64 {
            *self.place = self.rings.start(self.ring);
        }
        Ok(())
    }

    #[inline]
    fn chunk(&mut self) -> u64 {
        *self.place = self.rings.chase(self.ring, *self.place, self.hops);
        self.hops
    }

    fn tune(&mut self, median: u64, aim: (u64, u64)) -> bool {
        let wanted = scaled(self.hops, self.floor, median);
        let most = scaled(self.hops, aim.1, median);
        changed(&mut self.hops, wanted.max(self.least).min(most))
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

    fn tune(&mut self, _: u64, _: (u64, u64)) -> bool {
        false
    }
}

/// Sets a chunk's units, unless they are right within a fifth; a step is at most a factor of 30, so that one odd median (a
/// chunk cut short at an array's end, a core that was taken away) can't run away.
pub fn changed(units: &mut u64, wanted: u64) -> bool {
    let wanted = wanted.clamp((*units / 30).max(1), units.saturating_mul(30));
    if wanted.abs_diff(*units) <= *units / 5 {
        return false;
    }
    *units = wanted;
    true
}

/// `now` units took `median` ticks: how many take `aim`?
pub fn scaled(now: u64, aim: u64, median: u64) -> u64 {
    let scaled = u128::from(now) * u128::from(aim) / u128::from(median.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_tuned_once_and_one_odd_median_does_not_run_away() {
        let mut units = 256;
        assert!(changed(&mut units, 6400));
        assert!(!changed(&mut units, 7000), "right within a fifth");
        assert_eq!(units, 6400);
        assert!(changed(&mut units, u64::MAX));
        assert_eq!(units, 6400 * 30);
        assert!(changed(&mut units, 0));
        assert_eq!(units, 6400);
    }
}
