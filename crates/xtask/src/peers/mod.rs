//! `cargo xtask peers`: the standing proof against other programs that measure
//! the same. They are run beside memgauge on the same CPUs, bytes and pages, in
//! turns; they are never installed and never copied from. What is found where, and
//! how each is held against ours, stands in the file of each and in `docs/peers.md`.

mod c2c;
mod child;
mod coverage;
mod idle;
mod levels;
mod machine;
mod multichase;
mod options;
mod ours;
mod page;
mod part;
mod quiet;
mod ratios;
mod repeat;
mod rivals;
mod slots;
mod summary;
mod table;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::bail;

use crate::{Outcome, say};
use machine::Machine;
use options::Options;
use ours::Ours;
use part::Part;
use ratios::{Comparison, Verdict};

/// For a part: what is not measured by then stays out, and is named.
const LIMIT: Duration = Duration::from_secs(20 * 60);

/// What all cells of a part need to know.
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

/// What one part found.
struct Section {
    part: Part,
    /// What was compared with what, in one line.
    about: String,
    body: Body,
}

enum Body {
    /// Pairs of runs, cell by cell.
    Cells(Vec<Cell>),
    /// Runs that were counted.
    Counted { text: String, verdict: Verdict },
}

impl Section {
    fn verdicts(&self) -> Vec<Verdict> {
        match &self.body {
            Body::Cells(cells) => cells.iter().filter_map(|cell| Some(cell.comparison.as_ref()?.verdict())).collect(),
            Body::Counted { verdict, .. } => vec![*verdict],
        }
    }
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

/// `[--pairs N] [--only PART,…] [--buffer SIZE] [--binary FILE] [--write]`
pub fn run(args: &[String]) -> Outcome {
    let options = Options::parse(args)?;
    say::stage(&announcement(&options));
    let ours = Ours::at(options.binary.clone())?;
    let machine = ours.machine()?;
    let mut sections = Vec::new();
    let mut missing = Vec::new();
    for part in &options.parts {
        let setting = Setting {
            ours: &ours,
            machine: &machine,
            pairs: options.pairs.unwrap_or_else(|| part.pairs()),
            buffer: options.buffer,
            until: Instant::now() + LIMIT,
        };
        let began = Instant::now();
        match part.measure(&setting)? {
            Ok(section) => sections.push(section),
            Err(absent) => missing.push(format!("{}: {absent}", part.name())),
        }
        say::stage(&format!("{}: took {} s", part.name(), began.elapsed().as_secs()));
    }
    report(&sections, &missing);
    if options.write && !sections.is_empty() {
        page::write(&sections, &machine)?;
    }
    judge(&sections, &missing)
}

/// How long it will take, on the machine that the estimate comes from.
fn announcement(options: &Options) -> String {
    let minutes = |part: &Part| {
        let pairs = options.pairs.unwrap_or_else(|| part.pairs());
        (part.seconds_a_pair() * u64::try_from(pairs).unwrap_or(u64::MAX)).div_ceil(60)
    };
    let each: Vec<String> = options.parts.iter().map(|part| format!("{} {} min", part.name(), minutes(part))).collect();
    let all: u64 = options.parts.iter().map(minutes).sum();
    format!("about {all} min in all ({}); nothing else may run meanwhile", each.join(", "))
}

fn report(sections: &[Section], missing: &[String]) {
    let texts: Vec<(Part, String)> = sections.iter().map(|section| (section.part, section.text())).collect();
    for (_, text) in &texts {
        say::line(text);
    }
    if let Some(summary) = summary::of(texts.iter().map(|(part, text)| (*part, text.as_str()))) {
        say::line(&summary);
    }
    for absent in missing {
        say::line(&format!("missing: {absent}"));
    }
}

/// A proof that fails, and one that nothing was measured for, end with an error;
/// a missing peer only where everything is expected to be there.
fn judge(sections: &[Section], missing: &[String]) -> Outcome {
    let verdicts: Vec<Verdict> = sections.iter().flat_map(Section::verdicts).collect();
    if verdicts.is_empty() {
        bail!("peers: nothing was compared");
    }
    let failed = verdicts.contains(&Verdict::Fails);
    let incomplete = !missing.is_empty() && std::env::var("CI").is_ok_and(|ci| ci == "true");
    Ok(if failed || incomplete { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
