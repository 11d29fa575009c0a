//! What the threads of a point work on.

use memgauge_model::{Arena, Cpu, CpuList, Holds, Isa, Job, Machine, Mix, NodeId, Order, Plan, Point};
use std::collections::BTreeSet;

/// The thread of a point that chases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Chaser<'a> {
    pub cpu: Cpu,
    pub arena: &'a Arena,
    /// Bytes that the ring spans.
    pub bytes: u64,
    pub order: Order,
    pub stride: u64,
    /// Nodes of a window, where not the usual ones.
    pub block: Option<u32>,
}

/// The threads of a point that stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Streams<'a> {
    pub cpus: CpuList,
    pub mix: Mix,
    pub isa: Isa,
    pub block_lines: Option<u32>,
    /// Are 8 bytes of each line used?
    pub partial: bool,
    /// Is each stored line flushed?
    pub flush: bool,
    /// Do all threads read one buffer?
    pub shared: bool,
    /// Were buffers filled with patterns of the user's?
    pub filled: bool,
    /// By thread.
    pub mixes: Vec<Mix>,
    /// Bytes of all arrays of one thread that the point works on, where that is not all of them: a span, or a part of a region.
    pub span: Option<u64>,
    /// By thread: CPU and arena.
    pub by_thread: Vec<(Cpu, &'a Arena)>,
}

impl Streams<'_> {
    /// Bytes of one array of the first thread, or of its whole working set where the point has a span: all threads have the same.
    pub fn bytes(&self) -> u64 {
        if let Some(bytes) = self.span {
            return bytes;
        }
        self.by_thread.first().map_or(0, |(_, arena)| span(arena))
    }

    /// By thread: CPU and the bytes that this mix touches. An arena may hold more arrays, for other mixes.
    pub fn touched(&self) -> Vec<(Cpu, u64)> {
        let all = |arena, mix: &Mix| {
            let arrays = u64::from(mix.shape().streams());
            self.span.unwrap_or_else(|| span(arena).saturating_mul(arrays))
        };
        let threads = self.by_thread.iter().zip(&self.mixes);
        // What all read is there once.
        threads
            .enumerate()
            .map(|(at, ((cpu, arena), mix))| (*cpu, if self.shared && at > 0 { 0 } else { all(arena, mix) }))
            .collect()
    }

    /// Do all threads stream the same mix?
    pub fn alike(&self) -> bool {
        self.mixes.iter().all(|mix| *mix == self.mix)
    }

    /// Are these the same threads, each on the same node's memory?
    pub fn placed_like(&self, other: &Self) -> bool {
        let places = |streams: &Self| -> BTreeSet<(Cpu, NodeId)> {
            streams.by_thread.iter().map(|(cpu, arena)| (*cpu, arena.node)).collect()
        };
        places(self) == places(other)
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.by_thread.len()
    }
}

/// The chasing thread, timed or not.
pub(crate) fn chaser<'a>(plan: &'a Plan, point: &Point) -> Option<Chaser<'a>> {
    point.threads.iter().find_map(|thread| {
        let (Job::Chase { arena, ring } | Job::TimedChase { arena, ring }) = thread.job else { return None };
        let arena = plan.arenas.get(arena)?;
        let Holds::Chase { bytes, rings } = &arena.holds else { return None };
        let ring = rings.get(ring)?;
        let bytes = point.measure.span().map_or(ring.spans(*bytes), |span| span.bytes);
        Some(Chaser { cpu: thread.cpu, arena, bytes, order: ring.order, stride: ring.stride, block: ring.block })
    })
}

/// The streaming threads; none where no thread streams.
pub(crate) fn streams<'a>(plan: &'a Plan, point: &Point) -> Option<Streams<'a>> {
    let mut found: Option<Streams<'a>> = None;
    for thread in &point.threads {
        let Job::Stream { arena: id, part, mix, isa, block_lines, manner, .. } = thread.job else { continue };
        let arena = plan.arenas.get(id)?;
        let all = found.get_or_insert_with(|| {
            let span = point.measure.span().map(|span| span.bytes).or(arena.holds.part());
            let users = point.threads.iter().flat_map(|thread| thread.job.arenas()).filter(|arena| *arena == id);
            Streams {
                cpus: CpuList::default(),
                mix,
                isa,
                block_lines,
                partial: manner.partial,
                flush: manner.flush,
                shared: part.is_none() && users.count() > 1,
                filled: !plan.request.fill.is_empty(),
                mixes: Vec::new(),
                span,
                by_thread: Vec::new(),
            }
        });
        all.mixes.push(mix);
        all.by_thread.push((thread.cpu, arena));
    }
    if let Some(all) = &mut found {
        all.cpus = all.by_thread.iter().map(|(cpu, _)| *cpu).collect();
    }
    found
}

/// Is a thread of this point there only to keep the uncore awake?
pub(crate) fn keeps_alive(point: &Point) -> bool {
    point.threads.iter().any(|thread| thread.job == Job::KeepAlive)
}

/// Bytes of one ring, one array or one region.
pub(crate) fn span(arena: &Arena) -> u64 {
    match arena.holds {
        Holds::Chase { bytes, .. } | Holds::Streams { bytes, .. } | Holds::Region { bytes, .. } | Holds::C2c { bytes, .. } => {
            bytes
        }
    }
}

/// The last-level cache that these CPUs and this node's memory have between them.
pub(crate) fn llc(machine: &Machine, cpus: &CpuList, node: NodeId) -> Option<u64> {
    machine.llc_bytes(cpus, Some(node))
}
