//! Only `cli` and `xtask` print or end the process.

use crate::tidy::tree::{Finding, Tree};

const ALLOWED: &[&str] = &["cli", "xtask"];
const PATTERNS: &[&str] =
    &["print!", "println!", "eprint!", "eprintln!", "dbg!", "stdout()", "stderr()", "process::exit", "process::abort"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter(|file| !ALLOWED.contains(&file.member()))
        .flat_map(|file| file.findings_outside_tests(PATTERNS, "only cli and xtask print or exit; return a value"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn libraries_are_silent() {
        assert_eq!(findings("crates/engine/src/a.rs", "println!();"), 1);
        assert_eq!(findings("crates/engine/src/a.rs", "let x = dbg!(y);"), 1);
        assert_eq!(findings("crates/store/src/a.rs", "std::process::exit(1)"), 1);
        assert_eq!(findings("crates/store/src/a.rs", "io::stdout().lock()"), 1);
    }

    #[test]
    fn cli_tests_and_words_may() {
        assert_eq!(findings("crates/cli/src/a.rs", "println!();"), 0);
        assert_eq!(findings("crates/kernels/examples/a.rs", "println!();"), 0);
        assert_eq!(findings("crates/engine/src/a.rs", "/// `println!`\nwriteln!(out)"), 0);
        assert_eq!(findings("crates/engine/src/a.rs", "#[cfg(test)]\nmod tests { fn f() { println!() } }"), 0);
    }
}
