//! Is prefetching on? Chases that it helps beside chases that it can't help, in the same memory and under the same conditions
//! as the figures that it could spoil.

use super::idle::keepers;
use crate::draft::Draft;
use memgauge_model::{Job, Measure, Order, Prefetch, RingPlan, Thread, What, units};

/// Windows of a point and round: the ratios are far from their limits, or there is no telling.
const LONGEST_NS: u64 = 50_000_000;
/// Buffers below so many last-level caches say nothing of memory.
const LEAST_CACHES: u64 = 2;
const LINE: u64 = 64;
/// What the rings span that only the probe needs. It is more than a chase that nobody helps gets through in a block, so that no
/// line is met twice; linking all of a big buffer for them would cost more than all other chases together.
const SPAN: u64 = 512 << 20;

/// Streaming: sequential against full-random. Spatial: window-random over every line against every other line.
const RINGS: [RingPlan; 4] = [
    RingPlan { order: Order::Sequential, stride: LINE, grows: false, bytes: Some(SPAN), block: None },
    RingPlan { order: Order::FullRandom, stride: 2 * LINE, grows: false, bytes: None, block: None },
    RingPlan { order: Order::WindowRandom, stride: LINE, grows: false, bytes: Some(SPAN), block: None },
    RingPlan { order: Order::WindowRandom, stride: 2 * LINE, grows: false, bytes: None, block: None },
];

/// Draws the points that no idle figure makes already, in the memory of the headline's chase.
pub(super) fn draw(draft: &mut Draft) {
    if !wanted(draft) {
        return;
    }
    let (observer, node) = (draft.roles.observer, draft.roles.watched);
    let headline = draft.choices.headline();
    let (arena, _) = draft.chase(observer, node, headline);
    if let Some(why) = useless(draft, arena, headline.stride) {
        for kind in ["streaming", "spatial"] {
            draft.missing("prefetch_ratio", &[("kind", kind.to_owned())], &why, "leave --buffer and --stride out");
        }
        return;
    }
    // As the figures are: only an idle chase has somebody beside it.
    let keepers = if idles(draft) { keepers(draft) } else { Vec::new() };
    for wanted in RINGS {
        let ring = draft.ring_or_longer(arena, wanted);
        let mut threads = vec![Thread { cpu: observer, job: Job::Chase { arena, ring } }];
        threads.extend(keepers.iter().map(|&cpu| Thread { cpu, job: Job::KeepAlive }));
        let there = draft.points.iter().any(|point| matches!(point.measure, Measure::Idle { .. }) && point.threads == threads);
        if !there {
            draft.point(Measure::PrefetchProbe, threads, draft.timing.point_ns.min(LONGEST_NS));
        }
    }
}

/// Its rings cost set-up in every round: it is part of what shows the machine as a whole, of a chase that prefetchers could
/// win, and of every chase that is to have them off. Another one that was asked for by its order is not made to wait for it.
fn wanted(draft: &Draft) -> bool {
    let chases = draft.points.iter().filter_map(|point| point.threads.first()).any(|thread| thread.job.chases());
    let headline = draft.choices.headline();
    let close = headline.stride < 2 * LINE && headline.order != Order::SplitRandom;
    let can_be_won = headline.order == Order::Sequential || close;
    let telling = idles(draft) && (draft.choices.chases.len() > 1 || can_be_won);
    chases && (telling || draft.request.prefetch == Prefetch::Off)
}

fn idles(draft: &Draft) -> bool {
    matches!(draft.request.what, What::All | What::Idle)
}

/// Why a probe would say nothing.
fn useless(draft: &Draft, arena: usize, stride: u64) -> Option<String> {
    if !stride.is_multiple_of(LINE) {
        return Some(format!("nodes at {stride} B leave no whole lines for the probe's rings"));
    }
    let (buffer, llc) = (draft.request.buffer?, draft.sketches[arena].llc?);
    let small = buffer < llc.saturating_mul(LEAST_CACHES);
    small.then(|| format!("a buffer of {} lies in caches in part", units::bytes(buffer)))
}
