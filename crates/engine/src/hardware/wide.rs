//! Many transfers at once: disjoint pairs of CPUs, each with lines of its own, started together.

use super::Hardware;
use super::arenas::{Content, Memory};
use super::blocks::wrong;
use super::threads;
use super::timing::ticks_to_ns;
use super::watch::{watched, worst};
use crate::backend::{Failure, Wide, WideTask};
use memgauge_kernels::c2c::{Line, PingOp, PingPong, Window as Lines};
use memgauge_kernels::{Clock, Rng, spin};
use memgauge_model::{ArenaId, C2cKind, Cpu, DisturbanceLimits, Reason, Window};
use memgauge_stats as stats;
use memgauge_sys as sys;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Passes at least and at most.
const PASSES: (u64, u64) = (50, 2000);
/// Round trips of one pass of a ping-pong.
const TRIPS: u64 = 200;
/// Polls for one answer before the partner is given up: some hundred milliseconds.
const PATIENCE: u64 = 100_000_000;
/// Bytes at the end of a slot that a chase hands over by.
const HAND_OVER: usize = 256;
/// All threads are there within this time, or the round is given up.
const GATHER: Duration = Duration::from_secs(10);

/// Runs all pairs of the task together.
pub fn run(hardware: &Hardware, task: &WideTask<'_>, memories: &mut [Memory<'_>], seed: u64) -> Result<Wide, Failure> {
    let mut slots = slots(memories, task.map.slot_bytes)?;
    let places = &task.map.places;
    let passes = passes(task);
    let mut games = Vec::with_capacity(task.pairs.len());
    for (&(writer, reader), at) in task.pairs.iter().zip(0..) {
        let place = &places[writer];
        let memory = slots.remove(&(place.arena, place.slot)).ok_or_else(wrong)?;
        let game = Game::new(memory, task.map.kind, seed.wrapping_add(at), passes)?;
        games.push(((place.cpu, places[reader].cpu), game));
    }
    let gate = Gate { expected: 2 * games.len(), arrived: AtomicUsize::new(0), closed: AtomicBool::new(false) };
    let (clock, hz) = hardware.clock_and_hz();
    let limits = &task.plan.windows.limits;
    let ns = std::thread::scope(|scope| {
        let gate = &gate;
        let started: Vec<_> = games
            .iter()
            .map(|((writing, reading), game)| {
                let part = move |cpu: Cpu, leads: bool| {
                    move || {
                        // Who can't be pinned must be there all the same, or nobody starts.
                        let pinned = sys::cpu::pin_to(cpu).is_ok();
                        let together = gate.pass();
                        let play = || if leads { game.read(clock) } else { game.write().map(|()| Vec::new()) };
                        (pinned && together).then(|| watched(clock, hz, cpu, play))
                    }
                };
                let threads = (threads::spawn(scope, part(*writing, false)), threads::spawn(scope, part(*reading, true)));
                if threads.0.is_err() || threads.1.is_err() {
                    gate.closed.store(true, Ordering::Release);
                }
                (threads, game)
            })
            .collect();
        let finish = |((writer, reader), game): (_, &Game<'_>)| -> Result<Option<(f64, bool)>, Failure> {
            let (writer, reader): (Part<'_>, Part<'_>) = (writer, reader);
            let ended = || Failure::Fatal("a transferring thread ended".into());
            let (wrote, read) = (writer?.join().map_err(|_| ended())?, reader?.join().map_err(|_| ended())?);
            Ok(wrote.zip(read).and_then(|((wrote, writing), (read, reading))| {
                wrote?;
                game.value(&read?, &worst(writing, reading), limits, hz)
            }))
        };
        started.into_iter().map(finish).collect::<Result<Vec<_>, _>>()
    })?;
    if hardware.stop.load(Ordering::Relaxed) {
        return Err(Failure::Stopped);
    }
    Ok(Wide { ns, passes: u32::try_from(passes).unwrap_or(u32::MAX) })
}

type Part<'s> = Result<std::thread::ScopedJoinHandle<'s, Option<(Option<Vec<u64>>, Window)>>, Failure>;

/// Every slot of every arena, by its number.
fn slots<'m>(memories: &'m mut [Memory<'_>], bytes: u64) -> Result<BTreeMap<(ArenaId, u32), &'m mut [u8]>, Failure> {
    let bytes = usize::try_from(bytes).map_err(|_| wrong())?.max(1);
    let mut slots = BTreeMap::new();
    for memory in memories {
        let Content::C2c { lines, .. } = &mut memory.content else { return Err(wrong()) };
        slots.extend(lines.chunks_exact_mut(bytes).zip(0..).map(|(slot, at)| ((memory.id, at), slot)));
    }
    Ok(slots)
}

/// As many as fit into the time; all pairs make the same number, which both sides know beforehand.
fn passes(task: &WideTask<'_>) -> u64 {
    let steps = match task.map.kind {
        C2cKind::Store | C2cKind::Cas => 2 * TRIPS,
        // A hop is written once and read once.
        C2cKind::Hit | C2cKind::Hitm => task.map.slot_bytes / memgauge_kernels::c2c::WINDOW_STRIDE as u64 * 2,
    };
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of passes")]
    let fitting = (task.map.rule.wide_ns as f64 / (task.expected_ns.max(1.0) * steps as f64)) as u64;
    fitting.clamp(PASSES.0, PASSES.1)
}

/// Where all threads wait for each other.
struct Gate {
    expected: usize,
    arrived: AtomicUsize,
    closed: AtomicBool,
}

impl Gate {
    /// Returns when all have come; false if that will not be.
    fn pass(&self) -> bool {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        let begun = Instant::now();
        while self.arrived.load(Ordering::Acquire) < self.expected {
            if self.closed.load(Ordering::Acquire) || begun.elapsed() > GATHER {
                self.closed.store(true, Ordering::Release);
                return false;
            }
            spin::pause();
        }
        true
    }
}

/// One pair's lines.
enum Game<'a> {
    PingPong { line: Line<'a>, op: PingOp, passes: u64 },
    Chase { window: Lines<'a>, hand: Line<'a>, passes: u64 },
}

impl<'a> Game<'a> {
    fn new(memory: &'a mut [u8], kind: C2cKind, seed: u64, passes: u64) -> Result<Self, Failure> {
        let refused = |error: memgauge_kernels::c2c::C2cError| Failure::point(Reason::NotApplicable, error);
        let op = match kind {
            C2cKind::Store => PingOp::Store,
            C2cKind::Cas => PingOp::Cas,
            C2cKind::Hit | C2cKind::Hitm => {
                let (lines, hand) = memory.split_at_mut(memory.len().saturating_sub(HAND_OVER));
                let window = Lines::new(lines, &mut Rng::new(seed)).map_err(refused)?;
                return Ok(Self::Chase { window, hand: Line::new(hand).map_err(refused)?, passes });
            }
        };
        Ok(Self::PingPong { line: Line::new(memory).map_err(refused)?, op, passes })
    }

    /// The owner's part; none if its partner did not answer.
    fn write(&self) -> Option<()> {
        match self {
            Self::PingPong { line, passes, .. } => (0..*passes).try_for_each(|pass| self.burst(pass).follow(line)),
            Self::Chase { window, hand, passes } => (0..*passes).try_for_each(|pass| {
                window.own_modified();
                hand.signal(2 * pass + 1);
                hand.wait(2 * pass + 2, PATIENCE).then_some(())
            }),
        }
    }

    /// The reader's part: ticks of each pass.
    fn read(&self, clock: &Clock) -> Option<Vec<u64>> {
        match self {
            Self::PingPong { line, passes, .. } => (0..*passes).map(|pass| self.burst(pass).lead(line, clock)).collect(),
            Self::Chase { window, hand, passes } => {
                let pass = |pass: u64| {
                    let ticks = hand.wait(2 * pass + 1, PATIENCE).then(|| window.read_pass(clock))?;
                    hand.signal(2 * pass + 2);
                    Some(ticks)
                };
                (0..*passes).map(pass).collect()
            }
        }
    }

    fn burst(&self, pass: u64) -> PingPong {
        let op = if let Self::PingPong { op, .. } = self { *op } else { PingOp::Store };
        PingPong { op, first: pass * 2 * (TRIPS + 1), round_trips: TRIPS, spin_limit: PATIENCE }
    }

    /// ns a hop, or half a round trip, and whether it was disturbed.
    fn value(&self, ticks: &[u64], window: &Window, limits: &DisturbanceLimits, hz: f64) -> Option<(f64, bool)> {
        #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
        let steps = match self {
            Self::PingPong { .. } => (2 * TRIPS) as f64,
            Self::Chase { window, .. } => window.nodes() as f64,
        };
        let ns: Vec<f64> = ticks.iter().map(|ticks| ticks_to_ns(*ticks, hz) / steps).collect();
        Some((stats::median(&ns)?, !window.undisturbed(limits)))
    }
}
