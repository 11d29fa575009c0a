//! The rules, one file each. A rule is a function from the tree to findings;
//! to add one: a file, and a row in [`ALL`].

mod edges;
mod finished;
mod links;
mod manifests;
mod neutral;
mod output;
mod paths;
mod purity;
mod size;
mod unsafety;

use super::tree::{Finding, Tree};

/// A house rule.
pub struct Rule {
    /// Stands behind each finding.
    pub name: &'static str,
    pub check: fn(&Tree) -> Vec<Finding>,
}

/// Every rule that is enforced.
pub const ALL: &[Rule] = &[
    rule("edges", edges::check),
    rule("unsafety", unsafety::check),
    rule("output", output::check),
    rule("size", size::check),
    rule("purity", purity::check),
    rule("neutral", neutral::check),
    rule("paths", paths::check),
    rule("manifests", manifests::check),
    rule("finished", finished::check),
    rule("links", links::check),
];

const fn rule(name: &'static str, check: fn(&Tree) -> Vec<Finding>) -> Rule {
    Rule { name, check }
}
