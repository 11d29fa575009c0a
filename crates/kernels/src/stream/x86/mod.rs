//! The x86-64 kernels: one set of loop texts, spoken in the vocabulary of each
//! instruction set.
//!
//! A vocabulary is a macro with these words: `bytes` of a vector, `each` (opens a
//! repetition over the vectors `\o` of a line), `ld` `st` `nt` `xor` `add`
//! (register number, memory operand), `scale` (by q), `setup`, `fold` and `leave`.
//! Registers 0 to 3 carry data, or the accumulators of the four lines of a
//! burst; 13 is scratch, 14 holds the written word, 15 the factor.

use super::{Isa, Lines, Loop, Op};

/// The memory operand of vector `\o` of line `\l` of burst `\b` in a stream of
/// which `$n` lines go with each step, this being the `$k`-th.
macro_rules! at {
    (seq, $stream:ident, $n:literal, $k:literal, $v:ident) => {
        concat!("[{", stringify!($stream), "} + ", $n, "*\\b + 64*(", $n, "*\\l + ", $k, ") + ", $v!(bytes), "*\\o]")
    };
    (rnd, $stream:ident, $n:literal, $k:literal, $v:ident) => {
        concat!("[{", stringify!($stream), "} + {x} + ", $v!(bytes), "*\\o]")
    };
}

/// Leaves the byte offset of a block-random stream's next line in `x`
/// (see `order::scramble`) and steps the index. Nothing to do for sequential ones.
macro_rules! seek {
    (seq, $index:literal, $mask:literal) => {
        ""
    };
    (rnd, $index:literal, $mask:literal) => {
        concat!(
            "mov {x}, ",
            $index,
            "\n",
            "and {x}, ",
            $mask,
            "\n",
            "mov {u}, {x}\n",
            "shr {u}, {shift}\n",
            "xor {x}, {u}\n",
            "imul {x}, {x}, {spread}\n",
            "and {x}, ",
            $mask,
            "\n",
            "shl {x}, 6\n",
            "add ",
            $index,
            ", {weyl}\n"
        )
    };
}
macro_rules! seek_read {
    ($m:ident) => {
        seek!($m, "{ri}", "{rmask}")
    };
}
macro_rules! seek_write {
    ($m:ident) => {
        seek!($m, "{wi}", "{wmask}")
    };
}
/// On to the same line of the next region, for the mixes of several loads a store.
macro_rules! next_region {
    (seq) => {
        ""
    };
    (rnd) => {
        "add {x}, {r1}\n"
    };
}

/// `$text` for every vector `\o` of a line.
macro_rules! each {
    ($v:ident, $text:expr) => {
        concat!($v!(each), $text, "\n.endr\n")
    };
}

/// What a kernel does with line `\l` of burst `\b`; `$st` is `st` or `nt`.
macro_rules! line {
    ($v:ident, $m:ident, read) => {
        concat!(seek_read!($m), each!($v, $v!(ld, "\\l", at!($m, r0, 1, 0, $v))))
    };
    ($v:ident, $m:ident, check) => {
        concat!(seek_read!($m), each!($v, $v!(xor, "\\l", at!($m, r0, 1, 0, $v))))
    };
    ($v:ident, $m:ident, write $st:ident) => {
        concat!(seek_write!($m), each!($v, $v!($st, "14", at!($m, w, 1, 0, $v))))
    };
    ($v:ident, $m:ident, copy $st:ident) => {
        concat!(
            seek_read!($m),
            each!($v, $v!(ld, "\\o", at!($m, r0, 1, 0, $v))),
            seek_write!($m),
            each!($v, $v!($st, "\\o", at!($m, w, 1, 0, $v)))
        )
    };
    ($v:ident, $m:ident, scale $st:ident) => {
        concat!(
            seek_read!($m),
            each!($v, concat!($v!(ld, "\\o", at!($m, r0, 1, 0, $v)), "\n", $v!(scale, "\\o"))),
            seek_write!($m),
            each!($v, $v!($st, "\\o", at!($m, w, 1, 0, $v)))
        )
    };
    ($v:ident, $m:ident, add $st:ident) => {
        concat!(
            seek_read!($m),
            each!($v, concat!($v!(ld, "\\o", at!($m, r0, 1, 0, $v)), "\n", $v!(add, "\\o", at!($m, r1, 1, 0, $v)))),
            seek_write!($m),
            each!($v, $v!($st, "\\o", at!($m, w, 1, 0, $v)))
        )
    };
    ($v:ident, $m:ident, triad $st:ident) => {
        concat!(
            seek_read!($m),
            each!(
                $v,
                concat!(
                    $v!(ld, "\\o", at!($m, r1, 1, 0, $v)),
                    "\n",
                    $v!(scale, "\\o"),
                    "\n",
                    $v!(add, "\\o", at!($m, r0, 1, 0, $v))
                )
            ),
            seek_write!($m),
            each!($v, $v!($st, "\\o", at!($m, w, 1, 0, $v)))
        )
    };
    // `$others` numbers the loads after the first, as in "1,2".
    ($v:ident, $m:ident, load $st:ident $n:literal $others:literal) => {
        concat!(
            seek_read!($m),
            each!($v, $v!(ld, "\\o", at!($m, r0, $n, 0, $v))),
            ".irp k,",
            $others,
            "\n",
            next_region!($m),
            each!($v, $v!(xor, "\\o", at!($m, r0, $n, "\\k", $v))),
            ".endr\n",
            seek_write!($m),
            each!($v, $v!($st, "\\o", at!($m, w, 1, 0, $v)))
        )
    };
}

/// A burst: four lines, for each `\b` (byte offset of the burst) in `$bursts`.
macro_rules! burst {
    ($bursts:literal, $line:expr) => {
        concat!(".irp b,", $bursts, "\n.irp l,0,1,2,3\n", $line, ".endr\n.endr\n")
    };
}

/// Moves the pointers of sequential streams on by `$n` bursts.
macro_rules! advance {
    (rnd, $n:literal, $($op:tt)+) => { "" };
    (seq, $n:literal, read) => { concat!("add {r0}, 256*", $n, "\n") };
    (seq, $n:literal, check) => { advance!(seq, $n, read) };
    (seq, $n:literal, write $st:ident) => { concat!("add {w}, 256*", $n, "\n") };
    (seq, $n:literal, load $st:ident $loads:literal $others:literal) => {
        concat!("add {r0}, 256*", $loads, "*", $n, "\nadd {w}, 256*", $n, "\n")
    };
    (seq, $n:literal, add $st:ident) => {
        concat!("add {r0}, 256*", $n, "\nadd {r1}, 256*", $n, "\nadd {w}, 256*", $n, "\n")
    };
    (seq, $n:literal, triad $st:ident) => { advance!(seq, $n, add $st) };
    (seq, $n:literal, $op:ident $st:ident) => {
        concat!("add {r0}, 256*", $n, "\nadd {w}, 256*", $n, "\n")
    };
}

/// Leaves the XOR of what `check` loaded in `x`, 0 for the others.
macro_rules! outcome {
    ($v:ident, check) => {
        $v!(fold)
    };
    ($v:ident, $($op:tt)+) => {
        "xor {x:e}, {x:e}"
    };
}

/// The loop without delays. Sequential ones are unrolled to four bursts and do
/// all passes themselves: a pass over an L1-resident stream takes but a hundred
/// cycles. They keep its beginning in the registers of the other walk.
macro_rules! fast {
    ($v:ident, seq, $($op:tt)+) => {
        concat!(
            "mov {ri}, {r0}\n",
            "mov {wi}, {w}\n",
            "mov {wmask}, {r1}\n",
            "mov {x}, {n}\n",
            "6:\n",
            "mov {m}, {x}\n",
            "mov {n}, {x}\n",
            "shr {m}, 2\n",
            "jz 3f\n",
            ".p2align 6\n",
            "2:\n",
            burst!("0,256,512,768", line!($v, seq, $($op)+)),
            advance!(seq, 4, $($op)+),
            "sub {m}, 1\n",
            "jnz 2b\n",
            "3:\n",
            "and {n}, 3\n",
            "jz 5f\n",
            "4:\n",
            burst!("0", line!($v, seq, $($op)+)),
            advance!(seq, 1, $($op)+),
            "sub {n}, 1\n",
            "jnz 4b\n",
            "5:\n",
            "mov {r0}, {ri}\n",
            "mov {w}, {wi}\n",
            "mov {r1}, {wmask}\n",
            "sub {rmask}, 1\n",
            "jnz 6b\n"
        )
    };
    ($v:ident, rnd, $($op:tt)+) => {
        concat!(
            ".p2align 6\n",
            "2:\n",
            burst!("0", line!($v, rnd, $($op)+)),
            "sub {n}, 1\n",
            "jnz 2b\n"
        )
    };
}

/// The loop with delays: after each burst a jump into a chain of 128 adds, then
/// `blocks` whole passes of it. The chain goes on from burst to burst and depends
/// on no load, so that only its own length counts.
macro_rules! slow {
    ($v:ident, $m:ident, $($op:tt)+) => {
        concat!(
            // Each add has three bytes: REX.W 01 /r.
            "lea {entry}, [{entry} + {entry}*2]\n",
            "neg {entry}\n",
            "lea {x}, [rip + 4f]\n",
            "add {entry}, {x}\n",
            ".p2align 6\n",
            "2:\n",
            burst!("0", line!($v, $m, $($op)+)),
            "mov {x}, {blocks}\n",
            "jmp {entry}\n",
            ".p2align 6\n",
            "3:\n",
            ".rept 128\n",
            "add {m}, {blocks}\n",
            ".endr\n",
            "4:\n",
            "sub {x}, 1\n",
            "jns 3b\n",
            advance!($m, 1, $($op)+),
            "sub {n}, 1\n",
            "jnz 2b\n"
        )
    };
}

/// One asm block with the operands that every loop shares.
macro_rules! run {
    ($v:ident, $job:ident, $result:ident, $text:expr, $outcome:expr $(, $operand:ident = $value:expr)*) => {
        std::arch::asm!(
            $v!(setup),
            $text,
            $outcome,
            $v!(leave),
            // A loop that does not use an operand still names it.
            "# {r0} {r1} {w} {m} {u} {ri} {wi} {rmask} {wmask} {shift} {spread} {weyl} {word} {factor}",
            r0 = inout(reg) $job.read0 => _,
            r1 = inout(reg) $job.read1 => _,
            w = inout(reg) $job.write => _,
            n = inout(reg) $job.bursts => _,
            ri = inout(reg) $job.read_index => _,
            wi = inout(reg) $job.write_index => _,
            rmask = inout(reg) $job.read_mask => _,
            wmask = inout(reg) $job.write_mask => _,
            m = inout(reg) 0u64 => _,
            u = out(reg) _,
            x = out(reg) $result,
            $($operand = inout(reg) $value => _,)*
            shift = const $crate::stream::order::SHIFT,
            spread = const $crate::stream::order::SPREAD,
            weyl = const $crate::stream::order::WEYL,
            word = const $crate::stream::WRITE_WORD,
            factor = const $crate::stream::FACTOR.to_bits(),
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nostack)
        )
    };
}

/// The function of one operation and walk.
macro_rules! function {
    ($v:ident, $name:ident, $m:ident, $($op:tt)+) => {
        /// # Safety
        ///
        /// See `Loop`.
        pub(super) unsafe fn $name(job: &$crate::stream::Job) -> u64 {
            let check: u64;
            if job.delay == 0 {
                // SAFETY: touches `bursts` bursts from the job's places on, which the
                // caller vouches for, as for the instruction set; clobbers are listed.
                unsafe { run!($v, job, check, fast!($v, $m, $($op)+), outcome!($v, $($op)+)) }
            } else {
                // SAFETY: as above; the jump target lies `delay % 128` adds before label 4.
                unsafe {
                    run!($v, job, check, slow!($v, $m, $($op)+), outcome!($v, $($op)+),
                        entry = job.delay % 128, blocks = job.delay / 128)
                }
            }
            check
        }
    };
}

/// All kernels of a vocabulary, and the function that finds them.
macro_rules! family {
    ($v:ident: $($name:ident $variant:ident [$($op:tt)+])+) => {
        mod sequential {
            $(function!($v, $name, seq, $($op)+);)+
        }

        mod random {
            $(function!($v, $name, rnd, $($op)+);)+
        }

        pub(super) fn find(op: super::Op, random: bool, checked: bool) -> super::Loop {
            function!($v, check_sequential, seq, check);
            function!($v, check_random, rnd, check);
            match (op, random) {
                (super::Op::Read, false) if checked => check_sequential,
                (super::Op::Read, true) if checked => check_random,
                $(
                    (super::Op::$variant, false) => sequential::$name,
                    (super::Op::$variant, true) => random::$name,
                )+
            }
        }
    };
    ($v:ident) => {
        family! {
            $v:
            read Read [read]
            write Write [write st]
            write_nt WriteNt [write nt]
            copy Copy [copy st]
            copy_nt CopyNt [copy nt]
            scale Scale [scale st]
            scale_nt ScaleNt [scale nt]
            add Add [add st]
            add_nt AddNt [add nt]
            triad Triad [triad st]
            triad_nt TriadNt [triad nt]
            load2 Load2Store1 [load st 2 "1"]
            load2_nt Load2Store1Nt [load nt 2 "1"]
            load3 Load3Store1 [load st 3 "1,2"]
            load3_nt Load3Store1Nt [load nt 3 "1,2"]
            load8 Load8Store1 [load st 8 "1,2,3,4,5,6,7"]
        }
    };
}

mod avx2;
mod avx512;
mod scalar;
mod sse2;

pub(super) fn find(op: Op, lines: Lines, random: bool, checked: bool, isa: Isa) -> Option<Loop> {
    match (lines, isa) {
        (Lines::Partial, _) => Some(scalar::find(op, random, checked)),
        (Lines::Full, Isa::Sse2) => Some(sse2::find(op, random, checked)),
        (Lines::Full, Isa::Avx2) => Some(avx2::find(op, random, checked)),
        (Lines::Full, Isa::Avx512) => Some(avx512::find(op, random, checked)),
        (Lines::Full, Isa::Portable | Isa::Neon) => None,
    }
}
