//! Two CPUs against each other: the placement class of a pair, and whether they share a core.

use super::threads;
use super::timing::{ns_to_ticks, ticks_to_ns};
use super::watch::watched;
use memgauge_kernels::c2c::{Line, PingOp, PingPong};
use memgauge_kernels::{Clock, spin};
use memgauge_model::Cpu;
use memgauge_sys as sys;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bursts of a ping-pong, of which the fastest counts.
const BURSTS: u32 = 20;
/// Round trips of a burst.
const TRIPS: u64 = 200;
/// Where the two have to take turns on one CPU the bursts that fit into this are enough, ns.
const LONGEST_NS: u64 = 200_000_000;
/// Polls for one answer before the partner is given up: some tens of milliseconds.
const PATIENCE: u64 = 20_000_000;
/// Tries of the sharing probe.
const TRIES: usize = 8;
/// A thread that waited longer than this share of a try shared its CPU with somebody.
const WAITED: f64 = 0.05;
/// Iterations of the sharing probe: 64 adds each, some tenths of a millisecond.
const ITERATIONS: u64 = 20_000;

/// A line for ping-pong, alone with its neighbour.
#[repr(align(128))]
struct Lonely([u8; 128]);

/// Half a round trip between two CPUs, ns: the fastest of 20 bursts of 200 round trips. None where one of them can't be had.
pub fn placement_class(clock: &Clock, hz: f64, cpus: (Cpu, Cpu)) -> Option<f64> {
    let mut memory = Lonely([0; 128]);
    let line = Line::new(&mut memory.0).ok()?;
    let ping = |burst: u32| PingPong {
        op: PingOp::Store,
        first: u64::from(burst) * 2 * (TRIPS + 1),
        round_trips: TRIPS,
        spin_limit: PATIENCE,
    };
    let longest = ns_to_ticks(LONGEST_NS, hz);
    let fastest = std::thread::scope(|scope| {
        let (line, ping) = (&line, &ping);
        let leader = threads::spawn(scope, move || {
            sys::cpu::pin_to(cpus.0).ok()?;
            let begin = clock.start();
            let mut fastest = u64::MAX;
            for burst in 0..BURSTS {
                fastest = fastest.min(ping(burst).lead(line, clock)?);
                if clock.stop().wrapping_sub(begin) > longest {
                    break;
                }
            }
            Some(fastest)
        });
        let follower = threads::spawn(scope, move || {
            sys::cpu::pin_to(cpus.1).ok()?;
            (0..BURSTS).try_for_each(|burst| ping(burst).follow(line))
        });
        let fastest = leader.ok()?.join().ok().flatten();
        // A follower that the leader has left early has no say.
        let _ = follower.ok()?.join();
        fastest
    })?;
    #[expect(clippy::cast_precision_loss, reason = "a constant")]
    let halves = (2 * TRIPS) as f64;
    Some(ticks_to_ns(fastest, hz) / halves)
}

/// Throughput of eight independent add chains with both CPUs at it, over that of each alone; the best of eight tries, since
/// the host may take a CPU away for a while; tries in which a thread waited for its CPU tell nothing. About 1 where they are cores of their own, about 0.5 where they share one.
pub fn sharing_ratio(clock: &Clock, hz: f64, cpus: (Cpu, Cpu)) -> Option<f64> {
    (0..TRIES)
        .filter_map(|_| {
            let alone = [time_together(clock, hz, &[cpus.0])?[0], time_together(clock, hz, &[cpus.1])?[0]];
            let both = time_together(clock, hz, &[cpus.0, cpus.1])?;
            #[expect(clippy::cast_precision_loss, reason = "ticks of a millisecond")]
            Some((0..2).map(|at| alone[at] as f64 / both[at] as f64).fold(f64::INFINITY, f64::min))
        })
        .max_by(f64::total_cmp)
}

/// Ticks that each CPU takes for the same work, all starting at once; the fastest of several.
fn time_together(clock: &Clock, hz: f64, cpus: &[Cpu]) -> Option<Vec<u64>> {
    let arrived = AtomicU32::new(0);
    let start = AtomicU64::new(0);
    let members = u32::try_from(cpus.len()).ok()?;
    std::thread::scope(|scope| {
        let (arrived, start) = (&arrived, &start);
        let started: Vec<_> = cpus
            .iter()
            .map(|&cpu| {
                threads::spawn(scope, move || {
                    sys::cpu::pin_to(cpu).ok()?;
                    spin::eight_chains(ITERATIONS);
                    arrived.fetch_add(1, Ordering::AcqRel);
                    let mut polls = 0;
                    while arrived.load(Ordering::Acquire) < members {
                        spin::pause();
                        polls += 1;
                        if polls > PATIENCE {
                            return None;
                        }
                    }
                    start.store(1, Ordering::Release);
                    let one = || {
                        let begin = clock.start();
                        spin::eight_chains(ITERATIONS);
                        clock.stop().wrapping_sub(begin)
                    };
                    // The median of four: the first may still be alone, the last be left alone.
                    let work = || [one(), one(), one(), one()];
                    let (mut times, window) = watched(clock, hz, cpu, work);
                    times.sort_unstable();
                    // Somebody else's thread on this CPU halves the throughput, too: that tells nothing of siblings.
                    let waited = window.signs.wait_ns as f64 > WAITED * window.ns;
                    (!waited).then_some(times[2])
                })
            })
            .collect();
        started.into_iter().map(|thread| thread.ok()?.join().ok().flatten()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread that waits for another one's time slice is no sibling: such tries are left out, and where all are, there is
    /// no answer.
    #[test]
    fn real_two_threads_on_one_cpu_are_not_taken_for_siblings() {
        let cpu = sys::cpu::affinity().unwrap().as_slice()[0];
        let clock = Clock::from_fn(sys::clock::monotonic_raw_ns, 1e9);
        let told = sys::sched::ThreadStats::open().read().wait_ns.is_some();
        let ratio = sharing_ratio(&clock, 1e9, (cpu, cpu));
        assert!(!told || ratio.is_none_or(|ratio| ratio > 0.75), "{ratio:?}");
    }
}
