//! Counters that tell what happened to a run: taken before and after, the difference goes into the record.

use crate::Root;
use crate::cgroup::Cgroups;
use crate::files::Files;
use std::collections::BTreeMap;

/// Counters of /proc/vmstat that a quiet measurement does not move.
const VMSTAT: [&str; 22] = [
    "pswpin",
    "pswpout",
    "pgmajfault",
    "numa_pages_migrated",
    "numa_hint_faults",
    "numa_foreign",
    "pgmigrate_success",
    "pgmigrate_fail",
    "thp_fault_alloc",
    "thp_fault_fallback",
    "thp_collapse_alloc",
    "thp_split_page",
    "thp_split_pmd",
    "thp_migration_success",
    "compact_stall",
    "allocstall_normal",
    "allocstall_movable",
    "pgscan_direct",
    "zone_reclaim_failed",
    "damon_pageout",
    "ksm_swpin_copy",
    "oom_kill",
];

/// The counters by name, `vmstat.pswpin`, `stat.steal_ticks`, `stat.busy_ticks`, `self.cpu_ticks`, `cgroup.cpu.throttled_usec`, `edac.corrected`,
/// `self.major_faults`; what a machine does not count is not there. They count from boot or from the cgroup's birth: only differences mean something.
#[must_use]
pub fn snapshot(root: &Root) -> BTreeMap<String, u64> {
    let files = Files::new(root);
    let mut counters = BTreeMap::new();
    vmstat(&files, &mut counters);
    ticks(&files, &mut counters);
    cgroup(&files, &mut counters);
    edac(&files, &mut counters);
    own(&files, &mut counters);
    counters
}

fn vmstat(files: &Files<'_>, counters: &mut BTreeMap<String, u64>) {
    for line in files.text("proc/vmstat").unwrap_or_default().lines() {
        if let Some((name, value)) = line.split_once(' ')
            && VMSTAT.contains(&name)
            && let Ok(value) = value.trim().parse()
        {
            counters.insert(format!("vmstat.{name}"), value);
        }
    }
}

/// Figures of the first line that are time in which a CPU did something: user, nice, system, interrupts.
const BUSY: [usize; 5] = [0, 1, 2, 5, 6];
/// The figure that is steal.
const STEAL: usize = 7;

/// The machine's steal time and the time that its CPUs were busy, in ticks (10 ms mostly).
fn ticks(files: &Files<'_>, counters: &mut BTreeMap<String, u64>) {
    // Interrupt counts make the file long; the first line is enough.
    let text = files.head("proc/stat", 4096).unwrap_or_default();
    let line = text.lines().next().and_then(|line| line.strip_prefix("cpu "));
    let figures: Vec<u64> = line.unwrap_or_default().split_ascii_whitespace().map_while(|figure| figure.parse().ok()).collect();
    counters.extend(figures.get(STEAL).map(|steal| ("stat.steal_ticks".to_owned(), *steal)));
    let busy = BUSY.iter().map(|at| figures.get(*at)).sum::<Option<u64>>();
    counters.extend(busy.map(|busy| ("stat.busy_ticks".to_owned(), busy)));
}

/// Throttling and memory events of the process's own cgroups. v1 counts throttled time in ns.
fn cgroup(files: &Files<'_>, counters: &mut BTreeMap<String, u64>) {
    let wanted = ["nr_throttled", "throttled_usec", "throttled_time", "high", "max", "oom", "oom_kill"];
    for (kind, text) in Cgroups::read(files).counters(files) {
        for (name, value) in text.lines().filter_map(|line| line.split_once(' ')).filter(|(name, _)| wanted.contains(name)) {
            let Ok(value) = value.trim().parse::<u64>() else { continue };
            let (name, value) = if name == "throttled_time" { ("throttled_usec", value / 1000) } else { (name, value) };
            counters.insert(format!("cgroup.{kind}.{name}"), value);
        }
    }
}

/// What this process itself did, all its threads: `self.major_faults`, `self.swap_bytes` of it in swap, `self.cpu_ticks` on CPUs.
fn own(files: &Files<'_>, counters: &mut BTreeMap<String, u64>) {
    // The name in parentheses may hold anything; the tenth figure behind it counts major faults.
    let stat = files.text("proc/self/stat").unwrap_or_default();
    let figure = |at: usize| stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(at)?.parse::<u64>().ok();
    counters.extend(figure(9).map(|faults| ("self.major_faults".to_owned(), faults)));
    counters.extend(figure(11).zip(figure(12)).map(|(user, system)| ("self.cpu_ticks".to_owned(), user.saturating_add(system))));
    let status = files.text("proc/self/status").unwrap_or_default();
    let swap = status.lines().find_map(|line| line.strip_prefix("VmSwap:")?.trim().strip_suffix("kB")?.trim().parse().ok());
    counters.extend(swap.map(|kib: u64| ("self.swap_bytes".to_owned(), kib.saturating_mul(1024))));
}

/// ECC errors of all memory controllers that EDAC knows.
fn edac(files: &Files<'_>, counters: &mut BTreeMap<String, u64>) {
    let folder = "sys/devices/system/edac/mc";
    let controllers = files.numbered(folder, "mc");
    for (name, file) in [("edac.corrected", "ce_count"), ("edac.uncorrected", "ue_count")] {
        let counts = controllers.iter().filter_map(|mc| files.number(&format!("{folder}/mc{mc}/{file}")));
        if let Some(sum) = counts.reduce(u64::saturating_add) {
            counters.insert(name.to_owned(), sum);
        }
    }
}
