//! How large each buffer is: by the caches that it must not hide in, by what was asked for, and by what memory holds.

use crate::capacity::{Limits, Load, Shortage};
use crate::checks::value;
use crate::draft::{Draft, Need, Sketch};
use crate::pages;
use crate::regions;
use memgauge_model::{Arena, ArenaId, Holds, Refusal, Request, What, units};
use std::collections::BTreeSet;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Buffers over the last-level cache: a streamed one, a chased one, and what either shrinks to where memory is short.
const STREAM_FACTOR: u64 = 4;
const CHASE_FACTOR: u64 = 8;
const LEAST_FACTOR: u64 = 2;
/// Automatic buffers are not smaller than these without need.
const STREAM_FLOOR: u64 = 64 * MIB;
const CHASE_FLOOR: u64 = 256 * MIB;
/// Where no cache size is known.
const ASSUMED_LLC: u64 = 32 * MIB;
/// What buffers shrink to then: on small machines without cache sizes the caches are small, too.
const ASSUMED_LEAST: u64 = 16 * MIB;
/// Distance between the beginnings of one thread's arrays beyond their length, against 4K aliasing.
const STREAM_GAP: u64 = 2 * MIB + 4096 + 64;
/// A buffer that was asked for is rounded up to whole multiples of this.
const GRAIN: u64 = 4096;
/// Shrinking goes in 64ths of the automatic size.
const STEPS: u64 = 64;

/// Arenas with sizes that fit, point by point.
pub(crate) struct Sized {
    pub arenas: Vec<Arena>,
    pub limits: Limits,
    pub notes: Vec<String>,
}

/// How large buffers are.
#[derive(Debug, Clone, Copy)]
enum Scale {
    /// Each of this many bytes.
    Exactly(u64),
    /// By rule, times n/64.
    Automatic(u64),
}

/// The largest sizes that memory holds, or what to do about it.
pub(crate) fn fit(draft: &Draft) -> Result<Sized, Refusal> {
    let workers = draft.points.iter().map(|point| point.threads.len()).max().unwrap_or(0) as u64;
    let limits = Limits::new(draft.site, workers);
    if draft.request.what == What::Scan {
        // Regions were made to fit when they were cut.
        let limits = limits.at_most(regions::PERCENT);
        return Ok(Sized { arenas: arenas(draft, Scale::Automatic(STEPS)), limits, notes: Vec::new() });
    }
    let demands = demands(draft);
    let short = |scale: Scale| {
        let arenas = arenas(draft, scale);
        let shortages = demands.iter().filter_map(|demand| limits.shortage(&Load::of(demand.iter().map(|id| &arenas[*id]))));
        // The worst of all, or the next call would be refused again.
        shortages.max_by_key(Shortage::needed)
    };
    let (scale, notes) = match draft.request.buffer {
        Some(asked) => {
            let bytes = asked.checked_next_multiple_of(GRAIN).unwrap_or(asked);
            if let Some(shortage) = short(Scale::Exactly(bytes)) {
                return Err(refuse_asked(draft, &shortage, largest(bytes, &short)));
            }
            (Scale::Exactly(bytes), rounding_note(draft.request, asked, bytes))
        }
        None => {
            let step = match largest_step(&short) {
                Some(step) => step,
                None => return Err(refuse_automatic(draft, &short)),
            };
            (Scale::Automatic(step), automatic_notes(draft, step))
        }
    };
    let arenas = arenas(draft, scale);
    enough_nodes(draft.request, &arenas)?;
    Ok(Sized { arenas, limits, notes })
}

/// Every distinct set of arenas that some point needs at once.
fn demands(draft: &Draft) -> BTreeSet<Vec<ArenaId>> {
    draft.points.iter().map(crate::phases::arenas_of).collect()
}

fn arenas(draft: &Draft, scale: Scale) -> Vec<Arena> {
    draft.sketches.iter().map(|sketch| arena(draft, sketch, scale)).collect()
}

fn arena(draft: &Draft, sketch: &Sketch, scale: Scale) -> Arena {
    let page_bytes = pages::page_bytes(sketch.pages, draft.site.machine);
    let bytes = buffer_bytes(sketch, scale);
    let (holds, needed) = match &sketch.need {
        Need::Chase { rings } => (Holds::Chase { bytes, rings: rings.clone() }, bytes),
        Need::Streams { streams } => {
            let needed = bytes.saturating_add(STREAM_GAP).saturating_mul(u64::from(*streams));
            (Holds::Streams { streams: *streams, bytes }, needed)
        }
        Need::C2c { bytes, push } => (Holds::C2c { bytes: *bytes, push: *push }, bytes + push),
        Need::Region { parts, bytes } => (Holds::Region { parts: *parts, bytes: *bytes }, *bytes),
    };
    let whole = needed.checked_next_multiple_of(page_bytes).unwrap_or(u64::MAX / page_bytes * page_bytes);
    // Only the observer chases where somebody else touches first; a load's memory is where the load wants it.
    let first_touch = draft.request.touch_cpu.is_some() && matches!(holds, Holds::Chase { .. } | Holds::C2c { .. });
    Arena { node: sketch.node, pages: sketch.pages, page_bytes, toucher: sketch.toucher, holds, bytes: whole, first_touch }
}

fn buffer_bytes(sketch: &Sketch, scale: Scale) -> u64 {
    if let Some(bytes) = sketch.exact {
        return bytes;
    }
    let step = match scale {
        Scale::Exactly(bytes) => return bytes,
        Scale::Automatic(step) => step,
    };
    if let Some(bytes) = sketch.ends_at {
        return bytes;
    }
    let llc = sketch.llc.unwrap_or(ASSUMED_LLC);
    let (factor, floor) = match sketch.need {
        Need::Chase { .. } => (CHASE_FACTOR, CHASE_FLOOR),
        Need::Streams { .. } | Need::C2c { .. } | Need::Region { .. } => (STREAM_FACTOR, STREAM_FLOOR),
    };
    let full = llc.saturating_mul(factor).max(floor);
    let least = sketch.llc.map_or(ASSUMED_LEAST, |llc| llc.saturating_mul(LEAST_FACTOR));
    let shrunk = (full / STEPS).saturating_mul(step).max(least);
    if step == STEPS { full } else { shrunk }.checked_next_multiple_of(MIB).unwrap_or(full)
}

/// The largest step of [`STEPS`] at which nothing is short.
fn largest_step(short: &impl Fn(Scale) -> Option<Shortage>) -> Option<u64> {
    if short(Scale::Automatic(STEPS)).is_none() {
        return Some(STEPS);
    }
    short(Scale::Automatic(1)).is_none().then(|| {
        let (mut fits, mut fails) = (1, STEPS);
        while fails - fits > 1 {
            let step = u64::midpoint(fits, fails);
            if short(Scale::Automatic(step)).is_none() { fits = step } else { fails = step }
        }
        fits
    })
}

/// The largest buffer up to `most` that could be asked for, as a size that can be typed; none where nothing fits.
fn largest(most: u64, short: &impl Fn(Scale) -> Option<Shortage>) -> Option<String> {
    let fits = |grains: u64| short(Scale::Exactly(grains * GRAIN)).is_none();
    if !fits(1) {
        return None;
    }
    let (mut good, mut bad) = (1, most / GRAIN + 1);
    while bad - good > 1 {
        let grains = u64::midpoint(good, bad);
        if fits(grains) { good = grains } else { bad = grains }
    }
    let bytes = good * GRAIN;
    Some(rounded_down(bytes))
}

/// A size that fits when it is typed: rounded down, without a space.
pub(crate) fn rounded_down(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 4 * GIB => format!("{}GiB", bytes / GIB),
        _ if bytes >= 4 * MIB => format!("{}MiB", bytes / MIB),
        _ => format!("{}KiB", bytes / KIB),
    }
}

/// The same, rounded up.
pub(crate) fn rounded_up(bytes: u64) -> String {
    match bytes {
        _ if bytes.is_multiple_of(GIB) => format!("{}GiB", bytes / GIB),
        _ if bytes.is_multiple_of(MIB) => format!("{}MiB", bytes / MIB),
        _ => format!("{}KiB", bytes.div_ceil(KIB)),
    }
}

fn refuse_asked(draft: &Draft, shortage: &Shortage, largest: Option<String>) -> Refusal {
    let what = match shortage {
        Shortage::Pool { .. } => return refuse_pool(draft, shortage),
        Shortage::Other { what, .. } => what,
    };
    let typed = value(draft.request, "--buffer", draft.request.buffer.map_or_else(String::new, units::bytes));
    let remedy = largest.map_or_else(fewer_threads, |size| format!("use {size} or less"));
    Refusal::new("--buffer", typed, format!("more than {what}"), remedy)
}

fn refuse_automatic(draft: &Draft, short: &impl Fn(Scale) -> Option<Shortage>) -> Refusal {
    let least = short(Scale::Automatic(1));
    if let Some(Shortage::Other { needed, what }) = least.as_ref().filter(|_| !draft.request.assignments.is_empty()) {
        let problem = format!("buffers need {} in all, more than {what}", units::bytes(*needed));
        return Refusal::new("--assign", draft.request.typed("--assign"), problem, "name smaller buffers or fewer CPUs");
    }
    let (needed, what) = match &least {
        Some(Shortage::Other { needed, what }) => (*needed, what.clone()),
        // Said at full size: that is what should be reserved.
        Some(pool @ Shortage::Pool { .. }) => {
            return refuse_pool(draft, &short(Scale::Automatic(STEPS)).unwrap_or_else(|| pool.clone()));
        }
        None => (0, String::new()),
    };
    let problem = format!("buffers of twice the last-level cache need {} in all, more than {what}", units::bytes(needed));
    let remedy = match largest(1 << 46, short) {
        Some(size) => {
            format!("use --buffer {size} or less (caches then hold part of it), or {}", fewer_threads())
        }
        None => fewer_threads(),
    };
    Refusal::new("", "", problem, remedy)
}

fn fewer_threads() -> String {
    "free some memory or raise the limit, or use fewer threads (--load-cpus, --smt one)".to_owned()
}

pub(crate) fn refuse_pool(draft: &Draft, shortage: &Shortage) -> Refusal {
    let Shortage::Pool { node, page_bytes, needed, free } = shortage else { return Refusal::new("--pages", "", "", "") };
    let (_, total) = pages::pool(draft.site.machine, *node, *page_bytes);
    let kind = draft.request.pages.map_or("", memgauge_model::Pages::word);
    let size = units::bytes(*page_bytes);
    let problem = format!("needs {needed} free {size} pages on node {node}, {free} are free");
    let path = format!("/sys/devices/system/node/node{node}/hugepages/hugepages-{}kB/nr_hugepages", page_bytes / KIB);
    let remedy = format!("reserve them: echo {} > {path}", total + needed - free);
    Refusal::new("--pages", value(draft.request, "--pages", kind), problem, remedy)
}

/// A ring needs two nodes.
fn enough_nodes(request: &Request, arenas: &[Arena]) -> Result<(), Refusal> {
    let too_wide = arenas.iter().any(|arena| match &arena.holds {
        Holds::Chase { bytes, rings } => rings.iter().any(|ring| ring.stride.saturating_mul(2) > *bytes),
        Holds::Streams { .. } | Holds::C2c { .. } | Holds::Region { .. } => false,
    });
    match request.stride.filter(|_| too_wide) {
        Some(stride) => {
            let problem = "the buffer holds fewer than two such nodes";
            let typed = value(request, "--stride", stride);
            Err(Refusal::new("--stride", typed, problem, "use a smaller stride or a larger --buffer"))
        }
        None => Ok(()),
    }
}

fn rounding_note(request: &Request, asked: u64, bytes: u64) -> Vec<String> {
    if asked == bytes {
        return Vec::new();
    }
    let typed = value(request, "--buffer", units::bytes(asked));
    vec![format!("--buffer {typed} is rounded up to {} KiB, whole multiples of 4 KiB", bytes / KIB)]
}

fn automatic_notes(draft: &Draft, step: u64) -> Vec<String> {
    let sized = |sketch: &&Sketch| !matches!(sketch.need, Need::C2c { .. });
    let mut notes = Vec::new();
    if draft.sketches.iter().filter(sized).any(|sketch| sketch.llc.is_none()) {
        notes.push(format!("no cache size is known; buffers are made for a last-level cache of {}", units::bytes(ASSUMED_LLC)));
    }
    if step < STEPS {
        let least = draft.sketches.iter().filter(sized).map(|sketch| {
            let bytes = buffer_bytes(sketch, Scale::Automatic(step));
            bytes / (sketch.llc.unwrap_or(ASSUMED_LLC) / 10).max(1)
        });
        let tenths = least.min().unwrap_or(0);
        notes.push(format!(
            "memory is short: buffers are {} % of their automatic size, the smallest {}.{} × the last-level cache",
            step * 100 / STEPS,
            tenths / 10,
            tenths % 10
        ));
    }
    notes
}
