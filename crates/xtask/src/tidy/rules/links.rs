//! Relative links in pages lead somewhere, and every page of `docs/` is linked
//! from the README or from the index of `docs/`.

use std::collections::BTreeSet;

use crate::tidy::tree::{File, Finding, Tree};

/// Pages from which a reader starts.
const ENTRANCES: &[&str] = &["README.md", "docs/README.md"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let pages = || tree.files.iter().filter(|file| file.is("md"));
    let mut findings = Vec::new();
    let mut reached = BTreeSet::new();
    for page in pages() {
        for link in links(page) {
            if !exists(tree, &link.target) {
                let text = format!("the link to `{}` leads nowhere", link.written);
                findings.push(page.finding(link.line, text));
            }
            if ENTRANCES.contains(&page.path.as_str()) {
                reached.insert(link.target);
            }
        }
    }
    for page in pages().filter(|page| is_doc(&page.path) && !reached.contains(&page.path)) {
        findings.push(page.finding(1, "not linked from README.md or docs/README.md"));
    }
    findings
}

/// `docs/NAME.md`, but for the index itself.
fn is_doc(path: &str) -> bool {
    let name = path.strip_prefix("docs/");
    name.is_some_and(|name| !name.contains('/') && name != "README.md")
}

struct Link {
    line: usize,
    written: String,
    /// Relative to the root, without the anchor.
    target: String,
}

/// The relative links of a page, code left out.
fn links(page: &File) -> Vec<Link> {
    let mut links = Vec::new();
    let mut fenced = false;
    for (index, line) in page.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Every second piece between backticks is code.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for piece in prose.split("](").skip(1) {
            let written = piece.split([')', ' ']).next().unwrap_or_default();
            let path = written.split('#').next().unwrap_or_default();
            if path.is_empty() || path.contains(':') {
                continue;
            }
            links.push(Link { line: index + 1, written: written.to_owned(), target: resolve(&page.path, path) });
        }
    }
    links
}

fn resolve(page: &str, path: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// A file, or a folder with a file in it.
fn exists(tree: &Tree, target: &str) -> bool {
    let folder = format!("{target}/");
    target.is_empty()
        || tree.files.iter().any(|file| file.path == target || file.path.starts_with(&folder))
        // Pictures and archives are no text, so not in the tree.
        || std::path::Path::new(target).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(files: &[(&str, &str)]) -> Vec<String> {
        let findings = check(&Tree::of(files)).into_iter();
        findings.map(|f| format!("{}:{}", f.path, f.line)).collect()
    }

    #[test]
    fn broken_links_and_lonely_pages_are_found() {
        let found = texts(&[
            ("README.md", "a\n[x](docs/none.md) [y](docs/a.md)"),
            ("docs/a.md", "[up](../no-such-page.md)"),
            ("docs/lonely.md", "[a](a.md)"),
        ]);
        assert_eq!(found, ["README.md:2", "docs/a.md:1", "docs/lonely.md:1"]);
    }

    #[test]
    fn good_links_code_and_addresses_pass() {
        let found = texts(&[
            ("README.md", "[a](docs/a.md#part) [h](https://example.org) `[c](d)`\n```\n[x](y)\n```"),
            ("docs/README.md", "[b](./b.md \"title\") [docs](../docs) [here](#top)"),
            ("docs/a.md", ""),
            ("docs/b.md", "[top](../README.md)"),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }
}
