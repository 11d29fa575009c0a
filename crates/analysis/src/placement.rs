//! Where a figure's memory was, by the kernel's own answer.

use crate::draft::{Draft, push_once};
use memgauge_model::{Block, MetricPlacement, Pages, Placement, units};
use std::collections::BTreeSet;

/// Share of huge pages, in percent, from which on a mapping counts as huge.
const HUGE_ENOUGH: f64 = 95.0;

/// A name that means: nobody could be asked.
const NOBODY: &str = "none";

/// Placement over all arenas and rounds of a figure, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Found {
    pub placement: Option<MetricPlacement>,
    /// Conditions of the figure.
    pub remarks: Vec<String>,
    /// Why the figure can't be relied on.
    pub faults: Vec<String>,
    /// The same, for figures on which the kind of page bears: not a transfer's, whose lines fit any TLB.
    pub lost: Vec<String>,
}

/// Sums the answers over the blocks that make a figure.
pub(crate) fn of_blocks(blocks: &[&Block]) -> Found {
    let pairs = || blocks.iter().flat_map(|block| &block.placements);
    let Some(first) = pairs().next() else { return Found::default() };
    let (mut pages, mut on_node) = (0_u64, 0_u64);
    for pair in pairs().filter(|pair| pair.before.verified != NOBODY) {
        // A page counts as on its node if it was there before and after.
        let after = pair.after.as_ref().filter(|after| after.verified != NOBODY);
        pages = pages.saturating_add(pair.before.pages);
        on_node = on_node.saturating_add(after.map_or(pair.before.on_node, |after| after.on_node.min(pair.before.on_node)));
    }
    let answers = || pairs().flat_map(|pair| std::iter::once(&pair.before).chain(&pair.after));
    let placement = MetricPlacement {
        node: first.before.node,
        pages,
        on_node,
        kind: joined(answers().map(|answer| answer.kind.as_str())),
        verified: joined(answers().map(|answer| answer.verified.as_str())),
    };
    let mut found = Found::default();
    let nodes: BTreeSet<u32> = pairs().map(|pair| pair.before.node).collect();
    if nodes.len() > 1 {
        let list = memgauge_model::CpuList::from_iter(nodes);
        found.remarks.push(format!("memory of nodes {list}, each thread's pages on its own"));
    }
    if on_node < pages {
        let (off, all) = (pages - on_node, units::count(pages, "page"));
        found.faults.push(format!("{off} of {all} {} not on node {}", if off == 1 { "was" } else { "were" }, placement.node));
    }
    for answer in answers() {
        kind(answer, &mut found);
    }
    found.placement = Some(placement);
    found
}

/// Says once, in the notes, what holds for the run.
pub(crate) fn note(found: &Found, draft: &mut Draft) {
    if found.placement.as_ref().is_some_and(|placement| placement.verified.split('+').any(|who| who == NOBODY)) {
        draft.note("the kernel does not say where pages are: placement is as asked, not verified");
    }
}

/// Was the kind of page got that was asked for?
fn kind(answer: &Placement, found: &mut Found) {
    let differs = format!("asked {}, got {}", answer.asked.word(), answer.kind);
    let fault = match (huge_percent(&answer.kind), answer.asked) {
        // Nobody said what was got.
        (None, _) => return push_once(&mut found.remarks, format!("page kind not known: asked {}", answer.asked.word())),
        (Some(0.0), Pages::Base) => return,
        (Some(huge), Pages::Base) => huge > 100.0 - HUGE_ENOUGH,
        (Some(100.0), _) => return,
        (Some(huge), _) => huge < HUGE_ENOUGH,
    };
    push_once(&mut found.remarks, differs.clone());
    if fault {
        push_once(&mut found.lost, differs);
    }
}

/// Share of huge pages that a kind's word tells, in percent.
fn huge_percent(kind: &str) -> Option<f64> {
    match kind {
        "base" => Some(0.0),
        "thp" | "2m" | "1g" => Some(100.0),
        _ if kind.starts_with("hugetlb") => Some(100.0),
        _ => {
            let share = kind.strip_prefix("mixed")?;
            let digits: String = share.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
            digits.parse().ok()
        }
    }
}

/// Distinct words, sorted: `thp`, or `base+thp` where answers differ.
fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("+")
}

#[cfg(test)]
mod tests {
    use super::*;
    use memgauge_model::PlacementPair;

    fn answer(asked: Pages, kind: &str, on_node: u64) -> Placement {
        let (verified, method) = ("move_pages".to_owned(), "mbind".to_owned());
        Placement { node: 1, pages: 10, on_node, asked, kind: kind.to_owned(), verified, method }
    }

    fn found(before: Placement, after: Option<Placement>) -> Found {
        let block = Block { placements: vec![PlacementPair { arena: 0, before, after }], ..Block::default() };
        of_blocks(&[&block, &block])
    }

    #[test]
    fn a_page_counts_only_if_it_stayed() {
        let seen = found(answer(Pages::Thp, "thp", 10), Some(answer(Pages::Thp, "thp", 7)));
        let placement = seen.placement.unwrap();
        assert_eq!((placement.pages, placement.on_node, placement.kind.as_str()), (20, 14, "thp"));
        assert_eq!(seen.faults, ["6 of 20 pages were not on node 1"]);
    }

    #[test]
    fn lost_huge_pages_are_a_fault_and_a_few_base_pages_a_remark() {
        assert_eq!(found(answer(Pages::Thp, "base", 10), None).lost, ["asked thp, got base"]);
        let most = found(answer(Pages::Thp, "mixed 97 %", 10), None);
        assert_eq!((most.lost.len(), most.remarks.as_slice()), (0, ["asked thp, got mixed 97 %".to_owned()].as_slice()));
        assert_eq!(found(answer(Pages::Thp, "mixed 60 %", 10), None).lost.len(), 1);
        assert_eq!(found(answer(Pages::Base, "mixed-40", 10), None).lost.len(), 1);
        assert_eq!(found(answer(Pages::Huge2M, "hugetlb-33554432", 10), None).remarks.len(), 0);
    }

    #[test]
    fn who_cannot_answer_proves_nothing() {
        let mut silent = answer(Pages::Base, "base", 0);
        silent.verified = "none".to_owned();
        let seen = found(silent, None);
        assert!(seen.faults.is_empty());
        let mut draft = Draft::default();
        note(&seen, &mut draft);
        assert_eq!(draft.notes.len(), 1);
    }
}
