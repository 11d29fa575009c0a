//! Siblings do not depend on each other, and the pure crates stay slim.

use serde_json::Value;

use crate::tidy::tree::{Finding, Tree};

/// What a member may depend on outside its tests.
struct Allowed {
    member: &'static str,
    siblings: &'static [&'static str],
    /// None: any crate of the workspace's list.
    others: Option<&'static [&'static str]>,
}

const EDGES: &[Allowed] = &[
    // The latter two for its feature `schema`, which only tests have.
    allowed("model", &[], Some(&["serde", "schemars", "serde_json"])),
    allowed("kernels", &[], Some(&[])),
    allowed("stats", &[], Some(&["libm"])),
    allowed("sys", &[], Some(&["libc", "thiserror"])),
    allowed("machine", &["model", "sys"], None),
    allowed("plan", &["model"], None),
    allowed("engine", &["model", "stats", "kernels", "sys"], None),
    allowed("analysis", &["model", "stats"], None),
    allowed("render", &["model"], None),
    allowed("import", &["model"], None),
    allowed("store", &["model"], None),
    allowed(
        "cli",
        &["model", "kernels", "stats", "sys", "machine", "plan", "engine", "analysis", "render", "import", "store"],
        None,
    ),
    allowed("xtask", &[], None),
];

const fn allowed(member: &'static str, siblings: &'static [&'static str], others: Option<&'static [&'static str]>) -> Allowed {
    Allowed { member, siblings, others }
}

pub fn check(tree: &Tree) -> Vec<Finding> {
    let packages = tree.metadata.get("packages").and_then(Value::as_array);
    packages.into_iter().flatten().flat_map(package).collect()
}

fn package(package: &Value) -> Vec<Finding> {
    let member = short(text(package, "name"));
    let finding = |text: String| Finding { path: format!("crates/{member}/Cargo.toml"), line: 1, text };
    let Some(allowed) = EDGES.iter().find(|row| row.member == member) else {
        return vec![finding(format!("`{member}` has no row in the table of allowed edges"))];
    };
    let dependencies = package.get("dependencies").and_then(Value::as_array);
    let mut findings = Vec::new();
    for dependency in dependencies.into_iter().flatten() {
        let full = text(dependency, "name");
        let in_tests = text(dependency, "kind") == "dev";
        let fine = if is_ours(full) {
            in_tests || allowed.siblings.contains(&short(full))
        } else {
            in_tests || allowed.others.is_none_or(|names| names.contains(&full))
        };
        if !fine {
            findings.push(finding(format!("`{member}` must not depend on `{full}`")));
        }
    }
    findings
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn is_ours(package: &str) -> bool {
    package.starts_with("memgauge-") || package == "xtask"
}

fn short(package: &str) -> &str {
    package.strip_prefix("memgauge-").unwrap_or(package)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn findings(name: &str, dependency: &str, kind: Option<&str>) -> usize {
        let mut tree = Tree::of(&[]);
        tree.metadata = json!({"packages": [{
            "name": name, "dependencies": [{"name": dependency, "kind": kind}]
        }]});
        check(&tree).len()
    }

    #[test]
    fn siblings_and_strangers_are_refused() {
        assert_eq!(findings("memgauge-plan", "memgauge-machine", None), 1);
        assert_eq!(findings("memgauge-engine", "memgauge-analysis", None), 1);
        assert_eq!(findings("memgauge-kernels", "libc", None), 1);
        assert_eq!(findings("xtask", "memgauge-model", Some("build")), 1);
        assert_eq!(findings("memgauge-new", "serde", None), 1);
    }

    #[test]
    fn allowed_edges_and_test_helpers_pass() {
        assert_eq!(findings("memgauge-plan", "memgauge-model", None), 0);
        assert_eq!(findings("memgauge-sys", "libc", None), 0);
        assert_eq!(findings("memgauge-kernels", "proptest", Some("dev")), 0);
        assert_eq!(findings("memgauge-plan", "memgauge-machine", Some("dev")), 0);
    }
}
