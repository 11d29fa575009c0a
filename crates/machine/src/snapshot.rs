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

/// The counters by name, `vmstat.pswpin`, `stat.steal_ticks`, `cgroup.cpu.throttled_usec`, `edac.corrected`,
/// `self.major_faults`; what a machine does not count is not there. They count from boot or from the cgroup's birth: only differences mean something.
#[must_use]
pub fn snapshot(root: &Root) -> BTreeMap<String, u64> {
    let files = Files::new(root);
    let mut counters = BTreeMap::new();
    vmstat(&files, &mut counters);
    steal(&files, &mut counters);
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

/// The machine's steal time: the eighth figure of the first line, in ticks (10 ms mostly).
fn steal(files: &Files<'_>, counters: &mut BTreeMap<String, u64>) {
    // Interrupt counts make the file long; the first line is enough.
    let text = files.head("proc/stat", 4096).unwrap_or_default();
    let line = text.lines().next().and_then(|line| line.strip_prefix("cpu "));
    if let Some(steal) = line.and_then(|figures| figures.split_ascii_whitespace().nth(7)?.parse().ok()) {
        counters.insert("stat.steal_ticks".to_owned(), steal);
    }
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

/// What this process itself had to do with disk: `self.major_faults` of all its threads, `self.swap_bytes` of it in swap.
fn own(files: &Files<'_>, counters: &mut BTreeMap<String, u64>) {
    // The name in parentheses may hold anything; the tenth figure behind it counts major faults.
    let stat = files.text("proc/self/stat").unwrap_or_default();
    let faults = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(9)?.parse().ok());
    counters.extend(faults.map(|faults: u64| ("self.major_faults".to_owned(), faults)));
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
