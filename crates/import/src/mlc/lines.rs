//! Lines → what stands in them, as they come: TABs or blanks, versions 3.1a to 3.11.

/// Something that an output says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// A new output begins: its version, and whether a described machine made it.
    Banner { version: String, ours: bool, simulated: bool },
    /// The arguments that it echoes.
    Arguments(Vec<String>),
    /// Bytes of the buffer, a thread's or the observer's.
    Buffer(u64),
    /// Prefetchers stayed on, so latencies are of random access.
    Random,
    /// A section begins.
    Section(Section),
    /// All traffic of this section is reads.
    ReadOnly,
    /// Numbers of the columns of a table.
    Columns(Vec<u32>),
    /// A row of a table: its number, and a value a column, where it has one.
    Row { of: u32, values: Vec<Option<f64>> },
    /// A row of the peak sections: its name and 10^6 B/s.
    Mix { label: String, mega: f64 },
    /// Delay, ns (0 without an observer), 10^6 B/s.
    Loaded { delay: u32, ns: f64, mega: f64 },
    /// Inside a socket: is it of modified lines, and ns.
    Local { modified: bool, ns: f64 },
    /// The tables behind are of lines whose memory is the writer's (or the reader's).
    Home { writer: bool },
    /// Clocks of one access, their name, ns.
    Idle { clocks: f64, unit: String, ns: f64 },
    /// The same between two CPUs.
    Pair { clocks: f64, unit: String, ns: f64 },
    /// Readers' threads, their node, the memory's node.
    Scan { threads: u32, from: u32, node: u32 },
    /// The regions behind are 1 GiB pages (or not).
    Pages { giant: bool },
    /// A region's address, where it is not hidden, and 10^6 B/s.
    Region { at: Option<u64>, mega: f64 },
    /// A row of a histogram of single accesses.
    Bin,
}

/// What a section is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// Latency from node to node, or from each CPU; in this order, where it says.
    Latencies {
        sequential: Option<bool>,
        by_cpu: bool,
    },
    Peak,
    Max,
    Bandwidths,
    Loaded,
    Transfers,
}

/// What a line says by itself; nothing of most lines.
pub(super) fn read(line: &str) -> Option<Said> {
    let line = line.trim();
    let words: Vec<&str> = line.split_whitespace().collect();
    let first = *words.first()?;
    match first {
        "Measuring" => section(line).map(Said::Section),
        "Command" => {
            let arguments = line.strip_prefix("Command line parameters:")?;
            Some(Said::Arguments(arguments.split_whitespace().map(str::to_owned).collect()))
        }
        "Using" if line.contains("buffer size of") => buffer(&words),
        "Using" if line.contains("Read-only traffic") => Some(Said::ReadOnly),
        "***" => line.contains("enabling random access").then_some(Said::Random),
        "Numa" => columns(words.get(2..)?),
        "CPU" => columns(words.get(1..)?),
        "Writer" => columns(words.get(3..)?),
        "Local" => {
            let modified = words.contains(&"HITM");
            (modified || words.contains(&"HIT")).then_some(())?;
            Some(Said::Local { modified, ns: value(words.last()?)? })
        }
        "Remote" => line.contains("homed in").then(|| Said::Home { writer: line.contains("homed in writer") }),
        "Each" => timed(line).map(|(clocks, unit, ns)| Said::Idle { clocks, unit, ns }),
        "Latency" if words.get(1) == Some(&"=") => timed(line).map(|(clocks, unit, ns)| Said::Pair { clocks, unit, ns }),
        "Running" => scan(&words),
        "Detailed" => Some(Said::Pages { giant: line.contains("contiguous 1GB page") }),
        _ if first.starts_with('[') => Some(Said::Bin),
        _ if line.contains("Memory Latency Checker - v") => banner(line),
        _ if first.starts_with("0x") || first == "-" => region(&words),
        _ => mix(line).or_else(|| row(&words)),
    }
}

fn banner(line: &str) -> Option<Said> {
    let version = line.rsplit_once(" - v")?.1.split_whitespace().next()?.to_owned();
    let ours = line.starts_with("memgauge");
    Some(Said::Banner { version, ours, simulated: ours && line.contains("SIMULATED") })
}

fn section(line: &str) -> Option<Section> {
    let what = line.strip_prefix("Measuring ")?.trim_start();
    Some(match what {
        _ if what.starts_with("idle latencies") => Section::Latencies {
            sequential: if what.contains("random") { Some(false) } else { what.contains("sequential").then_some(true) },
            by_cpu: what.contains("for all cores"),
        },
        _ if what.starts_with("Peak") => Section::Peak,
        _ if what.starts_with("Maximum") => Section::Max,
        _ if what.starts_with("Memory Bandwidths between") => Section::Bandwidths,
        _ if what.starts_with("Loaded") => Section::Loaded,
        _ if what.starts_with("cache-to-cache") => Section::Transfers,
        _ => return None,
    })
}

/// `Using buffer size of 100.000MiB/thread …`; versions before 3.9 write `MB` and mean the same.
fn buffer(words: &[&str]) -> Option<Said> {
    let size = words.get(4)?;
    let number = size.split_once('M').and_then(|(number, _)| value(number)).filter(|mib| *mib < 1e9)?;
    Some(Said::Buffer((number * 1024.0).round() as u64 * 1024))
}

fn columns(words: &[&str]) -> Option<Said> {
    let columns: Vec<u32> = words.iter().map(|word| number(word)).collect::<Option<_>>()?;
    (!columns.is_empty()).then_some(Said::Columns(columns))
}

/// A row that begins with a whole number: of a table, or of a loaded curve, whose number has five digits.
fn row(words: &[&str]) -> Option<Said> {
    let (first, rest) = words.split_first()?;
    let of = number(first)?;
    if let (true, [ns, mega]) = (first.len() >= 5, rest) {
        return Some(Said::Loaded { delay: of, ns: value(ns)?, mega: value(mega)? });
    }
    let cell = |word: &&str| if *word == "-" { Some(None) } else { value(word).map(Some) };
    let values: Vec<_> = rest.iter().map(cell).collect::<Option<_>>()?;
    (!values.is_empty()).then_some(Said::Row { of, values })
}

/// `3:1 Reads-Writes :→313648.6`: what stands before the last colon is the name.
fn mix(line: &str) -> Option<Said> {
    let (label, mega) = line.rsplit_once(':')?;
    Some(Said::Mix { label: label.trim().to_owned(), mega: value(mega.trim())? })
}

/// `… 105.2 base frequency clocks (→55.5→ns)`.
fn timed(line: &str) -> Option<(f64, String, f64)> {
    let (before, within) = line.split_once('(')?;
    let ns = within.split_once(')')?.0.strip_suffix("ns")?;
    let mut words = before.split_whitespace().skip_while(|word| value(word).is_none());
    let clocks = value(words.next()?)?;
    Some((clocks, words.collect::<Vec<_>>().join(" "), value(ns.trim())?))
}

/// `Running memory [bandwidth ]scan using 36 threads on numa node 0 accessing memory on [numa ]node 0`.
fn scan(words: &[&str]) -> Option<Said> {
    words.contains(&"scan").then_some(())?;
    let behind = |word: &str| words.iter().rposition(|other| *other == word).and_then(|at| number(words.get(at + 1)?));
    let threads = words.windows(2).find(|pair| pair[1] == "threads").and_then(|pair| number(pair[0]))?;
    let from = words.iter().position(|word| *word == "node").and_then(|at| number(words.get(at + 1)?))?;
    Some(Said::Scan { threads, from, node: behind("node")? })
}

fn region(words: &[&str]) -> Option<Said> {
    let at = match *words.first()? {
        "-" => None,
        address => Some(u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()?),
    };
    (2..=3).contains(&words.len()).then_some(())?;
    Some(Said::Region { at, mega: value(words.last()?)? })
}

fn number(word: &str) -> Option<u32> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

/// A plain decimal: no sign, no exponent, no word for infinity.
fn value(word: &str) -> Option<f64> {
    let plain = !word.is_empty() && word.len() <= 20 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    plain.then(|| word.parse().ok())?
}
