//! Between Request and Report nothing knows for which front end it measures.
//!
//! (`mlc` is not looked for: delay lists and mix codes carry that name in the
//! contract itself.)

use crate::tidy::tree::{Finding, Tree};

const BETWEEN: &[&str] = &["kernels", "stats", "sys", "machine", "plan", "engine", "analysis"];
const FRONT_ENDS: &[&str] = &["mbw", "mencal"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| BETWEEN.contains(&file.member())) {
        for line in &file.code {
            let named = words(&line.code).find(|word| FRONT_ENDS.contains(&word.as_str()));
            findings.extend(named.map(|word| file.finding(line.number, format!("an identifier names the front end {word}"))));
        }
    }
    findings
}

/// The words that identifiers are made of, in lower case: `MbwMode`, `mbw_mode` → mbw, mode.
fn words(code: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::new();
    let mut lower_before = false;
    for c in code.chars() {
        if (lower_before && c.is_uppercase()) || !c.is_alphanumeric() {
            spaced.push(' ');
        }
        if c.is_alphanumeric() {
            spaced.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase();
    }
    let words: Vec<String> = spaced.split_whitespace().map(str::to_owned).collect();
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn front_ends_are_found_in_any_spelling() {
        for bad in ["fn mbw_copy() {}", "struct MencalScore;", "const X_MBW: u8 = 1;"] {
            assert_eq!(findings("crates/engine/src/a.rs", bad), 1, "{bad}");
        }
    }

    #[test]
    fn other_words_comments_and_the_ends_pass() {
        assert_eq!(findings("crates/engine/src/a.rs", "let membw = numbw; // mbw"), 0);
        assert_eq!(findings("crates/cli/src/mbw.rs", "fn mbw() {}"), 0);
        assert_eq!(findings("crates/render/src/a.rs", "fn mencal() {}"), 0);
    }
}
