//! What the threads of a point get from the machine when nothing scatters: the truth that estimates are held against.

use crate::simulated::caches::{shares, translation_ns};
use crate::simulated::description::Description;
use crate::simulated::faults::Fault;
use crate::simulated::flows::{Bottleneck, Flow, settle};
use crate::simulated::layout::{Layout, Place, Shared};
use memgauge_model::{Arena, DelayRef, Holds, Job, Measure, Order, Pages, Plan, Point, RingPlan, Thread};
use std::collections::BTreeMap;

const LINE: f64 = 64.0;
/// Of a stream's lines in flight, those that are left when no prefetcher knows the next ones.
const UNFETCHED: f64 = 0.5;
/// A burst of a stream: four lines.
const BURST: f64 = 256.0;

/// What a point's threads get.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    /// Of the chase, ns a hop; none where nothing chases.
    pub latency_ns: Option<f64>,
    /// Application bytes a second of the streams together.
    pub load_bytes_per_s: f64,
    /// The same by stream.
    pub by_thread: Vec<f64>,
}

impl Expected {
    /// Application bytes a second, those of the chase included.
    #[must_use]
    pub fn bytes_per_s(&self) -> f64 {
        self.load_bytes_per_s + self.latency_ns.map_or(0.0, |ns| LINE * 1e9 / ns)
    }
}

/// What this point's threads get at this delay, core cycles; none where the plan names what the machine doesn't have.
pub fn expected(description: &Description, layout: &Layout, plan: &Plan, point: &Point, delay: u32) -> Option<Expected> {
    let scene = Scene { description, layout, plan, point, delay, active: Active::of(layout, point) };
    let mut shared = BTreeMap::new();
    let mut flows: Vec<(Flow, bool, f64)> = Vec::new();
    // Of each stream: which flow is its own.
    let mut own = Vec::new();
    for thread in &point.threads {
        let Some(asked) = scene.flow(thread)? else { continue };
        let flow = asked.indexed(&mut shared);
        let (chases, written) = (thread.job.chases(), asked.written);
        let at = flows.iter().position(|(known, of_chase, _)| *of_chase == chases && alike(known, &flow));
        match at {
            Some(at) => flows[at].0.threads += 1.0,
            None => flows.push((flow, chases, written)),
        }
        own.extend((!chases).then(|| at.unwrap_or(flows.len() - 1)));
    }
    let bottlenecks = scene.bottlenecks(&shared, &flows)?;
    let plain: Vec<Flow> = flows.iter().map(|(flow, ..)| flow.clone()).collect();
    let rates = settle(&plain, &bottlenecks);
    let mut found = Expected { by_thread: own.iter().map(|at| rates[*at]).collect(), ..Expected::default() };
    for ((flow, chases, _), rate) in flows.iter().zip(rates) {
        if *chases {
            let asleep = if scene.sleeps() { description.sleep_ns } else { 0.0 };
            found.latency_ns = Some(scene.prefetched(LINE * 1e9 / rate + asleep));
        } else {
            found.load_bytes_per_s += flow.threads * rate;
        }
    }
    Some(found)
}

fn alike(one: &Flow, other: &Flow) -> bool {
    Flow { threads: 1.0, ..one.clone() } == *other
}

/// A point and the machine that it runs on.
struct Scene<'a> {
    description: &'a Description,
    layout: &'a Layout,
    plan: &'a Plan,
    point: &'a Point,
    delay: u32,
    active: Active,
}

/// Threads of a point that stream, by what they share.
#[derive(Default)]
struct Active {
    core: BTreeMap<usize, f64>,
    l2: BTreeMap<usize, f64>,
    l3: BTreeMap<usize, f64>,
}

impl Active {
    fn of(layout: &Layout, point: &Point) -> Self {
        let mut active = Self::default();
        let streams = point.threads.iter().filter(|thread| matches!(thread.job, Job::Stream { .. }));
        for place in streams.filter_map(|thread| layout.place(thread.cpu)) {
            *active.core.entry(place.core).or_default() += 1.0;
            *active.l2.entry(place.l2).or_default() += 1.0;
            *active.l3.entry(place.l3).or_default() += 1.0;
        }
        active
    }

    /// At a place: on its core, under its L2, under its L3; a thread alone counts itself.
    fn at(&self, place: Place) -> [f64; 3] {
        let of = |counts: &BTreeMap<usize, f64>, at| counts.get(&at).copied().unwrap_or(1.0);
        [of(&self.core, place.core), of(&self.l2, place.l2), of(&self.l3, place.l3)]
    }
}

/// A thread's flow, with shared things by name.
struct Asked {
    flow: Flow,
    moves: Vec<(Shared, f64)>,
    queues: Vec<(Shared, f64)>,
    /// Of what it moves, the share that is written.
    written: f64,
}

impl Asked {
    /// The flow, with shared things by their number.
    fn indexed(&self, shared: &mut BTreeMap<Shared, usize>) -> Flow {
        let mut number = |of: &[(Shared, f64)]| {
            let numbered = of.iter().map(|(thing, weight)| {
                let next = shared.len();
                (*shared.entry(*thing).or_insert(next), *weight)
            });
            numbered.collect::<Vec<_>>()
        };
        let (moves, queues) = (number(&self.moves), number(&self.queues));
        Flow { moves, queues, ..self.flow.clone() }
    }
}

impl Scene<'_> {
    /// What the thread asks for; the inner none is a thread that moves nothing.
    fn flow(&self, thread: &Thread) -> Option<Option<Asked>> {
        let place = self.layout.place(thread.cpu)?;
        match thread.job {
            Job::Chase { arena, ring } | Job::TimedChase { arena, ring } => {
                self.chase(place, self.plan.arenas.get(arena)?, ring).map(Some)
            }
            Job::Stream { arena, .. } => self.stream(place, self.plan.arenas.get(arena)?, &thread.job).map(Some),
            Job::KeepAlive | Job::C2c { .. } => Some(None),
        }
    }

    fn chase(&self, place: Place, arena: &Arena, ring: usize) -> Option<Asked> {
        let Holds::Chase { bytes, rings } = &arena.holds else { return None };
        let ring = rings.get(ring)?;
        let bytes = self.point.measure.span().map_or(ring.spans(*bytes), |span| span.bytes) as f64;
        let kind = self.layout.kind(place);
        let l3 = self.description.l3;
        // Beside streams it keeps nothing anyway.
        let [first, second, third, memory] = shares(bytes, self.sizes(place, [1.0; 3]));
        let beside_ns = first * kind.l1.ns
            + second * kind.l2.ns
            + third * l3.map_or(0.0, |l3| l3.ns)
            + translation_ns(&self.description.pages, ring, bytes, self.page_bytes(arena));
        let flow = Flow {
            threads: 1.0,
            lines: 1.0,
            pace: f64::INFINITY,
            beside_s: beside_ns / 1e9 / LINE,
            waits_for: memory / LINE,
            ..empty()
        };
        self.routed(place, &[(arena, 1.0)], flow, (memory, 0.0))
    }

    fn stream(&self, place: Place, arena: &Arena, job: &Job) -> Option<Asked> {
        let Job::Stream { arena: id, mix, manner, block_lines, delay, .. } = *job else { return None };
        let shape = manner.shape(mix);
        let places = if manner.second.is_some() { 2 } else { 1 };
        let whole = match arena.holds {
            Holds::Streams { bytes, .. } => bytes * u64::from(shape.streams()) * places,
            // Its part, which its arrays share.
            _ => arena.holds.part()?,
        };
        let delay = match delay {
            DelayRef::Fixed(own) => own,
            DelayRef::Slot(_) => self.delay,
        };
        let readers = self.point.threads.iter().filter(|thread| thread.job.arenas().any(|arena| arena == id)).count();
        let touched = self.point.measure.span().map_or(whole, |span| span.bytes) as f64;
        let shared = readers > 1 && arena.holds.part().is_none();
        let kind = self.layout.kind(place);
        let sharers = self.active.at(place);
        let on_core = sharers[0];
        // What all read is there once, however many they are.
        let beside = if shared { [1.0; 3] } else { sharers };
        let [first, second, third, memory] = match manner.flush {
            true => [0.0, 0.0, 0.0, 1.0],
            false => shares(touched, self.sizes(place, beside)),
        };
        let own = |gb_per_s: f64| on_core / (gb_per_s * 1e9);
        let beside_s = first * own(kind.l1.gb_per_s)
            + second * own(kind.l2.gb_per_s)
            + third * self.description.l3.map_or(0.0, |l3| own(l3.gb_per_s));
        let app = f64::from(shape.app_bytes());
        let (loads, stores) = (f64::from(shape.loads), f64::from(shape.stores));
        let unread = match (shape.nt, shape.bytes_per_line) {
            (true, 64) => 1.0,
            (false, 64) => self.description.stores_without_read,
            // A part of a line can't be stored without the rest.
            _ => 0.0,
        };
        let (read, written) = (loads + stores * (1.0 - unread), stores);
        let burst = BURST * app / LINE;
        let flow = Flow {
            threads: 1.0,
            lines: kind.lines / on_core * if block_lines.is_some() { UNFETCHED } else { 1.0 },
            pace: burst * kind.ghz * 1e9 / (f64::from(delay) + kind.burst_cycles * (loads + stores)),
            beside_s,
            waits_for: memory * (loads + stores) / app,
            ..empty()
        };
        let away = manner.second.and_then(|(arena, percent)| Some((self.plan.arenas.get(arena)?, f64::from(percent) / 100.0)));
        let at = match away {
            Some((second, share)) => vec![(arena, 1.0 - share), (second, share)],
            None => vec![(arena, 1.0)],
        };
        self.routed(place, &at, flow, (memory * read * LINE / app, memory * written * LINE / app))
    }

    /// Sends what a thread reads and writes, bytes an application byte, to where the pages of its arenas are; each has its share.
    fn routed(&self, place: Place, at: &[(&Arena, f64)], flow: Flow, (read, written): (f64, f64)) -> Option<Asked> {
        let mut asked = Asked { flow, moves: Vec::new(), queues: Vec::new(), written: written / (read + written).max(1e-30) };
        let mut everywhere = Vec::new();
        for (arena, part) in at {
            everywhere.extend(self.whereabouts(arena)?.into_iter().map(|(node, share)| (node, part * share)));
        }
        for (node, share) in everywhere {
            let path = self.layout.path(place.node, node);
            asked.flow.idle_s += share * self.layout.memory_ns(place.node, node) / 1e9;
            let reads = path.reads.iter().map(|thing| (*thing, share * read));
            let writes = path.writes.iter().map(|thing| (*thing, share * written));
            asked.moves.extend(reads.chain(writes).filter(|(_, bytes)| *bytes > 0.0));
            asked.queues.extend(path.reads.iter().map(|thing| (*thing, share)));
        }
        Some(asked)
    }

    /// The nodes that hold an arena's pages, with their shares.
    fn whereabouts(&self, arena: &Arena) -> Option<Vec<(usize, f64)>> {
        let asked = self.layout.node(arena.node)?;
        let lost = self.description.faults.iter().find_map(|fault| match *fault {
            Fault::Misplaced { node, on, share } if node == arena.node => Some((self.layout.node(on)?, share)),
            _ => None,
        });
        Some(lost.map_or_else(|| vec![(asked, 1.0)], |(on, share)| vec![(asked, 1.0 - share), (on, share)]))
    }

    /// What a thread has of each level of cache, bytes, when so many share them.
    fn sizes(&self, place: Place, [on_core, under_l2, under_l3]: [f64; 3]) -> [f64; 3] {
        let kind = self.layout.kind(place);
        let l3 = self.description.l3.map_or(0.0, |l3| l3.mib as f64 * 1_048_576.0);
        [kind.l1.kib as f64 * 1024.0 / on_core, kind.l2.kib as f64 * 1024.0 / under_l2, l3 / under_l3]
    }

    fn page_bytes(&self, arena: &Arena) -> f64 {
        let lost = |fault: &Fault| matches!(fault, Fault::SmallPages { node } if *node == arena.node);
        let base = self.description.pages.base_kib as f64 * 1024.0;
        let small = arena.pages == Pages::Base || self.description.faults.iter().any(lost);
        if small { base } else { arena.page_bytes as f64 }
    }

    /// Does nothing but the chase keep the chip awake?
    fn sleeps(&self) -> bool {
        self.point.threads.len() == 1 && !matches!(self.point.measure, Measure::PrefetchProbe)
    }

    /// What prefetchers make of the chase's latency: what is left beyond the first level.
    fn prefetched(&self, latency_ns: f64) -> f64 {
        let chaser = self.point.threads.iter().find_map(|thread| match thread.job {
            Job::Chase { arena, ring } | Job::TimedChase { arena, ring } => {
                Some((self.layout.place(thread.cpu)?, ring_of(self.plan, arena, ring)?))
            }
            _ => None,
        });
        let Some((place, ring)) = chaser else { return latency_ns };
        let factor = match ring.order {
            Order::Sequential => self.description.prefetch.streaming,
            Order::WindowRandom if ring.stride < 128 => self.description.prefetch.spatial,
            Order::WindowRandom | Order::SplitRandom | Order::FullRandom => 1.0,
        };
        let near = self.layout.kind(place).l1.ns;
        if latency_ns > near { near + (latency_ns - near) * factor } else { latency_ns }
    }

    /// Capacities and queues of what these flows share.
    fn bottlenecks(&self, shared: &BTreeMap<Shared, usize>, flows: &[(Flow, bool, f64)]) -> Option<Vec<Bottleneck>> {
        let mut all: Vec<(usize, Bottleneck)> = Vec::new();
        for (thing, at) in shared {
            let found = match *thing {
                Shared::Memory(node) => self.channels(node, written(*at, flows))?,
                Shared::Link(link, ..) => {
                    let link = self.description.links.get(link)?;
                    Bottleneck { capacity: link.gb_per_s * 1e9, queue_s: link.queue_ns / 1e9 }
                }
            };
            all.push((*at, found));
        }
        all.sort_by_key(|(at, _)| *at);
        Some(all.into_iter().map(|(_, bottleneck)| bottleneck).collect())
    }

    fn channels(&self, node: usize, written: f64) -> Option<Bottleneck> {
        let place = &self.layout.nodes[node];
        let memory = place.memory.as_ref()?;
        let slowest = self.description.faults.iter().filter_map(|fault| match *fault {
            Fault::SlowChannel { node, speed } if node == place.id => Some(speed),
            _ => None,
        });
        let turning = memory.turnaround * 4.0 * written * (1.0 - written);
        let reached = memory.efficiency * (1.0 - turning) * slowest.fold(1.0, f64::min);
        Some(Bottleneck {
            capacity: f64::from(memory.channels) * memory.gb_per_s * 1e9 * reached,
            queue_s: memory.queue_ns / 1e9,
        })
    }
}

/// The share of writes in what these flows send to a memory, by their lines in flight.
fn written(at: usize, flows: &[(Flow, bool, f64)]) -> f64 {
    let there = flows.iter().filter(|(flow, ..)| flow.moves.iter().any(|(shared, _)| *shared == at));
    let weights = there.map(|(flow, _, written)| (flow.threads * flow.lines, *written));
    let (all, writes) = weights.fold((0.0, 0.0), |(all, writes), (weight, share)| (all + weight, writes + weight * share));
    if all > 0.0 { writes / all } else { 0.0 }
}

fn ring_of(plan: &Plan, arena: usize, ring: usize) -> Option<RingPlan> {
    let Holds::Chase { rings, .. } = &plan.arenas.get(arena)?.holds else { return None };
    rings.get(ring).copied()
}

fn empty() -> Flow {
    Flow {
        threads: 0.0,
        lines: 0.0,
        pace: 0.0,
        beside_s: 0.0,
        waits_for: 0.0,
        idle_s: 0.0,
        moves: Vec::new(),
        queues: Vec::new(),
    }
}
