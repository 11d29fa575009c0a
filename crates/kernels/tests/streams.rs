//! Every bandwidth kernel against a plain reference, in memory with guard pages.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod guarded;

use guarded::{Flush, Guarded};
use memgauge_kernels::stream::{Cursor, FACTOR, Kernel, Lines, Op, StreamError, Streams, WRITE_WORD, Walk};
use memgauge_kernels::{Isa, Rng, touch};

const BLOCK: u32 = 16;
const WALKS: [Walk; 2] = [Walk::Sequential, Walk::BlockRandom { block_lines: BLOCK }];

fn all_kernels() -> impl Iterator<Item = Kernel> {
    let isas = Isa::available().into_iter();
    isas.flat_map(|isa| Op::ALL.map(|op| (isa, op)))
        .flat_map(|(isa, op)| [Lines::Full, Lines::Partial].map(|lines| (isa, op, lines)))
        .flat_map(|(isa, op, lines)| WALKS.map(|walk| Kernel::find(op, lines, walk, isa)))
        .flatten()
        .map(Kernel::checked)
        .flat_map(|kernel| [Some(kernel), kernel.flushing()])
        .flatten()
}

/// The memory of a kernel: `steps` stored lines and what is loaded for them.
struct Memory {
    read: [Guarded; 2],
    write: Guarded,
}

impl Memory {
    fn new(kernel: &Kernel, read_steps: usize, write_steps: usize, flush: Flush) -> Self {
        let loaded = kernel.read_granule() / 4 * read_steps;
        let second = match kernel.accounting().read_streams {
            2 => loaded,
            _ => 0,
        };
        let stored = kernel.write_granule() / 4 * write_steps;
        let mut read = [loaded, second].map(|len| Guarded::new(len, flush));
        let mut rng = Rng::new(42);
        for word in read.iter_mut().flat_map(|r| r.chunks_exact_mut(8)) {
            // Random mantissas: 1.0 to 2.0 as numbers, and no two lines alike.
            let value = touch::FIRST_WORD | (rng.next_u64() >> 12);
            word.copy_from_slice(&value.to_ne_bytes());
        }
        let write = Guarded::new(stored, flush);
        Self { read, write }
    }

    /// Runs `bursts` in chunks of at most `chunk`; the cursor at the end.
    fn run(&mut self, kernel: &Kernel, bursts: u64, chunk: u64, delay: u32) -> Cursor {
        let mut streams = Streams::new(kernel, [&self.read[0], &self.read[1]], &mut self.write).unwrap();
        let mut cursor = Cursor::default();
        let mut left = bursts;
        while left > 0 {
            let done = kernel.run(&mut streams, &mut cursor, chunk.min(left), delay);
            assert!((1..=chunk.min(left)).contains(&done), "{}: {done}", kernel.name());
            left -= done;
        }
        cursor
    }
}

fn word(bytes: &[u8], line: usize, word: usize) -> u64 {
    let at = line * 64 + word * 8;
    u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// The lines of the first read stream that go with stored line `i`.
fn sources(walk: Walk, loads: usize, i: usize, steps: usize) -> Vec<usize> {
    match walk {
        Walk::Sequential => (0..loads).map(|k| i * loads + k).collect(),
        Walk::BlockRandom { block_lines } => {
            let (mut begin, mut size) = (0, block_lines as usize);
            while i >= begin + size || begin + size > steps {
                if begin + size <= steps {
                    begin += size;
                } else {
                    size /= 2;
                }
            }
            let first = begin * loads + (i - begin);
            (0..loads).map(|k| first + k * size).collect()
        }
    }
}

/// What one pass over equally many steps must leave: the write stream and the check.
fn reference(kernel: &Kernel, memory: &Memory, steps: usize) -> (Vec<u8>, u64) {
    let [a, b] = [&memory.read[0], &memory.read[1]];
    let words = match kernel.lines() {
        Lines::Full => 8,
        Lines::Partial => 1,
    };
    let loads = kernel.read_granule() / 256;
    let mut written = memory.write.to_vec();
    let mut check = 0;
    for line in 0..steps {
        let from = sources(kernel.walk(), loads, line, steps);
        for w in 0..words {
            let f = |bytes: &[u8]| f64::from_bits(word(bytes, line, w));
            let value = match kernel.op() {
                Op::Read => {
                    check ^= word(a, line, w);
                    continue;
                }
                Op::Write | Op::WriteNt => WRITE_WORD,
                Op::Scale | Op::ScaleNt => (FACTOR * f(a)).to_bits(),
                Op::Add | Op::AddNt => (f(a) + f(b)).to_bits(),
                Op::Triad | Op::TriadNt => (f(a) + FACTOR * f(b)).to_bits(),
                _ => from.iter().fold(0, |xor, &l| xor ^ word(a, l, w)),
            };
            let at = line * 64 + w * 8;
            written[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        }
    }
    (written, check)
}

/// One pass, whatever the chunks and the delay, equals the reference and stays
/// between the guard pages. 21 bursts: not a multiple of any unrolling, and a
/// tail of every power of two in block-random order.
#[test]
fn a_pass_equals_the_plain_reference() {
    const STEPS: usize = 84;
    let mut seen = 0;
    for kernel in all_kernels() {
        for (flush, chunk, delay) in [(Flush::Begin, 1, 3), (Flush::End, 5, 0), (Flush::End, u64::MAX, 0), (Flush::Begin, 9, 131)]
        {
            let mut memory = Memory::new(&kernel, STEPS, STEPS, flush);
            memory.write.fill(0xa5);
            let (written, check) = reference(&kernel, &memory, STEPS);
            let cursor = memory.run(&kernel, STEPS as u64 / 4, chunk, delay);
            let name = kernel.name();
            assert_eq!((cursor.read, cursor.write), (0, 0), "{name}: no wrap");
            assert_eq!(cursor.check, check, "{name}, chunk {chunk}: loads");
            assert!(written[..] == memory.write[..], "{name}, chunk {chunk}: stores");
        }
        seen += 1;
    }
    assert!(seen >= 9 * 4, "only {seen} kernels");
}

/// The bytes that a pass depends on and the bytes that it sets, counted one by
/// one, are what the accounting claims.
#[test]
fn accounting_is_what_is_touched() {
    const BURSTS: u64 = 2;
    for kernel in all_kernels() {
        let (name, claim) = (kernel.name(), kernel.accounting());
        let steps = BURSTS as usize * 4;
        let mut memory = Memory::new(&kernel, steps, steps, Flush::End);
        let outcome = |memory: &mut Memory, fill: u8| {
            memory.write.fill(fill);
            let cursor = memory.run(&kernel, BURSTS, u64::MAX, 0);
            (memory.write.to_vec(), cursor.check)
        };
        let (first, second) = (outcome(&mut memory, 0), outcome(&mut memory, 0xff));
        let set: Vec<usize> = (0..first.0.len()).filter(|&i| first.0[i] == second.0[i]).collect();
        assert_eq!(set.len() as u64, BURSTS * claim.bytes_stored, "{name}: bytes stored");
        assert_eq!(lines(&set), BURSTS * claim.lines_stored, "{name}: lines stored");
        let (mut bytes, mut touched, mut streams) = (0, 0, 0);
        for stream in 0..2 {
            let mut used = Vec::new();
            for at in 0..memory.read[stream].len() {
                memory.read[stream][at] ^= 0x80;
                if outcome(&mut memory, 0) != first {
                    used.push(at);
                }
                memory.read[stream][at] ^= 0x80;
            }
            bytes += used.len() as u64;
            touched += lines(&used);
            streams += u8::from(!used.is_empty());
        }
        assert_eq!(bytes, BURSTS * claim.bytes_loaded, "{name}: bytes loaded");
        assert_eq!(touched, BURSTS * claim.lines_loaded, "{name}: lines loaded");
        assert_eq!(streams, claim.read_streams, "{name}: read streams");
        assert_eq!(u8::from(!set.is_empty()), claim.write_streams, "{name}");
    }
}

fn lines(places: &[usize]) -> u64 {
    places.chunk_by(|a, b| a / 64 == b / 64).count() as u64
}

/// Streams of different lengths wrap each by itself; every instruction set does
/// what the portable kernel does, burst by burst, over several passes.
#[test]
fn unequal_streams_wrap_alike_everywhere() {
    for kernel in all_kernels().filter(|k| k.isa() != Isa::Portable) {
        let plain = Op::by_name(kernel.op().name().trim_end_matches("-nt")).unwrap();
        let (lines, walk) = (kernel.lines(), kernel.walk());
        let portable = Kernel::find(plain, lines, walk, Isa::Portable).unwrap();
        for (read_steps, write_steps) in [(12, 44), (52, 20)] {
            let run = |kernel: &Kernel, chunk| {
                let mut memory = Memory::new(kernel, read_steps, write_steps, Flush::End);
                let cursor = memory.run(kernel, 37, chunk, 0);
                (memory.write.to_vec(), cursor)
            };
            assert!(run(&kernel, 7) == run(&portable, u64::MAX), "{}", kernel.name());
        }
    }
}

/// Small streams are passed several times by one call; the bursts are as many as
/// it says and each pass is whole: reads cancel in pairs.
#[test]
fn a_call_passes_small_streams_several_times() {
    // One that flushes stays in step with its flushes.
    let passing = |kernel: &Kernel| kernel.walk() == Walk::Sequential && !kernel.name().ends_with("/flush");
    for kernel in all_kernels().filter(passing) {
        let mut memory = Memory::new(&kernel, 28, 28, Flush::End);
        let (written, check) = reference(&kernel, &memory, 28);
        let mut streams = Streams::new(&kernel, [&memory.read[0], &memory.read[1]], &mut memory.write).unwrap();
        for passes in [1, 2, 5] {
            let mut cursor = Cursor::default();
            let done = kernel.run(&mut streams, &mut cursor, 7 * passes + 6, 0);
            assert_eq!(done, 7 * passes, "{}", kernel.name());
            let expected = Cursor { check: check * (passes % 2), ..Cursor::default() };
            assert_eq!(cursor, expected, "{}, {passes}", kernel.name());
            assert!(streams.written() == written, "{}", kernel.name());
        }
        if kernel.op() == Op::Read && kernel.isa() == Isa::best() {
            let done = kernel.run(&mut streams, &mut Cursor::default(), u64::MAX, 0);
            assert!(done <= 65536 && done % 7 == 0, "{done}: bounded");
        }
    }
}

#[test]
fn unfit_memory_is_refused() {
    let walk = Walk::Sequential;
    let find = |op| Kernel::find(op, Lines::Full, walk, Isa::Portable).unwrap();
    let memory = Guarded::new(3 * 4096, Flush::Begin);
    let mut write = Guarded::new(4096, Flush::Begin);
    let mut refused = |op, a: &[u8], b: &[u8], len| Streams::new(&find(op), [a, b], &mut write[..len]).err();
    let odd = Some(StreamError::Length { bytes: 512, granule: 768 });
    assert_eq!(refused(Op::Load3Store1, &memory[..512], &[], 256), odd);
    assert_eq!(refused(Op::Read, &memory, &[], 256), Some(StreamError::Unused));
    assert_eq!(refused(Op::Read, &memory[8..264], &[], 0), Some(StreamError::Unaligned));
    let (a, b) = (&memory[..512], &memory[..256]);
    assert_eq!(refused(Op::Add, a, b, 256), Some(StreamError::Unequal));
    let empty = Some(StreamError::Length { bytes: 0, granule: 256 });
    assert_eq!(refused(Op::Copy, a, &[], 0), empty);
    assert_eq!(refused(Op::Copy, a, &[], 256), None);
}

#[test]
#[should_panic(expected = "another shape")]
fn streams_of_another_shape_do_not_run() {
    let find = |op| Kernel::find(op, Lines::Full, Walk::Sequential, Isa::Portable).unwrap();
    let memory = Guarded::new(4096, Flush::Begin);
    let mut streams = Streams::new(&find(Op::Read), [&memory, &[]], &mut []).unwrap();
    find(Op::Write).run(&mut streams, &mut Cursor::default(), 1, 0);
}

#[test]
#[should_panic(expected = "outside")]
fn a_cursor_outside_does_not_run() {
    let kernel = Kernel::find(Op::Read, Lines::Full, Walk::Sequential, Isa::best()).unwrap();
    let memory = Guarded::new(4096, Flush::Begin);
    let mut streams = Streams::new(&kernel, [&memory, &[]], &mut []).unwrap();
    let mut cursor = Cursor { read: 4096, ..Cursor::default() };
    kernel.run(&mut streams, &mut cursor, 1, 0);
}

#[test]
fn odd_blocks_and_portable_nt_do_not_exist() {
    let find = |op, block_lines| {
        let walk = Walk::BlockRandom { block_lines };
        Kernel::find(op, Lines::Full, walk, Isa::Portable)
    };
    for block in [0, 1, 2, 12, 1 << 25] {
        assert!(find(Op::Read, block).is_none(), "{block}");
    }
    assert!(find(Op::Read, 4).is_some());
    assert!(find(Op::WriteNt, 4).is_none());
}

/// So many more core cycles of delay take what as many dependent adds take; the
/// burst itself, overlapped or not, cancels out. Small delays are honoured too.
#[cfg(not(debug_assertions))]
#[test]
fn a_delay_is_as_long_as_it_says() {
    use memgauge_kernels::spin::dependent_adds;
    use std::time::Instant;
    const BURSTS: u64 = 128;
    let best = |f: &mut dyn FnMut()| {
        let time = |_| {
            let start = Instant::now();
            f();
            start.elapsed().as_secs_f64()
        };
        (0..50).map(time).fold(f64::MAX, f64::min)
    };
    for isa in Isa::available() {
        for walk in WALKS {
            let kernel = Kernel::find(Op::Read, Lines::Full, walk, isa).unwrap();
            let mut memory = Memory::new(&kernel, 256, 0, Flush::End);
            let mut seconds = |delay| {
                best(&mut || {
                    memory.run(&kernel, BURSTS, u64::MAX, delay);
                })
            };
            // The clock of a shared core moves: any of ten tries may tell.
            let mut share = |short: u32, long: u32| {
                let add = best(&mut || dependent_adds(100_000)) / 100_000.0;
                (seconds(long) - seconds(short)) / (BURSTS as f64 * add * f64::from(long - short))
            };
            let mut steps = vec![(300, 1000, 0.97..1.06)];
            // An emulator of another architecture has other costs for the jump.
            let native = cfg!(target_arch = "x86_64");
            if native && isa != Isa::Portable && walk == Walk::Sequential {
                steps.push((15, 65, 0.85..1.15));
            }
            for (short, long, range) in steps {
                let tries: Vec<f64> = (0..10).map(|_| share(short, long)).collect();
                let name = kernel.name();
                assert!(tries.iter().any(|t| range.contains(t)), "{name}, {short} to {long}: {tries:?}");
            }
        }
    }
}
