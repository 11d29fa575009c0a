//! Members take versions and lints from the workspace, and the lock file is kept.

use toml::{Table, Value};

use crate::tidy::tree::{File, Finding, Tree};

const SECTIONS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let path: Vec<&str> = file.path.split('/').collect();
        if matches!(path.as_slice(), ["crates", _, "Cargo.toml"]) {
            findings.extend(manifest(file));
        }
    }
    let ignored = |file: &File| file.text.lines().any(|line| line.trim().ends_with("Cargo.lock"));
    if tree.file("Cargo.lock").is_none() || tree.file(".gitignore").is_some_and(ignored) {
        findings.push(Finding {
            path: "Cargo.lock".to_owned(),
            line: 1,
            text: "the lock file is committed, not ignored".to_owned(),
        });
    }
    findings
}

fn manifest(file: &File) -> Vec<Finding> {
    let table: Table = match file.text.parse() {
        Ok(table) => table,
        Err(error) => return vec![file.finding(1, format!("not TOML: {error}"))],
    };
    let mut findings = dependencies(file, &table);
    let targets = table.get("target").and_then(Value::as_table);
    for target in targets.into_iter().flat_map(|targets| targets.values()) {
        findings.extend(target.as_table().map(|table| dependencies(file, table)).into_iter().flatten());
    }
    if !table.get("lints").is_some_and(from_workspace) {
        findings.push(file.finding(1, "`[lints] workspace = true` is missing"));
    }
    findings
}

fn dependencies(file: &File, table: &Table) -> Vec<Finding> {
    let sections = SECTIONS.iter().filter_map(|section| table.get(*section));
    sections
        .filter_map(Value::as_table)
        .flatten()
        .filter(|(_, value)| !from_workspace(value))
        .map(|(name, _)| {
            let at = file.text.lines().position(|line| line.starts_with(name.as_str()));
            file.finding(
                at.unwrap_or(0) + 1,
                format!("`{name}`: versions stand in the workspace; write `{name}.workspace = true`"),
            )
        })
        .collect()
}

fn from_workspace(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINTS: &str = "[lints]\nworkspace = true\n";

    fn findings(manifest: &str) -> usize {
        check(&Tree::of(&[("crates/x/Cargo.toml", manifest), ("Cargo.lock", "")])).len()
    }

    #[test]
    fn own_versions_are_found() {
        assert_eq!(findings(&format!("{LINTS}[dependencies]\nserde = \"1\"")), 1);
        assert_eq!(findings(&format!("{LINTS}[dev-dependencies]\nx = {{ path = \"../x\" }}")), 1);
        assert_eq!(findings(&format!("{LINTS}[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"")), 1);
        assert_eq!(findings("[dependencies]"), 1, "lints are missing");
    }

    #[test]
    fn workspace_versions_pass() {
        let manifest = "[dependencies]\na.workspace = true\nb = { workspace = true, optional = true }";
        assert_eq!(findings(&format!("{LINTS}{manifest}")), 0);
    }

    #[test]
    fn the_lock_file_is_there_and_not_ignored() {
        assert_eq!(check(&Tree::of(&[])).len(), 1);
        assert_eq!(check(&Tree::of(&[("Cargo.lock", ""), (".gitignore", "/Cargo.lock")])).len(), 1);
    }
}
