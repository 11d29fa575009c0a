//! The block-random order: a bijection on the lines of a block, cheap enough to
//! be computed between loads.
//!
//! Index i of a block of 2^k lines goes to i·[`WEYL`] + key (mod 2^k), XORed with
//! itself shifted right, times [`SPREAD`] (mod 2^k): each step is a bijection. The
//! shift brings the high bits into the low ones, which the multiplication then
//! carries up again, so that no line stride is left for a prefetcher.

use super::{BURST_LINES, LINE};
use crate::rng::splitmix64;

/// Odd, below 2^31 (an x86 immediate is signed).
pub(super) const WEYL: u32 = 0x2c1b_3c6d;
/// Odd, below 2^31.
pub(super) const SPREAD: u32 = 0x5bd1_e995;
pub(super) const SHIFT: u32 = 5;

/// The line that an index stands for; `index` = i·[`WEYL`] + key, `mask` = lines - 1.
/// What the asm loops compute.
pub(super) fn scramble(index: u64, mask: u64) -> u64 {
    let x = index & mask;
    (x ^ (x >> SHIFT)).wrapping_mul(u64::from(SPREAD)) & mask
}

/// The block of a stream in which a place lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Its first byte.
    pub(super) begin: usize,
    /// Steps (stored lines, or as many groups of loaded lines); a power of two.
    pub(super) steps: usize,
    /// Bytes between the regions of a step's loads.
    pub(super) region: usize,
    /// Bursts from the place to the end of the block.
    pub(super) bursts_left: u64,
    /// The multiplied index of the place.
    pub(super) index: u64,
}

impl Block {
    /// Where `at` bytes of progress lie in a stream of `len`, with `loads` lines a
    /// step and blocks of `block` steps; an incomplete last block is cut into
    /// falling powers of two. Lengths are whole bursts, so none is below 4.
    pub(super) fn at(at: usize, len: usize, loads: usize, block: usize) -> Self {
        let step_bytes = loads * LINE;
        let (step, total) = (at / step_bytes, len / step_bytes);
        let (mut begin, mut steps) = (step - step % block, block);
        let mut left = total - begin;
        while steps > left || step >= begin + steps {
            if steps <= left {
                begin += steps;
                left -= steps;
            }
            steps /= 2;
        }
        let within = step - begin;
        let mut key = begin as u64;
        let index = (within as u64).wrapping_mul(u64::from(WEYL)).wrapping_add(splitmix64(&mut key));
        Self {
            begin: begin * step_bytes,
            steps,
            region: steps * LINE,
            bursts_left: ((steps - within) / BURST_LINES) as u64,
            index,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, WEYL, scramble};
    use crate::stream::LINE;
    use proptest::prelude::*;

    #[test]
    fn scramble_is_a_bijection_without_a_dominant_stride() {
        for k in 2..=14 {
            let n = 1u64 << k;
            let order: Vec<u64> = (0..n).map(|i| scramble(i * u64::from(WEYL) + 12345, n - 1)).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..n), "2^{k}");
            if k >= 10 {
                let mut strides: Vec<i64> = order.windows(2).map(|w| w[1] as i64 - w[0] as i64).collect();
                strides.sort_unstable();
                let most = strides.chunk_by(|a, b| a == b).map(<[i64]>::len).max();
                assert!(most.unwrap() as u64 <= n / 8, "2^{k}: {most:?} equal strides");
            }
        }
    }

    proptest! {
        /// Walking from block to block meets every step once and ends at the end.
        #[test]
        fn blocks_tile_a_stream(
            bursts in 1usize..300, loads in 1usize..9, k in 2u32..9,
        ) {
            let block = 1usize << k;
            let len = bursts * 4 * LINE * loads;
            let mut at = 0;
            while at < len {
                let b = Block::at(at, len, loads, block);
                prop_assert_eq!(b.begin, at);
                prop_assert!(b.steps.is_power_of_two() && (4..=block).contains(&b.steps));
                prop_assert_eq!(b.bursts_left as usize * 4, b.steps);
                if b.steps > 4 {
                    let inside = Block::at(at + 4 * LINE * loads, len, loads, block);
                    prop_assert_eq!((inside.begin, inside.steps), (b.begin, b.steps));
                    prop_assert_eq!(inside.bursts_left + 1, b.bursts_left);
                }
                at += b.steps * LINE * loads;
            }
            prop_assert_eq!(at, len);
        }
    }
}
