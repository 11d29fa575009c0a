//! Every flag, one row each: name, value, text. Its parser is under `value/`, the commands that know it in `meaning.rs`.

use super::value::assign::assignment;
use super::value::delays::{delay, delays};
use super::value::list::cpu_list;
use super::value::mix::{Mixes, mixes};
use super::value::percent::percent;
use super::value::rate::rate;
use super::value::size::size;
use super::value::span::span;
use super::value::whole::whole;
use super::value::word::{
    IsaChoice, Kinds, format, isa, kinds, load_order, method, on_off, order, pages, partial, prefetch, smt, via,
};
use clap::Args;
use memgauge_model::{Assignment, C2cMethod, C2cVia, Cpu, CpuList, Delays, NodeId, Order, Pages, Partial, Prefetch, Smt};
use memgauge_render::Format;
use std::path::PathBuf;

/// Who measures, who loads, whose memory.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where")]
pub struct Place {
    /// CPU of the observer, which measures latency
    #[arg(long, global = true, value_name = "N", value_parser = whole::<Cpu>, allow_hyphen_values = true)]
    pub cpu: Option<Cpu>,
    /// CPUs that load the memory, as the kernel writes lists: 0-3,8 or 0-31:2/4; or none
    #[arg(long, global = true, value_name = "LIST", value_parser = cpu_list, allow_hyphen_values = true)]
    pub load_cpus: Option<CpuList>,
    /// Node whose memory is measured
    #[arg(long, global = true, value_name = "N", value_parser = whole::<NodeId>, allow_hyphen_values = true)]
    pub node: Option<NodeId>,
    /// Hardware threads of a core that load: all or one
    #[arg(long, global = true, value_name = "WHICH", value_parser = smt, allow_hyphen_values = true)]
    pub smt: Option<Smt>,
    /// CPU that touches the observer's buffer, or a transfer's lines, first, which decides their node
    #[arg(long, global = true, value_name = "N", value_parser = whole::<Cpu>, allow_hyphen_values = true)]
    pub touch_cpu: Option<Cpu>,
    /// Nobody watches the loads: bandwidths alone, by every CPU
    #[arg(long, global = true)]
    pub no_observer: bool,
    /// Each load uses memory near its own CPU, in place of that which the observer watches
    #[arg(long, global = true)]
    pub local_loads: bool,
    /// A row of the latency matrix for each CPU; with --smt one for each core; with --cpu for that one
    #[arg(long, global = true)]
    pub per_cpu: bool,
    /// Node whose CPUs read in a scan; the scanned node's own if not given
    #[arg(long, global = true, value_name = "N", value_parser = whole::<NodeId>, allow_hyphen_values = true)]
    pub from: Option<NodeId>,
    /// How many CPUs read in a scan; all if not given
    #[arg(long, global = true, value_name = "N", value_parser = whole::<u32>, allow_hyphen_values = true)]
    pub threads: Option<u32>,
    /// CPU that writes in a core-to-core transfer; the one of --cpu reads
    #[arg(long, global = true, value_name = "N", value_parser = whole::<Cpu>, allow_hyphen_values = true)]
    pub writer: Option<Cpu>,
    /// CPU that reads a transfer's lines between its writer and its reader
    #[arg(long, global = true, value_name = "N", value_parser = whole::<Cpu>, allow_hyphen_values = true)]
    pub third: Option<Cpu>,
    /// Let a load run on the observer's core; the result is then marked rejected
    #[arg(long, global = true)]
    pub share_core: bool,
    /// Read the machine from a captured tree; for topology and --dry-run
    #[arg(long, global = true, value_name = "DIR", allow_hyphen_values = true)]
    pub root: Option<PathBuf>,
    /// Simulate a machine that is only described: a preset's name, or a file; every output is marked
    #[arg(long, global = true, value_name = "MACHINE", allow_hyphen_values = true, conflicts_with = "root")]
    pub simulate: Option<PathBuf>,
}

/// The memory itself and how it is walked.
#[derive(Debug, Args)]
#[command(next_help_heading = "Memory")]
pub struct Memory {
    /// Bytes of each stream of each thread, or of a region: 64MiB, 1.5g, 4096 (k m g t and KiB MiB GiB TiB are binary)
    #[arg(long, global = true, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    pub buffer: Option<u64>,
    /// Bytes that a scan takes in all, where that should not be 80 % of what can be had
    #[arg(long, global = true, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    pub limit: Option<u64>,
    /// Pages: base, thp, 2m or 1g
    #[arg(long, global = true, value_name = "KIND", value_parser = pages, allow_hyphen_values = true)]
    pub pages: Option<Pages>,
    /// Order of a chase: window-random, split-random, full-random or sequential
    #[arg(long, global = true, value_name = "ORDER", value_parser = order, allow_hyphen_values = true)]
    pub order: Option<Order>,
    /// Bytes between the nodes of a chase
    #[arg(long, global = true, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    pub stride: Option<u64>,
    /// Nodes that are shuffled together in the window-random order; 4096 if not given
    #[arg(long, global = true, value_name = "LINES", value_parser = whole::<u32>, allow_hyphen_values = true)]
    pub block: Option<u32>,
    /// Memory of nameless files in this folder: persistent memory (DAX), or the page cache
    #[arg(long, global = true, value_name = "DIR")]
    pub memory_dir: Option<String>,
    /// Show how single accesses are spread, in bins of 2^N clock ticks, N from 0 to 12
    #[arg(long, global = true, value_name = "N", value_parser = whole::<u32>, allow_hyphen_values = true)]
    pub histogram: Option<u32>,
    /// Bytes of the window of lines that one core hands to another
    #[arg(long, global = true, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    pub window: Option<u64>,
    /// Bytes that the writer of a chase's lines reads behind them, to push them outwards
    #[arg(long, global = true, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    pub push: Option<u64>,
    /// Bytes that the reader of a chase's lines reads of other memory before it takes them
    #[arg(long, global = true, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    pub extra_reads: Option<u64>,
    /// Hardware prefetchers: auto, off or leave
    #[arg(long, global = true, value_name = "STATE", value_parser = prefetch, allow_hyphen_values = true)]
    pub prefetch: Option<Prefetch>,
}

/// What is done to it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Traffic")]
pub struct Traffic {
    /// Mixes: read, write, write-nt, copy, copy-nt, scale, add, triad (each with -nt), ratios such as 2:1, MLC's codes
    #[arg(long, global = true, value_name = "NAME,…", value_parser = mixes, allow_hyphen_values = true)]
    pub mix: Option<Mixes>,
    /// Load threads told by themselves: CPUS:MIX:seq|random:SIZE:NODE (or local), then :DELAY if they have their own; or with a
    /// second stream …:NODE+NODE:PERCENT; once for each line
    #[arg(long, global = true, value_name = "LINE", value_parser = assignment, allow_hyphen_values = true)]
    pub assign: Vec<Assignment>,
    /// Order of the streams' lines: sequential, or random inside blocks
    #[arg(long, global = true, value_name = "ORDER", value_parser = load_order, allow_hyphen_values = true)]
    pub load_order: Option<bool>,
    /// Lines of a block in random order, a power of two; 8192 (512 KiB) if not given
    #[arg(long, global = true, value_name = "LINES", value_parser = whole::<u32>, allow_hyphen_values = true)]
    pub load_block: Option<u32>,
    /// All threads read one buffer: the bandwidth of the cache that they share
    #[arg(long, global = true)]
    pub shared_buffer: bool,
    /// Use 8 bytes of each line: of those that are stored by mixes without loads (stores), or of all (both)
    #[arg(long, global = true, value_name = "WHICH", value_parser = partial, allow_hyphen_values = true)]
    pub partial: Option<Partial>,
    /// Flush each stored line from the caches
    #[arg(long, global = true)]
    pub flush: bool,
    /// Fill buffers with the patterns of this file, 128 hexadecimal digits a line
    #[arg(long, global = true, value_name = "FILE")]
    pub fill: Option<PathBuf>,
    /// Hold what is read against what was written there; a mismatch ends the run
    #[arg(long, global = true)]
    pub integrity: bool,
    /// Bandwidth of each load thread beside that of all
    #[arg(long, global = true)]
    pub per_thread: bool,
    /// Instruction set of the streams: auto, portable, sse2, avx2, avx512 or neon
    #[arg(long, global = true, value_name = "SET", value_parser = isa, allow_hyphen_values = true)]
    pub isa: Option<IsaChoice>,
    /// Delays between bursts, core cycles: 0,2,8 or mlc or auto
    #[arg(long, global = true, value_name = "LIST", value_parser = delays, allow_hyphen_values = true)]
    pub delays: Option<Delays>,
    /// One delay between bursts, core cycles
    #[arg(long, global = true, value_name = "N", value_parser = delay, allow_hyphen_values = true, conflicts_with = "delays")]
    pub delay: Option<u32>,
    /// Busy threads that keep the chip awake beside an idle chase: on or off
    #[arg(long, global = true, value_name = "ON|OFF", value_parser = on_off, allow_hyphen_values = true)]
    pub keepalive: Option<bool>,
    /// CPUs that are busy beside an idle chase, in place of one on another core
    #[arg(long, global = true, value_name = "LIST", value_parser = cpu_list, allow_hyphen_values = true)]
    pub keepalive_cpus: Option<CpuList>,
    /// Core to core: hit, hitm, store or cas; all if not given
    #[arg(long, global = true, value_name = "KIND,…", value_parser = kinds, allow_hyphen_values = true)]
    pub kind: Option<Kinds>,
    /// Core to core by chase or pingpong; both if not given
    #[arg(long, global = true, value_name = "HOW", value_parser = method, allow_hyphen_values = true)]
    pub method: Option<C2cMethod>,
    /// Core to core: each CPU with each, both ways, instead of each node with each; with --cpu the pairs of that CPU
    #[arg(long, global = true)]
    pub all_pairs: bool,
    /// With --all-pairs on more than 16 CPUs: every pair alone, instead of a sample of each class and a map of those that are not uniform
    #[arg(long, global = true)]
    pub full: bool,
    /// Where a chase's lines are when the reader comes: l2 (the owner's), l3 (pushed out), third (read by a third core)
    #[arg(long, global = true, value_name = "WAY", value_parser = via, allow_hyphen_values = true)]
    pub via: Option<C2cVia>,
    /// What the memory modules could do, such as 204.8GB/s, where the firmware doesn't say
    #[arg(long, global = true, value_name = "RATE", value_parser = rate, allow_hyphen_values = true)]
    pub theoretical: Option<f64>,
}

/// How much is spent on it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Effort")]
pub struct Effort {
    /// Measure until the 95 % interval is within this of the value, such as 1%
    #[arg(long, global = true, value_name = "P%", value_parser = percent, allow_hyphen_values = true)]
    pub precision: Option<f64>,
    /// Time of a figure's windows together, such as 500ms or 2s; set-up and warm-up come on top
    #[arg(long, global = true, value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub time: Option<u64>,
    /// Accesses of a chase in all, in place of a time; 0: one pass over the buffer in each round
    #[arg(long, global = true, value_name = "N", value_parser = whole::<u64>, allow_hyphen_values = true, conflicts_with = "time")]
    pub accesses: Option<u64>,
    /// Passes over each of a scan's regions in all, in place of a time
    #[arg(long, global = true, value_name = "N", value_parser = whole::<u32>, allow_hyphen_values = true, conflicts_with = "time")]
    pub passes: Option<u32>,
    /// Seed of every random choice; a new one each run if not given
    #[arg(long, global = true, value_name = "N", value_parser = whole::<u64>, allow_hyphen_values = true)]
    pub seed: Option<u64>,
    /// How often a command is repeated
    #[arg(short = 'n', long, global = true, value_name = "N", value_parser = whole::<u32>, allow_hyphen_values = true)]
    pub runs: Option<u32>,
    /// Print the plan, its memory and its time, and measure nothing
    #[arg(long, global = true)]
    pub dry_run: bool,
}

/// What comes out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// What is printed: text, json, csv, or the metrics of Virtual Client as vc-csv or vc-json
    #[arg(long, global = true, value_name = "FORM", value_parser = format, allow_hyphen_values = true)]
    pub format: Option<Format>,
    /// Write the result document to this file as well
    #[arg(long, global = true, value_name = "FILE", allow_hyphen_values = true)]
    pub json: Option<PathBuf>,
    /// Write result and record into this folder, new or empty
    #[arg(long, global = true, value_name = "DIR", allow_hyphen_values = true)]
    pub out: Option<PathBuf>,
    /// Keep no evidence of the run
    #[arg(long, global = true)]
    pub no_bundle: bool,
    /// Put every window into the document, under "raw"
    #[arg(long, global = true)]
    pub raw: bool,
    /// Exit with 3 when the result is rejected
    #[arg(long, global = true)]
    pub strict: bool,
    /// Say nothing on stderr but errors
    #[arg(long, global = true)]
    pub quiet: bool,
}
