//! The schema that is checked in is what the types give, and refuses what is no result; what bash completes is what is taken.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod schema;

use assert_cmd::Command;
use serde_json::{Value, json};

#[test]
fn the_schema_is_what_the_types_give() {
    let made = serde_json::to_value(memgauge_model::schema::result()).unwrap();
    if std::env::var_os("MEMGAUGE_REFRESH").is_some() {
        std::fs::write(schema::path(), format!("{made:#}\n")).unwrap();
    }
    let kept: Value = serde_json::from_slice(&std::fs::read(schema::path()).unwrap()).unwrap();
    assert!(kept == made, "the types have changed; run MEMGAUGE_REFRESH=1 cargo test -p memgauge-cli --test generated");
}

#[test]
fn what_is_no_result_is_refused() {
    let good = document();
    assert_eq!(schema::faults(&good), Vec::<String>::new());
    let raw = json!([{ "rounds": [] }]);
    let fine = [("/raw", raw), ("/metrics/0/value", json!(5)), ("/matrices/0/cells/0/1", Value::Null)];
    for (at, value) in fine {
        assert_eq!(schema::faults(&with(&good, at, Some(value.clone()))), Vec::<String>::new(), "{at} = {value}");
    }
    let wrong = [
        ("/schema", Some(json!("memgauge-result/2"))),
        ("/status", None),
        ("/status/state", Some(json!("fine"))),
        ("/metrics/0/unit", None),
        ("/metrics/0/value", Some(Value::Null)),
        ("/metrics/0/samples", Some(json!(-1))),
        ("/metrics/0/labels/cpu", Some(json!(0))),
        ("/metrics/0/ci95", None),
        ("/metrics/0/ci95", Some(Value::Null)),
        ("/metrics/0/ci95", Some(json!([1.0, 2.0, 3.0]))),
        ("/metrics/0/range", Some(json!([1.0, 2.0]))),
        ("/metrics/1/range_reason", None),
        ("/metrics/0/range_reason", Some(json!("alone"))),
        ("/metrics/0/colour", Some(json!("red"))),
        ("/matrices/0/cells/0/0", Some(json!(0.5))),
        ("/matrices/0/cells/0/0", Some(json!(-1))),
        ("/unavailable/0/reason", Some(json!("bad_luck"))),
        ("/machine/platform/host", Some(json!({ "unavailable": "bad_luck", "detail": "" }))),
        ("/machine/platform/host", Some(json!({ "unavailable": "not_present" }))),
        ("/raw", Some(Value::Null)),
    ];
    for (at, value) in wrong {
        let named = format!("{at} = {value:?}");
        let document = with(&good, at, value);
        assert_ne!(schema::faults(&document), Vec::<String>::new(), "{named} was taken");
    }
}

/// What bash offers behind these words, whose last one is being typed.
fn offered(line: &str) -> Vec<String> {
    let script = printed_text(&["completions", "bash"]);
    let words = line.split(' ').collect::<Vec<_>>();
    let ask = r#"source /dev/stdin; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _memgauge "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
                 printf '%s\n' "${COMPREPLY[@]}""#;
    let output = Command::new("bash").args(["--norc", "-c", ask, "-"]).args(words).write_stdin(script).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_offers_each_command_its_own_flags() {
    let script = printed_text(&["completions", "bash"]);
    Command::new("bash").args(["--norc", "-n"]).write_stdin(script).assert().success().stderr("");
    let has = |line: &str, word: &str| offered(line).iter().any(|offer| offer == word);
    assert!(has("memgauge ", "topology") && has("memgauge ", "--buffer"));
    assert!(has("memgauge topology --", "--root") && !has("memgauge topology --", "--buffer"));
    assert!(has("memgauge c2c --", "--all-pairs") && !has("memgauge idle --", "--all-pairs"));
    assert_eq!(offered("memgauge completions z"), ["zsh"]);
}

/// This machine, a plan for it, and figures that nobody measured.
fn document() -> Value {
    let metric = |name: &str| json!({ "name": name, "unit": "ns", "labels": { "cpu": "0" }, "value": 1.5, "samples": 6, "windows": 60, "excluded": 0 });
    let mut metrics = [metric("idle_latency"), metric("tlb_cost")];
    metrics[0]["ci95"] = json!([1.0, 2.0]);
    metrics[1]["range"] = json!([1.0, 2.0]);
    metrics[1]["range_reason"] = json!("3 rounds, an interval needs 6");
    json!({
        "schema": memgauge_model::RESULT_SCHEMA,
        "tool": { "name": "memgauge", "version": "0.1.0", "build": "test" },
        "command": { "argv": [], "seed": 7, "started": "2026-11-30T19:58:00Z", "seconds": 27.4, "environment": {} },
        "status": { "state": "complete", "reasons": [] },
        "machine": printed(&["topology", "--format", "json"]),
        "plan": printed(&["--dry-run", "--format", "json"]),
        "metrics": metrics,
        "curves": [],
        "matrices": [{ "name": "matrix_latency", "unit": "ns", "rows": [0], "columns": [0, 1], "labels": {}, "cells": [[0, 1]] }],
        "findings": [],
        "unavailable": [{ "name": "burst_fit", "labels": {}, "reason": "not_saturated", "detail": "seen", "remedy": "none" }],
        "notes": [],
    })
}

fn printed(args: &[&str]) -> Value {
    serde_json::from_str(&printed_text(args)).unwrap()
}

fn printed_text(args: &[&str]) -> String {
    let output = Command::cargo_bin("memgauge").unwrap().args(args).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The document with this value there, or without what is there.
fn with(document: &Value, at: &str, value: Option<Value>) -> Value {
    let mut document = document.clone();
    let (parent, key) = at.rsplit_once('/').unwrap();
    match (document.pointer_mut(parent).unwrap(), value) {
        (Value::Object(keys), Some(value)) => _ = keys.insert(key.to_owned(), value),
        (Value::Object(keys), None) => _ = keys.remove(key).unwrap(),
        (Value::Array(items), Some(value)) => items[key.parse::<usize>().unwrap()] = value,
        (other, _) => panic!("{at}: {other}"),
    }
    document
}
