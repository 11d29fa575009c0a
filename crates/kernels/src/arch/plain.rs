//! What needs no instruction of its own outside x86-64.

use super::{flush_line, full_fence};

/// Sets each word to what `word` gives for its index.
pub(crate) fn write_words(words: &mut [[u8; 8]], word: impl Fn(usize) -> [u8; 8]) {
    for (i, to) in words.iter_mut().enumerate() {
        *to = word(i);
    }
}

/// [`flush_line`] for a line in every `stride` bytes, then a fence.
///
/// # Safety
///
/// `len` bytes from `base` on must be readable.
pub(crate) unsafe fn flush_range(base: *const u8, len: usize, stride: usize) -> bool {
    for at in (0..len).step_by(stride) {
        // SAFETY: inside the range, which is readable.
        if !unsafe { flush_line(base.wrapping_add(at)) } {
            return false;
        }
    }
    full_fence();
    true
}
