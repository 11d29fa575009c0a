//! Latency and bandwidth against the size of the working set, from 4 KiB to beyond the caches, and bandwidth against the
//! number of threads at the largest.

use super::{idle, one_and_all, placed};
use crate::choices;
use crate::draft::Draft;
use memgauge_model::{Cpu, CpuList, DelayRef, Job, Measure, Mix, Refusal, Span, Thread};

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

/// A chase in each page kind.
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
        grid(draft).find(|size| *size >= wanted).unwrap_or(wanted)
    })
}

/// The largest last-level cache that one of the threads can hide in.
fn llc(draft: &Draft, counts: &[CpuList]) -> u64 {
    let here = draft.site.llc(draft.roles.observer, draft.roles.target);
    let all = counts.iter().flat_map(|cpus| placed(draft, cpus));
    all.filter_map(|(cpu, node)| draft.site.llc(cpu, node)).chain(here).max().unwrap_or(ASSUMED_LLC)
}

fn spans(draft: &Draft, largest: u64) -> Vec<Span> {
    let below = grid(draft).take_while(|bytes| *bytes < largest);
    let settled = llc(draft, &one_and_all(draft)).saturating_mul(FACTOR / 2);
    below.chain([largest]).map(|bytes| Span { bytes, settle: bytes <= settled }).collect()
}

/// Sizes that hold two nodes of a chase.
fn grid(draft: &Draft) -> impl Iterator<Item = u64> + use<> {
    let nodes = draft.choices.chases.iter().map(|chase| chase.stride.saturating_mul(2)).max().unwrap_or(0);
    let octaves = SMALLEST.ilog2()..62;
    let sizes = octaves.flat_map(|octave| (0..AN_OCTAVE).map(move |step| ((1_u64 << octave) / AN_OCTAVE) * (AN_OCTAVE + step)));
    sizes.filter(move |size| *size >= nodes)
}

/// Numbers of threads between one and all: 2, 3, 4, 6, 8, 12, …; a core's second thread only when every core has one.
fn between(draft: &Draft, all: &CpuList) -> Vec<CpuList> {
    let cores = draft.site.one_a_core(all);
    let order: Vec<Cpu> = cores.iter().chain(all.without(&cores).iter()).collect();
    let counts = (1..usize::BITS - 1).flat_map(|power| [1 << power, 3 << (power - 1)]);
    let counts = counts.take_while(|count: &usize| *count < order.len());
    counts.map(|count| order[..count].iter().copied().collect()).collect()
}
