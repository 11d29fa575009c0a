//! Streams as work: one way through memory, or two in turns; what is read may be held against what was written there.

use super::fill::Filling;
use super::work::{Work, changed, scaled};
use memgauge_kernels::chase::RingError;
use memgauge_kernels::stream::{Cursor, Kernel, Streams};
use std::sync::atomic::AtomicBool;

/// Bursts of one way before the other has its turn.
const TURN: u64 = 16;

/// Streams. A unit is a burst.
pub struct Stream<'a> {
    pub way: Way<'a>,
    /// A second way, and the percent of all bursts that go there.
    pub second: Option<(Way<'a>, u64)>,
    pub bursts: u64,
    pub delay: u32,
    /// Go once through everything before the start?
    pub settle: bool,
}

impl Stream<'_> {
    /// Goes on to the end of the buffer, so that all of it has been looked at. The first buffer that does not hold what was written there.
    pub fn finish(&mut self) -> Option<Corrupt> {
        let ways = std::iter::once(&mut self.way).chain(self.second.as_mut().map(|(way, _)| way));
        ways.filter_map(Way::finish).next()
    }
}

impl Work for Stream<'_> {
    fn begin(&mut self, _: &AtomicBool) -> Result<(), RingError> {
        if self.settle {
            // To the end of the arrays; small ones several times.
            self.way.run(u64::MAX, 0);
        }
        Ok(())
    }

    #[inline]
    fn chunk(&mut self) -> u64 {
        let Some((second, percent)) = &mut self.second else {
            // Short where an array ends.
            return self.way.run(self.bursts, self.delay);
        };
        let mut done = 0;
        while done < self.bursts {
            let there = second.bursts * 100 < *percent * (second.bursts + self.way.bursts);
            done += if there { second.run(TURN, self.delay) } else { self.way.run(TURN, self.delay) };
        }
        done
    }

    fn tune(&mut self, median: u64, aim: (u64, u64)) -> bool {
        let wanted = scaled(self.bursts, aim.0, median);
        changed(&mut self.bursts, wanted)
    }
}

/// A way through memory.
pub struct Way<'a> {
    pub kernel: Kernel,
    pub streams: Streams<'a>,
    pub cursor: Cursor,
    /// How far the arrays have come, for the next block; none of a buffer that several threads read.
    pub place: Option<&'a mut usize>,
    pub audit: Option<Audit>,
    /// So far.
    pub bursts: u64,
}

impl Way<'_> {
    #[inline]
    fn run(&mut self, bursts: u64, delay: u32) -> u64 {
        let from = self.cursor.read;
        let done = self.kernel.run(&mut self.streams, &mut self.cursor, bursts, delay);
        self.bursts += done;
        if let Some(audit) = &mut self.audit
            && self.cursor.read == 0
        {
            let passed = from as u64 + done * self.kernel.read_granule() as u64;
            audit.pass(&mut self.cursor.check, passed / (self.streams.read_len() as u64).max(1));
        }
        done
    }

    fn finish(&mut self) -> Option<Corrupt> {
        if self.audit.is_some() && self.cursor.read != 0 {
            self.run(u64::MAX, 0);
        }
        self.audit.as_ref()?.corrupt
    }
}

impl Drop for Way<'_> {
    fn drop(&mut self) {
        if let Some(place) = &mut self.place {
            **place = self.cursor.read.max(self.cursor.write);
        }
    }
}

/// What passes over a buffer must sum up to.
#[derive(Debug, Clone, Copy)]
pub struct Audit {
    /// A whole pass.
    whole: u64,
    /// The pass that is under way, from where it began.
    due: u64,
    /// What was wrong first.
    corrupt: Option<Corrupt>,
}

/// A checksum that is not what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrupt {
    /// XOR of the 8-byte words that were written.
    pub written: u64,
    /// Of those that were read.
    pub read: u64,
}

impl Audit {
    /// Of an array of so many bytes as a [`Filling`] left it, from a place in it on.
    pub fn new(filling: &Filling, len: usize, place: usize) -> Self {
        Self { whole: filling.check_of(0, len), due: filling.check_of(place, len), corrupt: None }
    }

    /// `check` is what has been read since the last call, over so many passes, of which the first may have begun in the middle.
    fn pass(&mut self, check: &mut u64, passes: u64) {
        let more = if passes.saturating_sub(1) % 2 == 1 { self.whole } else { 0 };
        let written = self.due ^ more;
        if *check != written && self.corrupt.is_none() {
            self.corrupt = Some(Corrupt { written, read: *check });
        }
        *check = 0;
        self.due = self.whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 words: passes in one call or in several, from the beginning or from the middle.
    #[test]
    fn a_flipped_bit_shows_in_whichever_pass_it_is_read() {
        let (len, place) = (8000, 3200);
        let filling = Filling::default();
        let whole = filling.check_of(0, len);
        let mut sound = Audit::new(&filling, len, place);
        for (mut check, passes) in [(filling.check_of(place, len), 1), (whole, 1), (0, 2), (whole, 3)] {
            sound.pass(&mut check, passes);
            assert_eq!((check, sound.corrupt), (0, None));
        }
        let mut flipped = Audit::new(&filling, len, place);
        flipped.pass(&mut filling.check_of(place, len).clone(), 1);
        flipped.pass(&mut (whole ^ 8), 1);
        assert_eq!(flipped.corrupt, Some(Corrupt { written: whole, read: whole ^ 8 }));
        let mut middle = Audit::new(&filling, len, place);
        middle.pass(&mut (filling.check_of(place, len) ^ 1), 1);
        assert!(middle.corrupt.is_some());
    }
}
