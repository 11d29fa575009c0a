//! x86-64.

use std::arch::asm;

/// LFENCE; RDTSC; LFENCE: earlier loads are done, later ones have not begun.
#[inline(always)]
pub(crate) fn tsc_start() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: RDTSC is unprivileged on Linux unless a process asked otherwise by
    // prctl(PR_SET_TSC); it touches no memory. Not `nomem`: measured accesses
    // must not be moved across it by the compiler.
    unsafe {
        asm!("lfence", "rdtsc", "lfence", out("eax") low, out("edx") high, options(nostack));
    }
    u64::from(high) << 32 | u64::from(low)
}

/// RDTSCP; LFENCE: the counter and TSC_AUX. The caller has checked that RDTSCP exists.
#[inline(always)]
pub(crate) fn tsc_stop() -> (u64, u32) {
    let (low, high, aux): (u32, u32, u32);
    // SAFETY: as for `tsc_start`; only a `Clock` made after the CPUID check calls this.
    unsafe {
        asm!(
            "rdtscp",
            "lfence",
            out("eax") low, out("edx") high, out("ecx") aux,
            options(nostack)
        );
    }
    (u64::from(high) << 32 | u64::from(low), aux)
}

/// `n` dependent register adds that begin from `seed` (and so after whatever made
/// it) and end in what is returned: the remainder by a jump into the unrolled chain,
/// then whole passes of it, so that the loop's own two instructions (which run
/// ahead of the chain) are all the overhead.
#[inline]
pub(crate) fn dependent_adds(n: u64, seed: u64) -> u64 {
    let mut chain = seed;
    // SAFETY: register arithmetic and jumps within this block. The jump target is
    // `end - 3 * (n % 128)`: each of the 128 adds is REX.W 01 /r, three bytes.
    unsafe {
        asm!(
            "lea {entry}, [{entry} + {entry}*2]",
            "neg {entry}",
            "lea {tmp}, [rip + 4f]",
            "add {entry}, {tmp}",
            "jmp {entry}",
            ".p2align 6",
            "3:",
            ".rept 128",
            "add {chain}, {tmp}",
            ".endr",
            "4:",
            "sub {passes}, 1",
            "jns 3b",
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
            "add rax, {n}",
            "add rcx, {n}",
            "add rdx, {n}",
            "add rsi, {n}",
            "add rdi, {n}",
            "add r8, {n}",
            "add r9, {n}",
            "add r10, {n}",
            ".endr",
            "sub {n}, 1",
            "jnz 2b",
            n = inout(reg) iterations => _,
            out("rax") _, out("rcx") _, out("rdx") _, out("rsi") _,
            out("rdi") _, out("r8") _, out("r9") _, out("r10") _,
            options(nomem, nostack)
        );
    }
}

/// `hops` dependent loads from byte offset `at` on; returns the last offset.
///
/// # Safety
///
/// The chain of offsets from `at` on must stay inside what `base` may read.
#[inline(always)]
pub(crate) unsafe fn chase(base: *const u8, at: u64, hops: u64) -> u64 {
    let mut at = at;
    // SAFETY: the caller's promise; only reads, and the last jump is bounded by `hops`.
    unsafe {
        asm!(
            "sub {hops}, 16",
            "jb 3f",
            ".p2align 6",
            "2:",
            ".rept 16",
            "mov {at}, [{base} + {at}]",
            ".endr",
            "sub {hops}, 16",
            "jae 2b",
            "3:",
            "add {hops}, 16",
            "jz 5f",
            "4:",
            "mov {at}, [{base} + {at}]",
            "sub {hops}, 1",
            "jnz 4b",
            "5:",
            base = in(reg) base,
            at = inout(reg) at,
            hops = inout(reg) hops => _,
            options(nostack, readonly)
        );
    }
    at
}

/// One hop of [`chase`] for single timing.
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
            "mov {at}, [{base} + {at}]",
            base = in(reg) base,
            at = inout(reg) at,
            options(nostack, readonly, preserves_flags)
        );
    }
    at
}

/// Asks for the line at `address` with the intent to write it. Any address will do.
#[inline(always)]
pub(crate) fn prefetch_write(address: *const u8) {
    // SAFETY: PREFETCHW never faults, and is a no-op on 64-bit CPUs that lack it.
    unsafe {
        asm!("prefetchw [{}]", in(reg) address, options(nostack, readonly, preserves_flags));
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
    // SAFETY: CLFLUSH acts like a load of one byte; every x86-64 CPU has it.
    unsafe {
        asm!("clflush [{}]", in(reg) address, options(nostack, preserves_flags));
    }
    true
}

/// Sets each word to what `word` gives for its index, past the caches: what is filled is far larger than they are, and this
/// reads no line before it is overwritten.
pub(crate) fn write_words(words: &mut [[u8; 8]], word: impl Fn(usize) -> [u8; 8]) {
    for (i, to) in words.iter_mut().enumerate() {
        let value = i64::from_ne_bytes(word(i));
        // SAFETY: a place of eight bytes in the slice; MOVNTI needs no alignment.
        unsafe { core::arch::x86_64::_mm_stream_si64(to.as_mut_ptr().cast(), value) };
    }
    store_fence();
}

/// [`flush_line`] for a line in every `stride` bytes, then a fence. CLFLUSHOPT where there is one: CLFLUSH waits for the one
/// before it.
///
/// # Safety
///
/// `len` bytes from `base` on must be readable.
pub(crate) unsafe fn flush_range(base: *const u8, len: usize, stride: usize) -> bool {
    let optimised = core::arch::x86_64::__cpuid_count(7, 0).ebx & (1 << 23) != 0;
    for at in (0..len).step_by(stride) {
        let line = base.wrapping_add(at);
        if optimised {
            // SAFETY: acts like a load of one byte inside the range; CPUID says that the CPU has it.
            unsafe { asm!("clflushopt [{}]", in(reg) line, options(nostack, preserves_flags)) };
        } else {
            // SAFETY: inside the range, which is readable.
            unsafe { flush_line(line) };
        }
    }
    full_fence();
    true
}

/// Are there flushes that don't wait for each other?
pub(crate) fn flushes_behind() -> bool {
    core::arch::x86_64::__cpuid(0).eax >= 7 && core::arch::x86_64::__cpuid_count(7, 0).ebx & (1 << 23) != 0
}

/// Flushes each line of a range, unfenced.
///
/// # Safety
///
/// `len` bytes from `base` on must be readable, and [`flushes_behind`] true.
#[inline]
pub(crate) unsafe fn flush_behind(base: *const u8, len: usize) {
    for at in (0..len).step_by(64) {
        // SAFETY: acts like a load of one byte inside the range; the caller has asked whether the CPU has it.
        unsafe { asm!("clflushopt [{}]", in(reg) base.wrapping_add(at), options(nostack, preserves_flags)) };
    }
}

/// Orders everything before it, flushes and non-temporal stores included.
#[inline(always)]
pub(crate) fn full_fence() {
    // SAFETY: MFENCE has no operand.
    unsafe { asm!("mfence", options(nostack, preserves_flags)) }
}

/// Drains the write-combining buffers.
#[inline(always)]
pub(crate) fn store_fence() {
    // SAFETY: SFENCE has no operand.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) }
}
