//! A plan in the making: points whose arenas have a purpose but no size yet.
//!
//! Points share arenas wherever nothing speaks against it: every arena is mapped, touched and linked anew in each round,
//! and that is most of a run's time.

use crate::choices::{ChaseKind, Choices};
use crate::roles::Roles;
use crate::site::Site;
use crate::timing::Timing;
use crate::traffic;
use memgauge_model::{
    ArenaId, Cpu, CpuList, CurvePlan, DelayRef, Job, MapPlan, Measure, Missing, Mix, NodeId, Pages, Point, PointId, Reason,
    Request, RingPlan, ScanPlan, Search, Thread, What,
};
use std::collections::{BTreeMap, BTreeSet};

/// What an arena is for, before it has a size.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Need {
    /// A chase.
    Chase { rings: Vec<RingPlan> },
    /// Streams of one thread.
    Streams { streams: u32 },
    /// A window of lines, of this many bytes.
    C2c { bytes: u64, push: u64 },
    /// A region of this many bytes, whole pages, that several threads stream through.
    Region { parts: u32, bytes: u64 },
}

/// An arena without a size.
#[derive(Debug, Clone)]
pub(crate) struct Sketch {
    pub node: NodeId,
    pub pages: Pages,
    pub toucher: Cpu,
    pub need: Need,
    /// The largest cache that it can hide in, over the threads that use it (one after the other).
    pub llc: Option<u64>,
    /// Its automatic size, where no rule but a sweep's largest working set decides it.
    pub ends_at: Option<u64>,
    /// Its size, where its own was asked for.
    pub exact: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Chase(NodeId, Pages, u64),
    Streams(NodeId, usize),
    C2c(NodeId),
    Slots(NodeId),
    Region(NodeId, u32),
    Shared(NodeId),
    Assigned(Cpu, bool),
}

/// A plan in the making.
pub(crate) struct Draft<'a> {
    pub request: &'a Request,
    pub site: &'a Site<'a>,
    pub roles: &'a Roles,
    pub choices: &'a Choices,
    pub timing: &'a Timing,
    pub points: Vec<Point>,
    pub sketches: Vec<Sketch>,
    pub curves: Vec<CurvePlan>,
    pub searches: Vec<Search>,
    pub scans: Vec<ScanPlan>,
    pub map: Option<MapPlan>,
    /// One line each, of what the points themselves decided.
    pub notes: Vec<String>,
    pub unavailable: Vec<Missing>,
    /// By how many octaves a sweep ends earlier than it should, for want of memory.
    pub octaves_less: u32,
    keys: BTreeMap<Key, ArenaId>,
}

impl<'a> Draft<'a> {
    pub fn new(request: &'a Request, site: &'a Site<'a>, roles: &'a Roles, choices: &'a Choices, timing: &'a Timing) -> Self {
        Self {
            request,
            site,
            roles,
            choices,
            timing,
            points: Vec::new(),
            sketches: Vec::new(),
            curves: Vec::new(),
            searches: Vec::new(),
            scans: Vec::new(),
            map: None,
            notes: Vec::new(),
            unavailable: Vec::new(),
            octaves_less: 0,
            keys: BTreeMap::new(),
        }
    }

    /// Adds a point. In a guest, one with several threads that move data carries the pair that tells the placement class.
    pub fn point(&mut self, measure: Measure, threads: Vec<Thread>, time_ns: u64) -> PointId {
        let mut moving = threads.iter().filter(|thread| thread.job != Job::KeepAlive).map(|thread| thread.cpu);
        let pair = moving.next().zip(moving.next()).filter(|(a, b)| a != b && self.site.machine.is_guest());
        self.points.push(Point { measure, threads, time_ns, quota: None, class_pair: pair, brief: None });
        self.points.len() - 1
    }

    /// Adds a point that is measured briefly, in the first `rounds` rounds.
    pub fn brief_point(&mut self, measure: Measure, threads: Vec<Thread>, time_ns: u64, rounds: u32) {
        let point = self.point(measure, threads, time_ns);
        self.points[point].brief = Some(rounds);
    }

    /// A chase by `cpu` over memory of `node`: the arena and the ring's place in it.
    pub fn chase(&mut self, cpu: Cpu, node: NodeId, kind: ChaseKind) -> (ArenaId, usize) {
        self.ring(cpu, node, kind, false)
    }

    /// The same for working sets of up to `largest` bytes, over each of which the ring is linked when its turn comes.
    pub fn growing_chase(&mut self, cpu: Cpu, node: NodeId, kind: ChaseKind, largest: u64) -> (ArenaId, usize) {
        let (arena, ring) = self.ring(cpu, node, kind, true);
        self.sketches[arena].ends_at = Some(largest);
        (arena, ring)
    }

    fn ring(&mut self, cpu: Cpu, node: NodeId, kind: ChaseKind, grows: bool) -> (ArenaId, usize) {
        let toucher = self.chase_toucher(cpu, node, kind.pages);
        let sketch = Sketch {
            node,
            pages: kind.pages,
            toucher,
            need: Need::Chase { rings: Vec::new() },
            llc: None,
            ends_at: None,
            exact: None,
        };
        let arena = self.arena(Key::Chase(node, kind.pages, kind.stride), sketch, &[cpu]);
        let ring =
            self.ring_in(arena, RingPlan { order: kind.order, stride: kind.stride, grows, bytes: None, block: kind.block });
        (arena, ring)
    }

    /// The ring's place in a chase's arena. Strides of whole lines can stand side by side.
    pub fn ring_in(&mut self, arena: ArenaId, wanted: RingPlan) -> usize {
        let Need::Chase { rings } = &mut self.sketches[arena].need else { return 0 };
        rings.iter().position(|ring| *ring == wanted).unwrap_or_else(|| {
            rings.push(wanted);
            rings.len() - 1
        })
    }

    /// The same, unless a figure has that ring already, through all of the arena.
    pub fn ring_or_longer(&mut self, arena: ArenaId, wanted: RingPlan) -> usize {
        let whole = RingPlan { bytes: None, ..wanted };
        let has_whole = matches!(&self.sketches[arena].need, Need::Chase { rings } if rings.contains(&whole));
        self.ring_in(arena, if has_whole { whole } else { wanted })
    }

    /// Threads that stream `mix`, each through an arena of its own on its node.
    pub fn streams(&mut self, threads: &[(Cpu, NodeId)], mix: Mix, delay: DelayRef) -> Vec<Thread> {
        let slots = self.slots(threads);
        let (isa, block_lines, manner) = (self.choices.isa, self.choices.block_lines, traffic::manner(self.request, mix));
        let placed = threads.iter().zip(slots).map(|(&(cpu, node), slot)| {
            let streams = mix.shape().streams().max(1);
            let pages = self.choices.pages;
            let toucher = self.stream_toucher(cpu, node, slot);
            let shared = self.request.shared_buffer;
            let sketch = Sketch { node, pages, toucher, need: Need::Streams { streams }, llc: None, ends_at: None, exact: None };
            let key = if shared { Key::Shared(node) } else { Key::Streams(node, slot) };
            let arena = self.arena(key, sketch, &[cpu]);
            if shared {
                // What all read shall be in the cache that they share.
                self.sketches[arena].ends_at = Some(traffic::shared_bytes(self.sketches[arena].llc));
            }
            if let Need::Streams { streams: have } = &mut self.sketches[arena].need {
                *have = (*have).max(streams);
            }
            Thread { cpu, job: Job::Stream { arena, part: None, mix, isa, block_lines, delay, manner } }
        });
        placed.collect()
    }

    /// An arena of its own for a thread, of just this size; the second one of a thread that has two.
    pub fn assigned(&mut self, (cpu, node): (Cpu, NodeId), streams: u32, bytes: u64, second: bool) -> ArenaId {
        let toucher = self.stream_toucher(cpu, node, 0);
        let toucher = if self.site.node_of(cpu) == Some(node) { cpu } else { toucher };
        let pages = self.choices.pages;
        let sketch =
            Sketch { node, pages, toucher, need: Need::Streams { streams }, llc: None, ends_at: None, exact: Some(bytes) };
        self.arena(Key::Assigned(cpu, second), sketch, &[cpu])
    }

    /// A region of a scan, of whole pages.
    pub fn region(&mut self, node: NodeId, number: u32, pages: Pages, bytes: u64, readers: &[Cpu]) -> ArenaId {
        let toucher = readers.get(number as usize % readers.len().max(1)).copied().unwrap_or(self.roles.observer);
        let need = Need::Region { parts: u32::try_from(readers.len()).unwrap_or(u32::MAX), bytes };
        let sketch = Sketch { node, pages, toucher, need, llc: None, ends_at: None, exact: None };
        self.arena(Key::Region(node, number), sketch, readers)
    }

    /// The arenas of these threads hold working sets of up to `largest` bytes.
    pub fn ends_at(&mut self, threads: &[Thread], largest: u64) {
        for thread in threads {
            if let Job::Stream { arena, .. } = thread.job {
                self.sketches[arena].ends_at = Some(largest);
            }
        }
    }

    /// The window of lines whose home is `node`, not larger than `bytes`, with at least `push` bytes behind it.
    pub fn window(&mut self, node: NodeId, (writer, reader): (Cpu, Cpu), bytes: u64, push: u64) -> ArenaId {
        let toucher = self.request.touch_cpu.or(self.site.local_cpus(node).first()).unwrap_or(writer);
        let need = Need::C2c { bytes, push };
        let sketch = Sketch { node, pages: self.choices.small_pages, toucher, need, llc: None, ends_at: None, exact: None };
        let arena = self.arena(Key::C2c(node), sketch, &[writer, reader]);
        if let Need::C2c { bytes: have, push: pushed } = &mut self.sketches[arena].need {
            (*have, *pushed) = ((*have).min(bytes), (*pushed).max(push));
        }
        arena
    }

    /// Slots of lines whose home is `node`, `bytes` in all, for transfers that go on at once.
    pub fn slots_of_lines(&mut self, node: NodeId, bytes: u64, users: &[Cpu]) -> ArenaId {
        let toucher = self.site.local_cpus(node).first().or(users.first().copied()).unwrap_or(self.roles.observer);
        let need = Need::C2c { bytes, push: 0 };
        let sketch = Sketch { node, pages: self.choices.small_pages, toucher, need, llc: None, ends_at: None, exact: None };
        self.arena(Key::Slots(node), sketch, users)
    }

    /// Says that a figure can't be had.
    pub fn missing(&mut self, name: &str, labels: &[(&str, String)], detail: &str, remedy: &str) {
        self.unavailable.push(Missing {
            name: name.to_owned(),
            labels: labels.iter().map(|(label, value)| ((*label).to_owned(), value.clone())).collect(),
            reason: Reason::NotApplicable,
            detail: detail.to_owned(),
            remedy: remedy.to_owned(),
        });
    }

    /// Is any point led by the observer?
    pub fn has_observer(&self) -> bool {
        matches!(self.request.what, What::All | What::Idle | What::Loaded | What::Sweep) && !self.request.no_observer
    }

    /// Does any curve load?
    pub fn has_loads(&self) -> bool {
        !self.curves.is_empty()
    }

    fn arena(&mut self, key: Key, sketch: Sketch, users: &[Cpu]) -> ArenaId {
        let node = sketch.node;
        let arena = *self.keys.entry(key).or_insert_with(|| {
            self.sketches.push(sketch);
            self.sketches.len() - 1
        });
        let reach = users.iter().filter_map(|cpu| self.site.llc(*cpu, node)).max();
        self.sketches[arena].llc = self.sketches[arena].llc.max(reach);
        arena
    }

    /// A place for each thread among its node's stream arenas. CPUs of the node have places of their own; others take those
    /// that are left, so that a matrix's cells share the memory of their columns.
    fn slots(&self, threads: &[(Cpu, NodeId)]) -> Vec<usize> {
        let own = |cpu: Cpu, node: NodeId| self.site.place_of(cpu).filter(|_| self.site.node_of(cpu) == Some(node));
        let taken: BTreeSet<(NodeId, usize)> = threads.iter().filter_map(|&(cpu, node)| Some((node, own(cpu, node)?))).collect();
        let mut next: BTreeMap<NodeId, usize> = BTreeMap::new();
        let place = threads.iter().map(|&(cpu, node)| {
            own(cpu, node).unwrap_or_else(|| {
                let next = next.entry(node).or_default();
                while taken.contains(&(node, *next)) {
                    *next += 1;
                }
                *next += 1;
                *next - 1
            })
        });
        place.collect()
    }

    fn stream_toucher(&self, cpu: Cpu, node: NodeId, slot: usize) -> Cpu {
        let own = self.site.own_cpus(node);
        let near: CpuList = if own.is_empty() { self.site.local_cpus(node) } else { CpuList::default() };
        let mut near = near.iter();
        match own.len().max(near.len()) {
            0 => cpu,
            count if own.is_empty() => near.nth(slot % count).unwrap_or(cpu),
            count => own[slot % count],
        }
    }

    /// The chaser itself where it is near; its base-page arenas go to a neighbour, since several CPUs prepare side by side.
    fn chase_toucher(&self, cpu: Cpu, node: NodeId, pages: Pages) -> Cpu {
        if let Some(toucher) = self.request.touch_cpu {
            return toucher;
        }
        let near = self.site.local_cpus(node);
        let neighbour = || near.iter().find(|other| !self.site.same_core(*other, cpu));
        let first = if near.contains(cpu) { Some(cpu) } else { near.first() };
        if pages == Pages::Base && self.choices.pages != Pages::Base { neighbour().or(first) } else { first }.unwrap_or(cpu)
    }
}
