//! The last lines: what it is worth, what should be known, what could not be had.

use super::figures::title;
use super::page::{Page, count};
use crate::style::{clean, paint};
use memgauge_model::{Missing, Severity, State};

/// Beyond this many, missing figures of one reason are only counted in the text; the document has all.
const MOST: usize = 8;

pub fn last(page: &mut Page) {
    page.gap();
    verdict(page);
    notes(page);
    findings(page);
    unavailable(page);
    let command = &page.report.command;
    let seconds = format!("{:.1} s", command.seconds);
    page.line(&paint(page.style.dim, &format!("{seconds} · seed {} · what the columns mean: docs/reading.md", command.seed)));
}

fn verdict(page: &mut Page) {
    let report = page.report;
    let (style, word) = match report.status.state {
        State::Complete => (page.style.good, "accepted"),
        State::Partial => (page.style.warn, "partial"),
        State::Rejected => (page.style.bad, "rejected"),
    };
    let mut parts = vec![paint(style, word)];
    parts.extend(report.status.reasons.iter().map(|reason| clean(reason)));
    for (number, what) in [(report.notes.len(), "note"), (report.findings.len(), "finding")] {
        if number > 0 {
            parts.push(count(number, what));
        }
    }
    if !report.unavailable.is_empty() {
        parts.push(format!("{} not to be had", count(report.unavailable.len(), "figure")));
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
    for reason in page.range_reasons() {
        page.labelled(label, &format!("(a…b) is the lowest and the highest round: {}", clean(reason)));
        label = "";
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

fn unavailable(page: &mut Page) {
    let missing = &page.report.unavailable;
    for (place, one) in missing.iter().take(MOST).enumerate() {
        page.labelled(if place == 0 { "Not to be had" } else { "" }, &sentence(one));
    }
    if missing.len() > MOST {
        page.labelled("", &format!("and {} more: --format json has all", missing.len() - MOST));
    }
}

fn sentence(missing: &Missing) -> String {
    let labels = missing.labels.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ");
    let what = if labels.is_empty() { title(&missing.name) } else { format!("{} ({labels})", title(&missing.name)) };
    let remedy = if missing.remedy.is_empty() { String::new() } else { format!("; {}", missing.remedy) };
    clean(&format!("{what}: {}{remedy}", missing.detail))
}
