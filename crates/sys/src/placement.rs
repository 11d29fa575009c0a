//! Where an arena's pages are and of what kind: the kernel's own answer, never an assumption.

use std::{collections::BTreeMap, ops::Range, ptr::NonNull};

use libc::c_int;

use crate::{
    arena::Arena,
    errno::Errno,
    limits::page_size,
    numa_maps,
    pages::Pages,
    raw::{self, MPOL_F_ADDR, MPOL_F_NODE},
    smaps,
};

/// What the kernel says of an arena's pages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// How many pages were asked about: samples, or all of them with [`Method::NumaMaps`]; 0 with
    /// [`Method::None`]. Equals the sum of both maps.
    pub pages_sampled: u64,
    /// Pages on each node.
    pub by_node: BTreeMap<i32, u64>,
    /// Pages of which the kernel gave an error instead of a node, by that number, negative as
    /// `move_pages` gives it. A page that does not exist is −2 (`ENOENT`) or, by older kernels and
    /// `get_mempolicy`, −14 (`EFAULT`).
    pub by_errno: BTreeMap<i32, u64>,
    /// The kind of pages.
    pub kind: GotKind,
    /// How the nodes were found.
    pub verified: Method,
}

impl Placement {
    /// Pages that are nowhere, or that the kernel tells nothing of.
    #[must_use]
    pub fn unplaced(&self) -> u64 {
        self.by_errno.values().sum()
    }

    /// Pages on `node`.
    #[must_use]
    pub fn on_node(&self, node: u32) -> u64 {
        i32::try_from(node).ok().and_then(|node| self.by_node.get(&node)).copied().unwrap_or(0)
    }
}

/// The kind of pages that memory got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GotKind {
    /// Base pages only, or (not told apart by the kernel here) multi-size huge pages below the PMD
    /// size, which [`Pages::Base`] rules out.
    Base,
    /// Transparent huge pages only.
    Thp,
    /// Pages of so many bytes from a pool.
    Hugetlb(u64),
    /// Some of both.
    Mixed {
        /// Bytes in huge pages.
        huge_bytes: u64,
        /// Bytes resident.
        total_bytes: u64,
    },
    /// The kernel does not say (no `/proc/self/smaps`), or nothing is resident.
    Unknown,
}

/// How the nodes of pages were found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Method {
    /// `move_pages`.
    MovePages,
    /// `get_mempolicy`, page by page.
    GetMempolicy,
    /// `/proc/self/numa_maps`.
    NumaMaps,
    /// Nothing answered: the nodes are unknown.
    None,
}

/// What the kernel says of several arenas, in their order: as [`Arena::placement`], with the kinds of all read at once.
#[must_use]
pub fn of_all(arenas: &[&Arena], max_samples: usize) -> Vec<Placement> {
    let ranges: Vec<Range<usize>> = arenas.iter().map(|arena| range(arena)).collect();
    let kinds = smaps::page_kinds(&ranges, page_size() as u64).unwrap_or_default();
    let kind_of = |at: usize| kinds.get(at).copied().unwrap_or(GotKind::Unknown);
    arenas.iter().enumerate().map(|(at, arena)| ask(arena, kind_of(at), max_samples)).collect()
}

/// Asks in the order of how much each way tells; each is refused somewhere.
fn ask(arena: &Arena, kind: GotKind, max_samples: usize) -> Placement {
    let samples = samples(arena, max_samples);
    let (statuses, verified) = if samples.is_empty() { (BTreeMap::new(), Method::None) } else { ask_nodes(arena, &samples) };
    let (by_errno, by_node): (BTreeMap<_, _>, BTreeMap<_, _>) = statuses.into_iter().partition(|&(status, _)| status < 0);
    let pages_sampled = by_errno.values().chain(by_node.values()).sum();
    Placement { pages_sampled, by_node, by_errno, kind, verified }
}

fn ask_nodes(arena: &Arena, samples: &[NonNull<u8>]) -> (BTreeMap<i32, u64>, Method) {
    if let Ok(statuses) = raw::page_nodes(samples) {
        return (count(statuses), Method::MovePages);
    }
    if let Some(statuses) = by_get_mempolicy(samples) {
        return (count(statuses), Method::GetMempolicy);
    }
    match numa_maps::pages_by_node(&range(arena)) {
        Ok(pages) if !pages.is_empty() => (pages, Method::NumaMaps),
        _ => (BTreeMap::new(), Method::None),
    }
}

/// One status a page, as `move_pages` would give it; `None` if the call itself is refused.
fn by_get_mempolicy(samples: &[NonNull<u8>]) -> Option<Vec<c_int>> {
    samples
        .iter()
        .map(|&page| match raw::get_mempolicy(&mut [], Some(page), MPOL_F_NODE | MPOL_F_ADDR) {
            Ok(node) => Some(node),
            // A page that can't be looked up says nothing of the others.
            Err(errno @ Errno(libc::EFAULT | libc::ENOENT)) => Some(-errno.0),
            Err(_) => None,
        })
        .collect()
}

fn count(statuses: Vec<c_int>) -> BTreeMap<i32, u64> {
    let mut counts = BTreeMap::new();
    for status in statuses {
        *counts.entry(status).or_insert(0) += 1;
    }
    counts
}

/// At most `max` of the arena's pages, evenly spread over all of it.
fn samples(arena: &Arena, max: usize) -> Vec<NonNull<u8>> {
    let page = match arena.pages() {
        Pages::Base | Pages::Thp => page_size(),
        Pages::Huge { bytes } => usize::try_from(bytes).unwrap_or(arena.len()),
    };
    let pages = arena.len() / page;
    let wanted = pages.min(max);
    spread(pages, wanted).map(|index| arena.at(index * page)).collect()
}

/// `wanted` of the numbers below `pages`, the middles of equal parts.
fn spread(pages: usize, wanted: usize) -> impl Iterator<Item = usize> {
    let middle = move |i: usize| (2 * i as u128 + 1) * pages as u128 / (2 * wanted as u128);
    // Below `pages`, so it fits.
    (0..wanted).map(move |i| usize::try_from(middle(i)).unwrap_or(0))
}

fn range(arena: &Arena) -> Range<usize> {
    let start = arena.at(0).as_ptr().addr();
    start..start + arena.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn samples_are_distinct_and_even(pages in 1usize..1_000_000, max in 1usize..3000) {
            let wanted = pages.min(max);
            let picked: Vec<usize> = spread(pages, wanted).collect();
            proptest::prop_assert_eq!(picked.len(), wanted);
            let gap = pages / wanted;
            for pair in picked.windows(2) {
                let step = pair[1] - pair[0];
                proptest::prop_assert!(step == gap || step == gap + 1, "{} of {}", step, gap);
            }
            proptest::prop_assert!(picked[0] <= gap && picked[wanted - 1] < pages);
            proptest::prop_assert!(picked[wanted - 1] + gap + 1 >= pages);
        }
    }
}
