//! The first lines: what the result is worth, then what it is of.

use super::page::{Page, run_line};
use crate::style::{clean, paint};
use memgauge_model::State;

/// Reasons that are told.
const MOST: usize = 8;

pub fn first(page: &mut Page) {
    let status = &page.report.status;
    let (style, head) = match status.state {
        State::Complete => (page.style.good, ""),
        State::Partial => (page.style.warn, "PARTIAL: stopped early, the figures that are here stand; their lines begin with ~"),
        State::Imported => (page.style.warn, "IMPORTED: as another program printed it; every line begins with <"),
        State::Rejected => (page.style.bad, "REJECTED: not to be relied on, for the reasons below; every line begins with !"),
    };
    if !head.is_empty() {
        page.line(&paint(style, head));
        for reason in status.reasons.iter().take(MOST) {
            page.line(&paint(style, &format!("  {}", clean(reason))));
        }
        if status.reasons.len() > MOST {
            page.line(&paint(style, &format!("  and {} more: --format json has all", status.reasons.len() - MOST)));
        }
    }
    if page.report.simulated {
        let what = "SIMULATED: figures of a machine that is only described, nothing was measured; every line is marked SIM";
        page.line(&paint(page.style.warn, what));
    }
    let tool = &page.report.tool;
    let title = format!("{} {} · {}", tool.name, tool.version, run_line(page.report));
    page.line(&paint(page.style.heading, &title));
}
