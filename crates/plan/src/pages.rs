//! Page kinds: which this machine has, and how large their pages are.

use crate::checks::value;
use memgauge_model::{Machine, NodeId, Pages, Refusal, Request, units};

const MIB2: u64 = 2 << 20;
const GIB: u64 = 1 << 30;

/// Are transparent huge pages to be had by asking?
pub(crate) fn has_thp(machine: &Machine) -> bool {
    machine.memory.thp.known().is_some_and(|mode| mode != "never")
}

/// Bytes of one page of the kind.
pub(crate) fn page_bytes(pages: Pages, machine: &Machine) -> u64 {
    let base = machine.memory.page_bytes.max(4096);
    match pages {
        Pages::Base => base,
        // A page-table page of 8-byte entries maps one PMD: 2 MiB with 4 KiB pages, 512 MiB with 64 KiB pages.
        Pages::Thp => machine.memory.thp_bytes.known().copied().filter(|size| *size > 0).unwrap_or(base / 8 * base),
        Pages::Huge2M => huge_size(Pages::Huge2M, machine).unwrap_or(MIB2),
        Pages::Huge1G => GIB,
    }
}

/// Is the kind one of reserved pages, that don't come out of a node's free memory?
pub(crate) fn reserved(pages: Pages) -> bool {
    matches!(pages, Pages::Huge2M | Pages::Huge1G)
}

/// Pages in the node's pool of this size: (free, total).
pub(crate) fn pool(machine: &Machine, node: NodeId, page_bytes: u64) -> (u64, u64) {
    let pools = machine.node(node).map_or(&[][..], |node| &node.huge_pages);
    pools.iter().find(|pool| pool.page_bytes == page_bytes).map_or((0, 0), |pool| (pool.free, pool.total))
}

/// Refuses an explicit `--pages` that this kernel can't give. (Whether enough pages are reserved is seen when sizes are known.)
pub(crate) fn check(request: &Request, machine: &Machine) -> Result<(), Refusal> {
    let Some(pages) = request.pages else { return Ok(()) };
    let refuse =
        |problem: String, remedy: String| Err(Refusal::new("--pages", value(request, "--pages", pages.word()), problem, remedy));
    match pages {
        Pages::Thp if machine.memory.thp.known().is_some_and(|mode| mode == "never") => refuse(
            "transparent huge pages are switched off (never)".to_owned(),
            "use --pages base, or write madvise to /sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
        ),
        Pages::Thp if !has_thp(machine) => {
            refuse("this kernel shows no transparent huge pages".to_owned(), "use --pages base".to_owned())
        }
        Pages::Huge2M | Pages::Huge1G if huge_size(pages, machine).is_none() => {
            let sizes = sizes(machine);
            let have = sizes.iter().map(|size| units::bytes(*size)).collect::<Vec<_>>().join(", ");
            let have = if have.is_empty() { "none".to_owned() } else { have };
            let other = if has_thp(machine) { "thp" } else { "base" };
            refuse(format!("this kernel has no such huge pages (has: {have})"), format!("use --pages {other}"))
        }
        _ => Ok(()),
    }
}

/// The size of hugetlb pages that the kind stands for; none where the kernel has none.
fn huge_size(pages: Pages, machine: &Machine) -> Option<u64> {
    let sizes = sizes(machine);
    let exact = if pages == Pages::Huge1G { GIB } else { MIB2 };
    // Kernels with 16 or 64 KiB pages may lack 2 MiB; the size of a PMD stands in its place.
    let stand_in = || {
        let pmd = page_bytes(Pages::Thp, machine);
        (pages == Pages::Huge2M && sizes.contains(&pmd)).then_some(pmd)
    };
    if sizes.contains(&exact) { Some(exact) } else { stand_in() }
}

fn sizes(machine: &Machine) -> Vec<u64> {
    machine.memory.huge_pages.iter().map(|pool| pool.page_bytes).collect()
}
