//! Too good to be true: what no memory can do, and figures that are a cache's by their size. (By a sweep: `too_good.rs`.)

use crate::draft::Draft;
use crate::figures::Case;
use crate::jobs;
use crate::too_good::Verdict;
use memgauge_model::{Block, Cache, Cpu, CpuList, Machine, NodeId, Request, units};

/// No core moves more application bytes in a cycle; a loop that seems to was removed.
const BYTES_PER_CYCLE: f64 = 128.0;

/// The level of the memory that a buffer of this size lives in, by declared sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// It fits in this level of cache.
    Cache(u32),
    /// More than the last-level cache, less than twice that.
    Partly,
    /// At least twice the last-level cache.
    Beyond,
}

impl Level {
    fn text(self) -> String {
        match self {
            Self::Cache(level) => format!("level: L{level}"),
            Self::Partly => "level: partly the last-level cache".to_owned(),
            Self::Beyond => "level: beyond the last-level cache".to_owned(),
        }
    }
}

/// The level of buffers that these threads touch at once; none where sizes are not known.
pub(crate) fn level(machine: &Machine, node: NodeId, touched: &[(Cpu, u64)]) -> Option<Level> {
    let cpus: CpuList = touched.iter().map(|(cpu, _)| *cpu).collect();
    let whole = touched.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    let llc = jobs::llc(machine, &cpus, node)?;
    if whole >= llc.saturating_mul(2) {
        return Some(Level::Beyond);
    }
    let caches = &machine.caches;
    let levels = [(1, &caches.l1), (2, &caches.l2), (3, &caches.l3), (4, &caches.l4)];
    let fits = |(_, level): &(u32, &Vec<memgauge_model::Cache>)| {
        touched.iter().all(|(cpu, _)| {
            // Threads that share the cache share its room.
            level.iter().find(|cache| cache.cpus.contains(*cpu)).is_some_and(|cache| {
                let here = touched.iter().filter(|(cpu, _)| cache.cpus.contains(*cpu));
                cache.size.known().is_some_and(|size| here.map(|(_, bytes)| bytes).sum::<u64>() <= *size)
            })
        })
    };
    Some(levels.into_iter().find(fits).map_or(Level::Partly, |(level, _)| Level::Cache(level)))
}

/// Do these threads touch at least twice what all caches of their CPUs hold together? Private ones needn't hold what a shared one holds, so that
/// many threads have much of a set beyond the last-level cache in theirs.
pub(crate) fn beyond_all(machine: &Machine, touched: &[(Cpu, u64)]) -> bool {
    let caches = &machine.caches;
    let near = |cache: &&Cache| touched.iter().any(|(cpu, _)| cache.cpus.contains(*cpu));
    let levels = [&caches.l1, &caches.l2, &caches.l3, &caches.l4].into_iter().flatten();
    let all = levels.filter(near).filter_map(|cache| cache.size.known()).fold(0_u64, |sum, size| sum.saturating_add(*size));
    touched.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes)) >= all.saturating_mul(2)
}

/// Names the level where the size was asked for (by the user, or as one of a sweep's); where the size is ours, a cache's figure is no memory's.
/// Returns the remark, and whether the figure claims to be of memory.
pub(crate) fn name_level(
    case: &Case<'_>,
    node: NodeId,
    touched: &[(Cpu, u64)],
    asked: bool,
    title: &str,
    draft: &mut Draft,
) -> (Option<String>, bool) {
    let Some(level) = level(&case.record.machine, node, touched) else { return (None, true) };
    if level != Level::Beyond && !asked {
        draft.reject("the buffer is below twice the last-level cache: not memory's figure", title);
    }
    let remark = (asked || level != Level::Beyond).then(|| level.text());
    (remark, level == Level::Beyond || !asked)
}

/// The machine's theoretical bandwidth, B/s: stated by the user, else by the firmware.
pub(crate) fn theoretical(machine: &Machine, request: &Request) -> Option<f64> {
    let firmware = || machine.dimms.theoretical_bandwidth.known().copied();
    request.theoretical.or_else(firmware).filter(|limit| limit.is_finite() && *limit > 0.0)
}

/// Judges a bandwidth that claims to be memory's: `dram` is what the controller saw at least, B/s.
pub(crate) fn above_theoretical(case: &Case<'_>, dram: f64, title: &str, draft: &mut Draft) -> Option<String> {
    let limit = theoretical(&case.record.machine, &case.record.plan.request)?;
    (dram > limit).then(|| {
        let fault = format!("invalid: above the theoretical {} GB/s", units::gb_per_s(limit));
        draft.reject(fault.clone(), title);
        fault
    })
}

/// Judges bytes a core cycle and thread, block by block.
pub(crate) fn loop_removed(blocks: &[&Block], threads: usize, title: &str, draft: &mut Draft) -> Option<String> {
    let removed = blocks.iter().any(|block| {
        let rates: Vec<f64> = block.windows.iter().map(|window| window.load_bytes_per_s).collect();
        let cycles = block.core_hz * threads as f64;
        cycles > 0.0 && memgauge_stats::median(&rates).is_some_and(|rate| rate / cycles > BYTES_PER_CYCLE)
    });
    removed.then(|| {
        let fault = format!("above {BYTES_PER_CYCLE} B a core cycle and thread: the loop was removed");
        draft.reject(fault.clone(), title);
        fault
    })
}

/// What can't be judged is said, never passed in silence. `by_sweep` is what a sweep says of latencies and of bandwidths.
pub(crate) fn note(case: &Case<'_>, by_sweep: &[Option<Verdict>; 2], draft: &mut Draft) {
    let [latencies, bandwidths] = by_sweep;
    if let Some(verdict) = latencies {
        draft.note(format!("plausibility of latencies: {}", told(verdict)));
    }
    if draft.metrics.iter().any(|metric| metric.unit == "B/s") {
        let limit = match theoretical(&case.record.machine, &case.record.plan.request) {
            None => "the memory's theoretical one is not known here (--theoretical states it)",
            Some(_) => "not above the memory's theoretical one",
        };
        let levels = bandwidths
            .as_ref()
            .map_or_else(|| "unknown, none was repeated at twice its size (memgauge sweep does)".to_owned(), told);
        draft.note(format!("plausibility of bandwidths: {levels}; {limit}"));
    }
}

fn told(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Memory(why) => format!("memory's, {why}"),
        Verdict::Cache(why) => why.clone(),
        Verdict::Unknown(why) => format!("unknown, {why}"),
    }
}
