//! `cargo xtask peers`: the standing proof against other programs that measure
//! the same. They are run beside memgauge on the same CPUs, bytes and pages, in
//! turns; they are never installed and never copied from.
//!
//! [multichase](https://github.com/google/multichase) for idle latency: `MEMGAUGE_MULTICHASE=FILE`
//! or on `PATH`. likwid-bench (Debian package likwid) for reads: on `PATH`.

mod child;
mod idle;
mod likwid;
mod machine;
mod multichase;
mod options;
mod ours;
mod page;
mod quiet;
mod ratios;
mod read;
mod table;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::{Outcome, say};
use machine::Machine;
use options::{Options, Part};
use ours::Ours;
use ratios::{Comparison, Verdict};

/// For everything together: what is not measured by then stays out, and is named.
const WHOLE_LIMIT: Duration = Duration::from_secs(50 * 60);

/// What all cells need to know.
struct Setting<'a> {
    ours: &'a Ours,
    machine: &'a Machine,
    /// Pairs to end up with in each cell.
    pairs: usize,
    /// Bytes of each buffer; by the rule for its kind if None.
    buffer: Option<u64>,
    until: Instant,
}

impl Setting<'_> {
    /// Pairs can be void: so many are tried, at most.
    fn tries(&self) -> usize {
        self.pairs.saturating_mul(2)
    }

    fn in_time(&self) -> bool {
        Instant::now() < self.until
    }
}

/// The cells measured against one peer.
struct Section {
    part: Part,
    /// What was compared with what, in one line.
    about: String,
    cells: Vec<Cell>,
}

/// One line of the comparison.
#[derive(Default)]
struct Cell {
    name: String,
    /// None: it could not be measured, for the reasons below.
    comparison: Option<Comparison>,
    /// Pairs that are no evidence: a kind, and after a colon the particulars.
    void: Vec<String>,
    /// Pairs that count although memgauge, by its own rules, called its run rejected.
    rejected: usize,
    /// What ended the cell before its time.
    ended: Option<String>,
}

impl Cell {
    /// Leaves a pair out.
    fn void(&mut self, why: String) {
        say::stage(&format!("  void: {why}"));
        self.void.push(why);
    }
}

/// `[--pairs N] [--only idle|read] [--buffer SIZE] [--binary FILE] [--write]`
pub fn run(args: &[String]) -> Outcome {
    let options = Options::parse(args)?;
    let ours = Ours::at(options.binary.clone())?;
    let machine = ours.machine()?;
    let setting = Setting {
        ours: &ours,
        machine: &machine,
        pairs: options.pairs,
        buffer: options.buffer,
        until: Instant::now() + WHOLE_LIMIT,
    };
    let mut sections = Vec::new();
    let mut missing = Vec::new();
    for part in options.parts() {
        match measure(part, &setting)? {
            Ok(section) => sections.push(section),
            Err(absent) => missing.push(absent),
        }
    }
    for section in &sections {
        say::line(&section.text());
    }
    for absent in &missing {
        say::line(&format!("missing: {absent}"));
    }
    if options.write && !sections.is_empty() {
        page::write(&sections, &machine)?;
    }
    judge(&sections, &missing)
}

/// One part, or which peer it lacks.
fn measure(part: Part, setting: &Setting<'_>) -> Result<Result<Section, String>> {
    match part {
        Part::Idle => idle::measure(setting),
        Part::Read => read::measure(setting),
    }
}

/// A proof that fails, and one that nothing was measured for, end with an error;
/// a missing peer only where everything is expected to be there.
fn judge(sections: &[Section], missing: &[String]) -> Outcome {
    let verdicts: Vec<Verdict> =
        sections.iter().flat_map(|section| &section.cells).filter_map(|cell| Some(cell.comparison.as_ref()?.verdict())).collect();
    if verdicts.is_empty() {
        bail!("peers: nothing was compared");
    }
    let failed = verdicts.contains(&Verdict::Fails);
    let incomplete = !missing.is_empty() && std::env::var("CI").is_ok_and(|ci| ci == "true");
    Ok(if failed || incomplete { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
