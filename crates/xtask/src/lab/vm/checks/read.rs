//! Reading documents.

use serde_json::Value;

/// A list of node or CPU numbers. What is no number becomes one that nothing has.
pub fn numbers(list: &Value) -> Vec<u32> {
    list.as_array().into_iter().flatten().map(number).collect()
}

pub fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX)
}

/// The items of a list; none of what is no list.
pub fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The document's figures of that name.
pub fn metrics<'a>(document: &'a Value, name: &'a str) -> impl Iterator<Item = &'a Value> {
    items(&document["metrics"]).filter(move |metric| metric["name"] == name)
}
