//! What is in the tree is done: no placeholder, no test that is switched off.

use crate::tidy::tree::{Finding, Tree};

const PATTERNS: &[&str] = &["#[ignore", "todo!", "unimplemented!"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        for line in &file.code {
            let found = PATTERNS.iter().filter(|pattern| line.has(pattern));
            findings.extend(found.map(|pattern| file.finding(line.number, format!("`{pattern}`: finish it"))));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_in_tests_too() {
        let tree = Tree::of(&[(
            "crates/x/tests/a.rs",
            "#[test]\n#[ignore]\nfn f() {}\nfn g() { todo!() }\nfn h() { unimplemented!(\"x\") }",
        )]);
        assert_eq!(check(&tree).len(), 3);
        assert!(check(&Tree::of(&[("a.rs", "// todo!\nlet s = \"#[ignore]\";")])).is_empty());
    }
}
