//! The Memory Latency Checker's command line, in front of the one way through: a table of arguments on this side, a renderer on the
//! other. stdout carries its text alone; what is uncertain, rejected or missing stands on stderr.

mod argv;
#[cfg(test)]
mod plans;
mod sections;
mod translate;

use crate::args::{Call, Output};
use crate::trouble::Trouble;
use crate::{exit, prefetch, say, spine};
use argv::{Asked, Mode, Wrong};
use memgauge_model::{Machine, Refusal, Request};
use memgauge_render::{Format, mlc};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The name that the program has then, and the word that stands for it.
const NAME: &str = "mlc";
/// Whose wording is spoken.
const VERSION: &str = "MEMGAUGE_MLC_VERSION";
/// EINVAL, with which everything that can't be done ends.
const INVALID: u8 = 22;

/// The words behind `mlc`, if the program is called by that name, or that is the first word.
pub fn words(argv: &[OsString]) -> Option<Vec<String>> {
    let (program, words) = argv.split_first()?;
    let named = Path::new(program).file_name().is_some_and(|name| is_name(&name.to_string_lossy()));
    let words = match named {
        true => words,
        false => words.split_first().filter(|(first, _)| *first == NAME)?.1,
    };
    Some(words.iter().map(|word| word.to_string_lossy().into_owned()).collect())
}

/// `mlc`, or with a version or a variant behind it, as its archives have them: `mlc310`, `mlc_avx512`.
fn is_name(name: &str) -> bool {
    let rest = name.strip_prefix(NAME).map(|rest| rest.chars().next());
    rest.is_some_and(|first| first.is_none_or(|c| c.is_ascii_digit() || ['_', '-', '.'].contains(&c)))
}

/// Does what they ask for; the exit code is 0, 22, or a signal's.
pub fn run(words: &[String]) -> u8 {
    let outcome = match argv::read(words, &crate::files::text) {
        Ok(asked) => measured(&asked, words),
        Err(Wrong::Invalid { word, usage: true }) => say::result(&format!("Invalid Argument:{word}\n{}", argv::usage()))
            .map(|()| INVALID)
            .map_err(|error| Trouble::Failed(format!("stdout: {error}"))),
        Err(Wrong::Invalid { word, usage: false }) => {
            Err(Trouble::Failed(format!("Invalid Argument:{word}; mlc --help lists all")))
        }
        Err(Wrong::Refused(refusal)) => Err(refusal.into()),
    };
    match outcome {
        Ok(code) => plain(code),
        Err(trouble) => {
            say::line(&trouble.to_string());
            plain(trouble.code())
        }
    }
}

/// Signals keep their codes; all else is done or not.
fn plain(code: u8) -> u8 {
    match code {
        exit::DONE | exit::REJECTED => exit::DONE,
        code if code > exit::SIGNAL => code,
        _ => INVALID,
    }
}

fn measured(asked: &Asked, words: &[String]) -> Result<u8, Trouble> {
    let version = version()?;
    if asked.ours.simulate.is_none() {
        prefetch::recover();
    }
    let call =
        |request: &Request, output: Output| Call::measuring(words.to_vec(), request.clone(), asked.ours.simulate.clone(), output);
    let machine = spine::machine(&call(&asked.request, output(asked, None)))?;
    let mut sections = asked.sections(&machine);
    let seed = asked.ours.seed.unwrap_or_else(crate::args::new_seed);
    sections.iter_mut().for_each(|(_, request)| request.seed = seed);
    // All of them, before anything is measured: what can't be had shall not be said after minutes.
    for (_, request) in &sections {
        let plan = memgauge_plan::build(request, &machine).map_err(|refusal| translate::refusal(refusal, &asked.given))?;
        if asked.ours.dry_run {
            say::result(&memgauge_render::plan(&plan, &machine, Format::Text, &say::style()).unwrap_or_default())
                .map_err(|error| Trouble::Failed(format!("stdout: {error}")))?;
        }
        if asked.verbose && !asked.ours.dry_run {
            say::line(&sections::budget(&plan));
        }
    }
    if asked.ours.dry_run {
        return Ok(exit::DONE);
    }
    let mut style = style(asked, version, &machine);
    notes(asked, &machine);
    let whole_run = asked.mode.is_none();
    let mut prefix = mlc::banner(&style);
    for (mode, request) in &sections {
        let name = whole_run.then(|| mode.name());
        let mut call = call(request, output(asked, name));
        let obtained = match spine::obtain(&call) {
            // Another run may hold the registers, or their journal can't be kept: the chase then goes at random, as without them.
            Err(Trouble::Refused(refusal)) if refusal.flag == "--prefetch" => {
                style.prefetch_warning = true;
                call.request = sections::at_random(request);
                spine::obtain(&call)
            }
            other => other,
        };
        let mut obtained = obtained.map_err(|trouble| translate::trouble(trouble, &asked.given))?;
        let text = std::mem::take(&mut prefix) + &sections::text(*mode, &obtained.report, &style);
        write(&mut obtained, &text)?;
        let code = spine::code(&call, &obtained.record.run, &obtained.report);
        if !asked.ours.quiet {
            sections::beside(&obtained.report);
        }
        if code != exit::DONE && code != exit::REJECTED {
            return Ok(code);
        }
    }
    Ok(exit::DONE)
}

fn write(obtained: &mut spine::Obtained, text: &str) -> Result<(), Trouble> {
    let (record, report) = (&obtained.record, &obtained.report);
    let document = || memgauge_render::json(report);
    let files = || vec![("report.json", document()), ("record.json", memgauge_render::json(record))];
    obtained.outputs.write(text, document, &files)
}

/// What goes to files. Each section of a whole run has its own: its name stands before the extension.
fn output(asked: &Asked, section: Option<&str>) -> Output {
    let named = |path: &PathBuf| match section {
        None => path.clone(),
        Some(section) => match path.extension() {
            Some(extension) => path.with_extension(format!("{section}.{}", extension.to_string_lossy())),
            None => path.with_extension(section),
        },
    };
    Output {
        format: None,
        json: asked.ours.json.as_ref().map(named),
        out: asked.ours.out.as_ref().map(named),
        no_bundle: false,
        raw: false,
        strict: false,
        quiet: asked.ours.quiet,
    }
}

fn style(asked: &Asked, version: mlc::Version, machine: &Machine) -> mlc::Style {
    // Without a mode the sections follow each other, whatever options stand there.
    let args = if asked.mode.is_some() { asked.echo.clone() } else { Vec::new() };
    let chases = asked.mode.is_none_or(|mode| matches!(mode, Mode::LatencyMatrix | Mode::Idle | Mode::Loaded));
    let chases = chases && !asked.request.no_observer;
    let prefetch_warning = chases && !asked.leave && !asked.random && !asked.switches(machine);
    mlc::Style { version, args, prefetch_warning, simulated: machine.simulated, scan_bucket: asked.scan_bucket }
}

fn notes(asked: &Asked, machine: &Machine) {
    if asked.ours.quiet {
        return;
    }
    say::line(&format!("version {}, in the place of the Memory Latency Checker (docs/mlc.md)", env!("CARGO_PKG_VERSION")));
    asked.notes.iter().for_each(|note| say::line(note));
    if machine.simulated {
        say::line("SIMULATED: nothing here was measured");
    }
    if asked.request.shared_buffer && matches!(asked.mode, Some(Mode::Peak | Mode::Max)) {
        say::line("-u: a buffer that all threads share is only read; the rows of other traffic are left out");
    }
    if asked.request.block_lines.is_some() && asked.goes_in_sequence(machine) {
        say::line("-D: the chase goes in sequence, and has no random blocks; add -r for them");
    }
    if asked.leave && !asked.random {
        say::line(
            "-e: the chase goes in sequence, and prefetchers that are on fetch ahead of it; add -r for the memory's own latency",
        );
    }
}

fn version() -> Result<mlc::Version, Refusal> {
    let Some(typed) = std::env::var_os(VERSION).filter(|typed| !typed.is_empty()) else { return Ok(mlc::Version::DEFAULT) };
    let typed = typed.to_string_lossy();
    typed.parse().map_err(|()| Refusal::new(VERSION, typed, "no version", "such as 3.11b or 3.9a"))
}
