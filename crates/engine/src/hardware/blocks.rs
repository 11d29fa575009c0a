//! Blocks of chases, streams and keep-alives: all that is measured in windows.

use super::Hardware;
use super::arenas::{Content, Memory, Part};
use super::combine::{self, Brought, Kind};
use super::fill;
use super::stream::{Audit, Corrupt, Stream, Way};
use super::team::{Ended, Team};
use super::threads;
use super::timing::{Cut, ns_to_ticks, ticks_to_ns};
use super::work::{Chase, KeepAlive, Stretch, Work};
use crate::backend::{Failure, Task};
use memgauge_kernels::{
    self as kernels, Rng,
    stream::{Cursor, Kernel, Lines, Op, Streams, Walk},
};
use memgauge_model::{
    ArenaId, Block, BlockCounters, Cpu, DelayRef, Holds, Isa, Job, Manner, Mix, Point, Reason, Span, Thread, ThreadCounts,
};
use std::collections::BTreeMap;

/// A chase's chunk takes this long at least where the buffer sits in a cache: 1000 times the clock's cost.
const CHASE_FLOOR_NS: u64 = 20_000;

/// Between two arrays that are cut from one part of a region, against 4K aliasing.
const GAP: usize = 4096 + LINE;
const LINE: usize = 64;

/// More than linking a byte of a ring takes, and reading it.
const LINK_BYTE_NS: u64 = 1;

/// Runs the task's threads together; its windows are what all of them did at once.
///
/// `seed` decides the links of rings that grow.
pub fn run(hardware: &Hardware, task: &Task<'_>, memories: &mut [Memory<'_>], seed: u64) -> Result<Block, Failure> {
    let point = &task.plan.points[task.point];
    let rule = &task.plan.windows;
    let (clock, hz) = hardware.clock_and_hz();
    let core_hz = hardware.core_hz();
    // Of a thread with a delay of its own, too, a window has bursts enough.
    let longest = point.threads.iter().filter_map(|thread| own_delay(&thread.job)).fold(task.delay, u32::max);
    let mut cut = Cut::new(rule, task.time_ns, longest, hardware.quantum_ns(), core_hz, hz);
    let span = point.measure.span();
    if point.brief.is_some() {
        // One slice, in which chunks are tuned.
        cut.warmup = (0, cut.slice);
    }
    if let Some(span) = span {
        // Others wait while a ring is linked.
        cut.hard = cut.hard.saturating_add(ns_to_ticks(span.bytes.saturating_mul(LINK_BYTE_NS), hz));
    }
    let tolerance = ns_to_ticks(rule.limits.gap_ns, hz);
    let members = u32::try_from(point.threads.len()).unwrap_or(u32::MAX);
    let team = Team::new(members, clock, cut, hardware.cost_ticks(), tolerance, hardware.stop, &hardware.counters);
    let mut free = Free::of(memories, point);
    let jobs = point
        .threads
        .iter()
        .map(|thread| prepare(thread, &mut free, Terms { task, span, seed, hz }))
        .collect::<Result<Vec<_>, _>>()?;
    let outcomes = std::thread::scope(|scope| {
        let team = &team;
        let workers: Vec<_> = jobs
            .into_iter()
            .enumerate()
            .map(|(at, (cpu, kind, mut job))| {
                let worker = threads::spawn(scope, move || job.run(team, cpu, at == 0));
                if worker.is_err() {
                    team.give_up();
                }
                (cpu, kind, worker)
            })
            .collect();
        let joined = workers.into_iter().map(|(cpu, kind, worker)| Ok((cpu, kind, worker?.join().unwrap_or(Err(Ended::Late)))));
        joined.collect::<Result<Vec<_>, Failure>>()
    });
    let brought = gather(outcomes?)?;
    let lead = &brought[0];
    let block = Block {
        // Who waits for no pace has none to settle.
        warmup_windows: if point.brief.is_some() { 0 } else { lead.done.warmup_slices },
        settled: lead.done.settled || point.brief.is_some(),
        core_hz: combine::core_hz(&lead.done.parts, hz),
        windows: combine::windows(&brought, cut.window, hz, task.plan.tells_threads()),
        counters: (!hardware.counters.is_empty()).then(|| counted(&brought, hz)),
        ..Block::default()
    };
    if block.windows.is_empty() { Err(hardware.nothing_came("no window was closed")) } else { Ok(block) }
}

/// What the counters of all workers said.
fn counted(brought: &[Brought], hz: f64) -> BlockCounters {
    let own = |b: &Brought| ThreadCounts { accesses: b.kind.accesses(b.done.counts.accesses), ..b.done.counts.clone() };
    let threads = brought.iter().map(own).collect();
    let system = brought.first().and_then(|lead| lead.done.system.as_ref());
    BlockCounters {
        system_ns: system.map_or(0.0, |system| ticks_to_ns(system.ticks, hz)),
        system: system.map_or_else(Vec::new, |system| system.counts.clone()),
        threads,
    }
}

/// All that the workers brought, or the most telling reason why there is less.
fn gather(outcomes: Vec<(Cpu, Kind, Result<super::team::Done, Ended>)>) -> Result<Vec<Brought>, Failure> {
    let mut brought = Vec::new();
    let (mut late, mut left) = (None, None);
    let mut stopped = false;
    for (cpu, kind, outcome) in outcomes {
        match outcome {
            Ok(done) => brought.push(Brought { done, kind }),
            Err(Ended::Unpinned(error)) => return Err(error.into()),
            Err(Ended::Unready(error)) => return Err(Failure::point(Reason::NotApplicable, error)),
            Err(Ended::Corrupt(found)) => return Err(corrupt(cpu, found)),
            Err(Ended::Stopped) => stopped = true,
            Err(Ended::Late) => late = late.or(Some(cpu)),
            Err(Ended::Left) => left = left.or(Some(cpu)),
        }
    }
    // Who waited in vain for another one is not the one to name.
    match late.or(left) {
        _ if stopped => Err(Failure::Stopped),
        Some(cpu) => {
            let detail = format!("the thread on CPU {cpu} did not keep up; is the CPU online and free?");
            Err(Failure::point(Reason::OutOfTime, detail))
        }
        None => Ok(brought),
    }
}

fn corrupt(cpu: Cpu, Corrupt { written, read }: Corrupt) -> Failure {
    let sums = format!("its 8-byte words XOR to {read:#018x}, those written there to {written:#018x}");
    Failure::Fatal(format!("checksum mismatch, data corruption: the buffer that CPU {cpu} reads has changed; {sums}"))
}

/// A thread's job with the memory that it works on.
enum Ready<'m, 'a> {
    Chase(Chase<'m, 'a>),
    Stream(Box<Stream<'m>>),
    KeepAlive(KeepAlive),
}

impl Ready<'_, '_> {
    fn run(&mut self, team: &Team<'_>, cpu: Cpu, leads: bool) -> Result<super::team::Done, Ended> {
        match self {
            Self::Chase(work) => timed_by(team, cpu, leads, work),
            Self::Stream(work) => {
                let done = timed_by(team, cpu, leads, &mut **work)?;
                work.finish().map_or(Ok(done), |found| Err(Ended::Corrupt(found)))
            }
            Self::KeepAlive(work) => timed_by(team, cpu, leads, work),
        }
    }
}

/// One copy of the measured loop for each kind of work.
#[inline(never)]
fn timed_by<W: Work>(team: &Team<'_>, cpu: Cpu, leads: bool, work: &mut W) -> Result<super::team::Done, Ended> {
    team.run(cpu, leads, work)
}

/// What all threads of a block go by.
#[derive(Clone, Copy)]
struct Terms<'t> {
    task: &'t Task<'t>,
    span: Option<Span>,
    seed: u64,
    hz: f64,
}

/// Memory that no thread of the block has yet.
struct Free<'m, 'a> {
    arenas: Vec<Option<&'m mut Memory<'a>>>,
    /// Parts of regions, by arena.
    parts: Vec<(ArenaId, Vec<Option<&'m mut Part<'a>>>)>,
    /// Buffers that several threads read, and how many have come so far.
    shared: Vec<Shared<'m>>,
}

/// A buffer that several threads read.
struct Shared<'m> {
    arena: ArenaId,
    array: &'m [u8],
    readers: usize,
    come: usize,
}

impl<'m, 'a> Free<'m, 'a> {
    fn of(memories: &'m mut [Memory<'a>], point: &Point) -> Self {
        let (mut arenas, mut parts, mut shared) = (Vec::new(), Vec::new(), Vec::new());
        let mut used: BTreeMap<ArenaId, usize> = BTreeMap::new();
        point.threads.iter().flat_map(|thread| thread.job.arenas()).for_each(|arena| *used.entry(arena).or_default() += 1);
        for memory in memories.iter_mut() {
            let (id, Some(&readers)) = (memory.id, used.get(&memory.id)) else { continue };
            match &memory.content {
                Content::Region(_) => {
                    let Content::Region(all) = &mut memory.content else { continue };
                    parts.push((id, all.iter_mut().map(Some).collect()));
                }
                Content::Streams { .. } if readers > 1 => {
                    let Content::Streams { arrays, .. } = &mut memory.content else { continue };
                    shared.extend(arrays.first().map(|array| Shared { arena: id, array, readers, come: 0 }));
                }
                _ => arenas.push(Some(memory)),
            }
        }
        Self { arenas, parts, shared }
    }

    /// The arrays of a stream, wherever they are.
    fn arrays(&mut self, arena: ArenaId, part: Option<u32>, mix: Mix) -> Result<Arrays<'m>, Failure> {
        if let Some(part) = part {
            return Arrays::cut(self.part(arena, part)?, mix).ok_or_else(wrong);
        }
        match self.shared.iter_mut().find(|shared| shared.arena == arena) {
            Some(shared) => shared.next(mix),
            None => Arrays::chosen(take(&mut self.arenas, arena)?, mix),
        }
        .ok_or_else(wrong)
    }

    fn part(&mut self, arena: ArenaId, part: u32) -> Result<&'m mut Part<'a>, Failure> {
        let parts = self.parts.iter_mut().find(|(id, _)| *id == arena);
        parts.and_then(|(_, parts)| parts.get_mut(part as usize)?.take()).ok_or_else(wrong)
    }
}

impl<'m> Shared<'m> {
    /// Each begins elsewhere: no two want the same line at once.
    fn next(&mut self, mix: Mix) -> Option<Arrays<'m>> {
        let from = self.array.len() / self.readers * self.come;
        self.come += 1;
        (streams(mix) == (1, 0)).then_some(Arrays { read: [self.array, &[]], write: &mut [], place: Place::From(from) })
    }
}

fn prepare<'m, 'a: 'm>(
    thread: &Thread,
    free: &mut Free<'m, 'a>,
    terms: Terms<'_>,
) -> Result<(Cpu, Kind, Ready<'m, 'a>), Failure> {
    let hops = u64::from(terms.task.plan.windows.hops_per_stamp);
    let (kind, job) = match &thread.job {
        Job::Chase { arena, ring } => {
            let Content::Chase { rings, ids, places } = take(&mut free.arenas, *arena)? else { return Err(wrong()) };
            let (Some(id), Some(place)) = (ids.get(*ring), places.get_mut(*ring)) else { return Err(wrong()) };
            let floor = ns_to_ticks(CHASE_FLOOR_NS, terms.hz);
            let stretch = stretch(terms, *arena, *ring)?;
            (Kind::Hop, Ready::Chase(Chase { rings, ring: *id, place, stretch, hops, least: hops, floor }))
        }
        Job::Stream { arena, part, .. } => {
            let Some(how) = How::of(&thread.job, terms) else { return Err(wrong()) };
            let work = stream(free, (*arena, *part), how, terms)?;
            let moved = work.way.kernel.accounting();
            let (bytes, lines) = (moved.bytes_loaded + moved.bytes_stored, moved.lines_loaded + moved.lines_stored);
            (Kind::Burst { bytes, lines }, Ready::Stream(Box::new(work)))
        }
        Job::KeepAlive => (Kind::KeepAlive, Ready::KeepAlive(KeepAlive)),
        Job::TimedChase { .. } | Job::C2c { .. } => return Err(wrong()),
    };
    Ok((thread.cpu, kind, job))
}

/// How a ring that grows comes to the point's span.
fn stretch(terms: Terms<'_>, arena: ArenaId, ring: usize) -> Result<Option<Stretch>, Failure> {
    let Holds::Chase { rings, .. } = &terms.task.plan.arenas[arena].holds else { return Err(wrong()) };
    match (rings.get(ring), terms.span) {
        (Some(ring), Some(span)) if ring.grows => {
            let bytes = usize::try_from(span.bytes).unwrap_or(usize::MAX);
            let order = fill::order(ring, bytes);
            Ok(Some(Stretch { order, bytes, settle: span.settle, rng: Rng::new(terms.seed ^ span.bytes) }))
        }
        (Some(ring), None) if !ring.grows => Ok(None),
        _ => Err(wrong()),
    }
}

/// An arena's memory, which no other thread of the block has.
pub fn take<'m, 'a>(free: &mut [Option<&'m mut Memory<'a>>], arena: ArenaId) -> Result<&'m mut Content<'a>, Failure> {
    let slot = free.iter_mut().find(|slot| slot.as_ref().is_some_and(|memory| memory.id == arena));
    slot.and_then(Option::take).map(|memory| &mut memory.content).ok_or_else(wrong)
}

pub fn wrong() -> Failure {
    Failure::Fatal("a thread's job does not fit its arena: the plan is wrong".into())
}

/// The arrays that a mix goes through, and how far it has come.
struct Arrays<'m> {
    read: [&'m [u8]; 2],
    write: &'m mut [u8],
    place: Place<'m>,
}

/// Where in its arrays a stream begins.
enum Place<'m> {
    /// Where the last block ended, not at the beginning: that may still be in a cache.
    Kept(&'m mut usize),
    /// Here, bytes.
    From(usize),
}

impl<'m> Arrays<'m> {
    /// Of a thread's own. The last one is written; a single one is read or written.
    fn chosen(content: &'m mut Content<'_>, mix: Mix) -> Option<Self> {
        let Content::Streams { arrays, place } = content else { return None };
        let (reads, writes) = streams(mix);
        if arrays.len() < reads + writes {
            return None;
        }
        let (back, front) = arrays.split_last_mut()?;
        let (write, read): (&mut [u8], [&[u8]; 2]) = match (writes, front) {
            (1, front) => {
                let array = |at: usize| -> &[u8] { if at < reads { &*front[at] } else { &[] } };
                (&mut **back, [array(0), array(1)])
            }
            (_, []) => (&mut [], [&**back, &[]]),
            (_, front) => (&mut [], [&*front[0], &[]]),
        };
        Some(Self { read, write, place: Place::Kept(place) })
    }

    /// Of one part of a region, cut into arrays of equal length.
    fn cut(part: &'m mut Part<'_>, mix: Mix) -> Option<Self> {
        let (reads, writes) = streams(mix);
        let arrays = reads + writes;
        let each = part.memory.len().checked_sub(GAP * (arrays - 1))? / arrays;
        let each = each - each % LINE;
        let mut rest = &mut *part.memory;
        let mut next = || {
            let (array, behind) = std::mem::take(&mut rest).split_at_mut_checked(each)?;
            rest = behind.get_mut(GAP..).unwrap_or_default();
            Some(array)
        };
        let mut read: [&[u8]; 2] = [&[], &[]];
        for array in read.iter_mut().take(reads) {
            *array = next()?;
        }
        let write = if writes > 0 { next()? } else { &mut [] };
        Some(Self { read, write, place: Place::Kept(&mut part.place) })
    }
}

/// Arrays that a mix reads, and those that it writes.
fn streams(mix: Mix) -> (usize, usize) {
    let shape = mix.shape();
    (shape.read_streams as usize, shape.stores as usize)
}

/// How a thread streams.
#[derive(Clone, Copy)]
struct How {
    mix: Mix,
    isa: Isa,
    block_lines: Option<u32>,
    manner: Manner,
    delay: u32,
}

impl How {
    fn of(job: &Job, terms: Terms<'_>) -> Option<Self> {
        let Job::Stream { mix, isa, block_lines, manner, .. } = *job else { return None };
        let delay = own_delay(job).unwrap_or(terms.task.delay);
        Some(Self { mix, isa, block_lines, manner, delay })
    }

    fn kernel(self) -> Option<Kernel> {
        let Self { mix, manner, .. } = self;
        let lines = if manner.shape(mix).bytes_per_line == 8 { Lines::Partial } else { Lines::Full };
        let walk = self.block_lines.map_or(Walk::Sequential, |block_lines| Walk::BlockRandom { block_lines });
        let kernel = Kernel::find(op(mix), lines, walk, isa_of(self.isa))?;
        let kernel = if manner.checked { kernel.checked() } else { kernel };
        if manner.flush { kernel.flushing() } else { Some(kernel) }
    }
}

/// A delay that doesn't change from block to block.
fn own_delay(job: &Job) -> Option<u32> {
    match job {
        Job::Stream { delay: DelayRef::Fixed(delay), .. } => Some(*delay),
        _ => None,
    }
}

fn stream<'m, 'a: 'm>(
    free: &mut Free<'m, 'a>,
    (arena, part): (ArenaId, Option<u32>),
    how: How,
    terms: Terms<'_>,
) -> Result<Stream<'m>, Failure> {
    let (span, delay) = (terms.span, how.delay);
    let filling = fill::Filling::of(terms.task.plan);
    let first = way(free.arrays(arena, part, how.mix)?, how, (&filling, span))?;
    let second = match how.manner.second {
        Some((arena, percent)) => Some((way(free.arrays(arena, None, how.mix)?, how, (&filling, span))?, u64::from(percent))),
        None => None,
    };
    // About 100 µs to begin with; tuned during warm-up.
    let bursts = (300_000 / (u64::from(delay) + 30)).clamp(1, 256);
    Ok(Stream { way: first, second, bursts, delay, settle: span.is_some_and(|span| span.settle) })
}

fn way<'m>(
    Arrays { read, write, place }: Arrays<'m>,
    how: How,
    (filling, span): (&fill::Filling, Option<Span>),
) -> Result<Way<'m>, Failure> {
    let kernel = how.kernel().ok_or_else(|| {
        let flushing = if how.manner.flush { " that flushes what it stores" } else { "" };
        let detail = format!("no {} loop for {}{flushing} on this CPU", how.mix.name(), how.isa.word());
        Failure::point(Reason::NotSupported, detail)
    })?;
    let (reads, writes) = streams(how.mix);
    let each = span.map_or(usize::MAX, |span| usize::try_from(span.bytes).unwrap_or(usize::MAX) / (reads + writes));
    let read = read.map(|array| whole(array, each, kernel.read_granule()));
    let write = whole_mut(write, each, kernel.write_granule());
    let streams = Streams::new(&kernel, read, write).map_err(|error| Failure::point(Reason::NotApplicable, error))?;
    let (at, place) = match place {
        Place::Kept(place) => (*place, Some(place)),
        Place::From(at) => (at, None),
    };
    let from = |len: usize, granule: usize| (at % len.max(1)).checked_div(granule).map_or(0, |bursts| bursts * granule);
    let cursor = Cursor {
        read: from(streams.read_len(), kernel.read_granule()),
        write: from(streams.write_len(), kernel.write_granule()),
        check: 0,
    };
    // In another order a pass that began in the middle is not the rest of the array.
    let cursor = if how.manner.checked && how.block_lines.is_some() { Cursor::default() } else { cursor };
    let audit = how.manner.checked.then(|| Audit::new(filling, streams.read_len(), cursor.read));
    Ok(Way { kernel, streams, cursor, place, audit, bursts: 0 })
}

/// As many whole granules as `most` bytes of the array hold.
fn whole(array: &[u8], most: usize, granule: usize) -> &[u8] {
    let len = array.len().min(most);
    &array[..len - len % granule.max(1)]
}

fn whole_mut(array: &mut [u8], most: usize, granule: usize) -> &mut [u8] {
    let len = array.len().min(most);
    &mut array[..len - len % granule.max(1)]
}

/// The loop of a mix. Two mixes whose names differ may be one loop: MLC's W2 is a copy.
fn op(mix: Mix) -> Op {
    match mix {
        Mix::Read => Op::Read,
        Mix::Write | Mix::R1W1 | Mix::WritePartial => Op::Write,
        Mix::WriteNt | Mix::W1Nt => Op::WriteNt,
        Mix::Copy | Mix::R2W1 => Op::Copy,
        Mix::CopyNt | Mix::R1W1Nt => Op::CopyNt,
        Mix::Scale => Op::Scale,
        Mix::ScaleNt => Op::ScaleNt,
        Mix::Add => Op::Add,
        Mix::AddNt => Op::AddNt,
        Mix::Triad | Mix::R3W1Two => Op::Triad,
        Mix::TriadNt | Mix::R2W1NtTwo => Op::TriadNt,
        Mix::R3W1 => Op::Load2Store1,
        Mix::R2W1Nt => Op::Load2Store1Nt,
        Mix::R4W1 => Op::Load3Store1,
        Mix::R3W1Nt => Op::Load3Store1Nt,
        Mix::R9W1 => Op::Load8Store1,
    }
}

fn isa_of(isa: Isa) -> kernels::Isa {
    match isa {
        Isa::Portable => kernels::Isa::Portable,
        Isa::Sse2 => kernels::Isa::Sse2,
        Isa::Avx2 => kernels::Isa::Avx2,
        Isa::Avx512 => kernels::Isa::Avx512,
        Isa::Neon => kernels::Isa::Neon,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a mix says of itself and what its loop does are the same.
    #[test]
    fn accounting_agrees_with_the_mix() {
        for mix in Mix::all() {
            let shape = mix.shape();
            let lines = if shape.bytes_per_line == 8 { Lines::Partial } else { Lines::Full };
            let isas = [kernels::Isa::best(), kernels::Isa::Portable];
            let Some(kernel) = isas.into_iter().find_map(|isa| Kernel::find(op(mix), lines, Walk::Sequential, isa)) else {
                panic!("no loop for {}", mix.name());
            };
            let moved = kernel.accounting();
            let steps = kernels::stream::BURST_LINES as u64;
            assert_eq!(moved.bytes_loaded + moved.bytes_stored, u64::from(shape.app_bytes()) * steps, "{}", mix.name());
            assert_eq!(moved.lines_loaded, u64::from(shape.loads) * steps, "{}", mix.name());
            assert_eq!(moved.lines_stored, u64::from(shape.stores) * steps, "{}", mix.name());
            assert_eq!(u32::from(moved.read_streams), shape.read_streams, "{}", mix.name());
            assert_eq!(moved.nt, shape.nt, "{}", mix.name());
        }
    }
}
