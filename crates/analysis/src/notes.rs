//! What a reader should know of the run: events, and counters of the system that moved.

use crate::draft::Draft;
use crate::figures::Case;
use memgauge_model::{EventKind, Record, units};
use std::collections::{BTreeMap, BTreeSet};

/// A counter whose rise is worth a line.
struct Watched {
    /// The last part of its key.
    key: &'static str,
    /// What it counts, one of it.
    what: &'static str,
    /// What became of those.
    became: &'static str,
    /// What a rise does to the run.
    weight: Weight,
}

/// What a rise of a counter does to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// Worth a line.
    Note,
    /// Nothing can be relied on.
    Spoils,
    /// The same, unless only other processes can have been meant.
    SpoilsIfOurs,
}

/// Pages of our own that came from disk, and bytes of our own in swap.
const OURS: [&str; 2] = ["self.major_faults", "self.swap_bytes"];

const WATCHED: [Watched; 9] = [
    watched("pswpin", "page", "swapped in", Weight::SpoilsIfOurs),
    watched("pswpout", "page", "swapped out", Weight::SpoilsIfOurs),
    watched("oom_kill", "process", "killed for lack of memory", Weight::Note),
    watched("numa_pages_migrated", "page", "moved by NUMA balancing", Weight::Note),
    watched("thp_split_page", "huge page", "split", Weight::Note),
    watched("thp_split_pmd", "huge mapping", "split", Weight::Note),
    watched("nr_throttled", "period", "throttled by the CPU quota", Weight::Note),
    watched("corrected", "memory error", "corrected", Weight::Note),
    watched("uncorrected", "memory error", "not corrected", Weight::Spoils),
];

const fn watched(key: &'static str, what: &'static str, became: &'static str, weight: Weight) -> Watched {
    Watched { key, what, became, weight }
}

/// Steal counts ticks of 10 ms almost everywhere.
const TICKS_PER_S: f64 = 100.0;
/// Steal over the time of all CPUs that is worth a line.
const STOLEN: f64 = 0.01;
/// More than intervals can hide.
pub(crate) const STOLEN_MUCH: f64 = 0.05;

/// Writes all notes but the plan's.
pub(crate) fn write(case: &Case<'_>, draft: &mut Draft) {
    let record = case.record;
    counters(&record.before, &record.after, draft);
    stolen(record, draft);
    events(record, draft);
    classes(case, draft);
    unsettled(record, draft);
}

/// Keys are such as `vmstat.pswpin`: the last part names the counter. One event may be counted in several places (the
/// machine's and the cgroup's), so the largest rise is taken.
fn counters(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>, draft: &mut Draft) {
    for watched in &WATCHED {
        let rise = |(key, now): (&String, &u64)| {
            let named = key.rsplit(['.', '/', ':', ' ']).next() == Some(watched.key);
            before.get(key).filter(|_| named).map(|then| now.saturating_sub(*then))
        };
        let risen: u64 = after.iter().filter_map(rise).max().unwrap_or(0);
        if risen > 0 {
            let line = format!("{} {} during the run", units::count(risen, watched.what), watched.became);
            match watched.weight {
                Weight::Note => draft.note(line),
                Weight::SpoilsIfOurs if spared(before, after) => draft.note(format!("{line}, none of them this program's")),
                Weight::Spoils | Weight::SpoilsIfOurs => draft.reject_run(line),
            }
        }
    }
}

/// Is it known that none of our own pages went to swap or came from disk?
fn spared(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> bool {
    OURS.iter().all(|key| before.get(*key).zip(after.get(*key)).is_some_and(|(then, now)| now <= then))
}

fn stolen(record: &Record, draft: &mut Draft) {
    // Much of it is a finding.
    if let Some(share) = stolen_share(record).filter(|share| (STOLEN..=STOLEN_MUCH).contains(share)) {
        draft.note(format!("the host took {:.1} % of the CPUs' time (steal)", share * 100.0));
    }
}

/// Of the online CPUs' time during the run, what the host gave to others.
pub(crate) fn stolen_share(record: &Record) -> Option<f64> {
    let ticks = |counters: &BTreeMap<String, u64>| counters.get("stat.steal_ticks").copied();
    let seconds = ticks(&record.after)?.saturating_sub(ticks(&record.before)?) as f64 / TICKS_PER_S;
    let share = seconds / (record.command.seconds * record.machine.online_cpus.len() as f64);
    share.is_finite().then_some(share)
}

fn events(record: &Record, draft: &mut Draft) {
    let events = || record.run.events.iter().map(|event| &event.what);
    if record.run.concurrent || events().any(|what| *what == EventKind::Concurrent) {
        draft.note("concurrent: another run of this program held the host's lock");
    }
    for what in events() {
        match what {
            EventKind::BindRefused { errno } => {
                draft.note(format!("mbind was refused (errno {errno}): memory was placed by first touch"));
            }
            // A point without any round is a gap, and stands there with this reason.
            EventKind::PointFailed { point, detail, .. }
                if record.run.points.get(*point).is_some_and(|p| !p.rounds.is_empty()) =>
            {
                draft.note(format!("a round of one figure failed: {detail}"));
            }
            EventKind::OutOfTime { rounds } => {
                draft.note(format!(
                    "{} took longer than the whole run may: figures carry ranges; measure on a quieter machine",
                    units::count((*rounds).into(), "round")
                ));
            }
            _ => {}
        }
    }
    other_pages(record, draft);
    let moved = events().filter(|what| matches!(what, EventKind::ClassChanged { .. })).count();
    if moved > 0 {
        draft.note(format!("the host moved the CPUs {}; those blocks were repeated", times(moved)));
    }
    let disturbed = events().filter(|what| matches!(what, EventKind::Disturbed { .. })).count();
    if disturbed > 0 {
        let (blocks, limit) = (units::count(disturbed as u64, "block"), record.plan.windows.limits.excluded_share * 100.0);
        draft.note(format!(
            "{blocks} measured again: more than {limit} % of the windows were disturbed; of each, the least disturbed one counts"
        ));
    }
    for probe in record.machine.sharing_probes.iter().filter(|probe| probe.shared) {
        let (a, b) = probe.pair;
        draft.note(format!("CPUs {a} and {b} share a core, which the topology hides: treated as one"));
    }
    shortened(record, draft);
}

/// A fragmented machine gives another share of huge pages each time: they share a line.
fn other_pages(record: &Record, draft: &mut Draft) {
    let mut got: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for event in &record.run.events {
        let EventKind::PagesDiffer { arena, got: kind } = &event.what else { continue };
        let asked = record.plan.arenas.get(*arena).map_or("other pages", |arena| arena.pages.word());
        got.entry(asked).or_default().insert(kind);
    }
    for (asked, kinds) in got {
        let kinds: Vec<&str> = kinds.into_iter().collect();
        let listed = match kinds[..] {
            [first, _, _, .., last] => format!("{first} to {last} ({} kinds)", kinds.len()),
            _ => kinds.join(" and "),
        };
        let remedy = if kinds.iter().any(|kind| *kind != "base") && asked == "thp" {
            ": memory is fragmented (echo 1 > /proc/sys/vm/compact_memory, or reserve pages and --pages 2m)"
        } else {
            ""
        };
        draft.note(format!("asked for {asked}, got {listed}{remedy}"));
    }
}

fn shortened(record: &Record, draft: &mut Draft) {
    let shares = record.run.events.iter().filter_map(|event| match event.what {
        EventKind::Shortened { share, .. } => Some(share),
        _ => None,
    });
    let shares: Vec<f64> = shares.filter(|share| share.is_finite()).collect();
    if let Some(least) = shares.iter().copied().reduce(f64::min) {
        let rounds = units::count(shares.len() as u64, "round");
        draft.note(format!("windows of {rounds} were shortened, to {:.0} % at least, to keep the time", least * 100.0));
    }
}

/// What each pair's class is in nanoseconds: a word alone can't be compared between runs.
fn classes(case: &Case<'_>, draft: &mut Draft) {
    for ((a, b), classes) in &case.pairs {
        match classes.centers[..] {
            [near, far] => {
                draft.note(format!("CPUs {a} and {b}: class near is {near:.0} ns by ping-pong, class far {far:.0} ns"))
            }
            [one] => draft.note(format!("CPUs {a} and {b}: one placement class, {one:.0} ns by ping-pong")),
            _ => {}
        }
    }
}

fn unsettled(record: &Record, draft: &mut Draft) {
    let blocks = || record.run.points.iter().flat_map(|point| &point.rounds).filter(|b| !b.superseded && b.warmup_windows > 0);
    let unsettled = blocks().filter(|block| !block.settled).count();
    let rounds: BTreeSet<u32> = blocks().filter(|block| !block.settled).map(|block| block.round).collect();
    if unsettled > 0 {
        let (all, rounds) = (units::count(blocks().count() as u64, "block"), units::count(rounds.len() as u64, "round"));
        draft.note(format!("warm-up ended by time in {unsettled} of {all}, in {rounds}"));
    }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_the_last_part_of_their_key() {
        let map = |pairs: &[(&str, u64)]| pairs.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect();
        let mut draft = Draft::default();
        let before = map(&[("vmstat.numa_pages_migrated", 5), ("pswpin", 1), ("xpswpout", 0), ("oom_kill", 9)]);
        let after = map(&[("vmstat.numa_pages_migrated", 12), ("pswpin", 3), ("xpswpout", 7), ("oom_kill", 2)]);
        counters(&before, &after, &mut draft);
        assert_eq!(draft.notes, ["7 pages moved by NUMA balancing during the run"]);
        assert_eq!(draft.reasons().0, ["2 pages swapped in during the run"]);
    }

    #[test]
    fn swapping_of_others_is_a_note_and_our_own_spoils() {
        let map = |pairs: &[(&str, u64)]| pairs.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect();
        let before = map(&[("vmstat.pswpout", 1), ("self.major_faults", 4), ("self.swap_bytes", 0)]);
        for (faults, swapped, spoils) in [(4, 0, false), (5, 0, true), (4, 4096, true)] {
            let after = map(&[("vmstat.pswpout", 2), ("self.major_faults", faults), ("self.swap_bytes", swapped)]);
            let mut draft = Draft::default();
            counters(&before, &after, &mut draft);
            assert_eq!(draft.reasons().0.is_empty(), !spoils, "{faults} {swapped}");
            assert_eq!(draft.notes.is_empty(), spoils, "{faults} {swapped}");
        }
    }
}
