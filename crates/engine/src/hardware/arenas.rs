//! From planned arenas to memory that is where it should be, holds what it should, and is cold.

use crate::backend::Failure;
use memgauge_kernels::{Rng, chase, chase::Rings, touch};
use memgauge_model::{Arena as Planned, ArenaId, Cpu, EventKind, Holds, Order, Pages, Placement, Plan};
use memgauge_sys::{self as sys, ArenaSpec, Binding, GotKind, Method, PopulateError};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Nodes that are shuffled together in the window-random order: 512 KiB at 128 B.
const WINDOW_NODES: u64 = 4096;
/// Pages that the kernel is asked about in each arena.
const SAMPLES: usize = 4096;
/// Threads that unmap.
const RELEASERS: usize = 8;
/// Bytes filled between two looks at the stop flag.
const SLICE: usize = 64 << 20;
/// The k-th array of a thread begins so much past the end of the one before, so that no two streams meet in a set of a cache.
const STAGGER: usize = (2 << 20) + 4096 + 64;

/// A mapping and which arena it is.
pub struct Mapped {
    pub id: ArenaId,
    arena: sys::Arena,
    bound: bool,
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
    /// Lines for transfers.
    C2c(&'a mut [u8]),
}

/// Maps and binds; nothing is touched yet.
pub fn map(plan: &Plan, ids: &[ArenaId]) -> Result<(Vec<Mapped>, Vec<EventKind>), Failure> {
    let mut events = Vec::new();
    let mut mapped = Vec::new();
    for &id in ids {
        let planned = &plan.arenas[id];
        let pages = match planned.pages {
            Pages::Base => sys::Pages::Base,
            Pages::Thp => sys::Pages::Thp,
            Pages::Huge2M | Pages::Huge1G => sys::Pages::Huge { bytes: planned.page_bytes },
        };
        let spec = ArenaSpec { bytes: planned.bytes, pages, node: Some(planned.node), guard: true };
        let arena = sys::Arena::map(&spec).map_err(|error| Failure::Point(error.to_string()))?;
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
    Ok((mapped, events))
}

/// Makes all pages exist. Where binding was refused the toucher's own node decides, so its thread does it.
pub fn populate(plan: &Plan, arenas: &[Mapped], stop: &AtomicBool) -> Result<(), Failure> {
    on_touchers(plan, arenas.iter().map(|mapped| (&plan.arenas[mapped.id], mapped.bound, mapped)).collect(), |mapped| {
        mapped.arena.populate(stop).map_err(|error| match error {
            PopulateError::Stopped { .. } => Failure::Stopped,
            other => Failure::Point(other.to_string()),
        })
    })?;
    Ok(())
}

/// Links rings and fills streams, then puts what was written out of the caches: a chase that finds the lines of its own
/// making in the last-level cache reports that cache's latency for them.
pub fn fill<'a>(plan: &Plan, arenas: &'a mut [Mapped], seed: u64, stop: &AtomicBool) -> Result<Vec<Memory<'a>>, Failure> {
    let work = arenas.iter_mut().map(|mapped| {
        let planned = &plan.arenas[mapped.id];
        (planned, mapped.bound, (mapped.id, planned, mapped.arena.as_mut_slice()))
    });
    let mut memories = on_touchers(plan, work.collect(), |(id, planned, memory)| {
        let mut rng = Rng::new(seed ^ (id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let content = match &planned.holds {
            Holds::Chase { bytes, rings } => link(cut(memory, *bytes), rings, &mut rng, stop)?,
            Holds::Streams { streams, bytes } => streams_of(memory, *streams, *bytes, stop)?,
            Holds::C2c { bytes } => Content::C2c(cut(memory, *bytes)),
        };
        Ok(Memory { id, content })
    })?;
    memories.sort_by_key(|memory| memory.id);
    Ok(memories)
}

fn cut(memory: &mut [u8], bytes: u64) -> &mut [u8] {
    let len = memory.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
    &mut memory[..len]
}

fn link<'a>(
    memory: &'a mut [u8],
    plans: &[memgauge_model::RingPlan],
    rng: &mut Rng,
    stop: &AtomicBool,
) -> Result<Content<'a>, Failure> {
    let refused = |error| match error {
        chase::RingError::Stopped => Failure::Stopped,
        other => Failure::Point(other.to_string()),
    };
    let bytes = memory.len();
    let mut rings = Rings::new(memory).map_err(refused)?;
    let mut ids = Vec::new();
    for (word, plan) in plans.iter().enumerate() {
        let stride = usize::try_from(plan.stride).unwrap_or(usize::MAX);
        let order = match plan.order {
            Order::WindowRandom => {
                let window = usize::try_from(WINDOW_NODES.saturating_mul(plan.stride)).unwrap_or(usize::MAX);
                chase::Order::WindowRandom { window_bytes: window.min(bytes) }
            }
            Order::FullRandom => chase::Order::FullRandom,
            Order::Sequential => chase::Order::Sequential,
        };
        ids.push(rings.build_unless(stop, order, stride, word, rng).map_err(refused)?);
    }
    rings.flush();
    let places = ids.iter().map(|id| rings.start(*id)).collect();
    Ok(Content::Chase { rings, ids, places })
}

fn streams_of<'a>(mut memory: &'a mut [u8], streams: u32, bytes: u64, stop: &AtomicBool) -> Result<Content<'a>, Failure> {
    let bytes = usize::try_from(bytes).map_err(|_| Failure::Point("more than the address space holds".into()))?;
    let mut arrays = Vec::new();
    for at in 0..streams as usize {
        if at > 0 {
            let skipped = memory.split_at_mut_checked(STAGGER).ok_or_else(short)?;
            memory = skipped.1;
        }
        let (array, rest) = memory.split_at_mut_checked(bytes).ok_or_else(short)?;
        memory = rest;
        // The last one is written; unless it is the only one, nobody reads it.
        if at == 0 || at + 1 < streams as usize {
            for slice in array.chunks_mut(SLICE) {
                if stop.load(Ordering::Relaxed) {
                    return Err(Failure::Stopped);
                }
                touch::fill(slice);
            }
        }
        arrays.push(array);
    }
    Ok(Content::Streams { arrays, place: 0 })
}

fn short() -> Failure {
    Failure::Fatal("an arena is smaller than its arrays: the plan is wrong".into())
}

/// Runs `each` on every item by threads pinned to the touchers, at once on different CPUs. An item that is bound may be done by
/// any of them; one that is not, only by its own.
fn on_touchers<T: Send, R: Send>(
    plan: &Plan,
    items: Vec<(&Planned, bool, T)>,
    each: impl Fn(T) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    let mut queues: BTreeMap<Cpu, (u64, Vec<T>)> = BTreeMap::new();
    let mut items = items;
    for (planned, _, _) in &items {
        queues.entry(planned.toucher).or_default();
    }
    // Everybody who will measure may help, so that one arena's making doesn't wait for another's.
    for thread in plan.points.iter().flat_map(|point| &point.threads) {
        if items.iter().all(|(_, bound, _)| *bound) && queues.len() < items.len() {
            queues.entry(thread.cpu).or_default();
        }
    }
    // The largest first, each to the one with least to do.
    items.sort_by_key(|(planned, bound, _)| (*bound, std::cmp::Reverse(planned.bytes)));
    for (planned, bound, item) in items {
        let free = queues.iter().min_by_key(|(_, (bytes, _))| *bytes).map_or(planned.toucher, |(cpu, _)| *cpu);
        let cpu = if bound { free } else { planned.toucher };
        let (bytes, queue) = queues.entry(cpu).or_default();
        *bytes += planned.bytes;
        queue.push(item);
    }
    let each = &each;
    std::thread::scope(|scope| {
        let threads: Vec<_> = queues
            .into_iter()
            .filter(|(_, (_, queue))| !queue.is_empty())
            .map(|(cpu, (_, queue))| {
                scope.spawn(move || {
                    sys::cpu::pin_to(cpu).map_err(|error| Failure::Point(error.to_string()))?;
                    queue.into_iter().map(each).collect::<Result<Vec<R>, Failure>>()
                })
            })
            .collect();
        let mut done = Vec::new();
        for thread in threads {
            let ended = || Err(Failure::Fatal("a thread that prepares memory ended".into()));
            done.extend(thread.join().unwrap_or_else(|_| ended())?);
        }
        Ok(done)
    })
}

/// Unmaps, at once on several threads: giving gigabytes of base pages back takes the kernel half a second.
pub fn release(arenas: Vec<Mapped>) {
    let mut shares: Vec<Vec<Mapped>> = (0..RELEASERS).map(|_| Vec::new()).collect();
    for (at, mapped) in arenas.into_iter().enumerate() {
        shares[at % RELEASERS].push(mapped);
    }
    std::thread::scope(|scope| {
        shares.into_iter().filter(|share| !share.is_empty()).for_each(|share| {
            scope.spawn(move || drop(share));
        });
    });
}

/// The kernel's own answer, by arena.
pub fn placements(plan: &Plan, arenas: &[Mapped]) -> BTreeMap<ArenaId, Placement> {
    arenas.iter().map(|mapped| (mapped.id, placement(&plan.arenas[mapped.id], mapped))).collect()
}

fn placement(planned: &Planned, mapped: &Mapped) -> Placement {
    let seen = mapped.arena.placement(SAMPLES);
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

/// Arenas that got other pages than asked for.
pub fn differing(placements: &BTreeMap<ArenaId, Placement>) -> Vec<EventKind> {
    placements
        .iter()
        .filter(|(_, placement)| placement.kind != placement.asked.word() && placement.kind != "unknown")
        .filter(|(_, placement)| !(matches!(placement.asked, Pages::Huge2M) && placement.kind.starts_with("hugetlb")))
        .map(|(arena, placement)| EventKind::PagesDiffer { arena: *arena, got: placement.kind.clone() })
        .collect()
}
