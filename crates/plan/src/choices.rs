//! What the plan chooses where the request leaves it open: pages, orders, strides, instruction set, mixes.

use crate::pages;
use memgauge_model::{Isa, LOAD_BLOCK_LINES, Machine, Mix, Order, Pages, Refusal, Request, What};

/// Stride that spatial prefetchers lose at.
const CHASE_STRIDE: u64 = 128;
const LINE: u64 = 64;
/// Where THP pages are larger than this (64 KiB base pages: 512 MiB), a window of a few lines shall not cost one.
const LARGEST_SMALL_PAGE: u64 = 32 << 20;

/// Peak bandwidth's mixes: plain and non-temporal side by side, since they differ most.
const PEAK: [Mix; 7] = [Mix::Read, Mix::Write, Mix::WriteNt, Mix::Copy, Mix::CopyNt, Mix::Triad, Mix::TriadNt];
/// Those of the default run: what needs a third array costs it more set-up than its time allows.
const WHOLE_RUN: [Mix; 5] = [Mix::Read, Mix::Write, Mix::WriteNt, Mix::Copy, Mix::CopyNt];
/// MLC's five of its bandwidth search.
const MAX: [Mix; 5] = [Mix::Read, Mix::R3W1, Mix::R2W1, Mix::R1W1, Mix::R2W1NtTwo];

/// How a chase goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChaseKind {
    pub order: Order,
    pub stride: u64,
    pub pages: Pages,
    /// Nodes of a window, where not the usual ones.
    pub block: Option<u32>,
}

/// What is chosen.
pub(crate) struct Choices {
    /// Pages of everything but the base-page twin.
    pub pages: Pages,
    /// Pages of a window of lines.
    pub small_pages: Pages,
    /// Instruction set of streams.
    pub isa: Isa,
    /// Lines of a block that streams visit in random order; none: in sequence.
    pub block_lines: Option<u32>,
    /// The chases of an idle figure; the first is the headline.
    pub chases: Vec<ChaseKind>,
    /// One line each.
    pub notes: Vec<String>,
}

impl Choices {
    pub fn new(request: &Request, machine: &Machine) -> Result<Self, Refusal> {
        let mut notes = Vec::new();
        let usual = if pages::has_thp(machine) && request.folder.is_none() { Pages::Thp } else { Pages::Base };
        let main = request.pages.unwrap_or(usual);
        if request.pages.is_none() && request.folder.is_none() && main == Pages::Base {
            let state = machine.memory.thp.known().map_or("not shown by this kernel", String::as_str);
            notes.push(format!("transparent huge pages: {state}; base pages are used throughout"));
        }
        let small = main == Pages::Thp && pages::page_bytes(main, machine) > LARGEST_SMALL_PAGE;
        let chases = chases(request, main);
        // In a sweep's full-random order the neighbour's turn comes long after it was fetched; only a window has it in reach.
        let near = |order| order == Order::WindowRandom || (order == Order::FullRandom && request.what != What::Sweep);
        if chases.iter().any(|chase| chase.stride < CHASE_STRIDE && near(chase.order)) {
            notes.push(
                "stride below 128 B: spatial prefetchers that are on fetch the next node, the figure is then below memory's"
                    .to_owned(),
            );
        }
        let small_pages = if small { Pages::Base } else { main };
        let isa = request.isa.unwrap_or_else(|| best_isa(machine));
        Ok(Self { pages: main, small_pages, isa, block_lines: block_lines(request)?, chases, notes })
    }

    /// The chase of the headline, of loaded curves and of matrices.
    pub fn headline(&self) -> ChaseKind {
        // `chases` always has a first.
        self.chases.first().copied().unwrap_or(ChaseKind {
            order: Order::WindowRandom,
            stride: CHASE_STRIDE,
            pages: self.pages,
            block: None,
        })
    }
}

/// Window-random and full-random on the main pages, and full-random on base pages for the TLB cost; one alone where
/// `idle` is told which.
fn chases(request: &Request, main: Pages) -> Vec<ChaseKind> {
    let kind = |order: Order, pages: Pages| {
        // A working set is all of its lines, and nothing of what lies between.
        let sweeps = request.what == What::Sweep && order == Order::FullRandom;
        let dense = matches!(order, Order::Sequential | Order::SplitRandom) || sweeps;
        let usual = if dense { LINE } else { CHASE_STRIDE };
        let block = request.block_lines.filter(|_| order == Order::WindowRandom);
        ChaseKind { order, stride: request.stride.unwrap_or(usual), pages, block }
    };
    let order = |usual: Order| request.order.unwrap_or(usual);
    let first = kind(order(Order::WindowRandom), main);
    let told = request.order.is_some() || request.pages.is_some() || request.stride.is_some() || request.block_lines.is_some();
    if request.what == What::Idle && told {
        return vec![first];
    }
    let base = request.pages.unwrap_or(Pages::Base);
    if request.what == What::Sweep {
        // In one order, on both kinds of pages: their difference is the TLB's. Page walks blur where caches end: they are
        // found in another order, that nearly does without.
        let both = [main, base].map(|pages| kind(order(Order::FullRandom), pages));
        let mut all = [kind(order(Order::SplitRandom), main)].into_iter().chain(both).collect::<Vec<_>>();
        all.dedup();
        return all;
    }
    let mut all = vec![first, kind(order(Order::FullRandom), main), kind(order(Order::FullRandom), base)];
    all.dedup();
    all
}

/// `--order` of a command that streams without chasing is that of its streams.
fn block_lines(request: &Request) -> Result<Option<u32>, Refusal> {
    if request.load_block.is_some() {
        return Ok(request.load_block);
    }
    match (request.what, request.order) {
        (What::Peak | What::Max | What::MatrixBandwidth, Some(Order::WindowRandom)) => Ok(Some(LOAD_BLOCK_LINES)),
        (What::Peak | What::Max | What::MatrixBandwidth, Some(order @ (Order::FullRandom | Order::SplitRandom))) => {
            let problem = "streams have no order across a whole buffer";
            let typed = crate::checks::value(request, "--order", order.word());
            Err(Refusal::new("--order", typed, problem, "use sequential, or window-random for blocks of 512 KiB"))
        }
        _ => Ok(None),
    }
}

/// The mixes of a command.
pub(crate) fn mixes(request: &Request, what: What) -> Vec<Mix> {
    let mut mixes = match (request.mixes.is_empty(), what) {
        (false, _) => request.mixes.clone(),
        (true, What::Peak) if request.what == What::All => WHOLE_RUN.to_vec(),
        (true, What::Peak) => PEAK.to_vec(),
        (true, What::Max) => MAX.to_vec(),
        (true, _) => vec![Mix::Read],
    };
    let mut seen = std::collections::BTreeSet::new();
    mixes.retain(|mix| seen.insert(*mix));
    mixes
}

/// Why the instruction set can't be used on this machine, as far as it tells.
pub(crate) fn isa_lacks(isa: Isa, machine: &Machine) -> Option<String> {
    let (architecture, flag) = match isa {
        Isa::Portable => return None,
        Isa::Sse2 => ("x86_64", "sse2"),
        Isa::Avx2 => ("x86_64", "avx2"),
        Isa::Avx512 => ("x86_64", "avx512f"),
        Isa::Neon => ("aarch64", "asimd"),
    };
    let cpu = &machine.cpu;
    if cpu.architecture != architecture {
        return Some(format!("needs {architecture}, this is {}", cpu.architecture));
    }
    // SSE2 and NEON are part of their architectures; flags may be unreadable, the engine looks at the CPU itself.
    let part_of_it = matches!(isa, Isa::Sse2 | Isa::Neon);
    let lacks = !part_of_it && !cpu.flags.is_empty() && !cpu.flags.iter().any(|have| have == flag);
    lacks.then(|| format!("this CPU or its kernel has no {flag}"))
}

fn best_isa(machine: &Machine) -> Isa {
    let told = |flag: &str| machine.cpu.flags.iter().any(|have| have == flag);
    match machine.cpu.architecture.as_str() {
        "x86_64" if told("avx512f") => Isa::Avx512,
        "x86_64" if told("avx2") => Isa::Avx2,
        "x86_64" => Isa::Sse2,
        "aarch64" => Isa::Neon,
        _ => Isa::Portable,
    }
}
