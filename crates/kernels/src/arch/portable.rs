//! Any other architecture: what plain Rust can promise.

use std::hint::black_box;
use std::sync::atomic::{Ordering, fence};

/// `n` dependent operations that begin from `seed` and end in what is returned: alternating add and xor, which no compiler folds
/// while it knows neither operand. One cycle each on common cores, unverified.
#[inline]
pub(crate) fn dependent_adds(n: u64, seed: u64) -> u64 {
    let (mut x, k) = (seed, black_box(n) | 1);
    for _ in 0..n / 32 {
        for _ in 0..16 {
            x = x.wrapping_add(k);
            x ^= k;
        }
    }
    for _ in 0..n % 32 / 2 {
        x = x.wrapping_add(k);
        x ^= k;
    }
    if n % 2 == 1 {
        x = x.wrapping_add(k);
    }
    x
}

/// `iterations` × 64 operations on eight chains.
#[inline]
pub(crate) fn eight_chains(iterations: u64) {
    let k = black_box(iterations | 1);
    let mut x = [k; 8];
    for _ in 0..iterations {
        for _ in 0..4 {
            for lane in &mut x {
                *lane = lane.wrapping_add(k) ^ k;
            }
        }
    }
    black_box(x);
}

/// `hops` dependent loads from byte offset `at` on; returns the last offset.
///
/// # Safety
///
/// The chain of offsets from `at` on must stay inside what `base` may read, and
/// each must be that of an aligned word.
#[inline(always)]
pub(crate) unsafe fn chase(base: *const u8, at: u64, hops: u64) -> u64 {
    let mut at = at;
    for _ in 0..hops {
        let word = base.wrapping_add(at as usize).cast::<u64>();
        // SAFETY: the caller's promise.
        at = unsafe { word.read_volatile() };
    }
    at
}

/// One hop of [`chase`] for single timing.
///
/// # Safety
///
/// As for [`chase`].
#[inline(always)]
pub(crate) unsafe fn hop(base: *const u8, at: u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { chase(base, at, 1) }
}

/// No such hint here.
#[inline(always)]
pub(crate) fn prefetch_write(_address: *const u8) {}

/// Not possible here.
///
/// # Safety
///
/// `address` must be readable.
#[inline(always)]
pub(crate) unsafe fn flush_line(_address: *const u8) -> bool {
    false
}

/// Orders every access before it.
#[inline(always)]
pub(crate) fn full_fence() {
    fence(Ordering::SeqCst);
}

/// Orders earlier stores.
#[inline(always)]
pub(crate) fn store_fence() {
    fence(Ordering::SeqCst);
}

/// Are there flushes that don't wait for each other? None at all.
pub(crate) fn flushes_behind() -> bool {
    false
}

/// Never called, since there are none.
///
/// # Safety
///
/// None is needed.
pub(crate) unsafe fn flush_behind(_: *const u8, _: usize) {}
