//! argv → what is to be done. Everything here looks at text alone: no system is touched, so whatever is wrong is said before
//! anything is opened, allocated or changed.
//!
//! To add a flag: a row in `flags.rs` (with a parser under `value/`), a row in `meaning.rs`, a line in [`request`].

pub mod about;
mod command;
mod flags;
mod meaning;
mod usage;
mod value;

pub use command::{About, Command};
pub use flags::Output;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use memgauge_model::{Delays, LOAD_BLOCK_LINES, Refusal, Request, What};
use memgauge_render::Format;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher};
use std::path::PathBuf;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "memgauge",
    version,
    about = "What a machine's memory really does, and how sure that is",
    long_about = "Measures what a Linux machine's memory really does: idle latency, bandwidth, latency under load, \
                  core to core, node to node; and says how sure each figure is.\n\n\
                  Without a command it does all of it, in about 30 s on two CPUs.",
    after_help = EXAMPLES,
    disable_help_subcommand = true,
    propagate_version = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<command::Typed>,
    #[command(flatten)]
    place: flags::Place,
    #[command(flatten)]
    memory: flags::Memory,
    #[command(flatten)]
    traffic: flags::Traffic,
    #[command(flatten)]
    effort: flags::Effort,
    #[command(flatten)]
    output: flags::Output,
}

const EXAMPLES: &str = "\
Examples:
  memgauge                                     all of it
  memgauge --dry-run                           what it would do, with how much memory, for how long
  memgauge idle --pages base --order full-random
  memgauge peak --mix read,copy,copy-nt --json peak.json
  memgauge loaded --cpu 0 --load-cpus 1-15 --delays mlc
  memgauge matrix bandwidth --format csv
  memgauge topology --format json

Exit codes:
  0 done   1 failed   2 the call can't be met   3 rejected, with --strict   130 SIGINT   143 SIGTERM";

/// What was asked for.
#[derive(Debug)]
pub struct Call {
    /// Arguments as typed, without the program's name.
    pub argv: Vec<String>,
    /// What is to be done.
    pub command: Command,
    /// What is to be measured; of no meaning where nothing is.
    pub request: Request,
    /// `--root`.
    pub root: Option<PathBuf>,
    /// `--simulate`.
    pub simulate: Option<PathBuf>,
    /// `--fill`: patterns that the request shall have.
    pub fill: Option<PathBuf>,
    /// `--dry-run`.
    pub dry_run: bool,
    /// Files that are read.
    pub files: Vec<PathBuf>,
    /// `--runs`, and the words of the command that is repeated.
    pub repeated: (Option<u32>, Vec<String>),
    /// What is printed.
    pub format: Format,
    /// Where else it goes.
    pub output: Output,
}

impl Call {
    /// A measurement that another front end asks for.
    pub fn measuring(argv: Vec<String>, request: Request, simulate: Option<PathBuf>, output: Output) -> Self {
        let command = Command::Measure(request.what);
        Self {
            argv,
            command,
            request,
            root: None,
            simulate,
            fill: None,
            dry_run: false,
            files: Vec::new(),
            repeated: (None, Vec::new()),
            format: Format::Text,
            output,
        }
    }
}

/// Why there is nothing to do.
#[derive(Debug)]
pub enum Stop {
    /// `--help` or `--version`: this text goes to stdout.
    Text(String),
    /// The call can't be read.
    Refused(Refusal),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Reads the command line.
///
/// # Errors
///
/// [`Stop`]: help was asked for, or something is wrong.
pub fn read(argv: Vec<OsString>) -> Result<Call, Stop> {
    let words = argv.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>();
    // What stands behind two hyphens is another call's.
    let own = words.split(|word| word == "--").next().unwrap_or_default();
    let foreign = foreign(&argv);
    let mut parser = parser();
    if let Some(command) = Command::guess(own) {
        parser = parser.mut_args(|arg| {
            let hide = arg.is_hide_set() || !meaning::knows(command, arg.get_id().as_str());
            arg.hide(hide)
        });
    }
    let matches = parser.try_get_matches_from_mut(argv).map_err(|error| match error.use_stderr() {
        true if error.kind() == ErrorKind::InvalidUtf8 => Stop::Refused(foreign.unwrap_or_else(|| usage::refusal(&error))),
        true => Stop::Refused(usage::refusal(&error)),
        false => Stop::Text(error.render().to_string()),
    })?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| usage::refusal(&error))?;
    let command = Command::from_typed(cli.command.as_ref());
    twice(own, &parser)?;
    meaning::check(command, &matches, &parser)?;
    let given = given(&matches, &parser);
    let call = call(words, command, cli, given);
    consistent(&call)?;
    Ok(call)
}

/// The parser, whole.
pub fn parser() -> clap::Command {
    // By one name wherever its version is asked for.
    Cli::command().mut_subcommands(|command| command.display_name("memgauge"))
}

/// The first word that is no text, where text is wanted: clap says neither which one nor whose. Paths may be any bytes.
fn foreign(argv: &[OsString]) -> Option<Refusal> {
    argv.iter().zip(argv.iter().skip(1)).filter(|(_, word)| word.to_str().is_none()).find_map(|(before, word)| {
        let (before, word) = (before.to_string_lossy(), word.to_string_lossy());
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, value),
            _ if before.starts_with("--") => (&*before, &*word),
            _ => ("", &*word),
        };
        let path = ["--json", "--out", "--root", "--simulate", "--fill"].contains(&flag);
        (!path).then(|| Refusal::new(flag, value, "no UTF-8 text", "write flags and values in UTF-8"))
    })
}

/// A flag before the command and again behind it: clap would take the latter in silence.
fn twice(words: &[String], parser: &clap::Command) -> Result<(), Refusal> {
    let once = |arg: &&clap::Arg| !matches!(arg.get_action(), clap::ArgAction::Append);
    for flag in parser.get_arguments().filter(once).filter_map(clap::Arg::get_long) {
        let flag = format!("--{flag}");
        let with_value = format!("{flag}=");
        if words.iter().filter(|word| **word == flag || word.starts_with(&with_value)).count() > 1 {
            return Err(Refusal::new(&flag, "", "stands there twice", "write it once"));
        }
    }
    Ok(())
}

/// Flags as they were typed: `--buffer` → `900TiB`; a flag without a value → empty.
fn given(matches: &ArgMatches, parser: &clap::Command) -> BTreeMap<String, String> {
    let typed = parser.get_arguments().filter(|arg| {
        let id = arg.get_id().as_str();
        matches.try_contains_id(id).is_ok() && matches.value_source(id) == Some(ValueSource::CommandLine)
    });
    let text = |arg: &clap::Arg| {
        let takes_value = arg.get_action().takes_values();
        let raw = matches.get_raw(arg.get_id().as_str()).filter(|_| takes_value).into_iter().flatten();
        raw.map(|value| value.to_string_lossy().into_owned()).collect::<Vec<_>>().join(",")
    };
    typed.filter_map(|arg| Some((format!("--{}", arg.get_long()?), text(arg)))).collect()
}

fn call(argv: Vec<String>, command: Command, cli: Cli, given: BTreeMap<String, String>) -> Call {
    let what = match command {
        Command::Measure(what) => what,
        Command::Topology | Command::Import | Command::Repeat | Command::About(_) => What::All,
    };
    let (files, repeated) = match &cli.command {
        Some(command::Typed::Import { files, .. }) => (files.clone(), Vec::new()),
        Some(command::Typed::Repeat { words }) => (Vec::new(), words.clone()),
        _ => Default::default(),
    };
    let format = cli.output.format.unwrap_or(match &cli.output.json {
        // The document has taken the place of the text.
        Some(path) if path.as_os_str() == "-" => Format::Json,
        _ if command == Command::Repeat => Format::VcCsv,
        _ => Format::Text,
    });
    Call {
        argv,
        command,
        root: cli.place.root.clone(),
        simulate: cli.place.simulate.clone(),
        fill: cli.traffic.fill.clone(),
        dry_run: cli.effort.dry_run,
        files,
        repeated: (cli.effort.runs, repeated),
        format,
        request: request(what, &cli, given),
        output: cli.output,
    }
}

/// Flags → request, a line each.
fn request(what: What, cli: &Cli, given: BTreeMap<String, String>) -> Request {
    let Cli { place, memory, traffic, effort, .. } = cli;
    Request {
        what,
        cpu: place.cpu,
        load_cpus: place.load_cpus.clone(),
        node: place.node,
        buffer: memory.buffer,
        limit: memory.limit,
        pages: memory.pages,
        order: memory.order,
        stride: memory.stride,
        isa: traffic.isa.and_then(|choice| choice.0),
        mixes: traffic.mix.clone().map(|mixes| mixes.0).unwrap_or_default(),
        prefetch: memory.prefetch.unwrap_or_default(),
        smt: place.smt.unwrap_or_default(),
        precision: effort.precision,
        time_ns: effort.time,
        delays: traffic.delays.clone().or(traffic.delay.map(|delay| Delays::List(vec![delay]))),
        keepalive: traffic.keepalive,
        method: traffic.method,
        all_pairs: traffic.all_pairs,
        full_pairs: traffic.full,
        via: traffic.via,
        assignments: traffic.assign.clone(),
        load_block: traffic.load_order.unwrap_or(false).then(|| traffic.load_block.unwrap_or(LOAD_BLOCK_LINES)),
        shared_buffer: traffic.shared_buffer,
        partial: traffic.partial.unwrap_or_default(),
        flush: traffic.flush,
        fill: Vec::new(),
        integrity: traffic.integrity,
        per_thread: traffic.per_thread,
        share_core: place.share_core,
        theoretical: traffic.theoretical,
        keepalive_cpus: traffic.keepalive_cpus.clone(),
        touch_cpu: place.touch_cpu,
        block_lines: memory.block,
        no_observer: place.no_observer,
        local_loads: place.local_loads,
        per_cpu: place.per_cpu,
        histogram: memory.histogram,
        folder: memory.memory_dir.clone(),
        readers: place.from,
        threads: place.threads,
        accesses: effort.accesses,
        passes: effort.passes,
        writer: place.writer,
        third: place.third,
        window: memory.window,
        push: memory.push,
        extra_reads: memory.extra_reads,
        kinds: traffic.kind.clone().map(|kinds| kinds.0).unwrap_or_default(),
        seed: effort.seed.unwrap_or_else(new_seed),
        given,
    }
}

/// A seed from the system's randomness, short enough to type.
pub fn new_seed() -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish() >> 32
}

/// What no flag alone can tell.
fn consistent(call: &Call) -> Result<(), Refusal> {
    let topology = call.command == Command::Topology;
    if call.command == Command::Import && call.files.is_empty() {
        return Err(Refusal::new("import mlc", "", "which file?", "write memgauge import mlc FILE"));
    }
    if call.command == Command::Repeat && call.repeated.1.is_empty() {
        let remedy = "write it behind two hyphens: memgauge repeat -n 3 -- matrix latency";
        return Err(Refusal::new("repeat", "", "which command?", remedy));
    }
    if call.command == Command::Repeat && call.repeated.0.is_none_or(|runs| runs == 0) {
        return Err(Refusal::new("--runs", call.request.typed("--runs"), "how often?", "write -n and a number from 1 on"));
    }
    if call.root.is_some() && !topology && !call.dry_run {
        let problem = "a captured machine can't be measured";
        return Err(Refusal::new("--root", call.request.typed("--root"), problem, "add --dry-run, or use memgauge topology"));
    }
    if !matches!(call.format, Format::Text | Format::Json) && (topology || call.dry_run) {
        return Err(Refusal::new("--format", call.request.typed("--format"), "only results come as a table", "use text or json"));
    }
    if call.request.full_pairs && !call.request.all_pairs {
        return Err(Refusal::new("--full", "", "says which pairs of CPUs, and none are asked for", "add --all-pairs"));
    }
    if call.request.what == What::MatrixLatency && call.request.given.contains_key("--smt") && !call.request.per_cpu {
        let remedy = "add --per-cpu, or leave it out";
        return Err(Refusal::new("--smt", call.request.typed("--smt"), "each node has one row, of one CPU", remedy));
    }
    let random = call.request.typed("--load-order") == "random";
    if !random && call.request.given.contains_key("--load-block") {
        let typed = call.request.typed("--load-block");
        return Err(Refusal::new("--load-block", typed, "there are blocks in random order only", "add --load-order random"));
    }
    if call.output.json.as_deref().is_some_and(|path| path.as_os_str() == "-") && call.format != Format::Json {
        let remedy = "leave --format out, or name a file";
        return Err(Refusal::new("--json", "-", "stdout already carries what --format asks for", remedy));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &str) -> Result<Call, Stop> {
        read(format!("memgauge {words}").split_whitespace().map(OsString::from).collect())
    }

    fn refused(words: &str) -> String {
        match call(words) {
            Err(Stop::Refused(refusal)) => refusal.to_string(),
            other => panic!("{words}: {other:?}"),
        }
    }

    #[test]
    fn the_parser_is_sound() {
        parser().debug_assert();
    }

    #[test]
    fn flags_stand_before_or_behind_the_command() {
        for words in ["--cpu 1 loaded --delay 100", "loaded --delay=100 --cpu=1"] {
            let call = call(words).unwrap();
            assert_eq!(call.command, Command::Measure(What::Loaded));
            assert_eq!((call.request.cpu, call.request.delays), (Some(1), Some(Delays::List(vec![100]))));
        }
    }

    #[test]
    fn the_request_carries_what_was_typed() {
        let request = call("idle --buffer 0.5GiB --quiet").unwrap().request;
        assert_eq!((request.buffer, request.typed("--buffer")), (Some(1 << 29), "0.5GiB"));
        assert_eq!(request.given.keys().collect::<Vec<_>>(), ["--buffer", "--quiet"]);
        assert_ne!(call("idle").unwrap().request.seed, call("idle").unwrap().request.seed);
    }

    #[test]
    fn every_kind_of_slip_is_one_line() {
        let cases = [
            ("--buffer -5", "--buffer -5: not a size; write bytes or a binary unit, such as 64MiB"),
            ("--buffer", "--buffer: needs a value; write one after it"),
            ("--buffer=", "--buffer: not a size; write bytes or a binary unit, such as 64MiB"),
            ("--bufer 5", "--bufer: no such flag; did you mean --buffer?"),
            ("-x", "-x: no such flag; memgauge --help lists them"),
            ("idel", "idel: no such command; did you mean idle?"),
            (
                "nonsense",
                "nonsense: no such command; use idle, peak, max, matrix, loaded, c2c, sweep, scan, topology, import, repeat, man or completions, or none \
                 for the default run",
            ),
            ("idle 5", "5: one word too many; leave it out; values stand after their flag"),
            ("matrix", "matrix: which one?; write memgauge matrix latency or memgauge matrix bandwidth"),
            ("completions tcsh", "completions tcsh: no such choice; use bash, zsh, fish"),
            ("man --cpu 0", "--cpu: has no meaning for man; leave it out; memgauge man --help lists what has"),
            ("matrix foo", "matrix foo: no such choice; use latency, bandwidth"),
            ("--quiet=1", "--quiet 1: takes no value; write the flag alone"),
            ("--cpu 0 --cpu 1", "--cpu: stands there twice; write it once"),
            ("--cpu 0 idle --cpu 1", "--cpu: stands there twice; write it once"),
            ("loaded --delay 0 --delays mlc", "--delay: can't stand beside --delays; leave one of them out"),
            (
                "topology --buffer 1m",
                "--buffer: has no meaning for topology; leave it out; memgauge topology --help lists what has",
            ),
            ("idle --mix read", "--mix: has no meaning for idle; leave it out; memgauge idle --help lists what has"),
            ("idle --smt one", "--smt: has no meaning for idle; leave it out; memgauge idle --help lists what has"),
            ("--keepalive off peak", "--keepalive: has no meaning for peak; leave it out; memgauge peak --help lists what has"),
            (
                "matrix bandwidth --cpu 0",
                "--cpu: has no meaning for matrix bandwidth; leave it out; memgauge matrix bandwidth --help lists what has",
            ),
            ("topology --format csv", "--format csv: only results come as a table; use text or json"),
            ("idle --root /x", "--root /x: a captured machine can't be measured; add --dry-run, or use memgauge topology"),
            (
                "idle --format text --json -",
                "--json -: stdout already carries what --format asks for; leave --format out, or name a file",
            ),
        ];
        for (words, line) in cases {
            assert_eq!(refused(words), line);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_by_name_unless_they_name_a_file() {
        use std::os::unix::ffi::OsStringExt;
        let read = |words: &[&[u8]]| {
            let words = [&[&b"memgauge"[..], b"idle"], words].concat();
            super::read(words.into_iter().map(|word| OsString::from_vec(word.to_vec())).collect())
        };
        assert!(read(&[b"--json", b"\xff"]).is_ok());
        for words in [&[&b"--json=\xff"[..], b"--cpu", b"1\xff"][..], &[b"--json", b"\xff", b"--cpu=1\xff"]] {
            let Err(Stop::Refused(refusal)) = read(words) else { panic!("{words:?} was taken") };
            assert_eq!(refusal.to_string(), "--cpu 1\u{fffd}: no UTF-8 text; write flags and values in UTF-8");
        }
    }

    #[test]
    fn help_of_a_command_has_its_own_flags_only() {
        let Err(Stop::Text(help)) = call("topology --help") else { panic!("no help") };
        assert!(help.contains("--root") && !help.contains("--buffer"), "{help}");
        let Err(Stop::Text(help)) = call("max --help") else { panic!("no help") };
        assert!(help.contains("--delays") && !help.contains("--keepalive"), "{help}");
        for words in ["--version", "idle --version", "matrix latency --version"] {
            let Err(Stop::Text(version)) = call(words) else { panic!("no version") };
            assert_eq!(version, concat!("memgauge ", env!("CARGO_PKG_VERSION"), "\n"), "{words}");
        }
        let Err(Stop::Text(help)) = call("--help") else { panic!("no help") };
        assert!(help.contains("--buffer") && help.contains("Examples:"), "{help}");
    }
}
