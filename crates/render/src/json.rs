//! JSON: the model's own form, indented, with a closing line break.

use memgauge_model::{PointRecord, Report};
use serde::Serialize;

/// Any value of the model.
pub fn pretty<T: Serialize>(value: &T) -> String {
    // Every type of the model has text keys and plain values, for which this cannot fail.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// The document with the raw windows beside it.
pub fn with_raw(report: &Report, points: &[PointRecord]) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        #[serde(flatten)]
        report: &'a Report,
        raw: &'a [PointRecord],
    }
    pretty(&Document { report, raw: points })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_document_reads_back_and_raw_only_adds_a_key() {
        let report = sample::idle();
        assert_eq!(serde_json::from_str::<Report>(&pretty(&report)).unwrap(), report);
        let raw: serde_json::Value = serde_json::from_str(&with_raw(&report, &[PointRecord::default()])).unwrap();
        assert_eq!(raw["schema"], memgauge_model::RESULT_SCHEMA);
        assert_eq!(raw["raw"].as_array().unwrap().len(), 1);
        assert!(pretty(&report).ends_with("}\n"));
    }

    #[test]
    fn what_is_written_is_what_the_schema_says() {
        let schema = include_str!("../../../docs/schema/memgauge-result-1.schema.json");
        let validator = jsonschema::draft202012::new(&serde_json::from_str(schema).unwrap()).unwrap();
        for text in [pretty(&sample::idle()), pretty(&sample::all()), with_raw(&sample::all(), &[PointRecord::default()])] {
            let document = serde_json::from_str(&text).unwrap();
            let faults = validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path()));
            assert_eq!(faults.collect::<Vec<_>>(), Vec::<String>::new());
        }
    }
}
