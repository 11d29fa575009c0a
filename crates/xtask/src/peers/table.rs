//! A section as a table that reads well on a terminal and on a page.

use std::collections::BTreeMap;

use crate::peers::ratios::{Comparison, Quantity, Spread, Verdict};
use crate::peers::{Body, Cell, Section};

const HEAD: [&str; 9] =
    ["", "pairs", "ours", "peer", "ours / peer", "middle half", "bests", "peer / itself (middle half)", "verdict"];

/// Columns that the summary reads back.
pub const PAIRS: usize = 1;
pub const PEER: usize = 3;
pub const RATIO: usize = 4;
pub const ITSELF: usize = 7;

impl Section {
    /// What was compared, the table, and what has to be said about its lines.
    pub fn text(&self) -> String {
        let table = match &self.body {
            Body::Cells(cells) => of_cells(cells),
            Body::Counted { text, .. } => text.clone(),
        };
        format!("{}\n\n{table}", self.about)
    }
}

fn of_cells(cells: &[Cell]) -> String {
    let rows: Vec<[String; 9]> = cells.iter().map(row).collect();
    let notes: Vec<String> = cells.iter().flat_map(remarks).collect();
    let mut text = aligned(&HEAD.map(str::to_owned), &rows);
    if !notes.is_empty() {
        text.push('\n');
        text.push_str(&notes.join("\n"));
        text.push('\n');
    }
    text
}

/// What did not count, by kind, and what ended the cell.
fn remarks(cell: &Cell) -> Vec<String> {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for void in &cell.void {
        *kinds.entry(void.split(": ").next().unwrap_or_default()).or_default() += 1;
    }
    let kinds: Vec<String> = kinds.into_iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
    let void = (!kinds.is_empty()).then(|| format!("- {}: not counted: {}", cell.name, kinds.join(", ")));
    let ended = cell.ended.as_ref().map(|why| format!("- {}: ended: {why}", cell.name));
    let rejected =
        (cell.rejected > 0).then(|| format!("- {}: ours called itself rejected in {} pairs", cell.name, cell.rejected));
    void.into_iter().chain(rejected).chain(ended).collect()
}

fn row(cell: &Cell) -> [String; 9] {
    let dash = || "–".to_owned();
    let Some(all) = &cell.comparison else {
        return [cell.name.clone(), "0".to_owned(), dash(), dash(), dash(), dash(), dash(), dash(), "not measured".to_owned()];
    };
    let ratio = all.ratio();
    [
        cell.name.clone(),
        all.pairs().to_string(),
        all.quantity.said(all.ours().median),
        all.quantity.said(all.peer().median),
        format!("{:.3}", ratio.median),
        between(ratio),
        format!("{:.3}", all.bests()),
        all.itself().map_or_else(dash, |itself| format!("{:.3} ({})", itself.median, between(itself))),
        verdict(all).to_owned(),
    ]
}

fn between(spread: Spread) -> String {
    format!("{:.3}–{:.3}", spread.low, spread.high)
}

fn verdict(all: &Comparison) -> &'static str {
    match (all.verdict(), all.quantity) {
        (Verdict::Holds, Quantity::Latency) => "equal within 3 %",
        (Verdict::Holds, Quantity::Bandwidth) => "not below",
        (Verdict::Fails, Quantity::Latency) => "OFF by more than 3 %",
        (Verdict::Fails, Quantity::Bandwidth) => "BELOW by more than 3 %",
        (Verdict::Holds, Quantity::Handover) => "equal within 10 %",
        (Verdict::Fails, Quantity::Handover) => "OFF by more than 10 %",
        (Verdict::TooFewPairs, _) => "too few pairs",
    }
}

/// A Markdown table with columns of equal width.
pub fn aligned<const N: usize>(head: &[String; N], rows: &[[String; N]]) -> String {
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().chain([head]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
    });
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule: [String; N] = widths.map(|width| "-".repeat(width));
    let mut text = line(head) + &line(&rule);
    rows.iter().for_each(|row| text.push_str(&line(row)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::part::Part;
    use crate::peers::ratios::Slot;

    #[test]
    fn a_section_says_figures_verdicts_and_what_did_not_count() {
        let slots = vec![Slot { ours: 101.0, peer: 100.0, again: None }; 9];
        let cells = vec![
            Cell {
                name: "a".to_owned(),
                comparison: Comparison::of(Quantity::Latency, slots),
                void: vec!["rejected: 12 of 19".to_owned(), "rejected: 7 of 19".to_owned(), "class changed".to_owned()],
                rejected: 4,
                ended: None,
            },
            Cell { name: "b".to_owned(), ended: Some("exit 2: refused".to_owned()), ..Cell::default() },
        ];
        let text = Section { part: Part::Idle, about: "x against y".to_owned(), body: Body::Cells(cells) }.text();
        let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.starts_with("x against y\n\n| "), "{text}");
        for part in [
            "| a | 9 | 101.0 ns | 100.0 ns | 1.010 | 1.010–1.010 | 1.010 | 1.000 (1.000–1.000) | equal within 3 % |",
            "| b | 0 | – | – | – | – | – | – | not measured |",
            "- a: not counted: 1 × class changed, 2 × rejected",
            "- a: ours called itself rejected in 4 pairs",
            "- b: ended: exit 2: refused",
        ] {
            assert!(squeezed.contains(part), "{part}\n{squeezed}");
        }
        let widths: Vec<usize> = text.lines().filter(|line| line.starts_with('|')).map(|line| line.chars().count()).collect();
        assert!(widths.windows(2).all(|two| two[0] == two[1]), "{text}");
    }
}
