//! `unsafe` lives in `kernels` and `sys` only, each with its reason.
//!
//! Clippy asks for the reason too, but only in code that this architecture
//! compiles; the text is checked here for all of them.

use crate::tidy::tree::{File, Finding, Tree};

const ALLOWED: &[&str] = &["kernels", "sys"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        if ALLOWED.contains(&file.member()) {
            findings.extend(without_reason(file));
        } else {
            findings.extend(outside(file));
        }
    }
    findings
}

fn outside(file: &File) -> Vec<Finding> {
    let words = file.code.iter().filter(|line| line.has("unsafe"));
    let mut findings: Vec<Finding> = words.map(|line| file.finding(line.number, "`unsafe` outside of kernels and sys")).collect();
    let forbids = |line: &str| line.contains("#![forbid(unsafe_code)]");
    if is_crate_root(&file.path) && !file.code.iter().any(|line| forbids(&line.code)) {
        findings.push(file.finding(1, "a crate root says `#![forbid(unsafe_code)]`"));
    }
    findings
}

/// `src/lib.rs`, `src/main.rs` and `src/bin/NAME.rs`.
fn is_crate_root(path: &str) -> bool {
    let Some((_, inside)) = path.split_once("/src/") else {
        return false;
    };
    matches!(inside, "lib.rs" | "main.rs") || inside.starts_with("bin/")
}

fn without_reason(file: &File) -> Vec<Finding> {
    let text: Vec<&str> = file.text.split('\n').collect();
    let asks = |code: &str| code.contains("unsafe {") || code.contains("unsafe impl");
    file.code
        .iter()
        .enumerate()
        .filter(|(at, line)| asks(&line.code) && !has_reason(file, &text, *at))
        .map(|(_, line)| file.finding(line.number, "`unsafe` without a `// SAFETY:` line above"))
        .collect()
}

/// Looks upwards to where the statement began, and through the comment above it.
fn has_reason(file: &File, text: &[&str], at: usize) -> bool {
    let mut in_comment = false;
    for above in (0..=at).rev() {
        let (Some(line), Some(raw)) = (file.code.get(above), text.get(above)) else {
            return false;
        };
        if raw.contains("SAFETY:") {
            return true;
        }
        let code = line.code.trim_end();
        let comment = raw.trim_start().starts_with("//");
        let begins = code.is_empty() || code.ends_with([';', '{', '}', ',']);
        if above != at && !comment && (begins || in_comment) {
            return false;
        }
        in_comment = comment;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn outside_of_the_two_crates_it_is_refused() {
        assert_eq!(findings("crates/plan/src/a.rs", "fn f() { unsafe { g() } }"), 1);
        assert_eq!(findings("crates/plan/tests/a.rs", "unsafe fn f() {}"), 1);
        assert_eq!(findings("crates/plan/src/a.rs", "// unsafe\nf(\"unsafe\");"), 0);
    }

    #[test]
    fn roots_forbid_it() {
        assert_eq!(findings("crates/plan/src/lib.rs", "//! x"), 1);
        assert_eq!(findings("crates/cli/src/bin/x.rs", "fn main() {}"), 1);
        assert_eq!(findings("crates/plan/src/lib.rs", "#![forbid(unsafe_code)]"), 0);
        assert_eq!(findings("crates/sys/src/lib.rs", "//! x"), 0);
    }

    #[test]
    fn a_block_needs_its_reason() {
        let sys = "crates/sys/src/a.rs";
        for bad in [
            "fn f() {\n    unsafe { g() }\n}",
            "// SAFETY: of another statement\nlet a = unsafe { g() };\nlet b = unsafe { g() };",
            "// SAFETY: too far\nfn f() {\n\n    unsafe { g() }\n}",
            "// just words\nunsafe { g() }",
            "unsafe impl Send for X {}",
        ] {
            assert_eq!(findings(sys, bad), 1, "{bad}");
        }
        for good in [
            "// SAFETY: checked\nunsafe { g() }",
            "// SAFETY: checked\n// and more words\nlet a =\n    unsafe { g() };",
            "// SAFETY: checked\n#[rustfmt::skip]\nunsafe { g() };",
            "unsafe { /* SAFETY: checked */ g() }",
            "f(\n    // SAFETY: checked\n    unsafe { g() },\n)",
            "pub unsafe fn f() {}",
        ] {
            assert_eq!(findings(sys, good), 0, "{good}");
        }
    }
}
