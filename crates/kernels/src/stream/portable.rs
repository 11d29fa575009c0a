//! 64-bit scalar loads and stores in plain Rust, volatile so that none is left
//! out, merged or made a vector. There are no non-temporal stores.

use super::order::{WEYL, scramble};
use super::{BURST_LINES, FACTOR, Job, LINE, Lines, Loop, Op, WRITE_WORD};
use crate::arch;
use std::hint::black_box;

pub(super) fn find(op: Op, lines: Lines, random: bool) -> Option<Loop> {
    match (lines, random) {
        (Lines::Full, false) => kernel::<8, false>(op),
        (Lines::Full, true) => kernel::<8, true>(op),
        (Lines::Partial, false) => kernel::<1, false>(op),
        (Lines::Partial, true) => kernel::<1, true>(op),
    }
}

/// `W`: words of each line; `R`: block-random.
fn kernel<const W: usize, const R: bool>(op: Op) -> Option<Loop> {
    Some(match op {
        Op::Read => bursts::<Read, W, R>,
        Op::Write => bursts::<Write, W, R>,
        Op::Copy => bursts::<LoadN<1>, W, R>,
        Op::Scale => bursts::<Scale, W, R>,
        Op::Add => bursts::<Add, W, R>,
        Op::Triad => bursts::<Triad, W, R>,
        Op::Load2Store1 => bursts::<LoadN<2>, W, R>,
        Op::Load3Store1 => bursts::<LoadN<3>, W, R>,
        Op::Load8Store1 => bursts::<LoadN<8>, W, R>,
        _ => return None,
    })
}

/// What becomes of one word of a line.
trait Step {
    /// Lines loaded from the first read stream for one step.
    const LOADS: usize = 1;
    /// Whether a line is stored.
    const STORES: bool = true;
    /// `load(k)` is the word of the k-th line, `second()` that of the second stream.
    fn word(load: impl Fn(usize) -> u64, second: impl Fn() -> u64) -> u64;
}

struct Read;
impl Step for Read {
    const STORES: bool = false;
    #[inline(always)]
    fn word(load: impl Fn(usize) -> u64, _: impl Fn() -> u64) -> u64 {
        load(0)
    }
}

struct Write;
impl Step for Write {
    const LOADS: usize = 0;
    #[inline(always)]
    fn word(_: impl Fn(usize) -> u64, _: impl Fn() -> u64) -> u64 {
        WRITE_WORD
    }
}

struct LoadN<const N: usize>;
impl<const N: usize> Step for LoadN<N> {
    const LOADS: usize = N;
    #[inline(always)]
    fn word(load: impl Fn(usize) -> u64, _: impl Fn() -> u64) -> u64 {
        (0..N).fold(0, |xor, k| xor ^ load(k))
    }
}

struct Scale;
impl Step for Scale {
    #[inline(always)]
    fn word(load: impl Fn(usize) -> u64, _: impl Fn() -> u64) -> u64 {
        (f64::from_bits(load(0)) * FACTOR).to_bits()
    }
}

struct Add;
impl Step for Add {
    #[inline(always)]
    fn word(load: impl Fn(usize) -> u64, second: impl Fn() -> u64) -> u64 {
        (f64::from_bits(load(0)) + f64::from_bits(second())).to_bits()
    }
}

struct Triad;
impl Step for Triad {
    #[inline(always)]
    fn word(load: impl Fn(usize) -> u64, second: impl Fn() -> u64) -> u64 {
        (f64::from_bits(load(0)) + FACTOR * f64::from_bits(second())).to_bits()
    }
}

/// # Safety
///
/// See `Loop`.
unsafe fn bursts<S: Step, const W: usize, const R: bool>(job: &Job) -> u64 {
    let (mut read_index, mut write_index) = (job.read_index, job.write_index);
    let region = if R { job.read1.addr() } else { LINE };
    // Several, since one chain of XORs would be slower than the loads.
    let mut checks = [0; 4];
    let mut chain = 0;
    let steps = job.bursts as usize * BURST_LINES;
    let passes = if R { 1 } else { job.read_mask };
    for step in (0..passes).flat_map(|_| 0..steps) {
        let (read_line, write_line) = if R {
            let places = (scramble(read_index, job.read_mask) as usize, scramble(write_index, job.write_mask) as usize);
            read_index = read_index.wrapping_add(u64::from(WEYL));
            write_index = write_index.wrapping_add(u64::from(WEYL));
            places
        } else {
            (step * S::LOADS, step)
        };
        for word in 0..W {
            let offset = read_line * LINE + word * 8;
            let get = |from: *const u8| {
                let at = from.wrapping_add(offset).cast::<u64>();
                // SAFETY: an aligned word of a stream, as the caller vouches.
                unsafe { at.read_volatile() }
            };
            let value = S::word(|k| get(job.read0.wrapping_add(k * region)), || get(job.read1));
            if S::STORES {
                let at = job.write.wrapping_add(write_line * LINE + word * 8);
                // SAFETY: as above.
                unsafe { at.cast::<u64>().write_volatile(value) };
            } else {
                checks[word % 4] ^= value;
            }
        }
        if job.delay > 0 && step % BURST_LINES == BURST_LINES - 1 {
            chain = arch::dependent_adds(job.delay, chain);
        }
    }
    black_box(chain);
    checks.into_iter().fold(0, |a, b| a ^ b)
}
