//! Latency and bandwidth against the size of the working set, from 4 KiB to beyond the caches, and bandwidth against the
//! number of threads at the largest.

use super::{idle, one_and_all, placed};
use crate::choices;
use crate::draft::Draft;
use crate::sizes::Sized;
use crate::timing::WINDOW_NS;
use memgauge_model::{Cpu, CpuList, DelayRef, Holds, Job, Measure, Mix, Order, Point, Refusal, RingPlan, Span, Thread};

/// The smallest working set.
const SMALLEST: u64 = 4096;
/// Sizes an octave: 1, 1¼, 1½ and 1¾ times a power of two, which caches' sizes mostly are, too.
const AN_OCTAVE: u64 = 4;
/// The largest working set over the last-level cache. What each thread goes through before it starts ends at half of it.
const FACTOR: u64 = 4;
/// Not smaller than this without need.
const FLOOR: u64 = 64 << 20;
/// Where no cache size is known.
const ASSUMED_LLC: u64 = 32 << 20;
const LINE: u64 = 64;

/// The default run's smallest working set: no first-level cache in use is smaller.
const BRIEF_SMALLEST: u64 = 16 << 10;
/// Its sizes an octave, 1 and 1½ times a power of two.
const BRIEF_AN_OCTAVE: u64 = 2;
/// Its largest over the last-level cache: so much the headline's chase has in any case.
const BRIEF_FACTOR: u64 = 2;
/// Its rounds.
const BRIEF_ROUNDS: u32 = 2;

pub(super) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    let counts = one_and_all(draft);
    let largest = largest(draft, &counts);
    let spans = spans(draft, largest);
    latency(draft, largest, &spans)?;
    for mix in choices::mixes(draft.request, draft.request.what) {
        counts.iter().for_each(|cpus| bandwidth(draft, mix, cpus, largest, &spans));
        if let ([_, all], Some(last)) = (&counts[..], spans.last()) {
            between(draft, all).iter().for_each(|cpus| bandwidth(draft, mix, cpus, largest, &[*last]));
        }
    }
    Ok(())
}

/// What the default run has of it: latency alone, on one kind of pages, in the headline's memory, in few sizes and rounds.
pub(super) fn brief(draft: &mut Draft) {
    let (observer, node, headline) = (draft.roles.observer, draft.roles.target, draft.choices.headline());
    if !headline.stride.is_multiple_of(LINE) {
        let why = format!("nodes at {} B leave no whole lines for a sweep's ring", headline.stride);
        draft.missing("sweep_latency", &[], &why, "leave --stride out");
        return;
    }
    let (arena, _) = draft.chase(observer, node, headline);
    let automatic = draft.sketches[arena].llc.unwrap_or(ASSUMED_LLC).saturating_mul(BRIEF_FACTOR).max(FLOOR);
    let largest = draft.request.buffer.map_or(automatic, |asked| asked.next_multiple_of(SMALLEST).min(automatic));
    let ring = RingPlan { order: Order::SplitRandom, stride: LINE, grows: true, bytes: Some(largest), block: None };
    let ring = draft.ring_in(arena, ring);
    let keeper = idle::keeper(draft);
    for bytes in grid(BRIEF_SMALLEST, BRIEF_AN_OCTAVE).take_while(|bytes| *bytes < largest).chain([largest]) {
        let mut threads = vec![Thread { cpu: observer, job: Job::Chase { arena, ring } }];
        threads.extend(keeper.map(|cpu| Thread { cpu, job: Job::KeepAlive }));
        let span = Span { bytes, settle: true };
        let measure = Measure::SweepLatency { node, span, keepalive: keeper.is_some() };
        draft.brief_point(measure, threads, WINDOW_NS, BRIEF_ROUNDS);
    }
}

/// Leaves out what a buffer that had to shrink no longer holds.
pub(crate) fn keep_within(draft: &mut Draft, sized: &Sized) {
    let fits = |point: &Point| {
        point.measure.span().is_none_or(|span| {
            point.threads.iter().all(|thread| match thread.job {
                Job::Chase { arena, .. } => {
                    matches!(sized.arenas[arena].holds, Holds::Chase { bytes, .. } if span.bytes <= bytes)
                }
                _ => true,
            })
        })
    };
    draft.points.retain(fits);
}

/// A chase in each order and page kind.
fn latency(draft: &mut Draft, largest: u64, spans: &[Span]) -> Result<(), Refusal> {
    let (observer, node) = (draft.roles.observer, draft.roles.target);
    let keeper = idle::asked_keeper(draft)?;
    for kind in draft.choices.chases.clone() {
        let (arena, ring) = draft.growing_chase(observer, node, kind, largest);
        for &span in spans {
            let mut threads = vec![Thread { cpu: observer, job: Job::Chase { arena, ring } }];
            threads.extend(keeper.map(|cpu| Thread { cpu, job: Job::KeepAlive }));
            let measure = Measure::SweepLatency { node, span, keepalive: keeper.is_some() };
            draft.point(measure, threads, draft.timing.point_ns);
        }
    }
    Ok(())
}

fn bandwidth(draft: &mut Draft, mix: Mix, cpus: &CpuList, largest: u64, spans: &[Span]) {
    let threads = placed(draft, cpus);
    for &span in spans {
        let threads = draft.streams(&threads, mix, DelayRef::Fixed(0));
        draft.ends_at(&threads, largest);
        draft.point(Measure::SweepBandwidth { mix, span }, threads, draft.timing.point_ns);
    }
}

/// The largest working set of a thread: what was asked for, else four last-level caches, an octave less where memory is short.
fn largest(draft: &Draft, counts: &[CpuList]) -> u64 {
    let asked = draft.request.buffer.map(|bytes| bytes.next_multiple_of(SMALLEST));
    asked.unwrap_or_else(|| {
        let wanted = llc(draft, counts).saturating_mul(FACTOR).max(FLOOR) >> draft.octaves_less;
        sizes(draft).find(|size| *size >= wanted).unwrap_or(wanted)
    })
}

/// The largest last-level cache that one of the threads can hide in.
fn llc(draft: &Draft, counts: &[CpuList]) -> u64 {
    let here = draft.site.llc(draft.roles.observer, draft.roles.target);
    let all = counts.iter().flat_map(|cpus| placed(draft, cpus));
    all.filter_map(|(cpu, node)| draft.site.llc(cpu, node)).chain(here).max().unwrap_or(ASSUMED_LLC)
}

fn spans(draft: &Draft, largest: u64) -> Vec<Span> {
    let below = sizes(draft).take_while(|bytes| *bytes < largest);
    let settled = llc(draft, &one_and_all(draft)).saturating_mul(FACTOR / 2);
    below.chain([largest]).map(|bytes| Span { bytes, settle: bytes <= settled }).collect()
}

/// Sizes that hold two nodes of a chase.
fn sizes(draft: &Draft) -> impl Iterator<Item = u64> + use<> {
    let nodes = draft.choices.chases.iter().map(|chase| chase.stride.saturating_mul(2)).max().unwrap_or(0);
    grid(SMALLEST, AN_OCTAVE).filter(move |size| *size >= nodes)
}

/// So many sizes an octave, evenly, from a power of two on.
fn grid(smallest: u64, an_octave: u64) -> impl Iterator<Item = u64> {
    let octaves = smallest.ilog2()..62;
    octaves.flat_map(move |octave| (0..an_octave).map(move |step| ((1_u64 << octave) / an_octave) * (an_octave + step)))
}

/// Numbers of threads between one and all: 2, 3, 4, 6, 8, 12, …; a core's second thread only when every core has one.
fn between(draft: &Draft, all: &CpuList) -> Vec<CpuList> {
    let cores = draft.site.one_a_core(all);
    let order: Vec<Cpu> = cores.iter().chain(all.without(&cores).iter()).collect();
    let counts = (1..usize::BITS - 1).flat_map(|power| [1 << power, 3 << (power - 1)]);
    let counts = counts.take_while(|count: &usize| *count < order.len());
    counts.map(|count| order[..count].iter().copied().collect()).collect()
}
