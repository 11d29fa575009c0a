//! argv of the Memory Latency Checker → what is asked. Text alone: files are read by who calls, no system is touched.
//!
//! To add an option: a row in `options.rs`.

mod files;
mod loads;
mod modes;
mod options;
mod usage;
mod values;

pub use modes::Mode;
pub use usage::usage;

use memgauge_model::{C2cKind, C2cVia, Cpu, Delays, LOAD_BLOCK_LINES, Machine, Mix, Order, Partial, Prefetch, Refusal, Request};
use options::{CONFLICTS, Value, row_of};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Reads a named file, or says why not.
pub type Reader<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// The latency thread's CPU, where lines of loads name none.
const OBSERVER: Cpu = 0;

/// The five mixes of the peak modes.
const FIVE: [Mix; 5] = [Mix::Read, Mix::R3W1, Mix::R2W1, Mix::R1W1, Mix::R2W1NtTwo];

/// What is asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// One mode, or a whole run.
    pub mode: Option<Mode>,
    /// What options have set of it.
    pub request: Request,
    /// `-r`.
    pub random: bool,
    /// `-e`.
    pub leave: bool,
    /// `-v`.
    pub verbose: bool,
    /// `-S` of a scan; 0: as usual.
    pub scan_bucket: u32,
    /// `-U`.
    pub random_loads: bool,
    /// `-n` of loads.
    pub load_block: Option<u32>,
    /// `-K2`: parts of lines where a small buffer is only read.
    pub partial_reads: bool,
    /// To be told.
    pub notes: Vec<String>,
    /// Words as they were typed, without those that are ours.
    pub echo: Vec<String>,
    /// Options that were typed, and the values behind them.
    pub given: BTreeMap<char, String>,
    /// What is ours.
    pub ours: Ours,
}

/// Flags that the Memory Latency Checker has not.
#[derive(Debug, Clone, Default)]
pub struct Ours {
    /// `--json FILE`
    pub json: Option<PathBuf>,
    /// `--out DIR`
    pub out: Option<PathBuf>,
    /// `--simulate MACHINE`
    pub simulate: Option<PathBuf>,
    /// `--seed N`
    pub seed: Option<u64>,
    /// `--dry-run`
    pub dry_run: bool,
    /// `--quiet`
    pub quiet: bool,
}

/// Why nothing is done.
#[derive(Debug)]
pub enum Wrong {
    /// A word that is nothing of ours. With `usage`, the usage follows.
    Invalid {
        /// As it was typed.
        word: String,
        /// Was help asked for?
        usage: bool,
    },
    /// Anything else, in one line.
    Refused(Refusal),
}

/// Reads the words behind the program's name.
///
/// # Errors
///
/// [`Wrong`], of the first word that can't stand.
pub fn read(words: &[String], read: Reader<'_>) -> Result<Asked, Wrong> {
    let mut asked = blank();
    let mut typed = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        if let Some(mode) = Mode::read(word) {
            if let Some(other) = asked.mode.replace(mode) {
                return Err(refused(&format!("--{}", mode.name()), "", format!("beside --{}", other.name()), "name one mode"));
            }
            asked.echo.push(word.clone());
            continue;
        }
        if let Some(name) = word.strip_prefix("--") {
            ours(&mut asked.ours, name, &mut rest).map_err(|wrong| wrong.unwrap_or_else(|| invalid(word)))?;
            continue;
        }
        let mut letters = word.strip_prefix('-').unwrap_or_default().chars();
        let row = letters.next().and_then(row_of).ok_or_else(|| invalid(word))?;
        let mut value = letters.as_str().to_owned();
        asked.echo.push(word.clone());
        if row.value.is_empty() != value.is_empty() {
            let next = rest.next_if(|next| !row.value.is_empty() && value.is_empty() && !next.starts_with('-'));
            let Some(next) = next else {
                return Err(if row.value.is_empty() { invalid(word) } else { needs(row) });
            };
            value.clone_from(next);
            asked.echo.push(next.clone());
        }
        if asked.given.insert(row.letter, value.clone()).is_some() {
            return Err(refused(&flag(row.letter), "", "stands there twice", "write it once"));
        }
        typed.push((row, value));
    }
    for (row, _) in &typed {
        has_meaning(row, asked.mode)?;
    }
    conflicts(&asked)?;
    for (row, value) in &typed {
        let behind = Value { text: value, mode: asked.mode, read };
        (row.set)(&mut asked, &behind).map_err(|slip| refused(&flag(row.letter), value, slip.problem, &slip.remedy))?;
    }
    observer_is_free(&asked)?;
    pair_is_named(&asked)?;
    if asked.load_block.is_some() && !asked.random_loads {
        return Err(refused("-n", "", "is the block of random loads, and these go in sequence", "add -U, or leave it out"));
    }
    Ok(asked)
}

impl Asked {
    /// The requests of its sections, for this machine.
    pub fn sections(&self, machine: &Machine) -> Vec<(Mode, Request)> {
        let modes = match self.mode {
            // A row for each CPU is a table, whatever the mode.
            Some(Mode::Idle) if self.request.per_cpu => vec![Mode::LatencyMatrix],
            Some(mode) => vec![mode],
            None => Mode::WHOLE_RUN.to_vec(),
        };
        modes.into_iter().map(|mode| (mode, self.section(mode, machine))).collect()
    }

    /// Can the prefetchers of the latency thread be switched off, and shall they?
    pub fn switches(&self, machine: &Machine) -> bool {
        !self.leave && machine.platform.prefetch_control.known().is_some()
    }

    /// Does the latency thread go in sequence? It has no random blocks then.
    pub fn goes_in_sequence(&self, machine: &Machine) -> bool {
        !self.random && (self.leave || self.switches(machine))
    }

    fn section(&self, mode: Mode, machine: &Machine) -> Request {
        let mut request = Request { what: mode.what(), ..self.request.clone() };
        match mode {
            Mode::LatencyMatrix | Mode::Idle | Mode::Loaded => {
                let sequential = self.goes_in_sequence(machine);
                request.order = Some(if sequential { Order::Sequential } else { Order::WindowRandom });
                request.block_lines = request.block_lines.filter(|_| !sequential);
                request.prefetch = match self.leave {
                    true => Prefetch::Leave,
                    false if sequential => Prefetch::Off,
                    false => Prefetch::Auto,
                };
            }
            // A buffer that all share can only be read.
            Mode::Peak | Mode::Max if request.shared_buffer => request.mixes = vec![Mix::Read],
            Mode::Peak | Mode::Max => request.mixes = FIVE.to_vec(),
            Mode::BandwidthMatrix | Mode::Scan => {}
            Mode::C2c => {
                request.method = Some(memgauge_model::C2cMethod::Chase);
                request.via = Some(match (request.third, request.push) {
                    (Some(_), _) => C2cVia::Third,
                    (None, Some(_)) => C2cVia::L3,
                    (None, None) => C2cVia::L2,
                });
                // One line is printed of a pair that was named.
                if request.writer.is_some() && request.kinds.is_empty() {
                    request.kinds = vec![C2cKind::Hitm];
                }
            }
        }
        if request.no_observer {
            // What is said of the latency thread is of nobody.
            request = Request { cpu: None, order: None, block_lines: None, stride: None, prefetch: Prefetch::Auto, ..request };
        }
        if mode == Mode::Loaded {
            request.delays = Some(request.delays.unwrap_or(Delays::Mlc));
            request.local_loads = request.node.is_none();
            if !request.assignments.is_empty() {
                // The latency thread never loads; memory is where the lines say.
                request.cpu.get_or_insert(OBSERVER);
                request.local_loads = false;
            }
        }
        if self.random_loads {
            request.load_block = Some(self.load_block.unwrap_or(LOAD_BLOCK_LINES));
        }
        if self.partial_reads && reads_little(&request) {
            request.partial = Partial::Both;
        }
        request
    }
}

/// Reads alone, of less than 50 MB a thread: what `-K2` is for.
fn reads_little(request: &Request) -> bool {
    let reads = request.assignments.is_empty() && request.mixes.iter().all(|mix| *mix == Mix::Read);
    reads && request.buffer.is_some_and(|bytes| bytes < 50_000_000)
}

fn blank() -> Asked {
    Asked {
        mode: None,
        request: Request::new(memgauge_model::What::All),
        random: false,
        leave: false,
        verbose: false,
        scan_bucket: 0,
        random_loads: false,
        load_block: None,
        partial_reads: false,
        notes: Vec::new(),
        echo: Vec::new(),
        given: BTreeMap::new(),
        ours: Ours::default(),
    }
}

/// A flag of ours, by its name without dashes; `Err(None)` if it is none.
fn ours<'a>(ours: &mut Ours, name: &str, rest: &mut impl Iterator<Item = &'a String>) -> Result<(), Option<Wrong>> {
    let (name, attached) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value.to_owned())));
    let flag = format!("--{name}");
    let mut value = || {
        let value = attached.clone().or_else(|| rest.next().cloned()).filter(|value| !value.is_empty());
        value.ok_or_else(|| Some(refused(&flag, "", "needs a value", "write one after it")))
    };
    match name {
        "json" => ours.json = Some(value()?.into()),
        "out" => ours.out = Some(value()?.into()),
        "simulate" => ours.simulate = Some(value()?.into()),
        "seed" => {
            let typed = value()?;
            let seed = values::number(&typed).map_err(|problem| Some(refused(&flag, &typed, problem, "such as 7")))?;
            ours.seed = Some(seed);
        }
        "dry-run" if attached.is_none() => ours.dry_run = true,
        "quiet" if attached.is_none() => ours.quiet = true,
        _ => return Err(None),
    }
    Ok(())
}

fn has_meaning(row: &options::Row, mode: Option<Mode>) -> Result<(), Wrong> {
    match mode {
        None if row.whole_run => Ok(()),
        None => Err(refused(&flag(row.letter), "", "has a meaning with a mode only", "name one, such as --loaded_latency")),
        Some(mode) if row.meaning.contains(&mode) || row.harmless.contains(&mode) => Ok(()),
        Some(mode) => {
            let with = row.meaning.iter().map(|mode| format!("--{}", mode.name())).collect::<Vec<_>>().join(", ");
            Err(refused(&flag(row.letter), "", format!("has no meaning for --{}", mode.name()), &format!("it has for {with}")))
        }
    }
}

fn conflicts(asked: &Asked) -> Result<(), Wrong> {
    match CONFLICTS.iter().find(|(a, b)| asked.given.contains_key(a) && asked.given.contains_key(b)) {
        Some((a, b)) => Err(refused(&flag(*a), "", format!("can't stand beside -{b}"), "leave one of them out")),
        None => Ok(()),
    }
}

/// A mask must leave CPU 0 to the latency thread.
fn observer_is_free(asked: &Asked) -> Result<(), Wrong> {
    let masked = asked.given.get(&'m').filter(|_| !asked.given.contains_key(&'T'));
    match (masked, &asked.request.load_cpus) {
        (Some(typed), Some(cpus)) if cpus.contains(0) => {
            Err(refused("-m", typed, "CPU 0 is for the latency thread", "leave it out of the mask, or add -T"))
        }
        _ => Ok(()),
    }
}

/// A reader, or a third, of transfers whose writer nobody named would be another one's.
fn pair_is_named(asked: &Asked) -> Result<(), Wrong> {
    let of_pair = ['c', 'S'].into_iter().find(|letter| asked.given.contains_key(letter));
    match (asked.mode, of_pair) {
        (Some(Mode::C2c), Some(letter)) if asked.request.writer.is_none() => {
            Err(refused(&flag(letter), "", "is one of a pair whose writer is not named", "add -w and its CPU"))
        }
        _ => Ok(()),
    }
}

fn flag(letter: char) -> String {
    format!("-{letter}")
}

fn needs(row: &options::Row) -> Wrong {
    refused(&flag(row.letter), "", "needs a value", &format!("write {} behind it", row.value))
}

fn invalid(word: &str) -> Wrong {
    let plain = word.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    Wrong::Invalid { word: plain, usage: word == "--help" }
}

fn refused(flag: &str, value: &str, problem: impl Into<String>, remedy: &str) -> Wrong {
    Wrong::Refused(Refusal::new(flag, value, problem, remedy))
}

#[cfg(test)]
mod tests;
