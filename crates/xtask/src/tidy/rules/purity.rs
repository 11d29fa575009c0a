//! `plan`, `stats`, `analysis`, `render` and `import` give the same bytes for the same
//! input: no IO, no clock, no unseeded randomness, no mathematics that differs
//! from one libc to the next.

use crate::tidy::tree::{File, Finding, Tree};

const PURE: &[&str] = &["plan", "stats", "analysis", "render", "import"];

/// With the colons too: `use std::{env, fs};` names them without `std::`.
const OUTSIDE_WORLD: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "fs::",
    "env::",
    "net::",
    "process::",
    "File::",
    "Instant",
    "SystemTime",
];

/// Hash maps too: std seeds them anew in each process, so their order differs.
const RANDOM: &[&str] = &["thread_rng", "RandomState", "HashMap", "HashSet"];

/// Functions of floats whose last bits std leaves open. `sqrt` and `mul_add` are exact.
const OPEN_MATH: &[&str] = &[
    "ln", "ln_1p", "log", "log2", "log10", "exp", "exp2", "exp_m1", "powf", "powi", "sin", "cos", "tan", "asin", "acos", "atan",
    "atan2", "sinh", "cosh", "tanh", "cbrt", "hypot",
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust().filter(|file| PURE.contains(&file.member())).flat_map(file).collect()
}

fn file(file: &File) -> Vec<Finding> {
    let mut findings = file.findings_outside_tests(OUTSIDE_WORLD, "this crate reads nothing; what it needs is passed in");
    findings.extend(file.findings_outside_tests(RANDOM, "not the same in each run; use a seed, or a BTreeMap"));
    let math: Vec<String> = OPEN_MATH.iter().flat_map(|name| [format!(".{name}("), format!("f64::{name}")]).collect();
    let math: Vec<&str> = math.iter().map(String::as_str).collect();
    findings.extend(file.findings_outside_tests(&math, "differs between platforms; use the libm crate"));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn impure_code_is_found() {
        for bad in [
            "use std::fs;",
            "let t = Instant::now();",
            "std::env::var(x)",
            "use std::{fmt, fs};\nfs::read(x)",
            "let m: HashMap<u8, u8>;",
            "x.ln()",
            "x.powi(2)",
            "values.map(f64::exp)",
        ] {
            assert_eq!(findings("crates/stats/src/a.rs", bad), 1, "{bad}");
        }
    }

    #[test]
    fn pure_code_other_crates_and_tests_pass() {
        for good in ["libm::log(x)", "x.sqrt()", "n.ilog2()", "n.pow(2)", "BTreeMap", "// Instant", "#[cfg(test)]\nuse std::fs;"]
        {
            assert_eq!(findings("crates/stats/src/a.rs", good), 0, "{good}");
        }
        assert_eq!(findings("crates/engine/src/a.rs", "Instant::now()"), 0);
    }
}
