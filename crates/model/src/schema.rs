//! The JSON Schema of the result document, made from its types (feature `schema`).
//!
//! It is checked in as `docs/schema/memgauge-result-1.schema.json`, and a test of the `cli` holds it against what is made here.

use crate::{PointRecord, RESULT_SCHEMA, Report};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// The schema (draft 2020-12) of what `--format json` and `--json` write, with or without `--raw`.
#[must_use]
pub fn result() -> Schema {
    let mut schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Document>();
    RecursiveTransform(|schema: &mut Schema| {
        left_out_or_there(schema);
        plain_description(schema);
    })
    .transform(&mut schema);
    schema.insert("title".to_owned(), RESULT_SCHEMA.into());
    if let Some(version) = schema.pointer_mut("/properties/schema") {
        *version = json!({ "const": RESULT_SCHEMA });
    }
    schema
}

/// The result of a run of memgauge: every figure with its unit, its conditions and its uncertainty.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its shape is wanted")]
struct Document {
    #[schemars(flatten)]
    report: Report,
    /// Every window of every point, in the plan's order; with `--raw` alone.
    #[schemars(skip_serializing_if = "Option::is_none")]
    raw: Option<Vec<PointRecord>>,
}

/// Of a figure: its interval, or its range with the reason.
pub(crate) fn uncertain(schema: &mut Schema) {
    schema.insert("oneOf".to_owned(), json!([{ "required": ["ci95"] }, { "required": ["range"] }]));
    schema.insert("dependentRequired".to_owned(), json!({ "range": ["range_reason"], "range_reason": ["range"] }));
}

/// A key that need not be there is left out where there is nothing to say, so it is never `null`.
fn left_out_or_there(schema: &mut Schema) {
    let required = match schema.get("required") {
        Some(Value::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (_, property) in properties.into_iter().flatten().filter(|(name, _)| !required.contains(&json!(name))) {
        without_null(property);
    }
}

fn without_null(property: &mut Value) {
    let Some(keys) = property.as_object_mut() else { return };
    if let Some(Value::Array(types)) = keys.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            keys.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = keys.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            keys.remove("anyOf");
            keys.extend(only);
        }
    }
}

/// Links between types lead nowhere outside the code, and its line breaks mean nothing.
fn plain_description(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("[`crate::", "`").replace("[`", "`").replace("`]", "`").replace('\n', " ");
    }
}
