//! What is wrong with a request on any placement: values, CPUs, nodes, pages and instruction sets that this machine
//! doesn't have. Found before anything else is decided.

use crate::{pages, quota, traffic};
use memgauge_model::{AccessBins, Cpu, CpuList, Delays, Isa, Machine, Node, NodeId, Order, Pages, Refusal, Request, What};

/// The longest that a figure's windows may take together.
const LONGEST_NS: u64 = 86_400 * 1_000_000_000;
/// Largest delay that is taken: 10^6 core cycles between bursts is no load any more.
pub(crate) const LARGEST_DELAY: u32 = 1_000_000;
/// Smallest buffer that is taken.
pub(crate) const SMALLEST_BUFFER: u64 = 4096;
/// A node of a ring takes a whole line.
const SMALLEST_STRIDE: u64 = 64;

/// Refuses what can't be right whatever else is chosen.
pub(crate) fn form(request: &Request, machine: &Machine) -> Result<(), Refusal> {
    if let Some(cpu) = request.cpu {
        cpu_usable("--cpu", &value(request, "--cpu", cpu), cpu, machine)?;
    }
    if let Some(list) = &request.load_cpus {
        let typed = value(request, "--load-cpus", list);
        list.iter().try_for_each(|cpu| cpu_usable("--load-cpus", &typed, cpu, machine))?;
    }
    if let Some(id) = request.node {
        node_usable("--node", &value(request, "--node", id), id, machine)?;
    }
    for (flag, cpu) in [("--writer", request.writer), ("--third", request.third)] {
        cpu.map_or(Ok(()), |cpu| cpu_usable(flag, &value(request, flag, cpu), cpu, machine))?;
    }
    observed(request)?;
    keepalive_cpus(request, machine)?;
    touch_cpu(request, machine)?;
    block(request)?;
    histogram(request)?;
    folder(request)?;
    buffer(request)?;
    stride(request)?;
    pages::check(request, machine)?;
    if let Some(isa) = request.isa {
        isa_usable(request, isa, machine)?;
    }
    delays(request)?;
    quota::check(request)?;
    if let Some(time_ns) = request.time_ns.filter(|time_ns| *time_ns > LONGEST_NS) {
        let typed = value(request, "--time", format!("{}s", time_ns / 1_000_000_000));
        return Err(Refusal::new("--time", typed, "more than a day for each figure", "use 86400s or less"));
    }
    traffic::check(request, machine)?;
    if let Some(precision) = request.precision.filter(|p| !(*p > 0.0 && *p <= 0.5)) {
        let typed = value(request, "--precision", format!("{}%", precision * 100.0));
        return Err(Refusal::new("--precision", typed, "outside 0 to 50 %", "use a half-width such as 1%"));
    }
    crate::prefetch::check(request, machine)
}

/// The value as it was typed, else as it reads.
pub(crate) fn value(request: &Request, flag: &str, parsed: impl ToString) -> String {
    match request.typed(flag) {
        "" => parsed.to_string(),
        typed => typed.to_owned(),
    }
}

pub(crate) fn cpu_usable(flag: &str, typed: &str, cpu: Cpu, machine: &Machine) -> Result<(), Refusal> {
    // In a list the CPU at fault must be named; alone it is the value.
    let which = if typed == cpu.to_string() { "this CPU".to_owned() } else { format!("CPU {cpu}") };
    let allowed = machine.allowed_cpus.intersection(&machine.online_cpus);
    let range = format!("use {}", numbers("CPU", &allowed));
    if allowed.contains(cpu) {
        return Ok(());
    }
    let (problem, remedy) = if machine.online_cpus.contains(cpu) {
        let problem = format!("this process may not run on {which} (affinity or cpuset)");
        (problem, format!("{range}, or widen what taskset or the cgroup's cpuset allows"))
    } else if machine.present_cpus.contains(cpu) {
        (format!("{which} is offline"), format!("{range}, or set /sys/devices/system/cpu/cpu{cpu}/online to 1"))
    } else {
        (format!("{which} does not exist (there: {})", machine.present_cpus), range)
    };
    Err(Refusal::new(flag, typed, problem, remedy))
}

fn numbers(what: &str, list: &CpuList) -> String {
    match list.len() {
        0 => format!("no {what}: none is allowed"),
        1 => format!("{what} {list}"),
        _ => format!("one of {list}"),
    }
}

pub(crate) fn node_usable(flag: &str, typed: &str, id: NodeId, machine: &Machine) -> Result<(), Refusal> {
    let refuse = |problem: String, remedy: String| Err(Refusal::new(flag, typed, problem, remedy));
    let site = crate::site::Site::new(machine)?;
    let range = format!("use {}", numbers("node", &site.nodes));
    let Some(Node { memory_bytes, unread, .. }) = machine.node(id) else {
        let all: CpuList = machine.nodes.iter().map(|node| node.node).collect();
        return refuse(format!("no such node (there: {all})"), range);
    };
    if site.nodes.contains(id) {
        return Ok(());
    }
    if let Some(why) = unread {
        return refuse(format!("what memory the node has can't be read ({why})"), format!("{range}, or make that file readable"));
    }
    if *memory_bytes == 0 {
        return refuse("the node has no memory".to_owned(), range);
    }
    match site.bound.filter(|bound| !bound.contains(id)) {
        Some(bound) => refuse(
            format!("the inherited memory policy (bind:{bound}) keeps this process off it"),
            format!("{range}, or start memgauge without that policy"),
        ),
        None => refuse(
            format!("this process may not take its memory (Mems_allowed {})", machine.allowed_nodes),
            format!("{range}, or widen the cgroup's cpuset.mems"),
        ),
    }
}

/// What is the observer's alone says nothing where there is none.
fn observed(request: &Request) -> Result<(), Refusal> {
    let own = [
        ("--cpu", request.cpu.is_some()),
        ("--touch-cpu", request.touch_cpu.is_some()),
        ("--order", request.order.is_some()),
        ("--block", request.block_lines.is_some()),
        ("--stride", request.stride.is_some()),
        ("--accesses", request.accesses.is_some()),
        ("--share-core", request.share_core),
    ];
    match own.iter().find(|(_, given)| *given && request.no_observer) {
        Some((flag, _)) => {
            let problem = "is the observer's, and --no-observer leaves none";
            Err(Refusal::new(flag, request.typed(flag), problem, "leave one of the two out"))
        }
        None => Ok(()),
    }
}

fn keepalive_cpus(request: &Request, machine: &Machine) -> Result<(), Refusal> {
    let Some(list) = &request.keepalive_cpus else { return Ok(()) };
    let typed = value(request, "--keepalive-cpus", if list.is_empty() { "none".to_owned() } else { list.to_string() });
    if list.is_empty() {
        return Err(Refusal::new("--keepalive-cpus", typed, "no CPU is named", "use --keepalive off for none"));
    }
    if request.keepalive == Some(false) {
        let problem = "names CPUs that --keepalive off leaves idle";
        return Err(Refusal::new("--keepalive-cpus", typed, problem, "leave one of the two out"));
    }
    list.iter().try_for_each(|cpu| cpu_usable("--keepalive-cpus", &typed, cpu, machine))
}

fn touch_cpu(request: &Request, machine: &Machine) -> Result<(), Refusal> {
    let Some(cpu) = request.touch_cpu else { return Ok(()) };
    let typed = value(request, "--touch-cpu", cpu);
    if request.node.is_some() && matches!(request.what, What::Idle | What::C2c) {
        let problem = "the CPU that touches first decides the node, and --node names one";
        return Err(Refusal::new("--touch-cpu", typed, problem, "leave one of the two out"));
    }
    if request.all_pairs {
        let problem = "has no meaning for --all-pairs, whose lines live with their writers";
        return Err(Refusal::new("--touch-cpu", typed, problem, "leave one of the two out"));
    }
    cpu_usable("--touch-cpu", &typed, cpu, machine)
}

fn block(request: &Request) -> Result<(), Refusal> {
    let Some(lines) = request.block_lines else { return Ok(()) };
    let refuse = |problem: String, remedy: &str| Err(Refusal::new("--block", value(request, "--block", lines), problem, remedy));
    match request.order {
        _ if lines < 2 => refuse("a window of fewer than two nodes has no order".to_owned(), "use 2 or more, 4096 is usual"),
        Some(order) if order != Order::WindowRandom => refuse(
            format!("--order {} has no windows of so many nodes", order.word()),
            "use --order window-random, or leave it out",
        ),
        _ => Ok(()),
    }
}

fn folder(request: &Request) -> Result<(), Refusal> {
    match request.pages.filter(|pages| request.folder.is_some() && *pages != Pages::Base) {
        None => Ok(()),
        Some(pages) => {
            let problem = "pages of files are what their file system makes of them (--memory-dir)";
            Err(Refusal::new("--pages", value(request, "--pages", pages.word()), problem, "leave it out"))
        }
    }
}

fn histogram(request: &Request) -> Result<(), Refusal> {
    match request.histogram.filter(|width| *width > AccessBins::WIDEST_LOG2) {
        None => Ok(()),
        Some(width) => {
            let problem = format!("bins wider than 2^{} ticks tell nothing apart", AccessBins::WIDEST_LOG2);
            let remedy = format!("use 0 to {}, 3 is usual", AccessBins::WIDEST_LOG2);
            Err(Refusal::new("--histogram", value(request, "--histogram", width), problem, remedy))
        }
    }
}

fn buffer(request: &Request) -> Result<(), Refusal> {
    match request.buffer {
        Some(bytes) if bytes < SMALLEST_BUFFER => {
            let typed = value(request, "--buffer", bytes);
            let problem = if bytes == 0 { "a buffer of nothing" } else { "too small for a ring and a burst" };
            Err(Refusal::new("--buffer", typed, problem, "use 4KiB or more, or leave it out for the automatic size"))
        }
        _ => Ok(()),
    }
}

fn stride(request: &Request) -> Result<(), Refusal> {
    let Some(stride) = request.stride else { return Ok(()) };
    let refuse = |problem: &str, remedy: &str| {
        Err(Refusal::new("--stride", value(request, "--stride", stride), problem.to_owned(), remedy.to_owned()))
    };
    if stride < SMALLEST_STRIDE {
        return refuse("a node of the ring takes a 64-byte line of its own", "use 64 or more, 128 where prefetchers are on");
    }
    if !stride.is_multiple_of(8) {
        return refuse("not a multiple of 8 bytes", "use a multiple of 8 such as 64 or 128");
    }
    match request.buffer {
        Some(bytes) if stride.saturating_mul(2) > bytes => {
            refuse("the buffer holds fewer than two such nodes", "use a smaller stride or a larger --buffer")
        }
        _ => Ok(()),
    }
}

fn isa_usable(request: &Request, isa: Isa, machine: &Machine) -> Result<(), Refusal> {
    let problem = match crate::choices::isa_lacks(isa, machine) {
        None => return Ok(()),
        Some(problem) => problem,
    };
    let have: Vec<&str> =
        Isa::ALL.iter().filter(|isa| crate::choices::isa_lacks(**isa, machine).is_none()).map(|isa| isa.word()).collect();
    let remedy = format!("use auto or one of {}", have.join(", "));
    Err(Refusal::new("--isa", value(request, "--isa", isa.word()), problem, remedy))
}

fn delays(request: &Request) -> Result<(), Refusal> {
    let Some(Delays::List(list)) = &request.delays else { return Ok(()) };
    let flag = if request.typed("--delays").is_empty() && !request.typed("--delay").is_empty() { "--delay" } else { "--delays" };
    let joined = list.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let refuse = |problem: &str, remedy: &str| {
        Err(Refusal::new(flag, value(request, flag, &joined), problem.to_owned(), remedy.to_owned()))
    };
    if list.is_empty() {
        return refuse("an empty list", "use delays such as 0,100,1000, or mlc, or auto");
    }
    if list.iter().any(|delay| *delay > LARGEST_DELAY) {
        return refuse("more than 1000000 core cycles between bursts", "use 1000000 or less");
    }
    Ok(())
}
