//! The AArch64 kernels, put together from the same pieces as those of x86-64:
//! loop texts in two vocabularies, whole lines by vector pairs and 8 bytes of
//! each line by scalars.
//!
//! A vocabulary is a macro with words that act on a whole line: `ld` `ld_second`
//! `st` `nt` `st_word` `nt_word` `xor` `check` `check_next` (base register,
//! offset), `add` `scale` `scale_second` and `fold`. There is no true non-temporal
//! store: STNP is a hint.

use super::{Lines, Loop, Op};

/// The base register of a stream's line.
macro_rules! base {
    (seq, r0) => {
        "{r0}"
    };
    (seq, r1) => {
        "{r1}"
    };
    (seq, w) => {
        "{w}"
    };
    (rnd, r1) => {
        "{z}"
    };
    (rnd, $stream:ident) => {
        "{y}"
    };
}

/// The offset of line `\l` of burst `\b` from there.
macro_rules! offset {
    (seq) => {
        "\\b + 64*\\l"
    };
    (rnd) => {
        "0"
    };
}
/// The offset of the line after that.
macro_rules! offset_of_next {
    (seq) => {
        "\\b + 64*\\l + 64"
    };
    (rnd) => {
        "0"
    };
}
/// The offset of the `\k`-th line loaded for one step.
macro_rules! offset_of_load {
    (seq) => {
        "64*\\k"
    };
    (rnd) => {
        "0"
    };
}

/// Leaves a block-random stream's next line number in `x` (see `order::scramble`),
/// its address in `y`, that in the second stream in `z`, and steps the index.
macro_rules! seek {
    (seq, $index:literal, $mask:literal, $base:literal) => {
        ""
    };
    (rnd, $index:literal, $mask:literal, $base:literal) => {
        concat!(
            "and {x}, ",
            $index,
            ", ",
            $mask,
            "\n",
            "eor {x}, {x}, {x}, lsr #{shift}\n",
            "mul {x}, {x}, {spread}\n",
            "and {x}, {x}, ",
            $mask,
            "\n",
            "add ",
            $index,
            ", ",
            $index,
            ", {weyl}\n",
            "add {y}, ",
            $base,
            ", {x}, lsl #6\n"
        )
    };
}
macro_rules! seek_read {
    ($m:ident) => {
        seek!($m, "{ri}", "{rmask}", "{r0}")
    };
}
macro_rules! seek_second {
    (seq) => {
        ""
    };
    (rnd) => {
        "add {z}, {r1}, {x}, lsl #6\n"
    };
}
macro_rules! seek_write {
    ($m:ident) => {
        seek!($m, "{wi}", "{wmask}", "{w}")
    };
}
/// On to the same line of the next region, for the mixes of several loads a store.
macro_rules! next_region {
    (seq) => {
        ""
    };
    (rnd) => {
        "add {y}, {y}, {r1}\n"
    };
}
/// Sequential mixes of several loads move on line by line: the offsets of a whole
/// burst would not fit into an LDP.
macro_rules! next_step {
    (seq, $n:literal) => {
        concat!("add {r0}, {r0}, #64*", $n, "\n")
    };
    (rnd, $n:literal) => {
        ""
    };
}

/// What a kernel does with line `\l` of burst `\b`; `$st` is `st` or `nt`. `check` takes
/// two lines at once, each into accumulators of its own: an EOR takes two cycles.
macro_rules! line {
    ($v:ident, $m:ident, read) => {
        concat!(seek_read!($m), $v!(ld, base!($m, r0), offset!($m)))
    };
    ($v:ident, $m:ident, check) => {
        concat!(
            seek_read!($m),
            $v!(check, base!($m, r0), offset!($m)),
            seek_read!($m),
            $v!(check_next, base!($m, r0), offset_of_next!($m))
        )
    };
    ($v:ident, $m:ident, write st) => {
        concat!(seek_write!($m), $v!(st_word, base!($m, w), offset!($m)))
    };
    ($v:ident, $m:ident, write nt) => {
        concat!(seek_write!($m), $v!(nt_word, base!($m, w), offset!($m)))
    };
    ($v:ident, $m:ident, copy $st:ident) => {
        concat!(
            seek_read!($m),
            $v!(ld, base!($m, r0), offset!($m)),
            line!($v, $m, finish $st)
        )
    };
    ($v:ident, $m:ident, scale $st:ident) => {
        concat!(
            seek_read!($m),
            $v!(ld, base!($m, r0), offset!($m)),
            $v!(scale),
            line!($v, $m, finish $st)
        )
    };
    ($v:ident, $m:ident, add $st:ident) => {
        concat!(
            seek_read!($m),
            seek_second!($m),
            $v!(ld, base!($m, r0), offset!($m)),
            $v!(ld_second, base!($m, r1), offset!($m)),
            $v!(add),
            line!($v, $m, finish $st)
        )
    };
    ($v:ident, $m:ident, triad $st:ident) => {
        concat!(
            seek_read!($m),
            seek_second!($m),
            $v!(ld, base!($m, r0), offset!($m)),
            $v!(ld_second, base!($m, r1), offset!($m)),
            $v!(scale_second),
            $v!(add),
            line!($v, $m, finish $st)
        )
    };
    // `$others` numbers the loads after the first, as in "1,2".
    ($v:ident, $m:ident, load $st:ident $n:literal $others:literal) => {
        concat!(
            seek_read!($m),
            ".irp k,0\n",
            $v!(ld, base!($m, r0), offset_of_load!($m)),
            ".endr\n",
            ".irp k,", $others, "\n",
            next_region!($m),
            $v!(xor, base!($m, r0), offset_of_load!($m)),
            ".endr\n",
            next_step!($m, $n),
            line!($v, $m, finish $st)
        )
    };
    ($v:ident, $m:ident, finish $st:ident) => {
        concat!(seek_write!($m), $v!($st, base!($m, w), offset!($m)))
    };
}

/// A burst: four lines, for each `\b` (byte offset of the burst) in `$bursts`.
macro_rules! burst {
    ($v:ident, $m:ident, $bursts:literal, check) => {
        concat!(".irp b,", $bursts, "\n.irp l,0,2\n", line!($v, $m, check), ".endr\n.endr\n")
    };
    ($v:ident, $m:ident, $bursts:literal, $($op:tt)+) => {
        concat!(
            ".irp b,", $bursts, "\n.irp l,0,1,2,3\n", line!($v, $m, $($op)+), ".endr\n.endr\n"
        )
    };
}

/// Moves the pointers of sequential streams on by `$n` bursts.
macro_rules! advance {
    (rnd, $n:literal, $($op:tt)+) => { "" };
    (seq, $n:literal, read) => { concat!("add {r0}, {r0}, #256*", $n, "\n") };
    (seq, $n:literal, check) => { advance!(seq, $n, read) };
    (seq, $n:literal, write $st:ident) => { concat!("add {w}, {w}, #256*", $n, "\n") };
    (seq, $n:literal, load $($op:tt)+) => { advance!(seq, $n, write st) };
    (seq, $n:literal, add $st:ident) => {
        concat!(
            advance!(seq, $n, copy $st),
            "add {r1}, {r1}, #256*", $n, "\n"
        )
    };
    (seq, $n:literal, triad $st:ident) => { advance!(seq, $n, add $st) };
    (seq, $n:literal, $op:ident $st:ident) => {
        concat!(advance!(seq, $n, read), advance!(seq, $n, write $st))
    };
}

/// Leaves the XOR of what `check` loaded in `x`, 0 for the others.
macro_rules! outcome {
    ($v:ident, check) => {
        $v!(fold)
    };
    ($v:ident, $($op:tt)+) => {
        "mov {x}, #0\n"
    };
}

/// The loop without delays. Sequential ones are unrolled to four bursts and do
/// all passes themselves: a pass over an L1-resident stream takes but a few hundred
/// cycles. They keep its beginning in the registers of the other walk.
macro_rules! fast {
    ($v:ident, seq, $($op:tt)+) => {
        concat!(
            "mov {ri}, {r0}\n",
            "mov {wi}, {w}\n",
            "mov {wmask}, {r1}\n",
            "mov {x}, {n}\n",
            "6:\n",
            "and {n}, {x}, #3\n",
            "lsr {m}, {x}, #2\n",
            "cbz {m}, 3f\n",
            ".p2align 6\n",
            "2:\n",
            burst!($v, seq, "0,256,512,768", $($op)+),
            advance!(seq, 4, $($op)+),
            "subs {m}, {m}, #1\n",
            "b.ne 2b\n",
            "3:\n",
            "cbz {n}, 5f\n",
            "4:\n",
            burst!($v, seq, "0", $($op)+),
            advance!(seq, 1, $($op)+),
            "subs {n}, {n}, #1\n",
            "b.ne 4b\n",
            "5:\n",
            "mov {r0}, {ri}\n",
            "mov {w}, {wi}\n",
            "mov {r1}, {wmask}\n",
            "subs {rmask}, {rmask}, #1\n",
            "b.ne 6b\n"
        )
    };
    ($v:ident, rnd, $($op:tt)+) => {
        concat!(
            ".p2align 6\n",
            "2:\n",
            burst!($v, rnd, "0", $($op)+),
            "subs {n}, {n}, #1\n",
            "b.ne 2b\n"
        )
    };
}

/// The loop with delays: after each burst a jump into a chain of 128 adds, then
/// `blocks` whole passes of it. The chain goes on from burst to burst and depends
/// on no load, so that only its own length counts.
macro_rules! slow {
    ($v:ident, $m:ident, $($op:tt)+) => {
        concat!(
            "adr {x}, 4f\n",
            "sub {entry}, {x}, {entry}, lsl #2\n",
            ".p2align 6\n",
            "2:\n",
            burst!($v, $m, "0", $($op)+),
            "mov {x}, {blocks}\n",
            "br {entry}\n",
            ".p2align 6\n",
            "3:\n",
            ".rept 128\n",
            "add {m}, {m}, {blocks}\n",
            ".endr\n",
            "4:\n",
            "subs {x}, {x}, #1\n",
            "b.pl 3b\n",
            advance!($m, 1, $($op)+),
            "subs {n}, {n}, #1\n",
            "b.ne 2b\n"
        )
    };
}

/// One asm block with the operands that every loop shares.
macro_rules! run {
    ($job:ident, $result:ident, $text:expr, $outcome:expr $(, $operand:ident = $value:expr)*) => {
        std::arch::asm!(
            "dup v14.2d, {word}",
            "dup v15.2d, {factor}",
            ".irp r,16,17,18,19,20,21,22,23",
            "movi v\\r\\().2d, #0",
            ".endr",
            $text,
            $outcome,
            // A loop that does not use an operand still names it.
            "// {r0} {r1} {w} {m} {y} {z} {ri} {wi} {rmask} {wmask} {shift} {spread} {weyl}",
            r0 = inout(reg) $job.read0 => _,
            r1 = inout(reg) $job.read1 => _,
            w = inout(reg) $job.write => _,
            n = inout(reg) $job.bursts => _,
            ri = inout(reg) $job.read_index => _,
            wi = inout(reg) $job.write_index => _,
            rmask = inout(reg) $job.read_mask => _,
            wmask = inout(reg) $job.write_mask => _,
            m = inout(reg) 0u64 => _,
            x = out(reg) $result,
            y = out(reg) _,
            z = out(reg) _,
            $($operand = inout(reg) $value => _,)*
            shift = const $crate::stream::order::SHIFT,
            spread = in(reg) u64::from($crate::stream::order::SPREAD),
            weyl = in(reg) u64::from($crate::stream::order::WEYL),
            word = in(reg) $crate::stream::WRITE_WORD,
            factor = in(reg) $crate::stream::FACTOR.to_bits(),
            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
            out("v4") _, out("v5") _, out("v6") _, out("v7") _, out("v14") _, out("v15") _,
            out("v16") _, out("v17") _, out("v18") _, out("v19") _,
            out("v20") _, out("v21") _, out("v22") _, out("v23") _,
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
                // caller vouches for; clobbers are listed.
                unsafe { run!(job, check, fast!($v, $m, $($op)+), outcome!($v, $($op)+)) }
            } else {
                // SAFETY: as above; the jump target lies `delay % 128` adds before label 4.
                unsafe {
                    run!(job, check, slow!($v, $m, $($op)+), outcome!($v, $($op)+),
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

mod pairs;
mod scalar;

pub(super) fn find(op: Op, lines: Lines, random: bool, checked: bool) -> Loop {
    match lines {
        Lines::Full => pairs::find(op, random, checked),
        Lines::Partial => scalar::find(op, random, checked),
    }
}
