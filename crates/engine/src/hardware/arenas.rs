//! Mappings: from planned arenas to memory that is where it should be, by the kernel's own answer.

use super::threads;
use crate::backend::{Failure, reason_of};
use memgauge_kernels::{chase, chase::Rings};
use memgauge_model::{Arena as Planned, ArenaId, Avail, EventKind, Holds, Pages, Physical, Placement, Plan, Reason};
use memgauge_sys::{self as sys, ArenaSpec, Binding, GotKind, Method, pagemap::PhysicalError};
use std::collections::BTreeMap;
use std::path::Path;

/// Pages that the kernel is asked about in each arena.
pub const SAMPLES: usize = 4096;
/// Physical ranges of a region that are kept: with base pages there may be one a page.
const RANGES: usize = 1024;
/// Threads that unmap.
const RELEASERS: usize = 8;

/// A mapping and which arena it is.
pub struct Mapped {
    pub id: ArenaId,
    pub arena: sys::Arena,
    /// Did the kernel take the node? Else whoever touches a page first decides.
    pub bound: bool,
}

/// An arena's memory, ready to be measured.
pub struct Memory<'a> {
    pub id: ArenaId,
    pub content: Content<'a>,
}

/// What it holds.
pub enum Content<'a> {
    /// Rings, with the place that each chase has come to.
    Chase { rings: Rings<'a>, ids: Vec<chase::RingId>, places: Vec<u64> },
    /// The arrays of one thread; the last is the one that is written. `place` is how far it has come, bytes.
    Streams { arrays: Vec<&'a mut [u8]>, place: usize },
    /// Lines for transfers, and what is read to push them outwards.
    C2c { lines: &'a mut [u8], push: &'a mut [u8] },
    /// The parts of a region.
    Region(Vec<Part<'a>>),
}

/// A thread's part of a region, and how far it has come, bytes.
pub struct Part<'a> {
    pub memory: &'a mut [u8],
    pub place: usize,
}

/// Regions that can't be had, and why: the others are measured without them.
pub type Lost = BTreeMap<ArenaId, Failure>;

/// What is mapped.
#[derive(Default)]
pub struct Held {
    pub arenas: Vec<Mapped>,
    pub lost: Lost,
    pub events: Vec<EventKind>,
}

/// Maps and binds; nothing is touched yet.
pub fn map(plan: &Plan, ids: &[ArenaId]) -> Result<Held, Failure> {
    let Held { arenas: mut mapped, mut lost, mut events } = Held::default();
    for &id in ids {
        let planned = &plan.arenas[id];
        let pages = match planned.pages {
            Pages::Base => sys::Pages::Base,
            Pages::Thp => sys::Pages::Thp,
            Pages::Huge2M | Pages::Huge1G => sys::Pages::Huge { bytes: planned.page_bytes },
        };
        let spec = ArenaSpec { bytes: planned.bytes, pages, node: (!planned.first_touch).then_some(planned.node), guard: true };
        let arena = match &plan.request.folder {
            Some(folder) => sys::Arena::map_in(Path::new(folder), &spec),
            None => sys::Arena::map(&spec),
        };
        let arena = match arena.map_err(unmapped) {
            Ok(arena) => arena,
            Err(failure) => {
                lost.insert(id, dispensable(planned, failure)?);
                continue;
            }
        };
        let bound = match arena.binding() {
            Some(Binding::Bound) => true,
            Some(Binding::Refused(errno)) => {
                events.push(EventKind::BindRefused { errno: errno.0 });
                false
            }
            None => false,
        };
        mapped.push(Mapped { id, arena, bound });
    }
    events.dedup();
    Ok(Held { arenas: mapped, lost, events })
}

/// A failure that others can do without: of one region among many.
pub fn dispensable(planned: &Planned, failure: Failure) -> Result<Failure, Failure> {
    let region = matches!(planned.holds, Holds::Region { .. });
    if region && matches!(failure, Failure::Point { .. }) { Ok(failure) } else { Err(failure) }
}

/// Why an arena could not be had.
fn unmapped(error: sys::ArenaError) -> Failure {
    match &error {
        sys::ArenaError::Map { errno, .. } | sys::ArenaError::Bind(sys::BindError::Kernel { errno, .. }) => {
            Failure::refused(*errno, error)
        }
        // The others would be files of the same folder.
        sys::ArenaError::File { .. } => Failure::Fatal(error.to_string()),
        sys::ArenaError::TooLarge { .. } | sys::ArenaError::HugePageSize { .. } => Failure::point(Reason::NotSupported, error),
        _ => Failure::point(Reason::NotPresent, error),
    }
}

/// Unmaps, at once on several threads: giving gigabytes of base pages back takes the kernel half a second.
pub fn release(arenas: Vec<Mapped>) {
    let mut shares: Vec<Vec<Mapped>> = (0..RELEASERS).map(|_| Vec::new()).collect();
    for (at, mapped) in arenas.into_iter().enumerate() {
        shares[at % RELEASERS].push(mapped);
    }
    std::thread::scope(|scope| {
        shares.into_iter().filter(|share| !share.is_empty()).for_each(|share| {
            // Where there is no thread to be had the share is dropped with the closure, here.
            let _ = threads::spawn(scope, move || drop(share));
        });
    });
}

/// The kernel's own answer, by arena.
pub fn placements(plan: &Plan, mapped: &[Mapped]) -> BTreeMap<ArenaId, Placement> {
    let arenas: Vec<&sys::Arena> = mapped.iter().map(|mapped| &mapped.arena).collect();
    let seen = sys::placement::of_all(&arenas, SAMPLES);
    mapped.iter().zip(seen).map(|(mapped, seen)| (mapped.id, placement(&plan.arenas[mapped.id], mapped, seen))).collect()
}

fn placement(planned: &Planned, mapped: &Mapped, seen: sys::Placement) -> Placement {
    let kind = match seen.kind {
        GotKind::Base => "base".to_owned(),
        GotKind::Thp => "thp".to_owned(),
        GotKind::Hugetlb(0x20_0000) => "2m".to_owned(),
        GotKind::Hugetlb(0x4000_0000) => "1g".to_owned(),
        GotKind::Hugetlb(bytes) => format!("hugetlb-{bytes}"),
        GotKind::Mixed { huge_bytes, total_bytes } => {
            format!("mixed-{}%", u128::from(huge_bytes) * 100 / u128::from(total_bytes.max(1)))
        }
        GotKind::Unknown => "unknown".to_owned(),
    };
    let verified = match seen.verified {
        Method::MovePages => "move_pages",
        Method::GetMempolicy => "get_mempolicy",
        Method::NumaMaps => "numa_maps",
        Method::None => "none",
    };
    // Of storage's pages it tells errors alone, which say nothing against their place.
    let (seen, verified) =
        if mapped.arena.is_storage() { (sys::Placement { pages_sampled: 0, ..seen }, "none") } else { (seen, verified) };
    Placement {
        node: planned.node,
        pages: seen.pages_sampled,
        on_node: seen.on_node(planned.node),
        asked: planned.pages,
        kind,
        verified: verified.to_owned(),
        method: if mapped.bound { "mbind" } else { "first touch" }.to_owned(),
    }
}

/// Where regions lie in physical memory. What can't be read of one can't be read of any.
pub fn places(plan: &Plan, mapped: &[Mapped]) -> BTreeMap<ArenaId, Avail<Physical>> {
    let mut hidden: Option<Avail<Physical>> = None;
    let regions = mapped.iter().filter(|mapped| matches!(plan.arenas[mapped.id].holds, Holds::Region { .. }));
    let mut place = |mapped: &Mapped| {
        if let Some(hidden) = &hidden {
            return hidden.clone();
        }
        let place = place(&mapped.arena);
        hidden = place.known().is_none().then(|| place.clone());
        place
    };
    regions.map(|mapped| (mapped.id, place(mapped))).collect()
}

fn place(arena: &sys::Arena) -> Avail<Physical> {
    match sys::pagemap::physical(arena) {
        Ok(seen) => {
            let ranges = seen.ranges.into_iter().map(|range| [range.start, range.end]).collect();
            Avail::Known(Physical { ranges, absent: seen.absent, ..Physical::default() }.at_most(RANGES))
        }
        Err(error @ PhysicalError::Hidden) => Avail::missing(Reason::NoPermission, error.to_string()),
        Err(error @ PhysicalError::Unreadable(errno)) => Avail::missing(reason_of(errno), error.to_string()),
    }
}

/// Arenas that got other pages than asked for.
pub fn differing(placements: &BTreeMap<ArenaId, Placement>) -> Vec<EventKind> {
    placements
        .iter()
        .filter(|(_, placement)| placement.kind != placement.asked.word() && placement.kind != "unknown")
        .filter(|(_, placement)| !(matches!(placement.asked, Pages::Huge2M) && placement.kind.starts_with("hugetlb")))
        .map(|(arena, placement)| EventKind::PagesDiffer { arena: *arena, got: placement.kind.clone() })
        .collect()
}
