//! Making an arena's pages exist, and what they hold.

use super::arenas::{self, Content, Lost, Mapped, Memory, Part};
use super::crew;
use crate::backend::Failure;
use memgauge_kernels::{Rng, chase, chase::Rings, touch};
use memgauge_model::{Holds, Order, Pages, Plan, Reason, RingPlan};
use memgauge_sys::PopulateError;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes filled between two looks at the stop flag.
const SLICE: usize = 64 << 20;
/// Bytes that one thread makes exist before it takes the next.
const SHARE: usize = 256 << 20;
/// Parts of a region are whole multiples of this.
const GRAIN: usize = 4096;
/// The k-th array of a thread begins so much past the end of the one before, so that no two streams meet in a set of a cache.
const STAGGER: usize = (2 << 20) + 4096 + 64;

/// Makes all pages exist, by all CPUs of the crew at once. Where binding was refused the toucher's own node decides, so its
/// thread does it. Returns the regions for which that failed.
pub fn populate(plan: &Plan, arenas: &[Mapped], stop: &AtomicBool) -> Result<Lost, Failure> {
    let mut jobs = Vec::new();
    for mapped in arenas {
        let planned = &plan.arenas[mapped.id];
        // The kernel clears base pages at half the speed of huge ones.
        let cost = if planned.pages == Pages::Base { 2 } else { 1 };
        let share = if mapped.bound { SHARE } else { mapped.arena.len().max(1) };
        for offset in (0..mapped.arena.len()).step_by(share) {
            let len = share.min(mapped.arena.len() - offset);
            jobs.push(crew::Job {
                only: (!mapped.bound).then_some(planned.toucher),
                cost: cost * len as u64,
                item: (mapped, offset, len),
            });
        }
    }
    let failed = crew::run(plan, arenas, jobs, |(mapped, offset, len)| {
        let populated = mapped.arena.populate_range(offset, len, stop).map_err(|error| match error {
            PopulateError::Stopped { .. } => Failure::Stopped,
            PopulateError::Kernel { errno, .. } => Failure::refused(errno, error),
            other => Failure::point(Reason::NotPresent, other),
        });
        let failed = populated.err().map(|failure| arenas::dispensable(&plan.arenas[mapped.id], failure)).transpose()?;
        Ok(failed.map(|failure| (mapped.id, failure)))
    })?;
    Ok(failed.into_iter().flatten().collect())
}

/// Links rings and fills streams, then puts what was written out of the caches: a chase that finds the lines of its own
/// making in the last-level cache reports that cache's latency for them.
pub fn fill<'a>(plan: &Plan, arenas: &'a mut [Mapped], seed: u64, stop: &AtomicBool) -> Result<Vec<Memory<'a>>, Failure> {
    let cpus = crew::cpus(plan, arenas);
    let jobs = arenas.iter_mut().map(|mapped| {
        let planned = &plan.arenas[mapped.id];
        // Pages exist by now: where they are no longer depends on who writes.
        crew::Job { only: None, cost: planned.fill_ns(), item: (mapped.id, planned, mapped.arena.as_mut_slice()) }
    });
    let mut memories = crew::run_on(&cpus, jobs.collect(), |(id, planned, memory)| {
        let mut rng = Rng::new(seed ^ (id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let content = match &planned.holds {
            Holds::Chase { bytes, rings } => link(cut(memory, *bytes), rings, &mut rng, stop)?,
            Holds::Streams { streams, bytes } => streams_of(memory, *streams, *bytes, stop)?,
            Holds::C2c { bytes, push } => {
                let (lines, behind) = cut(memory, bytes + push)
                    .split_at_mut_checked(usize::try_from(*bytes).unwrap_or(usize::MAX))
                    .ok_or_else(short)?;
                Content::C2c { lines, push: behind }
            }
            Holds::Region { parts, bytes } => region(cut(memory, *bytes), *parts, stop)?,
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

fn link<'a>(memory: &'a mut [u8], plans: &[RingPlan], rng: &mut Rng, stop: &AtomicBool) -> Result<Content<'a>, Failure> {
    let refused = |error| match error {
        chase::RingError::Stopped => Failure::Stopped,
        other => Failure::point(Reason::NotApplicable, other),
    };
    let all = memory.len();
    let mut rings = Rings::new(memory).map_err(refused)?;
    let mut ids = Vec::new();
    for (word, plan) in plans.iter().enumerate() {
        let stride = usize::try_from(plan.stride).unwrap_or(usize::MAX);
        // One that grows begins with two nodes.
        let bytes = if plan.grows { all.min(2 * stride) } else { usize::try_from(plan.spans(all as u64)).unwrap_or(all) };
        ids.push(rings.build_over(stop, order(plan, bytes), stride, word, bytes, rng).map_err(refused)?);
    }
    if plans.iter().any(|plan| !plan.grows) {
        rings.flush();
    }
    let places = ids.iter().map(|id| rings.start(*id)).collect();
    Ok(Content::Chase { rings, ids, places })
}

/// The order of a ring over so many bytes.
pub fn order(plan: &RingPlan, bytes: usize) -> chase::Order {
    let window_bytes = plan.window().and_then(|window| usize::try_from(window).ok()).map_or(bytes, |window| window.min(bytes));
    match plan.order {
        Order::WindowRandom => chase::Order::WindowRandom { window_bytes },
        Order::SplitRandom => chase::Order::SplitRandom { window_bytes },
        Order::FullRandom => chase::Order::FullRandom,
        Order::Sequential => chase::Order::Sequential,
    }
}

fn streams_of<'a>(mut memory: &'a mut [u8], streams: u32, bytes: u64, stop: &AtomicBool) -> Result<Content<'a>, Failure> {
    let bytes = usize::try_from(bytes).map_err(|_| Failure::point(Reason::NotSupported, "more than the address space holds"))?;
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
            write(array, stop)?;
        }
        arrays.push(array);
    }
    Ok(Content::Streams { arrays, place: 0 })
}

fn write(memory: &mut [u8], stop: &AtomicBool) -> Result<(), Failure> {
    for slice in memory.chunks_mut(SLICE) {
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        touch::fill(slice);
    }
    Ok(())
}

/// XOR of the 8-byte words between two places, bytes, of an array that [`write`] has filled.
pub fn check_of(from: usize, to: usize) -> u64 {
    let slices = (from / SLICE..=to / SLICE).map(|slice| {
        let (begin, end) = (slice * SLICE, (slice + 1) * SLICE);
        touch::check_of((from.max(begin) - begin) / 8..(to.min(end) - begin) / 8)
    });
    slices.fold(0, |xor, slice| xor ^ slice)
}

/// Parts of whole 4 KiB; the last one has the rest.
fn region<'a>(memory: &'a mut [u8], parts: u32, stop: &AtomicBool) -> Result<Content<'a>, Failure> {
    write(memory, stop)?;
    let each = memory.len() / (parts.max(1) as usize) / GRAIN * GRAIN;
    let mut rest = memory;
    let mut content = Vec::new();
    for part in 0..parts {
        let len = if part + 1 == parts { rest.len() } else { each };
        let (memory, behind) = rest.split_at_mut_checked(len).ok_or_else(short)?;
        content.push(Part { memory, place: 0 });
        rest = behind;
    }
    Ok(Content::Region(content))
}

fn short() -> Failure {
    Failure::Fatal("an arena is smaller than its arrays: the plan is wrong".into())
}
