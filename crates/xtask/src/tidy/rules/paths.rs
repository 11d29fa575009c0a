//! No path of somebody's machine in the repository.

use crate::tidy::tree::{Finding, Tree};

/// In two parts each, so that this file does not find itself.
const PERSONAL: &[&str] = &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Use", "rs/")];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(path) = PERSONAL.iter().find(|path| stands_alone(line, path)) {
                findings.push(file.finding(index + 1, format!("a path of one machine: `{path}…`")));
            }
        }
    }
    findings
}

/// Not a part of a longer path such as `host/root/`.
fn stands_alone(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        !before.ends_with(|c: char| c.is_alphanumeric() || "_-.}$".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_personal_paths_are_found() {
        for (text, count) in [
            (concat!("see /ho", "me/jo/x"), 1),
            (concat!("\"/ro", "ot/.cargo\""), 1),
            (concat!("share/ro", "ot/tmp"), 0),
            ("/sys/devices/system/node", 0),
        ] {
            assert_eq!(check(&Tree::of(&[("a.md", text)])).len(), count, "{text}");
        }
    }
}
