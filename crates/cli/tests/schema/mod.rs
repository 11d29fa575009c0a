//! The schema of the result document, for every test that has a document.

use serde_json::Value;
use std::path::PathBuf;

/// Where it is checked in.
pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/memgauge-result-1.schema.json")
}

/// What is wrong with a document, a line each; nothing if it is valid. Keys that the schema doesn't name are wrong too, and
/// figures that `docs/figures.md` doesn't.
pub fn faults(document: &Value) -> Vec<String> {
    let mut faults = faults_of("", document);
    faults.extend(unexplained(document).into_iter().map(|name| format!("docs/figures.md has no `{name}`")));
    faults
}

/// Names of figures that have no row on the page which explains each.
fn unexplained(document: &Value) -> Vec<String> {
    let page = std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures.md")).unwrap();
    let named = |name: &str| page.contains(&format!("`{name}`"));
    let names = document["metrics"].as_array().into_iter().flatten().filter_map(|metric| metric["name"].as_str());
    // The estimated DRAM bytes of any bandwidth have one row.
    names.filter(|name| !named(name.strip_suffix("_dram").unwrap_or(name))).map(str::to_owned).collect()
}

/// The same of a part that comes alone: `Machine`, `Plan`.
pub fn faults_of(part: &str, value: &Value) -> Vec<String> {
    let mut schema: Value = serde_json::from_slice(&std::fs::read(path()).unwrap()).unwrap();
    if !part.is_empty() {
        schema = serde_json::json!({ "$ref": format!("#/$defs/{part}"), "$defs": schema["$defs"] });
    }
    close(&mut schema);
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Later versions of a document may have more keys, so the schema is open; what this version writes it must name.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(keys) => {
            keys.values_mut().for_each(close);
            if keys.get("type").is_some_and(|kind| kind == "object") && keys.contains_key("properties") {
                keys.entry("additionalProperties").or_insert(Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
