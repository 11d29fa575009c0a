//! Making an arena's pages exist, and what they hold.

use super::arenas::{self, Content, Lost, Mapped, Memory, Part};
use super::crew;
use crate::backend::Failure;
use memgauge_kernels::{Rng, chase, chase::Rings, touch};
use memgauge_model::{Holds, Order, Pages, Plan, Reason, RingPlan, fill_bytes};
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
    let filling = Filling::of(plan);
    let jobs = arenas.iter_mut().map(|mapped| {
        let planned = &plan.arenas[mapped.id];
        // Pages exist by now: where they are no longer depends on who writes.
        crew::Job { only: None, cost: planned.fill_ns(), item: (mapped.id, planned, mapped.arena.as_mut_slice()) }
    });
    let mut memories = crew::run_on(&cpus, jobs.collect(), |(id, planned, memory)| {
        let mut rng = Rng::new(seed ^ (id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let content = match &planned.holds {
            Holds::Chase { bytes, rings } => link(cut(memory, *bytes), rings, &mut rng, stop)?,
            Holds::Streams { streams, bytes } => streams_of(memory, (*streams, *bytes), &filling, stop)?,
            Holds::C2c { bytes, push } => {
                let (lines, behind) = cut(memory, bytes + push)
                    .split_at_mut_checked(usize::try_from(*bytes).unwrap_or(usize::MAX))
                    .ok_or_else(short)?;
                Content::C2c { lines, push: behind }
            }
            Holds::Region { parts, bytes } => region(cut(memory, *bytes), *parts, &filling, stop)?,
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

fn streams_of<'a>(
    mut memory: &'a mut [u8],
    (streams, bytes): (u32, u64),
    filling: &Filling,
    stop: &AtomicBool,
) -> Result<Content<'a>, Failure> {
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
        if at == 0 || at + 1 < streams as usize || !filling.pattern.is_empty() {
            filling.write(array, stop)?;
        }
        arrays.push(array);
    }
    Ok(Content::Streams { arrays, place: 0 })
}

/// What streams find in their buffers.
#[derive(Debug, Default)]
pub struct Filling {
    /// Over and over; empty: words that rise.
    pattern: Vec<u8>,
    /// XOR of the pattern's words before each, and of all.
    before: Vec<u64>,
}

impl Filling {
    /// Of this plan's streams.
    pub fn of(plan: &Plan) -> Self {
        Self::with(fill_bytes(&plan.request.fill))
    }

    fn with(pattern: Vec<u8>) -> Self {
        let words = pattern.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word));
        let after = words.scan(0, |xor, word| {
            *xor ^= word;
            Some(*xor)
        });
        Self { before: std::iter::once(0).chain(after).collect(), pattern }
    }

    fn write(&self, memory: &mut [u8], stop: &AtomicBool) -> Result<(), Failure> {
        for (at, slice) in memory.chunks_mut(SLICE).enumerate() {
            if stop.load(Ordering::Relaxed) {
                return Err(Failure::Stopped);
            }
            match self.pattern.is_empty() {
                true => touch::fill(slice),
                false => touch::fill_with(slice, &self.pattern, at * SLICE),
            }
        }
        Ok(())
    }

    /// XOR of the 8-byte words between two places, bytes, of an array that it has filled.
    pub fn check_of(&self, from: usize, to: usize) -> u64 {
        if !self.pattern.is_empty() {
            return self.first(from / 8) ^ self.first(to / 8);
        }
        let slices = (from / SLICE..=to / SLICE).map(|slice| {
            let (begin, end) = (slice * SLICE, (slice + 1) * SLICE);
            touch::check_of((from.max(begin) - begin) / 8..(to.min(end) - begin) / 8)
        });
        slices.fold(0, |xor, slice| xor ^ slice)
    }

    /// Of the first so many words of the pattern, over and over.
    fn first(&self, words: usize) -> u64 {
        let Some((whole, parts)) = self.before.split_last() else { return 0 };
        let (times, more) = (words / parts.len().max(1), words % parts.len().max(1));
        self.before[more] ^ if times % 2 == 1 { *whole } else { 0 }
    }
}

/// Parts of whole 4 KiB; the last one has the rest.
fn region<'a>(memory: &'a mut [u8], parts: u32, filling: &Filling, stop: &AtomicBool) -> Result<Content<'a>, Failure> {
    filling.write(memory, stop)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pattern_sums_up_to_is_known_from_any_place_to_any() {
        let filling = Filling::with((0..192_u8).map(|byte| byte.wrapping_mul(7)).collect());
        let mut memory = vec![0; 1000];
        filling.write(&mut memory, &AtomicBool::new(false)).unwrap();
        assert_eq!(memory[191..194], [191_u8.wrapping_mul(7), 0, 7]);
        let words = |from: usize, to: usize| memory[from..to].as_chunks::<8>().0.iter();
        for (from, to) in [(0, 1000), (0, 192), (8, 208), (192, 192), (320, 968), (0, 384)] {
            let sum = words(from, to).fold(0, |xor, word| xor ^ u64::from_ne_bytes(*word));
            assert_eq!(filling.check_of(from, to), sum, "{from} to {to}");
        }
    }
}
