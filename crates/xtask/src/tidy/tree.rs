//! What the rules look at: the files of the repository and cargo's metadata.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::blank::blank;
use crate::sh;

/// The repository as the rules see it.
pub struct Tree {
    /// Text files, sorted by path.
    pub files: Vec<File>,
    /// `cargo metadata --no-deps`.
    pub metadata: Value,
}

/// One place where a rule does not hold.
#[derive(Debug)]
pub struct Finding {
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    pub text: String,
}

/// A text file; `code` is empty unless it holds Rust.
pub struct File {
    /// Relative to the root, with `/`.
    pub path: String,
    pub text: String,
    pub code: Vec<Line>,
}

/// A line of Rust without its comments and strings.
pub struct Line {
    /// Counted from 1.
    pub number: usize,
    pub code: String,
    /// Inside `#[cfg(test)]`, or in a file that is no part of a library or program that ships.
    pub in_test: bool,
}

impl Tree {
    /// Reads the repository at the current folder.
    pub fn read() -> Result<Self> {
        let mut paths = Vec::new();
        walk(Path::new("."), &mut paths).context("cannot list the repository")?;
        paths.sort();
        let mut files = Vec::new();
        for path in paths {
            let name = path.strip_prefix(".").unwrap_or(&path).display().to_string();
            let bytes = std::fs::read(&path).with_context(|| format!("cannot read {name}"))?;
            // What is no text (captured data, pictures) has no rule.
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(File::new(&name, text));
            }
        }
        let metadata = sh::output(&mut sh::cargo(&["metadata", "--format-version=1", "--no-deps", "--locked"]))?;
        let metadata = serde_json::from_slice(&metadata).context("cargo metadata")?;
        Ok(Self { files, metadata })
    }

    /// The file at `path`, if there.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Files with Rust in them.
    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is("rs"))
    }

    /// A tree of these files, for the rules' own tests.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        Self { files: files.iter().map(|(path, text)| File::new(path, (*text).to_owned())).collect(), metadata: Value::Null }
    }
}

impl File {
    fn new(path: &str, text: String) -> Self {
        let mut file = Self { path: path.to_owned(), text, code: Vec::new() };
        if file.is("rs") {
            file.code = lines(&file);
        }
        file
    }

    /// Whether the file's extension is this one.
    pub fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }

    /// `X` of `crates/X/…`.
    pub fn member(&self) -> &str {
        let mut parts = self.path.split('/');
        match (parts.next(), parts.next()) {
            (Some("crates"), Some(name)) => name,
            _ => "",
        }
    }

    /// A finding in this file.
    pub fn finding(&self, line: usize, text: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, text: text.into() }
    }

    /// A finding for each line of code outside tests in which one of the patterns stands.
    pub fn findings_outside_tests(&self, patterns: &[&str], why: &str) -> Vec<Finding> {
        let lines = self.code.iter().filter(|line| !line.in_test);
        lines
            .filter_map(|line| {
                let pattern = patterns.iter().find(|pattern| line.has(pattern))?;
                Some(self.finding(line.number, format!("`{pattern}`: {why}")))
            })
            .collect()
    }
}

impl Line {
    /// Whether the pattern stands here as whole words: `exit` is not in `exited`.
    pub fn has(&self, pattern: &str) -> bool {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let starts = pattern.starts_with(word);
        let ends = pattern.ends_with(word);
        self.code.match_indices(pattern).any(|(at, _)| {
            let before = self.code.get(..at).unwrap_or_default();
            let after = self.code.get(at + pattern.len()..).unwrap_or_default();
            let joined = starts && before.ends_with(word) || ends && after.starts_with(word);
            !joined
        })
    }
}

/// Files below `folder`, but for what is built, hidden by git or written by runs.
fn walk(folder: &Path, into: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if name != ".git" && !name.starts_with("target") && name != "memgauge-runs" {
                walk(&entry.path(), into)?;
            }
        } else if kind.is_file() {
            into.push(entry.path());
        }
    }
    Ok(())
}

fn lines(file: &File) -> Vec<Line> {
    let blanked = blank(&file.text);
    let tests = test_spans(&blanked);
    let all = is_test_file(&file.path);
    let mut start = 0;
    let mut lines = Vec::new();
    for (index, code) in blanked.split('\n').enumerate() {
        lines.push(Line {
            number: index + 1,
            code: code.to_owned(),
            in_test: all || tests.iter().any(|span| span.contains(&start)),
        });
        start += code.len() + 1;
    }
    lines
}

fn is_test_file(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "benches" | "examples" | "fuzz"))
        || path.ends_with("/tests.rs")
        || path.ends_with("_tests.rs")
}

/// The byte ranges of items under `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn test_spans(code: &str) -> Vec<std::ops::Range<usize>> {
    let mut spans = Vec::new();
    for marker in ["#[cfg(test)]", "#[cfg(all(test"] {
        for (start, _) in code.match_indices(marker) {
            let item = code.get(start + marker.len()..).unwrap_or_default();
            spans.push(start..start + marker.len() + item_length(item));
        }
    }
    spans
}

/// Up to the end of the first braced block, or to a `;` before any brace.
fn item_length(item: &str) -> usize {
    let mut depth = 0_u32;
    for (at, c) in item.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    item.len()
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn test_items_are_told_from_code() {
        let tree = Tree::of(&[(
            "crates/x/src/a.rs",
            "use a;\n#[cfg(test)]\nuse b;\nfn c() {}\n#[cfg(test)]\nmod tests {\n  fn d() { {} }\n}\nfn e() {}",
        )]);
        let tests: Vec<usize> = tree.files[0].code.iter().filter(|line| line.in_test).map(|line| line.number).collect();
        assert_eq!(tests, [2, 3, 5, 6, 7, 8]);
    }

    #[test]
    fn whole_words_only() {
        let tree = Tree::of(&[("a.rs", "process::exit(1); exited(); x.log2(); y.ilog2();")]);
        let line = &tree.files[0].code[0];
        assert!(line.has("process::exit") && line.has(".log2(") && line.has("exit"));
        assert!(!line.has("exite") && !line.has("cess::exit") && !line.has(".log("));
    }
}
