//! What is asked of the streams beyond a mix: whether it can be, who loads then, and how each of them goes.

use crate::checks::{LARGEST_DELAY, SMALLEST_BUFFER, cpu_usable, node_usable, value};
use crate::choices;
use memgauge_model::{Assignment, Cpu, CpuList, Machine, Manner, Mix, Order, Partial, Refusal, Request, What, fill_bytes};

/// A buffer that all read, where no cache size is known.
const ASSUMED_SHARED: u64 = 16 << 20;
/// Blocks in random order, lines.
const BLOCKS: std::ops::RangeInclusive<u32> = 4..=1 << 24;

/// Refuses what no placement makes right.
pub(crate) fn check(request: &Request, machine: &Machine) -> Result<(), Refusal> {
    if let Some(lines) = request.load_block.filter(|lines| !lines.is_power_of_two() || !BLOCKS.contains(lines)) {
        let remedy = format!("use {}", lines.clamp(*BLOCKS.start(), *BLOCKS.end()).next_power_of_two());
        let problem = "lines of a block are a power of two from 4 to 16777216";
        return Err(Refusal::new("--load-block", value(request, "--load-block", lines), problem, remedy));
    }
    if request.shared_buffer
        && let Some(mix) = mixes(request).into_iter().find(|mix| *mix != Mix::Read)
    {
        let problem = format!("all threads share one buffer, which {} would write", mix.name());
        return Err(Refusal::new("--shared-buffer", "", problem, "use --mix read, or give each thread its own buffer"));
    }
    let uncut = |mix: &Mix| mix.shape().stores > 0 && mix.shape().loads > 0;
    if request.partial == Partial::Stores
        && let Some(mix) = mixes(request).into_iter().find(uncut)
    {
        let problem = format!("no loop loads whole lines and stores parts of them, as {} would", mix.name());
        return Err(Refusal::new("--partial", value(request, "--partial", "stores"), problem, "use --partial both"));
    }
    flush(request, machine)?;
    fill(request)?;
    integrity(request)?;
    assignments(request, machine)
}

/// What the streams will do.
fn mixes(request: &Request) -> Vec<Mix> {
    match request.assignments.is_empty() {
        true => choices::mixes(request, request.what),
        false => request.assignments.iter().map(|one| one.mix).collect(),
    }
}

fn flush(request: &Request, machine: &Machine) -> Result<(), Refusal> {
    if !request.flush {
        return Ok(());
    }
    let refuse = |problem: &str, remedy: &str| Err(Refusal::new("--flush", "", problem, remedy));
    if mixes(request).iter().all(|mix| mix.shape().stores == 0) {
        return refuse("nothing is stored that could be flushed", "name a mix that stores, such as --mix write");
    }
    let assigned = request.assignments.iter().any(|one| one.random && one.mix.shape().stores > 0);
    if assigned || request.load_block.is_some() || request.order == Some(Order::WindowRandom) && request.what != What::Loaded {
        return refuse("only lines that are stored in sequence are flushed", "leave the random order out");
    }
    let cpu = &machine.cpu;
    match cpu.architecture.as_str() {
        // Flags may be unreadable; the engine looks at the CPU itself.
        "x86_64" if cpu.flags.is_empty() || cpu.flags.iter().any(|flag| flag == "clflushopt") => Ok(()),
        "aarch64" => Ok(()),
        "x86_64" => refuse("this CPU or its kernel has no clflushopt", "leave it out"),
        _ => refuse("this architecture has no flush that a program may use", "leave it out"),
    }
}

/// The arithmetic of numbers that are subnormal costs more than the memory.
fn fill(request: &Request) -> Result<(), Refusal> {
    let bytes = fill_bytes(&request.fill);
    let tiny = bytes.as_chunks::<8>().0.iter().any(|word| f64::from_le_bytes(*word).is_subnormal());
    let Some(mix) = mixes(request).into_iter().find(|mix| tiny && computes(*mix)) else { return Ok(()) };
    let problem = format!("holds 8-byte words that are subnormal numbers, and {} computes with them", mix.name());
    Err(Refusal::new("--fill", value(request, "--fill", ""), problem, "use other patterns, or a mix that only moves: copy, 2:1"))
}

fn computes(mix: Mix) -> bool {
    use Mix::{Add, AddNt, R2W1NtTwo, R3W1Two, Scale, ScaleNt, Triad, TriadNt};
    matches!(mix, Scale | ScaleNt | Add | AddNt | Triad | TriadNt | R2W1NtTwo | R3W1Two)
}

fn integrity(request: &Request) -> Result<(), Refusal> {
    if request.integrity && mixes(request).iter().all(|mix| mix.shape().stores > 0) {
        let remedy = "name a mix that only reads: --mix read";
        return Err(Refusal::new("--integrity", "", "only buffers that nobody writes can be checked", remedy));
    }
    Ok(())
}

fn assignments(request: &Request, machine: &Machine) -> Result<(), Refusal> {
    if request.assignments.is_empty() {
        return Ok(());
    }
    let typed = value(request, "--assign", "");
    let refuse = |problem: String, remedy: &str| Err(Refusal::new("--assign", typed.clone(), problem, remedy.to_owned()));
    let others = [
        ("--load-cpus", request.load_cpus.is_some()),
        ("--mix", !request.mixes.is_empty()),
        ("--shared-buffer", request.shared_buffer),
        ("--load-block", request.load_block.is_some()),
    ];
    if let Some((flag, _)) = others.iter().find(|(_, given)| *given) {
        return refuse(format!("says what {flag} would say"), &format!("leave {flag} out"));
    }
    let mut seen = CpuList::default();
    for one in &request.assignments {
        one.cpus.iter().try_for_each(|cpu| cpu_usable("--assign", &typed, cpu, machine))?;
        one.node.into_iter().chain(one.second.map(|second| second.node)).try_for_each(|node| {
            let typed = if typed.is_empty() { node.to_string() } else { typed.clone() };
            node_usable("--assign", &typed, node, machine)
        })?;
        if let Some(cpu) = one.cpus.iter().find(|cpu| seen.contains(*cpu)) {
            return refuse(format!("CPU {cpu} is told twice what to do"), "name each CPU once");
        }
        if one.cpus.is_empty() {
            return refuse("names no CPU".to_owned(), "name the CPUs that load");
        }
        if one.bytes < SMALLEST_BUFFER {
            return refuse(format!("a buffer of {} bytes", one.bytes), "use 4KiB or more");
        }
        if one.delay.is_some_and(|delay| delay > LARGEST_DELAY) {
            return refuse("more than 1000000 core cycles between bursts".to_owned(), "use 1000000 or less");
        }
        if one.second.is_some_and(|second| !(1..=99).contains(&second.percent)) {
            return refuse("a second place takes 1 to 99 % of the bursts".to_owned(), "use a percentage such as 25");
        }
        seen = seen.union(&one.cpus);
    }
    Ok(())
}

/// What a CPU is told by itself.
pub(crate) fn of(request: &Request, cpu: Cpu) -> Option<&Assignment> {
    request.assignments.iter().find(|one| one.cpus.contains(cpu))
}

/// Loads that are named, one way or the other, without the observer, whose own line says only where it chases.
pub(crate) fn load_cpus(request: &Request, observer: Option<Cpu>) -> Option<CpuList> {
    if request.assignments.is_empty() {
        return request.load_cpus.clone();
    }
    let named = request.assignments.iter().flat_map(|one| one.cpus.iter());
    Some(named.filter(|cpu| Some(*cpu) != observer).collect())
}

/// The flag that named them.
pub(crate) fn flag(request: &Request) -> &'static str {
    if request.assignments.is_empty() { "--load-cpus" } else { "--assign" }
}

/// Do streams go the usual way, so that a probe beside them tells something of them?
pub(crate) fn usual(request: &Request) -> bool {
    request.assignments.is_empty() && request.partial == Partial::None && !request.flush
}

/// How a thread goes through this mix.
pub(crate) fn manner(request: &Request, mix: Mix) -> Manner {
    let shape = mix.shape();
    let partial = match request.partial {
        Partial::None => false,
        Partial::Stores => shape.stores > 0,
        Partial::Both => true,
    };
    Manner { second: None, partial, flush: request.flush && shape.stores > 0, checked: request.integrity && shape.stores == 0 }
}

/// A buffer that all threads under a cache of this size shall find there: half of it.
pub(crate) fn shared_bytes(llc: Option<u64>) -> u64 {
    llc.map_or(ASSUMED_SHARED, |llc| (llc / 2).max(SMALLEST_BUFFER).next_multiple_of(SMALLEST_BUFFER))
}
