//! First touch: fill memory so that nothing but memory can answer a read.

use crate::arch;
use std::ops::Range;

/// The word of [`fill`] at index 0; the others rise by one.
///
/// As an `f64` it is 1.0, and so are, nearly, all words of a fill: the STREAM-like
/// kernels never meet a subnormal, whose arithmetic costs a microcode assist.
pub const FIRST_WORD: u64 = 0x3ff0_0000_0000_0000;

/// Fills `memory` with rising 64-bit words from [`FIRST_WORD`].
///
/// No two lines are equal and none is zero, so neither the shared zero page,
/// nor same-page merging, nor a compressing memory controller can serve a read.
pub fn fill(memory: &mut [u8]) {
    let word = |i: usize| (FIRST_WORD | (i as u64 & 0x000f_ffff_ffff_ffff)).to_ne_bytes();
    let (words, tail) = memory.as_chunks_mut::<8>();
    arch::write_words(words, word);
    let last = word(words.len());
    tail.copy_from_slice(&last[..tail.len()]);
}

/// Fills `memory` with `pattern`, over and over, from the pattern's byte `from` on; without a pattern nothing is written.
pub fn fill_with(memory: &mut [u8], pattern: &[u8], from: usize) {
    let Some(first) = from.checked_rem(pattern.len()) else { return };
    let (head, rest) = memory.split_at_mut((pattern.len() - first).min(memory.len()));
    head.copy_from_slice(&pattern[first..first + head.len()]);
    for part in rest.chunks_mut(pattern.len()) {
        part.copy_from_slice(&pattern[..part.len()]);
    }
}

/// XOR of the words that a [`fill`] writes at these indices.
#[must_use]
pub fn check_of(words: Range<usize>) -> u64 {
    before(words.start) ^ before(words.end)
}

/// XOR of the first `count` words: indices cancel out in fours.
fn before(count: usize) -> u64 {
    let last = (count as u64).wrapping_sub(1);
    let indices = match count % 4 {
        0 => 0,
        1 => last,
        2 => 1,
        _ => last + 1,
    };
    indices ^ if count % 2 == 1 { FIRST_WORD } else { 0 }
}

/// Writes one non-zero byte in every `page` bytes: the cheapest first touch.
///
/// A `page` of 0 touches the first byte only.
pub fn touch_pages(memory: &mut [u8], page: usize) {
    let page = if page == 0 { memory.len().max(1) } else { page };
    for (i, byte) in memory.iter_mut().step_by(page).enumerate() {
        *byte = (i as u8) | 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST_WORD, check_of, fill, fill_with, touch_pages};

    #[test]
    fn words_rise_and_the_tail_is_filled() {
        let mut memory = [0u8; 83];
        fill(&mut memory);
        let words: Vec<u64> = memory.chunks_exact(8).map(|w| u64::from_ne_bytes(w.try_into().unwrap())).collect();
        let expected: Vec<u64> = (0..10).map(|i| FIRST_WORD + i).collect();
        assert_eq!(words, expected);
        assert_eq!(memory[80..], (FIRST_WORD + 10).to_ne_bytes()[..3]);
        assert!(f64::from_bits(words[9]).is_normal());
    }

    #[test]
    fn a_pattern_goes_on_where_it_was() {
        let pattern: Vec<u8> = (0..24).collect();
        for (len, cut) in [(100, 40), (10, 5), (24, 24), (7, 0)] {
            let mut memory = vec![99_u8; len];
            let (one, two) = memory.split_at_mut(cut);
            fill_with(one, &pattern, 0);
            fill_with(two, &pattern, cut);
            assert!(memory.iter().zip(pattern.iter().cycle()).all(|(byte, wanted)| byte == wanted), "{memory:?}");
        }
        let mut kept = [7_u8; 3];
        fill_with(&mut kept, &[], 0);
        assert_eq!(kept, [7; 3]);
    }

    #[test]
    fn the_check_is_that_of_the_words() {
        let mut memory = [0u8; 8 * 40];
        fill(&mut memory);
        let words: Vec<u64> = memory.chunks_exact(8).map(|w| u64::from_ne_bytes(w.try_into().unwrap())).collect();
        for from in 0..40 {
            for to in from..=40 {
                let xor = words[from..to].iter().fold(0, |xor, word| xor ^ word);
                assert_eq!(check_of(from..to), xor, "{from}..{to}");
            }
        }
    }

    #[test]
    fn every_page_is_touched_once() {
        let mut memory = [0u8; 1000];
        touch_pages(&mut memory, 256);
        let touched: Vec<usize> = (0..1000).filter(|&i| memory[i] != 0).collect();
        assert_eq!(touched, [0, 256, 512, 768]);
        touch_pages(&mut [], 0);
    }
}
