//! No source or page is longer than 800 lines.

use crate::tidy::tree::{Finding, Tree};

const LIMIT: usize = 800;

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.files
        .iter()
        .filter(|file| file.is("rs") || file.is("md"))
        .map(|file| (file, file.text.lines().count()))
        .filter(|(_, lines)| *lines > LIMIT)
        .map(|(file, lines)| file.finding(lines, format!("{lines} lines, more than {LIMIT}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_last_length_that_passes() {
        let most = "\n".repeat(LIMIT);
        let more = "\n".repeat(LIMIT + 1);
        let tree = Tree::of(&[("a.rs", &most), ("b.rs", &more), ("c.md", &more), ("d.json", &more)]);
        let paths: Vec<String> = check(&tree).into_iter().map(|f| f.path).collect();
        assert_eq!(paths, ["b.rs", "c.md"]);
    }
}
