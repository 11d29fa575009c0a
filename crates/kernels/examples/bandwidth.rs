//! Application bytes per second of one kernel on one thread, for tuning:
//! `bandwidth OP ISA BYTES [DELAY] [seq|BLOCK_LINES] [full|partial]`, BYTES over all streams.
//! Prints the best and the median of short windows, and bytes a core cycle.
#![expect(clippy::print_stdout, reason = "an example is there to print")]

use std::alloc::{Layout, alloc_zeroed};
use std::time::{Duration, Instant};

use memgauge_kernels::spin::dependent_adds;
use memgauge_kernels::stream::{Cursor, Kernel, Lines, Op, Streams, Walk};
use memgauge_kernels::{Isa, touch};

const WINDOW: Duration = Duration::from_micros(200);
const SPIN: u64 = 100_000;

fn main() -> Result<(), &'static str> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |i: usize| args.get(i).map_or("", String::as_str);
    let op = Op::by_name(arg(0)).ok_or("OP?")?;
    let isa = Isa::by_name(arg(1)).unwrap_or_else(Isa::best);
    let bytes: usize = arg(2).parse().map_err(|_| "BYTES?")?;
    let delay = arg(3).parse().unwrap_or(0);
    let walk = arg(4).parse().map_or(Walk::Sequential, |block_lines| Walk::BlockRandom { block_lines });
    let lines = if arg(5) == "partial" { Lines::Partial } else { Lines::Full };
    let kernel = Kernel::find(op, lines, walk, isa).ok_or("no such kernel here")?;
    let moved = kernel.accounting();
    let a_burst = 64 * (moved.lines_loaded + moved.lines_stored) as usize;
    let bursts = bytes / a_burst;
    let read = bursts * kernel.read_granule();
    let second = if moved.read_streams == 2 { read } else { 0 };
    let write = memory(bursts * kernel.write_granule());
    let (first, second) = (memory(read), memory(second));
    let mut streams = Streams::new(&kernel, [first, second], write).map_err(|_| "does not fit")?;
    let mut cursor = Cursor::default();
    let mut rates = Vec::new();
    let mut cycles = Vec::new();
    let end = Instant::now() + Duration::from_millis(600);
    while Instant::now() < end {
        let (start, mut done) = (Instant::now(), 0);
        while start.elapsed() < WINDOW {
            for _ in 0..(1 << 11) / bursts + 1 {
                done += kernel.run(&mut streams, &mut cursor, 1 << 15, delay);
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        let amount = ((moved.bytes_loaded + moved.bytes_stored) * done) as f64;
        let spin = Instant::now();
        dependent_adds(SPIN);
        let hz = SPIN as f64 / spin.elapsed().as_secs_f64();
        rates.push(amount / seconds / 1e6);
        cycles.push(amount / seconds / hz);
    }
    rates.sort_by(f64::total_cmp);
    cycles.sort_by(f64::total_cmp);
    println!(
        "{:.0} {:.0} MB/s, {:.1} B a cycle (median) {}",
        rates[rates.len() - 1],
        rates[rates.len() / 2],
        cycles[cycles.len() / 2],
        kernel.name()
    );
    Ok(())
}

/// Filled and leaked, aligned to a huge page and then some, so that no two
/// streams start at the same address modulo 4096.
fn memory(len: usize) -> &'static mut [u8] {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    if len == 0 {
        return &mut [];
    }
    let skip = COUNT.fetch_add(1, Ordering::Relaxed) * (4096 + 64);
    let Ok(layout) = Layout::from_size_align(len + skip, 2 << 20) else {
        return &mut [];
    };
    // SAFETY: the layout's size is not 0.
    let base = unsafe { alloc_zeroed(layout) };
    assert!(!base.is_null(), "out of memory");
    // SAFETY: `len` zeroed bytes from `skip` on, never freed and handed out once.
    let memory = unsafe { std::slice::from_raw_parts_mut(base.wrapping_add(skip), len) };
    touch::fill(memory);
    memory
}
