//! `memgauge topology`, as text.

use crate::style::{Style, clean, paint};
use crate::table::{Cell, Table};
use crate::text::{count, machine_line};
use memgauge_model::{Avail, Cache, CpuList, Machine, Reason, units};
use std::fmt::Write;

/// The machine on a page.
pub fn text(machine: &Machine, style: &Style) -> String {
    let mut text = format!("{}\n\n", paint(style.heading, &machine_line(machine)));
    facts(&mut text, machine, style);
    for (heading, table) in [("Nodes", nodes(machine)), ("Distances", distances(machine)), ("Caches", caches(machine))] {
        let lines = table.lines("  ", style.dim);
        if lines.len() > 1 {
            let _ = writeln!(text, "\n{}\n{}", paint(style.heading, heading), lines.join("\n"));
        }
    }
    if !machine.notes.is_empty() {
        let _ = writeln!(text, "\n{}", paint(style.heading, "Notes"));
        for note in &machine.notes {
            let _ = writeln!(text, "  {}", clean(note));
        }
    }
    text
}

fn facts(text: &mut String, machine: &Machine, style: &Style) {
    let (platform, memory, power, limits) = (&machine.platform, &machine.memory, &machine.power, &machine.limits);
    let threads = machine.cores.iter().map(CpuList::len).max().unwrap_or(0);
    let kinds = machine.core_kinds.iter().filter(|kind| kind.name != "uniform");
    let kinds = kinds.map(|kind| format!("{} {}", kind.name, kind.cpus)).collect::<Vec<_>>().join(", ");
    let rows: Vec<(&str, String)> = vec![
        ("Online CPUs", machine.online_cpus.to_string()),
        ("Offline CPUs", machine.present_cpus.without(&machine.online_cpus).to_string()),
        ("Allowed CPUs", machine.allowed_cpus.to_string()),
        ("Allowed nodes", machine.allowed_nodes.to_string()),
        ("Cores", format!("{}, {} each", machine.cores.len(), count(threads, "thread"))),
        ("Core kinds", kinds),
        ("Packages", groups(&machine.packages)),
        ("Dies", groups(&machine.dies)),
        ("Clusters", groups(&machine.clusters)),
        ("Architecture", machine.cpu.architecture.clone()),
        ("Microcode", word(&machine.cpu.microcode)),
        ("Memory", format!("{}, {} available", units::bytes(memory.total_bytes), units::bytes(memory.available_bytes))),
        ("Base page", units::bytes(memory.page_bytes)),
        ("THP", format!("{}, defrag {}, {}", word(&memory.thp), word(&memory.thp_defrag), size(&memory.thp_bytes))),
        (
            "mTHP",
            memory.mthp.iter().map(|(bytes, mode)| format!("{} {mode}", units::bytes(*bytes))).collect::<Vec<_>>().join(", "),
        ),
        ("Swap", format!("{}, {} used", units::bytes(memory.swap_total_bytes), units::bytes(memory.swap_used_bytes))),
        ("NUMA balancing", word(&memory.numa_balancing)),
        ("Zone reclaim", word(&memory.zone_reclaim_mode)),
        ("DIMMs", dimms(machine)),
        (
            "Theoretical",
            machine.dimms.theoretical_bandwidth.known().map_or_else(
                || missing(&machine.dimms.theoretical_bandwidth),
                |bandwidth| format!("{} GB/s", units::gb_per_s(*bandwidth)),
            ),
        ),
        ("Kernel", word(&platform.kernel)),
        ("System", word(&platform.os)),
        ("Product", word(&platform.product)),
        ("BIOS", word(&platform.bios)),
        ("Hypervisor", word(&platform.hypervisor)),
        ("Container", word(&platform.container)),
        ("Clock source", word(&platform.clocksource)),
        ("Prefetchers", word(&platform.prefetchers)),
        ("Governor", governors(&power.governors)),
        (
            "Frequency",
            power
                .limits_hz
                .known()
                .map_or_else(|| missing(&power.limits_hz), |(lo, hi)| format!("{}…{} MHz", lo / 1_000_000, hi / 1_000_000)),
        ),
        ("Boost", word(&power.boost)),
        ("Idle states", idle_states(machine)),
        ("Memory limit", size(&limits.cgroup_memory_limit)),
        ("CPU quota", word(&limits.cpu_quota)),
        ("Memory policy", word(&limits.memory_policy)),
        ("resctrl", word(&limits.resctrl)),
    ];
    for (label, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(text, "{}{}{}", paint(style.heading, label), " ".repeat(17 - label.len()), clean(&value));
    }
}

fn nodes(machine: &Machine) -> Table {
    let head = ["node", "CPUs", "nearest CPUs"].map(Cell::left).into_iter();
    let head = head.chain(["memory", "free", "available"].map(Cell::right)).chain(["kind", "tier", "huge pages"].map(Cell::left));
    let mut table = Table::new(head.collect());
    for node in &machine.nodes {
        let pools = node.huge_pages.iter().filter(|pool| pool.total > 0);
        let pools = pools.map(|pool| format!("{} of {} × {}", pool.free, pool.total, units::bytes(pool.page_bytes)));
        let nearest = if node.local_cpus == node.cpus { String::new() } else { node.local_cpus.to_string() };
        let mut row = vec![Cell::left(node.node.to_string()), Cell::left(node.cpus.to_string()), Cell::left(nearest)];
        let known = |bytes| if node.unread.is_some() { "unknown".to_owned() } else { units::bytes(bytes) };
        row.extend([node.memory_bytes, node.free_bytes, node.available_bytes].map(|bytes| Cell::right(known(bytes))));
        row.push(Cell::left(clean(&node.subtype)));
        row.push(Cell::left(node.memory_tier.map_or_else(String::new, |tier| tier.to_string())));
        row.push(Cell::left(pools.collect::<Vec<_>>().join(", ")));
        table.row(row);
    }
    table
}

fn distances(machine: &Machine) -> Table {
    let numbers = machine.nodes.iter().map(|node| node.node).collect::<Vec<_>>();
    let head = std::iter::once(Cell::left("node")).chain(numbers.iter().map(|node| Cell::right(node.to_string())));
    let mut table = Table::new(head.collect());
    for node in machine.nodes.iter().filter(|_| numbers.len() > 1) {
        let cell = |to: &u32| Cell::right(node.distances.get(to).map_or_else(|| "–".to_owned(), u32::to_string));
        table.row(std::iter::once(Cell::left(node.node.to_string())).chain(numbers.iter().map(cell)).collect());
    }
    table
}

/// One row a level and size, with the domains of CPUs that share one.
fn caches(machine: &Machine) -> Table {
    let mut table = Table::new(vec![Cell::left("level"), Cell::right("size"), Cell::right("number"), Cell::left("shared by")]);
    let caches = &machine.caches;
    for (level, caches) in [("L1", &caches.l1), ("L2", &caches.l2), ("L3", &caches.l3), ("L4", &caches.l4)] {
        let mut sizes: Vec<(&Avail<u64>, Vec<&Cache>)> = Vec::new();
        for cache in caches {
            match sizes.iter_mut().find(|(size, _)| *size == &cache.size) {
                Some((_, same)) => same.push(cache),
                None => sizes.push((&cache.size, vec![cache])),
            }
        }
        for (bytes, same) in sizes {
            let domains = same.iter().map(|cache| cache.cpus.clone()).collect::<Vec<_>>();
            table.row(vec![
                Cell::left(level),
                Cell::right(bytes.known().map_or_else(|| "unknown".to_owned(), |bytes| units::bytes(*bytes))),
                Cell::right(same.len().to_string()),
                Cell::left(groups(&domains)),
            ]);
        }
    }
    table
}

/// Groups of CPUs, the first few of many.
fn groups(groups: &[CpuList]) -> String {
    const MOST: usize = 8;
    let mut text = groups.iter().take(MOST).map(|group| format!("[{group}]")).collect::<Vec<_>>().join(" ");
    if groups.len() > MOST {
        let _ = write!(text, " and {} more", groups.len() - MOST);
    }
    text
}

fn dimms(machine: &Machine) -> String {
    let Some(modules) = machine.dimms.modules.known() else { return missing(&machine.dimms.modules) };
    let Some(first) = modules.first() else { return "none listed".to_owned() };
    let speed = |mts: Option<u32>| mts.map_or_else(|| "unknown".to_owned(), |mts| format!("{mts} MT/s"));
    let total = units::bytes(modules.iter().map(|module| module.size).sum());
    let run = format!("first: {}, rated {}, run at {}", first.kind, speed(first.rated_mts), speed(first.configured_mts));
    format!("{} with {total}, {} channels; {run}", modules.len(), word(&machine.dimms.channels))
}

fn governors(governors: &Avail<std::collections::BTreeMap<String, CpuList>>) -> String {
    let Some(governors) = governors.known() else { return missing(governors) };
    governors.iter().map(|(name, cpus)| format!("{name} on {cpus}")).collect::<Vec<_>>().join(", ")
}

fn idle_states(machine: &Machine) -> String {
    let Some(states) = machine.power.idle_states.known() else { return missing(&machine.power.idle_states) };
    let state = |state: &memgauge_model::IdleState| {
        format!("{} {} µs{}", state.name, state.exit_us, if state.disabled { " off" } else { "" })
    };
    states.iter().map(state).collect::<Vec<_>>().join(", ")
}

fn size(bytes: &Avail<u64>) -> String {
    bytes.known().map_or_else(|| missing(bytes), |bytes| units::bytes(*bytes))
}

fn word<T: std::fmt::Display>(value: &Avail<T>) -> String {
    value.known().map_or_else(|| missing(value), T::to_string)
}

/// What is missing says why.
fn missing<T>(value: &Avail<T>) -> String {
    match value {
        Avail::Known(_) => String::new(),
        Avail::Unavailable { unavailable: Reason::NotPresent, detail } => format!("none ({detail})"),
        Avail::Unavailable { unavailable, detail } => format!("unknown ({}: {detail})", unavailable.word()),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Style, sample};

    #[test]
    fn a_page_of_a_guest() {
        insta::assert_snapshot!(super::text(&sample::machine(), &Style::plain()), @r"
        AMD EPYC (2 CPUs, 1 node, KVM guest) · 24 GiB · THP madvise · prefetcher state unknown

        Online CPUs      0-1
        Allowed CPUs     0-1
        Allowed nodes    0
        Cores            2, 1 thread each
        Packages         [0-1]
        Architecture     x86_64
        Microcode        none (not there)
        Memory           24 GiB, 22 GiB available
        Base page        4 KiB
        THP              madvise, defrag madvise, 2 MiB
        Swap             0 B, 0 B used
        NUMA balancing   none (not there)
        Zone reclaim     0
        DIMMs            unknown (no_permission: DMI tables: permission denied)
        Theoretical      unknown (no_permission: DMI tables: permission denied)
        Kernel           6.18.0
        System           Debian 13
        Product          none (not there)
        BIOS             none (not there)
        Hypervisor       KVM
        Container        none
        Clock source     tsc
        Prefetchers      unknown (no_permission: MSR 0x1a4: no device)
        Governor         none (no cpufreq)
        Frequency        none (no cpufreq)
        Boost            none (no cpufreq)
        Idle states      none (no cpuidle)
        Memory limit     none (no limit)
        CPU quota        none (no quota)
        Memory policy    default
        resctrl          none (not there)

        Nodes
          node  CPUs  memory    free  available
          0     0-1   24 GiB  20 GiB     22 GiB

        Caches
          level     size  number  shared by
          L1      48 KiB       2  [0] [1]
          L2       2 MiB       2  [0] [1]
          L3     unknown       1  [0-1]
        ");
    }
}
