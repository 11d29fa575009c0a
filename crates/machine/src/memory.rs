//! Memory of the machine as a whole: amounts, page sizes, and the kernel's settings that move or merge pages.

use crate::files::Files;
use crate::meminfo::Meminfo;
use memgauge_model::{Avail, HugePool, Node, Reason, SystemMemory};
use std::collections::BTreeMap;

/// The machine's huge-page pools.
pub(crate) const HUGE_PAGES: &str = "sys/kernel/mm/hugepages";

const THP: &str = "sys/kernel/mm/transparent_hugepage";

/// Reads it.
pub(crate) fn read(
    files: &Files<'_>,
    system: &Meminfo,
    nodes: &[Node],
    architecture: &str,
    notes: &mut Vec<String>,
) -> SystemMemory {
    let swap = system.bytes("SwapTotal").unwrap_or(0);
    let sum = |of: fn(&Node) -> u64| nodes.iter().map(of).fold(0, u64::saturating_add);
    let total = system.bytes("MemTotal");
    if total.is_none() {
        notes.push("memory: /proc/meminfo tells no MemTotal; the nodes' sums stand in".to_owned());
    }
    if damon_runs(files) {
        notes.push("memory: DAMON watches pages, which costs TLB entries and time".to_owned());
    }
    SystemMemory {
        total_bytes: total.unwrap_or_else(|| sum(|node| node.memory_bytes)),
        available_bytes: if total.is_some() { system.available() } else { sum(|node| node.available_bytes) },
        page_bytes: page_bytes(files, system, architecture, notes),
        thp: chosen(files, &format!("{THP}/enabled")),
        thp_defrag: chosen(files, &format!("{THP}/defrag")),
        thp_bytes: files.figure(&format!("{THP}/hpage_pmd_size")),
        mthp: mthp(files),
        huge_pages: system_pools(files, system),
        swap_total_bytes: swap,
        swap_used_bytes: swap.saturating_sub(system.bytes("SwapFree").unwrap_or(swap)),
        numa_balancing: files.figure("proc/sys/kernel/numa_balancing"),
        zone_reclaim_mode: files.figure("proc/sys/vm/zone_reclaim_mode"),
        overcommit: files.figure("proc/sys/vm/overcommit_memory"),
        ksm: files.figure("sys/kernel/mm/ksm/run"),
    }
}

/// Is one of DAMON's threads switched on?
fn damon_runs(files: &Files<'_>) -> bool {
    let folder = "sys/kernel/mm/damon/admin/kdamonds";
    files.numbered(folder, "").iter().any(|n| files.text(&format!("{folder}/{n}/state")).is_ok_and(|state| state == "on"))
}

/// Pools by page size: `hugepages-2048kB/{nr,free}_hugepages`.
pub(crate) fn huge_pools(files: &Files<'_>, folder: &str) -> Vec<HugePool> {
    let pool = |(page_bytes, name): (u64, String)| {
        let count = |what: &str| files.number(&format!("{folder}/{name}/{what}_hugepages"));
        let total = count("nr")?;
        Some(HugePool { page_bytes, total, free: count("free").unwrap_or(0).min(total) })
    };
    by_size(files, folder).into_iter().filter_map(pool).collect()
}

/// Old kernels tell the default size's pool in /proc/meminfo only.
fn system_pools(files: &Files<'_>, system: &Meminfo) -> Vec<HugePool> {
    let pools = huge_pools(files, HUGE_PAGES);
    if !pools.is_empty() {
        return pools;
    }
    let pool = || {
        let page_bytes = system.bytes("Hugepagesize").filter(|bytes| *bytes > 0)?;
        let total = system.bytes("HugePages_Total")?;
        Some(HugePool { page_bytes, total, free: system.bytes("HugePages_Free").unwrap_or(0).min(total) })
    };
    pool().into_iter().collect()
}

/// Entries `hugepages-NkB` by their size in bytes.
fn by_size(files: &Files<'_>, folder: &str) -> BTreeMap<u64, String> {
    let entry = |name: String| {
        let kib: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        Some((kib.checked_mul(1024).filter(|bytes| *bytes > 0)?, name))
    };
    files.names(folder).into_iter().filter_map(entry).collect()
}

/// mTHP sizes (6.8 on) with their modes.
fn mthp(files: &Files<'_>) -> BTreeMap<u64, String> {
    let mode = |(bytes, name): (u64, String)| Some((bytes, chosen(files, &format!("{THP}/{name}/enabled")).known()?.clone()));
    by_size(files, THP).into_iter().filter_map(mode).collect()
}

/// The word in brackets of `always [madvise] never`.
fn chosen(files: &Files<'_>, path: &str) -> Avail<String> {
    let bracketed = |text: &str| Some(text.split_once('[')?.1.split_once(']')?.0.to_owned());
    match files.text(path) {
        Err(miss) => miss.avail(path),
        Ok(text) => match bracketed(&text) {
            Some(word) => Avail::Known(word),
            None => Avail::missing(Reason::NotSupported, format!("/{path}: nothing is chosen")),
        },
    }
}

/// Bytes of a base page. The live kernel says; a tree lets it be found out: what the capture wrote down, the smallest page of
/// the captured process, free memory in pages against free memory in bytes, or the huge page that goes with it on Arm.
fn page_bytes(files: &Files<'_>, system: &Meminfo, architecture: &str, notes: &mut Vec<String>) -> u64 {
    if files.live() {
        return memgauge_sys::limits::page_size() as u64;
    }
    let found = from_capture(files)
        .or_else(|| from_smaps(files))
        .or_else(|| from_free_pages(files, system))
        .or_else(|| from_huge_page(system, architecture))
        .or_else(|| matches!(architecture, "x86_64" | "x86" | "s390x").then_some(4096));
    found.unwrap_or_else(|| {
        notes.push("memory: the size of a base page can't be told from this tree; 4096 is assumed".to_owned());
        4096
    })
}

fn plausible(bytes: u64) -> Option<u64> {
    (bytes.is_power_of_two() && (1 << 12..=1 << 16).contains(&bytes)).then_some(bytes)
}

/// hwloc's capture script writes it down.
fn from_capture(files: &Files<'_>) -> Option<u64> {
    crate::platform::captured(files, "PageSize").and_then(|text| text.parse().ok()).and_then(plausible)
}

fn from_smaps(files: &Files<'_>) -> Option<u64> {
    let text = files.text("proc/self/smaps").ok()?;
    let kib = |line: &str| line.strip_prefix("KernelPageSize:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok();
    text.lines().filter_map(kib).min().and_then(|kib| kib.checked_mul(1024)).and_then(plausible)
}

fn from_free_pages(files: &Files<'_>, system: &Meminfo) -> Option<u64> {
    let pages = crate::cgroup::field(&files.text("proc/vmstat").ok()?, "nr_free_pages")?;
    let bytes = system.bytes("MemFree")?.checked_div(pages)?;
    // The two were read an instant apart, so the quotient is near the power of two.
    (12..=16).map(|shift| 1_u64 << shift).find(|size| bytes.abs_diff(*size) <= size / 4)
}

fn from_huge_page(system: &Meminfo, architecture: &str) -> Option<u64> {
    match (architecture, system.bytes("Hugepagesize")? >> 20) {
        ("aarch64", 2) => Some(4 << 10),
        ("aarch64", 32) => Some(16 << 10),
        ("aarch64", 512) => Some(64 << 10),
        _ => None,
    }
}
