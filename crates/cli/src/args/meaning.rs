//! Which flags mean something to which command: one row a flag. A flag that would be ignored is refused, and a command's help
//! lists its own alone.

use super::command::Command;
use clap::ArgMatches;
use clap::parser::ValueSource;
use memgauge_model::{Refusal, What};

/// Commands that know a flag.
struct Row {
    id: &'static str,
    measuring: fn(What) -> bool,
    topology: bool,
}

const fn row(id: &'static str, measuring: fn(What) -> bool, topology: bool) -> Row {
    Row { id, measuring, topology }
}

fn any(_: What) -> bool {
    true
}

/// An observer stands on its CPU; a bandwidth matrix has none.
fn observes(what: What) -> bool {
    what != What::MatrixBandwidth
}

/// The automatic buffer can be replaced: transfers between cores take a window that fits the cache.
fn buffers(what: What) -> bool {
    what != What::C2c
}

fn idles(what: What) -> bool {
    matches!(what, What::All | What::Idle | What::Sweep)
}

/// Loads run beside an observer, whose core they may share.
fn watches(what: What) -> bool {
    matches!(what, What::All | What::Loaded)
}

fn chases(what: What) -> bool {
    matches!(what, What::All | What::Idle | What::MatrixLatency | What::Loaded | What::Sweep)
}

/// Chases of one order, which may go by windows.
fn windows(what: What) -> bool {
    matches!(what, What::Idle | What::MatrixLatency | What::Loaded)
}

fn streams(what: What) -> bool {
    matches!(what, What::All | What::Peak | What::Max | What::MatrixBandwidth | What::Loaded | What::Sweep | What::Scan)
}

/// Streams may go in other ways; sweeps, regions and the default run keep to the usual one.
fn loads(what: What) -> bool {
    matches!(what, What::Peak | What::Max | What::MatrixBandwidth | What::Loaded)
}

/// Regions are gone through in sequence.
fn orders(what: What) -> bool {
    (chases(what) || streams(what)) && what != What::Scan
}

fn delays(what: What) -> bool {
    matches!(what, What::All | What::Max | What::Loaded)
}

fn transfers(what: What) -> bool {
    matches!(what, What::All | What::C2c)
}

/// One row a flag, by the name of its field.
const ROWS: &[Row] = &[
    row("cpu", observes, false),
    row("load_cpus", streams, false),
    row("node", any, false),
    row("smt", |what| streams(what) || what == What::MatrixLatency, false),
    row("touch_cpu", |what| matches!(what, What::Idle | What::Loaded | What::C2c), false),
    row("no_observer", |what| what == What::Loaded, false),
    row("local_loads", |what| what == What::Loaded, false),
    row("per_cpu", |what| what == What::MatrixLatency, false),
    row("from", |what| what == What::Scan, false),
    row("threads", |what| what == What::Scan, false),
    row("block", windows, false),
    row("memory_dir", |what| what == What::Idle, false),
    row("histogram", |what| what == What::Idle, false),
    row("writer", |what| what == What::C2c, false),
    row("third", |what| what == What::C2c, false),
    row("window", |what| what == What::C2c, false),
    row("push", |what| what == What::C2c, false),
    row("extra_reads", |what| what == What::C2c, false),
    row("kind", |what| what == What::C2c, false),
    row("share_core", watches, false),
    row("root", any, true),
    row("simulate", any, true),
    row("buffer", buffers, false),
    row("limit", |what| what == What::Scan, false),
    row("pages", any, false),
    row("order", orders, false),
    row("stride", chases, false),
    row("prefetch", chases, false),
    row("mix", streams, false),
    row("isa", streams, false),
    row("assign", |what| what == What::Loaded, false),
    row("load_order", loads, false),
    row("load_block", loads, false),
    row("shared_buffer", loads, false),
    row("partial", loads, false),
    row("flush", loads, false),
    row("fill", loads, false),
    row("integrity", loads, false),
    row("per_thread", loads, false),
    row("delays", delays, false),
    row("delay", delays, false),
    row("keepalive", idles, false),
    row("keepalive_cpus", |what| what == What::Idle, false),
    row("method", transfers, false),
    row("all_pairs", |what| what == What::C2c, false),
    row("full", |what| what == What::C2c, false),
    row("via", |what| what == What::C2c, false),
    row("theoretical", streams, false),
    row("precision", any, false),
    row("time", any, false),
    row("accesses", |what| windows(what) || what == What::C2c, false),
    row("passes", |what| what == What::Scan, false),
    row("seed", any, false),
    row("runs", |_| false, false),
    row("dry_run", any, false),
    row("format", any, true),
    row("json", any, true),
    row("out", any, true),
    row("no_bundle", any, true),
    row("raw", any, false),
    row("strict", any, false),
    row("quiet", any, true),
];

/// Where results go that were measured elsewhere, by another program or by calls of our own.
const OF_IMPORT: [&str; 6] = ["format", "json", "out", "no_bundle", "strict", "quiet"];

/// Does the flag with this field mean something to `command`?
pub fn knows(command: Command, id: &str) -> bool {
    let row = ROWS.iter().find(|row| row.id == id);
    row.is_none_or(|row| match command {
        Command::Measure(what) => (row.measuring)(what),
        Command::Topology => row.topology,
        Command::Import => OF_IMPORT.contains(&id),
        Command::Repeat => id == "runs" || OF_IMPORT.contains(&id),
        Command::About(_) => false,
    })
}

/// Refuses the first flag that `command` doesn't know.
pub fn check(command: Command, matches: &ArgMatches, parser: &clap::Command) -> Result<(), Refusal> {
    for arg in parser.get_arguments() {
        let id = arg.get_id().as_str();
        let typed = matches.try_contains_id(id).is_ok() && matches.value_source(id) == Some(ValueSource::CommandLine);
        if typed && !knows(command, id) {
            let flag = format!("--{}", arg.get_long().unwrap_or(id));
            let problem = format!("has no meaning for {}", command.name());
            let remedy = format!("leave it out; memgauge {} --help lists what has", command.name());
            return Err(Refusal::new(&flag, "", problem, remedy));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::parser;

    #[test]
    fn every_flag_has_a_row_and_every_row_a_flag() {
        let parser = parser();
        let flags = parser.get_arguments().map(|arg| arg.get_id().as_str());
        let flags = flags.filter(|id| !matches!(*id, "help" | "version")).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(flags, ROWS.iter().map(|row| row.id).collect());
    }
}
