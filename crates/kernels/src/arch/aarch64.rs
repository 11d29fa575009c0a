//! AArch64.

use std::arch::asm;

/// The virtual counter, read neither early nor late.
#[inline(always)]
pub(crate) fn cntvct() -> u64 {
    let ticks: u64;
    // SAFETY: Linux lets user space read CNTVCT_EL0 (and emulates it where an
    // erratum forbids that). Not `nomem`: accesses must not be moved across it.
    unsafe {
        asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) ticks, options(nostack));
    }
    ticks
}

/// The frequency that firmware declares for the virtual counter, in Hz.
pub(crate) fn cntfrq() -> u64 {
    let hz: u64;
    // SAFETY: as for CNTVCT_EL0; reads one system register.
    unsafe {
        asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags));
    }
    hz & 0xffff_ffff
}

/// `n` dependent register adds that begin from `seed` (and so after whatever made
/// it) and end in what is returned: the remainder by a jump into the unrolled chain,
/// then whole passes of it.
#[inline]
pub(crate) fn dependent_adds(n: u64, seed: u64) -> u64 {
    let mut chain = seed;
    // SAFETY: register arithmetic and jumps within this block. The jump target is
    // `end - 4 * (n % 128)`: every instruction has four bytes.
    unsafe {
        asm!(
            "adr {tmp}, 4f",
            "sub {entry}, {tmp}, {entry}, lsl 2",
            "br {entry}",
            ".p2align 6",
            "3:",
            ".rept 128",
            "add {chain}, {chain}, {tmp}",
            ".endr",
            "4:",
            "subs {passes}, {passes}, #1",
            "b.pl 3b",
            entry = inout(reg) n % 128 => _,
            passes = inout(reg) n / 128 => _,
            chain = inout(reg) chain,
            tmp = out(reg) _,
            options(nomem, nostack)
        );
    }
    chain
}

/// `iterations` × 64 adds on eight chains.
#[inline]
pub(crate) fn eight_chains(iterations: u64) {
    if iterations == 0 {
        return;
    }
    // SAFETY: register arithmetic and one backward jump.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".rept 8",
            ".irp r,0,1,2,3,4,5,6,7",
            "add x\\r, x\\r, {n}",
            ".endr",
            ".endr",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            n = inout(reg) iterations => _,
            out("x0") _, out("x1") _, out("x2") _, out("x3") _,
            out("x4") _, out("x5") _, out("x6") _, out("x7") _,
            options(nomem, nostack)
        );
    }
}

/// `hops` dependent loads from byte offset `at` on; returns the last offset.
///
/// It ends in a branch that depends on the last load: together with the ISB of a
/// clock read, that keeps the read from running ahead of the chain.
///
/// # Safety
///
/// The chain of offsets from `at` on must stay inside what `base` may read.
#[inline(always)]
pub(crate) unsafe fn chase(base: *const u8, at: u64, hops: u64) -> u64 {
    let mut at = at;
    // SAFETY: the caller's promise; only reads, and the loops are bounded by `hops`.
    unsafe {
        asm!(
            "subs {hops}, {hops}, #16",
            "b.lo 3f",
            ".p2align 6",
            "2:",
            ".rept 16",
            "ldr {at}, [{base}, {at}]",
            ".endr",
            "subs {hops}, {hops}, #16",
            "b.hs 2b",
            "3:",
            "adds {hops}, {hops}, #16",
            "b.eq 5f",
            "4:",
            "ldr {at}, [{base}, {at}]",
            "subs {hops}, {hops}, #1",
            "b.ne 4b",
            "5:",
            "eor {hops}, {at}, {at}",
            "cbnz {hops}, 5b",
            base = in(reg) base,
            at = inout(reg) at,
            hops = inout(reg) hops => _,
            options(nostack, readonly)
        );
    }
    at
}

/// One hop of [`chase`] for single timing, with the same closing branch.
///
/// # Safety
///
/// `base + at` must be a readable word.
#[inline(always)]
pub(crate) unsafe fn hop(base: *const u8, at: u64) -> u64 {
    let mut at = at;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "ldr {at}, [{base}, {at}]",
            "eor {zero}, {at}, {at}",
            "2:",
            "cbnz {zero}, 2b",
            base = in(reg) base,
            at = inout(reg) at,
            zero = out(reg) _,
            options(nostack, readonly, preserves_flags)
        );
    }
    at
}

/// Asks for the line at `address` with the intent to write it. Any address will do.
#[inline(always)]
pub(crate) fn prefetch_write(address: *const u8) {
    // SAFETY: PRFM never faults.
    unsafe {
        asm!("prfm pstl1keep, [{}]", in(reg) address, options(nostack, readonly, preserves_flags));
    }
}

/// Writes the line back if dirty and drops it from every cache. False if this
/// architecture cannot.
///
/// # Safety
///
/// `address` must be readable.
#[inline(always)]
pub(crate) unsafe fn flush_line(address: *const u8) -> bool {
    // SAFETY: Linux lets user space clean and invalidate by address (SCTLR_EL1.UCI).
    unsafe {
        asm!("dc civac, {}", in(reg) address, options(nostack, preserves_flags));
    }
    true
}

/// Are there flushes that don't wait for each other?
pub(crate) fn flushes_behind() -> bool {
    true
}

/// Flushes each line of a range, unfenced.
///
/// # Safety
///
/// `len` bytes from `base` on must be readable.
#[inline]
pub(crate) unsafe fn flush_behind(base: *const u8, len: usize) {
    for at in (0..len).step_by(64) {
        // SAFETY: inside the range, which is readable.
        unsafe { flush_line(base.wrapping_add(at)) };
    }
}

/// Orders everything before it, cache maintenance included.
#[inline(always)]
pub(crate) fn full_fence() {
    // SAFETY: DSB has no operand in memory.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) }
}

/// Completes earlier stores.
#[inline(always)]
pub(crate) fn store_fence() {
    // SAFETY: DSB has no operand in memory.
    unsafe { asm!("dsb ishst", options(nostack, preserves_flags)) }
}
