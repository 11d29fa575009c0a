//! How much is measured, where that is counted and not timed: accesses of a chase, passes over a scan's regions. The engine
//! finds the pace, and makes whole windows of so many; times here are guesses.

use crate::checks::value;
use crate::draft::Draft;
use crate::sizes::Sized;
use crate::timing::WINDOW_NS;
use memgauge_model::{C2cMethod, Holds, Job, Measure, Point, Quota, Refusal, Request, RoundRule, What};

/// A hop takes about this, ns.
const HOP_NS: u64 = 100;
/// Bytes a ns of all threads of a scan together.
const SCAN_BYTES_PER_NS: u64 = 20;
/// Two rounds of one 10 ms window.
const FEWEST: u64 = 2 * WINDOW_NS / HOP_NS;
/// More than a day.
const MOST: u64 = 1_000_000_000_000;

/// Refuses counts that no rounds can share, and those that come with a time.
pub(crate) fn check(request: &Request) -> Result<(), Refusal> {
    let refuse = |flag: &str, count: u64, problem: &str, remedy: String| {
        Err(Refusal::new(flag, value(request, flag, count), problem, remedy))
    };
    let counts = [("--accesses", request.accesses), ("--passes", request.passes.map(u64::from))];
    if let (Some((flag, Some(count))), true) = (counts.iter().find(|(_, count)| count.is_some()), request.time_ns.is_some()) {
        return refuse(flag, *count, "a count and a time (--time) are two ends", "leave one of the two out".to_owned());
    }
    match (request.accesses, request.passes) {
        (Some(count), _) if count > MOST => refuse("--accesses", count, "takes more than a day", format!("use {MOST} or fewer")),
        (Some(count), _) if count > 0 && count < FEWEST => {
            let remedy = format!("use {FEWEST} or more, or 0 for one pass in each round");
            refuse("--accesses", count, "too few for two rounds of one 10 ms window", remedy)
        }
        (_, Some(0)) => refuse("--passes", 0, "nothing would be read", "use 1 or more".to_owned()),
        _ => Ok(()),
    }
}

/// About the time of a point's accesses.
pub(crate) fn time_ns(request: &Request) -> Option<u64> {
    request.accesses.filter(|count| *count > 0).map(|count| count.saturating_mul(HOP_NS))
}

/// Gives every point its share for one round, now that buffers have sizes.
pub(crate) fn settle(draft: &mut Draft, sized: &Sized) {
    let rules = if draft.request.what == What::Scan {
        draft.timing.rounds_of_scan(draft.points.len())
    } else {
        draft.timing.rounds.clone()
    };
    let (accesses, passes) = (draft.request.accesses, draft.request.passes);
    for point in &mut draft.points {
        let quota = match point.measure {
            Measure::C2c { kind, .. } if kind.method() == C2cMethod::Pingpong => None,
            Measure::Idle { .. } | Measure::MatrixLatency { .. } | Measure::Loaded { .. } | Measure::C2c { .. } => {
                accesses.and_then(|count| hops(count, point, sized, &rules))
            }
            Measure::Scan { .. } => passes.and_then(|count| bytes(count, point, sized, &rules)),
            _ => None,
        };
        let Some(quota) = quota else { continue };
        point.quota = Some(quota);
        let guess = match quota {
            Quota::Hops(count) => count.saturating_mul(HOP_NS),
            Quota::Bytes(count) => count / SCAN_BYTES_PER_NS,
        };
        point.time_ns = guess.max(WINDOW_NS);
    }
}

fn hops(count: u64, point: &Point, sized: &Sized, rules: &RoundRule) -> Option<Quota> {
    if count > 0 {
        return Some(Quota::Hops(count.div_ceil(rounds(rules))));
    }
    let lines = match point.threads.first()?.job {
        Job::Chase { arena, ring } => match &sized.arenas.get(arena)?.holds {
            Holds::Chase { bytes, rings } => rings.get(ring).map(|ring| ring.spans(*bytes) / ring.stride)?,
            _ => return None,
        },
        // One pass is the least that a transfer makes, and far below what tells anything.
        _ => 1,
    };
    Some(Quota::Hops(lines.max(1)))
}

fn bytes(passes: u32, point: &Point, sized: &Sized, rules: &RoundRule) -> Option<Quota> {
    let Job::Stream { arena, .. } = point.threads.first()?.job else { return None };
    let Holds::Region { bytes, .. } = sized.arenas.get(arena)?.holds else { return None };
    Some(Quota::Bytes(bytes.saturating_mul(u64::from(passes)).div_ceil(rounds(rules))))
}

fn rounds(rules: &RoundRule) -> u64 {
    rules.looks.last().copied().map_or(1, u64::from).max(1)
}
