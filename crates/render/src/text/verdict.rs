//! The last lines: what it is worth, what should be known, what could not be had.

use super::counters::is_counter;
use super::figures::{conditions, title};
use super::page::{Page, count};
use crate::style::{clean, paint};
use memgauge_model::{Missing, Severity, State};

/// Beyond this many lines, what is missing is only counted in the text; the document has all.
const MOST: usize = 8;
/// Kinds of reason for a range that are named: on a busy machine every figure has its own.
const REASONS: usize = 2;

pub fn last(page: &mut Page) {
    page.gap();
    verdict(page);
    notes(page);
    findings(page);
    unavailable(page);
    if page.report.plan.points.is_empty() {
        page.line(&paint(page.style.dim, "what the columns mean: docs/reading.md"));
        return;
    }
    let command = &page.report.command;
    let seconds = format!("{:.1} s", command.seconds);
    page.line(&paint(page.style.dim, &format!("{seconds} · seed {} · what the columns mean: docs/reading.md", command.seed)));
}

fn verdict(page: &mut Page) {
    let report = page.report;
    let (style, word) = match report.status.state {
        State::Complete => (page.style.good, "accepted"),
        State::Partial => (page.style.warn, "partial"),
        State::Imported => (page.style.warn, "imported"),
        State::Rejected => (page.style.bad, "rejected"),
    };
    let mut parts = vec![paint(style, word)];
    if !report.status.reasons.is_empty() {
        parts.push(format!("{} at the top", count(report.status.reasons.len(), "reason")));
    }
    for (number, what) in [(report.notes.len(), "note"), (report.findings.len(), "finding")] {
        if number > 0 {
            parts.push(count(number, what));
        }
    }
    let missing = missing(page).count();
    if missing > 0 {
        parts.push(format!("{} not to be had", count(missing, "figure")));
    }
    page.labelled("Verdict", &parts.join(" · "));
}

fn notes(page: &mut Page) {
    let mut label = "Notes";
    for note in &page.report.notes {
        page.labelled(label, &clean(note));
        label = "";
    }
    // The report's own notes are all; ranges are explained where any is on the page.
    let reasons = page.range_reasons();
    let named: Vec<String> = reasons.iter().take(REASONS).map(|reason| clean(reason)).collect();
    let more = reasons.len().saturating_sub(REASONS);
    if !named.is_empty() {
        let more = if more > 0 { format!(" … and {more} more like these") } else { String::new() };
        page.labelled(label, &format!("(a…b) is the lowest and the highest value, no interval: {}{more}", named.join(" · ")));
    }
}

fn findings(page: &mut Page) {
    for finding in &page.report.findings {
        let (style, word) = match finding.severity {
            Severity::Info => (page.style.dim, "info"),
            Severity::Warning => (page.style.warn, "warning"),
            Severity::Critical => (page.style.bad, "critical"),
        };
        page.labelled("Finding", &format!("{}: {}", paint(style, word), clean(&finding.text)));
    }
}

/// What can't be had. Counters can't on most machines, and nobody asked for them: the document alone says why.
fn missing<'a>(page: &Page<'a>) -> impl Iterator<Item = &'a Missing> + use<'a> {
    page.report.unavailable.iter().filter(|missing| !is_counter(&missing.name))
}

/// A line for each name and kind of reason, with the first such figure's own words: a machine that is too busy for one
/// figure is too busy for twenty, and the document has every one.
fn unavailable(page: &mut Page) {
    let mut groups: Vec<Vec<&Missing>> = Vec::new();
    for missing in missing(page) {
        match groups.iter_mut().find(|group| group[0].name == missing.name && group[0].reason == missing.reason) {
            Some(group) => group.push(missing),
            None => groups.push(vec![missing]),
        }
    }
    for (place, group) in groups.iter().take(MOST).enumerate() {
        let text = sentence(page, group[0], group.len());
        page.labelled(if place == 0 { "Not to be had" } else { "" }, &text);
    }
    if groups.len() > MOST {
        page.labelled("", &format!("and {} more: --format json has all", groups.len() - MOST));
    }
}

fn sentence(page: &Page, missing: &Missing, times: usize) -> String {
    // What tells it from its like; the document has the rest.
    let mut labels = missing.labels.clone();
    labels.retain(|key, _| !["isa", "stride", "bytes", "load_bytes"].contains(&key.as_str()));
    let labels = conditions(page, &labels);
    let labels = match (labels.is_empty(), times) {
        (true, 1) => String::new(),
        (true, times) => format!(" ({times} figures)"),
        (false, 1) => format!(" ({labels})"),
        (false, times) => format!(" ({times} figures, the first: {labels})"),
    };
    let remedy = if missing.remedy.is_empty() { String::new() } else { format!("; {}", missing.remedy) };
    clean(&format!("{}{labels}: {}{remedy}", title(&missing.name), missing.detail))
}
