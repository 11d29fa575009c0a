//! Caches as the sweep found them: a guest may have little of the cache that is declared, and what is called a level's must be its own.

use crate::draft::Draft;
use crate::figures::{Case, Figure};
use crate::jobs;
use crate::plausibility::{self, Level};
use memgauge_model::{Avail, Cache, Cpu, FoundCache, Machine, NodeId, Sweep, units};

/// A sweep that goes so far beyond a cache's declared size shows its end, if it ends there.
const FAR: u64 = 2;

/// The machine with the sizes of its caches as a sweep found them; as declared where none was made.
pub(crate) struct AsFound {
    machine: Machine,
    /// The last level that is declared.
    last: Option<String>,
    /// Caches that end elsewhere than declared, and that in words.
    moved: Vec<(String, String)>,
    /// Caches of which no end was found, though the sweep went far beyond the declared one, and how far it went.
    hidden: Vec<(String, u64)>,
}

impl AsFound {
    pub(crate) fn of(case: &Case<'_>, sweeps: &[Sweep], draft: &Draft) -> Self {
        let mut found = Self { machine: case.record.machine.clone(), last: None, moved: Vec::new(), hidden: Vec::new() };
        // Only an order that nearly does without page walks has caches in its view.
        if let Some(sweep) = sweeps.iter().find(|sweep| !sweep.caches.is_empty()) {
            let largest = sweep.points.iter().map(|point| point.at).max().unwrap_or(0);
            let mut declared: Vec<(u64, &FoundCache)> =
                sweep.caches.iter().filter_map(|cache| Some((cache.declared?, cache))).collect();
            declared.sort_by_key(|(bytes, _)| *bytes);
            declared.iter().for_each(|(bytes, cache)| found.apply(cache, *bytes, largest, draft));
            found.last = declared.last().map(|(_, cache)| cache.level.clone());
        }
        found
    }

    fn apply(&mut self, cache: &FoundCache, declared: u64, largest: u64, draft: &Draft) {
        let level = cache.level.clone();
        match cache.found {
            Some(_) if cache.same == Some(true) => {}
            Some(metric) => {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size is a whole number of bytes")]
                let ends = draft.metrics[metric].value as u64;
                let words =
                    format!("{level} as found, up to {}, not as declared, {}", units::bytes(ends), units::bytes(declared));
                self.resize(&level, declared, ends);
                self.moved.push((level, words));
            }
            None if largest >= declared.saturating_mul(FAR) => self.hidden.push((level, largest)),
            None => {}
        }
    }

    /// All caches of that kind: what one CPU has of its own is taken for what each has.
    fn resize(&mut self, level: &str, declared: u64, found: u64) {
        let caches = &mut self.machine.caches;
        let alike: &mut [Cache] = match level {
            "L1" => &mut caches.l1,
            "L2" => &mut caches.l2,
            "L3" => &mut caches.l3,
            "L4" => &mut caches.l4,
            _ => &mut [],
        };
        for cache in alike.iter_mut().filter(|cache| cache.size.known() == Some(&declared)) {
            cache.size = Avail::Known(found);
        }
    }

    /// The level that the figure's working sets lie in; none where they lie in two, or no size is known.
    pub(crate) fn level(&self, case: &Case<'_>, figure: &Figure) -> Option<String> {
        let plan = &case.record.plan;
        let point = &plan.points[figure.point];
        let (node, touched): (NodeId, Vec<(Cpu, u64)>) = match (jobs::chaser(plan, point), jobs::streams(plan, point)) {
            (Some(chaser), _) => (chaser.arena.node, vec![(chaser.cpu, chaser.bytes)]),
            (None, Some(streams)) => (streams.by_thread.first()?.1.node, streams.touched()),
            (None, None) => return None,
        };
        match plausibility::level(&self.machine, node, &touched)? {
            Level::Cache(level) => Some(format!("L{level}")),
            Level::Beyond => Some("memory".to_owned()),
            Level::Partly => None,
        }
    }

    /// How far this cache's end was looked for in vain.
    pub(crate) fn hidden(&self, level: &str) -> Option<u64> {
        self.hidden.iter().find(|(hidden, _)| hidden == level).map(|(_, largest)| *largest)
    }

    /// What a figure of this level should say of its bounds. Memory begins where the last cache ends.
    pub(crate) fn remark(&self, level: &str) -> Option<String> {
        let bound = if level == "memory" { self.last.as_deref()? } else { level };
        self.moved.iter().find(|(moved, _)| moved == bound).map(|(_, words)| words.clone())
    }
}
