//! Core-to-core transfers: a chase over lines that the other core owns, and a line thrown back and forth.

use super::Hardware;
use super::arenas::{Content, Memory};
use super::blocks::{take, wrong};
use super::threads;
use super::timing::{ns_to_ticks, ticks_to_ns};
use super::watch::{watched, worst};
use crate::backend::{Failure, Task};
use memgauge_kernels::c2c::{Line, PingOp, PingPong, Window as Lines, read_through};
use memgauge_kernels::{Clock, Rng};
use memgauge_model::{Block, C2cKind, C2cVia, Cpu, Job, Measure, Quota, Reason, Window};
use memgauge_sys as sys;
use std::sync::atomic::Ordering;

/// Passes at least and at most.
const PASSES: (usize, usize) = (50, 2000);
/// Round trips of one pass of a ping-pong.
const TRIPS: u64 = 200;
/// Polls for one answer before the partner is given up: some hundred milliseconds.
const PATIENCE: u64 = 100_000_000;
/// A ping-pong that takes this much longer than it should is given up, ns.
const LONGEST_NS: u64 = 2_000_000_000;
/// Bytes for the hand-over lines at the end of the arena: two lines, each with its neighbour.
const HAND_OVER: usize = 256;

/// Runs the task's threads: the first writes or owns, the second reads, a third reads between them.
pub fn run(hardware: &Hardware, task: &Task<'_>, memories: &mut [Memory<'_>], seed: u64) -> Result<Block, Failure> {
    let threads = &task.plan.points[task.point].threads;
    let [writer, reader, others @ ..] = threads.as_slice() else { return Err(wrong()) };
    let Job::C2c { arena, kind } = writer.job else { return Err(wrong()) };
    let mut free: Vec<Option<&mut Memory<'_>>> = memories.iter_mut().map(Some).collect();
    let Content::C2c { lines: memory, push } = take(&mut free, arena)? else { return Err(wrong()) };
    if memory.len() < 3 * HAND_OVER {
        return Err(Failure::point(Reason::NotApplicable, "the transfer's buffer is too small"));
    }
    let split = memory.len() - HAND_OVER;
    let (lines, hand) = memory.split_at_mut(split);
    let request = &task.plan.request;
    let extra = request.extra_reads.map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)).min(push.len());
    let (push, extra) = push.split_at(push.len() - extra);
    let l3 = matches!(task.plan.points[task.point].measure, Measure::C2c { via: C2cVia::L3, .. });
    let push: &[u8] = if l3 || request.push.is_some() { push } else { &[] };
    let third = others.first().map(|thread| thread.cpu);
    let hops = task.plan.points[task.point].quota.and_then(|quota| match quota {
        Quota::Hops(hops) => Some(hops),
        Quota::Bytes(_) => None,
    });
    let budget = ns_to_ticks(task.time_ns, hardware.hz);
    let run = Transfer { hardware, cpus: (writer.cpu, reader.cpu), third, push, extra, budget, hops };
    let (passes_ns, window) = match kind {
        C2cKind::Hit | C2cKind::Hitm => run.chase(lines, hand, kind == C2cKind::Hitm, seed)?,
        C2cKind::Store => run.ping_pong(lines, PingOp::Store)?,
        C2cKind::Cas => run.ping_pong(lines, PingOp::Cas)?,
    };
    Ok(Block { settled: true, passes_ns, windows: vec![window], ..Block::default() })
}

struct Transfer<'a> {
    hardware: &'a Hardware,
    cpus: (Cpu, Cpu),
    third: Option<Cpu>,
    /// What the writer reads behind its lines.
    push: &'a [u8],
    /// What the reader reads before it takes them.
    extra: &'a [u8],
    budget: u64,
    /// Hops of a chase that are wanted, in place of the budget.
    hops: Option<u64>,
}

impl Transfer<'_> {
    /// ns a hop, one for each pass of the reader.
    fn chase(&self, lines: &mut [u8], hand: &mut [u8], modified: bool, seed: u64) -> Result<(Vec<f64>, Window), Failure> {
        let refused = |error: memgauge_kernels::c2c::C2cError| Failure::point(Reason::NotApplicable, error);
        let window = Lines::new(lines, &mut Rng::new(seed)).map_err(refused)?;
        let line = Line::new(hand).map_err(refused)?;
        let passes = PASSES.1 as u64;
        let whole = |hops: u64| usize::try_from(hops.div_ceil(window.nodes().max(1))).unwrap_or(usize::MAX);
        let wanted = self.hops.map(|hops| whole(hops).clamp(PASSES.0, PASSES.1));
        // The owner makes value 3k+1 when the lines are its own, the third 3k+2 when it has seen them (where there is none the
        // owner does at once), the reader 3k+3 when it has read them. Who leaves early writes `END` instead, in its own turn.
        const END: u64 = u64::MAX;
        let turn = |value: u64| line.wait_unless(value, END, PATIENCE);
        let owned = if self.third.is_some() { 1 } else { 2 };
        let owner = |window: &Lines<'_>, line: &Line<'_>| -> Option<bool> {
            for pass in 0..passes {
                if modified {
                    window.own_modified();
                } else if !window.own_clean() {
                    line.signal(END);
                    return Some(false);
                }
                read_through(self.push);
                line.signal(3 * pass + owned);
                if !turn(3 * pass + 3) {
                    return (line.value() == END).then_some(true);
                }
            }
            Some(true)
        };
        let reader = |window: &Lines<'_>, line: &Line<'_>, clock: &Clock| -> Vec<u64> {
            let begin = clock.start();
            let mut ticks = Vec::with_capacity(passes as usize);
            for pass in 0..passes {
                if !turn(3 * pass + 2) {
                    break;
                }
                read_through(self.extra);
                ticks.push(window.read_pass(clock));
                let over = match wanted {
                    Some(wanted) => ticks.len() >= wanted,
                    None => ticks.len() >= PASSES.0 && clock.stop().wrapping_sub(begin) > self.budget,
                };
                if over || self.hardware.stop.load(Ordering::Relaxed) {
                    line.signal(END);
                    break;
                }
                line.signal(3 * pass + 3);
            }
            ticks
        };
        let between = |clock: &Clock| {
            for pass in 0..passes {
                if !turn(3 * pass + 1) {
                    break;
                }
                let _ = window.read_pass(clock);
                line.signal(3 * pass + 2);
            }
        };
        let played = || self.both(|| owner(&window, &line), |clock| Some(reader(&window, &line, clock)));
        let ((flushed, ticks), watched) = self.beside(between, played)?;
        if !flushed {
            return Err(Failure::point(Reason::NotSupported, "this CPU can't flush a line from user space"));
        }
        #[expect(clippy::cast_precision_loss, reason = "some thousands of nodes")]
        let hops = window.nodes() as f64;
        let passes = ticks.into_iter().map(|ticks| ticks_to_ns(ticks, self.hardware.hz) / hops).collect();
        Ok((self.enough(passes)?, watched))
    }

    /// Half a round trip, ns, one for each burst.
    fn ping_pong(&self, memory: &mut [u8], op: PingOp) -> Result<(Vec<f64>, Window), Failure> {
        let line = Line::new(memory).map_err(|error| Failure::point(Reason::NotApplicable, error))?;
        // Both sides must know beforehand how many bursts there are: a few tell how long one takes.
        let (tried, _) = self.bursts(&line, op, 5)?;
        let fastest = tried.iter().copied().min().unwrap_or(1).max(1);
        let wanted = usize::try_from(self.budget / fastest).unwrap_or(usize::MAX).clamp(PASSES.0, PASSES.1);
        let (bursts, watched) = self.bursts(&line, op, wanted)?;
        #[expect(clippy::cast_precision_loss, reason = "a constant")]
        let halves = (2 * TRIPS) as f64;
        let passes = bursts.into_iter().map(|ticks| ticks_to_ns(ticks, self.hardware.hz) / halves).collect();
        Ok((self.enough(passes)?, watched))
    }

    fn bursts(&self, line: &Line<'_>, op: PingOp, count: usize) -> Result<(Vec<u64>, Window), Failure> {
        let begin = line.value();
        let game = |burst: usize| PingPong {
            op,
            first: begin.wrapping_add(burst as u64 * 2 * (TRIPS + 1)),
            round_trips: TRIPS,
            spin_limit: PATIENCE,
        };
        // Two threads that the kernel has put onto one CPU answer each other once in a time slice: a game of seconds would take hours.
        let longest = self.budget.saturating_mul(4).saturating_add(ns_to_ticks(LONGEST_NS, self.hardware.hz));
        let lead = |clock: &Clock| {
            let begin = clock.start();
            let mut ticks = Vec::with_capacity(count);
            for burst in 0..count {
                ticks.push(game(burst).lead(line, clock)?);
                if clock.stop().wrapping_sub(begin) > longest || self.hardware.stop.load(Ordering::Relaxed) {
                    return None;
                }
            }
            Some(ticks)
        };
        let (((), ticks), watched) = self.both(|| (0..count).try_for_each(|burst| game(burst).follow(line)), lead)?;
        Ok((ticks, watched))
    }

    /// The writer's and the reader's part at once, each on its CPU. None from either: its partner did not answer.
    fn both<W: Send, R: Send>(
        &self,
        writer: impl FnOnce() -> Option<W> + Send,
        reader: impl FnOnce(&Clock) -> Option<R> + Send,
    ) -> Result<((W, R), Window), Failure> {
        let (clock, hz) = self.hardware.clock_and_hz();
        let (wrote, read) = std::thread::scope(|scope| -> Result<_, Failure> {
            let writer =
                threads::spawn(scope, move || sys::cpu::pin_to(self.cpus.0).map(|_| watched(clock, hz, self.cpus.0, writer)));
            let reader = threads::spawn(scope, move || {
                sys::cpu::pin_to(self.cpus.1).map(|_| watched(clock, hz, self.cpus.1, || reader(clock)))
            });
            Ok((writer?.join(), reader?.join()))
        })?;
        let ended = || Failure::Fatal("a transferring thread ended".into());
        let (wrote, writing) = wrote.map_err(|_| ended())??;
        let (read, reading) = read.map_err(|_| ended())??;
        let silent =
            || self.hardware.nothing_came(&format!("CPU {} and CPU {} did not answer each other", self.cpus.0, self.cpus.1));
        Ok((wrote.zip(read).ok_or_else(silent)?, worst(writing, reading)))
    }

    /// `game` with the third core's part beside it, where there is one.
    fn beside<T>(&self, between: impl FnOnce(&Clock) + Send, game: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let Some(cpu) = self.third else { return game() };
        let (clock, _) = self.hardware.clock_and_hz();
        std::thread::scope(|scope| {
            let third = threads::spawn(scope, move || sys::cpu::pin_to(cpu).map(|_| between(clock)))?;
            let played = game();
            third.join().map_err(|_| Failure::Fatal("a transferring thread ended".into()))??;
            played
        })
    }

    fn enough(&self, passes: Vec<f64>) -> Result<Vec<f64>, Failure> {
        if passes.len() < PASSES.0 { Err(self.hardware.nothing_came("the two CPUs made too few passes")) } else { Ok(passes) }
    }
}
