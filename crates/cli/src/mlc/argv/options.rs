//! The options: one row a letter. A row says what stands behind the letter, in which modes it has a meaning, in which it is
//! harmless (refused elsewhere: it would mislead), and what it sets. A letter that is known and can't be had is refused,
//! never taken in silence.

use super::Asked;
use super::modes::Mode;
use super::{files, values};
use Mode::{BandwidthMatrix, C2c, Idle, LatencyMatrix, Loaded, Max, Peak, Scan};
use memgauge_model::{C2cKind, Delays, Isa, Mix, Pages, Partial, Smt};

/// A row.
pub struct Row {
    /// As it is typed, in this case.
    pub letter: char,
    /// What stands behind it, for the usage; empty: nothing.
    pub value: &'static str,
    /// Modes in which it does something.
    pub meaning: &'static [Mode],
    /// Modes in which it does nothing, and nobody is misled.
    pub harmless: &'static [Mode],
    /// May it stand without a mode?
    pub whole_run: bool,
    /// One line.
    pub doc: &'static str,
    /// Does it.
    pub set: fn(&mut Asked, &Value<'_>) -> Result<(), Slip>,
}

/// What stands behind a letter.
pub struct Value<'a> {
    /// The text.
    pub text: &'a str,
    /// The mode; a run without one has none.
    pub mode: Option<Mode>,
    /// Reads a file that is named, whole.
    pub read: super::Reader<'a>,
}

/// What is wrong with it, and what to do.
pub struct Slip {
    /// In words.
    pub problem: String,
    /// In words.
    pub remedy: String,
}

impl Slip {
    fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into() }
    }
}

const STREAMS: &[Mode] = &[BandwidthMatrix, Peak, Max, Loaded];
const CHASES: &[Mode] = &[LatencyMatrix, Idle, Loaded];
const BUFFERS: &[Mode] = &[LatencyMatrix, BandwidthMatrix, Peak, Max, Idle, Loaded];
const NOT_C2C: &[Mode] = &[LatencyMatrix, BandwidthMatrix, Peak, Max, Idle, Loaded, Scan];

/// Letters that can't stand beside each other.
pub const CONFLICTS: [(char, char); 23] = [
    ('R', 'W'),
    ('k', 'm'),
    ('k', 'o'),
    ('m', 'o'),
    ('R', 'o'),
    ('W', 'o'),
    ('u', 'o'),
    ('U', 'o'),
    ('n', 'o'),
    ('u', 'W'),
    ('j', 'i'),
    ('j', 'J'),
    ('t', 'x'),
    // Accesses and first touch are the latency thread's.
    ('T', 'x'),
    ('T', 'i'),
    // All CPUs and all nodes are one or the other's opposite.
    ('a', 'c'),
    ('a', 'j'),
    ('a', 'i'),
    ('a', 'p'),
    ('a', 'f'),
    ('d', 'g'),
    ('L', 'h'),
    ('Y', 'Z'),
];

const fn row(
    (letter, value): (char, &'static str),
    (meaning, harmless): (&'static [Mode], &'static [Mode]),
    doc: &'static str,
    set: fn(&mut Asked, &Value<'_>) -> Result<(), Slip>,
) -> Row {
    Row { letter, value, meaning, harmless, whole_run: false, doc, set }
}

const fn everywhere(row: Row) -> Row {
    Row { whole_run: true, ..row }
}

/// Every option, by letter.
pub const ROWS: &[Row] = &[
    row(('a', ""), (&[LatencyMatrix, Idle], &[]), "a row for each CPU", |asked, _| {
        asked.request.per_cpu = true;
        Ok(())
    }),
    row(('b', "<n>[k|m|g]"), (BUFFERS, &[C2c]), "buffer of each thread, KiB", buffer),
    row(('B', ""), (&[Loaded], &[]), "bandwidth of each thread, on stderr", |asked, _| {
        asked.request.per_thread = true;
        Ok(())
    }),
    row(('c', "<n>"), (&[Idle, Loaded, C2c], &[]), "CPU of the latency thread", observer),
    row(('C', "<n>"), (&[C2c], &[]), "window of the transfers, KB", window),
    row(('d', "<n>"), (&[Loaded], &[]), "one delay, core cycles", delay),
    row(('D', "<n>"), (CHASES, &[C2c]), "lines of a random block", block),
    everywhere(row(('e', ""), (&Mode::ALL, &[]), "leave the prefetchers alone", |asked, _| {
        asked.leave = true;
        Ok(())
    })),
    row(('E', "<n>"), (&[C2c], &[]), "KB that the writer reads behind its lines", push),
    row(('f', "<n>"), (&[Idle], &[]), "histogram of single accesses", bins),
    row(('g', "<file>"), (&[Loaded], &[]), "delays, one a line", delays),
    row(('G', "<n>"), (&[C2c], &[]), "KB that the reader reads before the lines", extra_reads),
    row(('h', ""), (NOT_C2C, &[]), "pages of 1 GiB", |asked, _| pages(asked, Pages::Huge1G)),
    row(('H', ""), (&[C2c], &[]), "clean lines", |asked, _| {
        asked.request.kinds = vec![C2cKind::Hit];
        Ok(())
    }),
    row(('i', "<n>"), (&[Idle, Loaded, C2c], &[]), "CPU that touches first", toucher),
    row(('I', ""), (&[Loaded], &[]), "integrity check", |asked, _| {
        asked.request.integrity = true;
        Ok(())
    }),
    row(('j', "<n>"), (&[Idle, Loaded, Scan], &[]), "memory of this node", node),
    row(('J', "<dir>"), (&[Idle], &[]), "memory of a file in this folder", |asked, value| {
        asked.request.folder = Some(value.text.to_owned());
        Ok(())
    }),
    row(('k', "<list>"), (STREAMS, &[]), "CPUs that load", cpus),
    row(('K', "<n>"), (STREAMS, &[]), "0 whole lines, 1 and 2 parts", partial),
    row(('l', "<n>"), (CHASES, &[BandwidthMatrix, Peak, Max, Scan]), "stride, bytes", stride),
    row(('L', ""), (NOT_C2C, &[]), "pages of 2 MiB", |asked, _| pages(asked, Pages::Huge2M)),
    row(('m', "<hex>"), (STREAMS, &[]), "mask of CPUs that load", mask),
    row(('M', "<file>"), (STREAMS, &[]), "patterns that fill buffers", patterns),
    row(('n', "<n>"), (&[Loaded, Scan], &[]), "lines of a load's block; the scan's readers", block_or_readers),
    row(('o', "<file>"), (&[Loaded], &[]), "loads thread by thread", loads),
    row(('p', "<c,c>"), (&[Idle], &[]), "CPUs kept busy", busy),
    row(('P', ""), (&[Loaded], &[]), "flush after stores to files", |_, _| {
        Err(Slip::new("no load stores to files", "flush stores to any memory with -Q"))
    }),
    row(('q', "<n>"), (&[Scan], &[]), "passes over each region", passes),
    row(('Q', ""), (&[Loaded], &[]), "flush after stores", |asked, _| {
        asked.request.flush = true;
        Ok(())
    }),
    everywhere(row(('r', ""), (CHASES, &[BandwidthMatrix, Peak, Max, C2c, Scan]), "random latency thread", |asked, _| {
        asked.random = true;
        Ok(())
    })),
    row(('R', ""), (&[BandwidthMatrix, Loaded], &[]), "reads alone", |asked, _| {
        asked.request.mixes = vec![Mix::Read];
        Ok(())
    }),
    row(('S', "<n>"), (&[Scan, C2c], &[]), "bucket of the scan's histogram, MB/s; third CPU", bucket),
    row(('t', "<n>"), (&Mode::ALL, &[]), "seconds of a measurement; threads of a scan", time),
    row(('T', ""), (&[Loaded], &[BandwidthMatrix, Peak, Max]), "no latency thread", no_observer),
    row(('u', ""), (STREAMS, &[]), "one buffer of all threads, reads alone", |asked, _| {
        asked.request.shared_buffer = true;
        Ok(())
    }),
    row(('U', ""), (STREAMS, &[]), "random loads", random_loads),
    everywhere(row(('v', ""), (&Mode::ALL, &[]), "say more, on stderr", |asked, _| {
        asked.verbose = true;
        Ok(())
    })),
    row(('w', "<n>"), (&[C2c], &[]), "CPU of the writer", writer),
    row(('W', "<n>"), (&[BandwidthMatrix, Loaded], &[]), "traffic 2 3 5 6 7 8 9 10 11 12 19", mix),
    row(('x', "<n>"), (&[LatencyMatrix, Idle, Loaded, C2c], &[]), "millions of accesses; 0: one pass", accesses),
    everywhere(row(
        ('X', ""),
        (&[BandwidthMatrix, Peak, Max, Loaded, LatencyMatrix], &[Idle, C2c, Scan]),
        "a thread a core",
        |asked, _| {
            asked.request.smt = Smt::One;
            Ok(())
        },
    )),
    row(('Y', ""), (STREAMS, &[LatencyMatrix, Idle, C2c]), "AVX2", |asked, _| isa(asked, Isa::Avx2)),
    row(('Z', ""), (STREAMS, &[LatencyMatrix, Idle, C2c]), "AVX-512", |asked, _| isa(asked, Isa::Avx512)),
];

/// The row of a letter.
pub fn row_of(letter: char) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.letter == letter)
}

fn buffer(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    let bytes = values::size(value.text).map_err(|problem| Slip::new(problem, "such as -b200m"))?;
    if value.mode == Some(C2c) {
        asked.notes.push("-b: transfers are of a window (-C) alone, which stays where it is".to_owned());
        return Ok(());
    }
    asked.request.buffer = Some(bytes);
    Ok(())
}

fn observer(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.cpu = Some(values::small(value.text).map_err(|problem| Slip::new(problem, "such as -c0"))?);
    Ok(())
}

fn node(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.node = Some(values::small(value.text).map_err(|problem| Slip::new(problem, "such as -j0"))?);
    Ok(())
}

fn delay(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    let delay = values::small(value.text).map_err(|problem| Slip::new(problem, "such as -d200"))?;
    asked.request.delays = Some(Delays::List(vec![delay]));
    Ok(())
}

fn delays(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.delays = Some(Delays::List(parsed(value, files::delays)?));
    Ok(())
}

fn patterns(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.fill = parsed(value, files::patterns)?;
    Ok(())
}

fn loads(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    let lines = parsed(value, files::loads)?;
    super::loads::assign(asked, &lines).map_err(|problem| Slip::new(problem, "write dram and a node"))
}

fn parsed<T>(value: &Value<'_>, parse: fn(&str) -> Result<T, files::BadLine>) -> Result<T, Slip> {
    let text = (value.read)(value.text).map_err(|problem| Slip::new(problem, "name a file that can be read"))?;
    parse(&text).map_err(|bad| Slip::new(format!("line {}", bad.line), bad.problem))
}

fn block(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.block_lines = Some(values::small(value.text).map_err(|problem| Slip::new(problem, "such as -D4096"))?);
    Ok(())
}

fn bins(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.histogram = Some(values::small(value.text).map_err(|problem| Slip::new(problem, "such as -f3"))?);
    Ok(())
}

fn toucher(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.touch_cpu = Some(values::small(value.text).map_err(|problem| Slip::new(problem, "a CPU, such as -i1"))?);
    Ok(())
}

fn busy(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.keepalive_cpus = Some(values::cpus(value.text).map_err(|problem| Slip::new(problem, "such as -p1,8"))?);
    Ok(())
}

fn block_or_readers(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    if value.mode == Some(Loaded) {
        // Without -U it would say nothing.
        let lines = values::small(value.text).map_err(|problem| Slip::new(problem, "lines, such as -n4096"))?;
        asked.load_block = Some(lines);
        return Ok(());
    }
    asked.request.readers = Some(values::small(value.text).map_err(|problem| Slip::new(problem, "a node, such as -n1"))?);
    Ok(())
}

fn pages(asked: &mut Asked, pages: Pages) -> Result<(), Slip> {
    asked.request.pages = Some(pages);
    Ok(())
}

fn isa(asked: &mut Asked, isa: Isa) -> Result<(), Slip> {
    asked.request.isa = Some(isa);
    Ok(())
}

fn cpus(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.load_cpus = Some(values::cpus(value.text).map_err(|problem| Slip::new(problem, "such as -k1-15"))?);
    Ok(())
}

fn mask(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.load_cpus = Some(values::mask(value.text).map_err(|problem| Slip::new(problem, "such as -mfffe"))?);
    Ok(())
}

fn partial(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    match values::small(value.text) {
        Ok(0) => Ok(()),
        Ok(1) => {
            asked.request.partial = Partial::Both;
            Ok(())
        }
        Ok(2) => {
            asked.partial_reads = true;
            Ok(())
        }
        Ok(_) => Err(Slip::new("no such choice", "use 0, 1 or 2")),
        Err(problem) => Err(Slip::new(problem, "use 0, 1 or 2")),
    }
}

fn stride(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    let stride = values::small(value.text).map_err(|problem| Slip::new(problem, "bytes, such as -l128"))?;
    match value.mode {
        Some(mode) if CHASES.contains(&mode) => {
            asked.request.stride = Some(u64::from(stride));
            Ok(())
        }
        _ if stride == 64 => Ok(()),
        _ => Err(Slip::new("loads use every line", "leave it out, or write -l64")),
    }
}

fn passes(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.passes = Some(values::small(value.text).map_err(|problem| Slip::new(problem, "such as -q10"))?);
    Ok(())
}

fn accesses(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    let millions = values::small(value.text).map_err(|problem| Slip::new(problem, "millions, such as -x1"))?;
    asked.request.accesses = Some(u64::from(millions) * 1_000_000);
    Ok(())
}

fn bucket(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    if value.mode == Some(C2c) {
        asked.request.third = Some(values::small(value.text).map_err(|problem| Slip::new(problem, "a CPU, such as -S2"))?);
        return Ok(());
    }
    match values::small(value.text) {
        Ok(0) => Err(Slip::new("a bucket of nothing", "MB/s, such as -S5000")),
        Ok(width) => {
            asked.scan_bucket = width;
            Ok(())
        }
        Err(problem) => Err(Slip::new(problem, "MB/s, such as -S5000")),
    }
}

fn window(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.window = Some(values::size(value.text).map_err(|problem| Slip::new(problem, "KB, such as -C256"))?);
    Ok(())
}

fn push(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.push = kilobytes(value)?;
    Ok(())
}

fn extra_reads(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.extra_reads = kilobytes(value)?;
    Ok(())
}

/// None of them is as usual.
fn kilobytes(value: &Value<'_>) -> Result<Option<u64>, Slip> {
    let bytes = values::size(value.text).map_err(|problem| Slip::new(problem, "KB, such as -E2000"))?;
    Ok(Some(bytes).filter(|bytes| *bytes > 0))
}

fn writer(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.writer = Some(values::small(value.text).map_err(|problem| Slip::new(problem, "a CPU, such as -w1"))?);
    Ok(())
}

fn time(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    let count = values::small(value.text).ok().filter(|count| *count > 0);
    let count = count.ok_or_else(|| Slip::new("not a number from 1 on", "such as -t2"))?;
    match value.mode {
        Some(Scan) => asked.request.threads = Some(count),
        _ => asked.request.time_ns = Some(u64::from(count) * 1_000_000_000),
    }
    Ok(())
}

fn no_observer(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    asked.request.no_observer = value.mode == Some(Loaded);
    Ok(())
}

fn random_loads(asked: &mut Asked, _: &Value<'_>) -> Result<(), Slip> {
    asked.random_loads = true;
    Ok(())
}

fn mix(asked: &mut Asked, value: &Value<'_>) -> Result<(), Slip> {
    let two = matches!(value.text, "21" | "23" | "27");
    let known = values::small(value.text).ok().and_then(|code| Mix::by_name(&format!("W{code}")));
    match known {
        Some(mix) => {
            asked.request.mixes = vec![mix];
            Ok(())
        }
        None if two => Err(Slip::new("two address streams stand in a -o file alone", "use 2, 3, 5 to 12 or 19")),
        None => Err(Slip::new("no such traffic", "use 2, 3, 5 to 12 or 19")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_letter_has_one_row_and_conflicts_name_letters() {
        let letters: std::collections::BTreeSet<char> = ROWS.iter().map(|row| row.letter).collect();
        assert_eq!(letters.len(), ROWS.len());
        assert!(CONFLICTS.iter().all(|(a, b)| letters.contains(a) && letters.contains(b)));
        for row in ROWS {
            assert!(!row.meaning.is_empty() && row.meaning.iter().all(|mode| !row.harmless.contains(mode)), "-{}", row.letter);
        }
    }
}
