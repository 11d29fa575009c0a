//! The document while it is being written: figures, gaps, notes, and what speaks against it.

use crate::rounds::{Series, by_frequency};
use memgauge_model::{Metric, MetricId, Missing, Reason, units};
use std::collections::{BTreeMap, BTreeSet};

/// Labels of a figure.
pub(crate) type Labels = BTreeMap<String, String>;

/// Keeps the promise that name and labels are unique, and says each thing once.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub metrics: Vec<Metric>,
    pub missing: Vec<Missing>,
    pub notes: Vec<String>,
    taken: BTreeSet<(String, Labels)>,
    absent: BTreeSet<(String, Labels)>,
    /// Cause → figures that it spoils, in order of appearance. An empty list: it spoils the run.
    against: Vec<(String, Vec<String>)>,
    partial: Vec<String>,
    disturbed: Disturbed,
}

/// Figures of which too many windows were disturbed. One noisy host spoils all alike: they share one line.
#[derive(Debug, Default)]
struct Disturbed {
    figures: BTreeSet<String>,
    /// Its name, its disturbed windows, all its windows.
    worst: Option<(String, u32, u32)>,
    seen: BTreeMap<&'static str, u32>,
}

impl Disturbed {
    fn reason(&self) -> Option<String> {
        let (worst, excluded, windows) = self.worst.as_ref()?;
        let kinds = by_frequency(&self.seen);
        Some(match self.figures.len() {
            1 => format!("{worst}: {excluded} of {} disturbed: {kinds}", units::count((*windows).into(), "window")),
            many => {
                format!("{many} figures have too many disturbed windows: {kinds} (the worst: {worst}, {excluded} of {windows})")
            }
        })
    }
}

impl Draft {
    /// Adds a figure. A second one of the same name and labels is left out and said.
    pub fn add(&mut self, metric: Metric) -> Option<MetricId> {
        debug_assert!(metric.value.is_finite(), "{} has no value", metric.name);
        if !self.taken.insert((metric.name.clone(), metric.labels.clone())) {
            self.note(format!("two points give the same figure, the second is not shown: {}", metric.name));
            return None;
        }
        self.metrics.push(metric);
        Some(self.metrics.len() - 1)
    }

    /// Says that a figure could not be had. Once is enough.
    pub fn miss(&mut self, gap: Missing) {
        if self.absent.insert((gap.name.clone(), gap.labels.clone())) {
            self.missing.push(gap);
        }
    }

    /// A line for the reader.
    pub fn note(&mut self, line: impl Into<String>) {
        push_once(&mut self.notes, line.into());
    }

    /// `figure` can't be relied on because of `cause`.
    pub fn reject(&mut self, cause: impl Into<String>, figure: impl Into<String>) {
        let (cause, figure) = (cause.into(), figure.into());
        match self.against.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, figures)) => push_once(figures, figure),
            None => self.against.push((cause, vec![figure])),
        }
    }

    /// Too many windows of `figure` were disturbed.
    pub fn disturbed(&mut self, series: &Series, figure: &str) {
        let Disturbed { figures, worst, seen } = &mut self.disturbed;
        if !figures.insert(figure.to_owned()) {
            return;
        }
        series.seen.iter().for_each(|(kind, count)| *seen.entry(kind).or_default() += count);
        let (excluded, windows) = (series.excluded, series.excluded + series.windows);
        let worse =
            |(_, bad, all): &(String, u32, u32)| u64::from(excluded) * u64::from(*all) > u64::from(*bad) * u64::from(windows);
        if worst.as_ref().is_none_or(worse) {
            *worst = Some((figure.to_owned(), excluded, windows));
        }
    }

    /// The whole run can't be relied on because of `cause`.
    pub fn reject_run(&mut self, cause: impl Into<String>) {
        let cause = cause.into();
        if !self.against.iter().any(|(known, _)| *known == cause) {
            self.against.push((cause, Vec::new()));
        }
    }

    /// Something planned is not there.
    pub fn partial(&mut self, reason: impl Into<String>) {
        push_once(&mut self.partial, reason.into());
    }

    /// Reasons against it, and reasons for which it is partial: one line each.
    pub fn reasons(&self) -> (Vec<String>, Vec<String>) {
        let against = self.against.iter().map(|(cause, figures)| reason(cause, figures));
        (self.disturbed.reason().into_iter().chain(against).collect(), self.partial.clone())
    }
}

/// Figures that are named before the rest is counted.
const NAMED: usize = 3;

fn reason(cause: &str, figures: &[String]) -> String {
    let named = figures.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match figures.len() {
        0 => cause.to_owned(),
        1..=NAMED => format!("{named}: {cause}"),
        more => format!("{named} and {} more: {cause}", more - NAMED),
    }
}

/// Adds a line, unless it is there.
pub(crate) fn push_once(lines: &mut Vec<String>, line: String) {
    if !lines.contains(&line) {
        lines.push(line);
    }
}

/// A gap, in short.
pub(crate) fn gap(name: &str, labels: &Labels, reason: Reason, detail: impl Into<String>, remedy: &str) -> Missing {
    Missing { name: name.to_owned(), labels: labels.clone(), reason, detail: detail.into(), remedy: remedy.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_name_three_figures_and_count_the_rest() {
        let mut draft = Draft::default();
        for figure in ["a", "b", "b", "c", "d", "e"] {
            draft.reject("asked thp, got base", figure);
        }
        draft.reject("one window", "f");
        draft.reject_run("swapped");
        let (against, _) = draft.reasons();
        assert_eq!(against, ["a, b, c and 2 more: asked thp, got base", "f: one window", "swapped"]);
    }
}
