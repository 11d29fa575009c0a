//! Pure: a value in, bytes out. One small file per format; no IO, no clock, no locale.
//!
//! | value | text | json | csv | vc |
//! |---|---|---|---|---|
//! | [`Report`] | `text/` | `json.rs` | `csv.rs` | `vc.rs` |
//! | [`Machine`] | `topology.rs` | the machine itself | – | – |
//! | [`Plan`] | `plan.rs` | the plan itself | – | – |
//!
//! [`mlc`] has the sections of the Memory Latency Checker's output, each on its own.
//!
//! To add a format: a file beside these, a variant of [`Format`], a line in [`render`].
#![forbid(unsafe_code)]

mod csv;
mod figure;
mod json;
pub mod mlc;
mod plan;
mod style;
mod table;
mod text;
mod topology;
mod vc;

#[cfg(test)]
mod sample;

use memgauge_model::{Machine, Plan, PointRecord, Report};

pub use style::Style;

/// A form that a result can be had in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// The result document, `memgauge-result/1`.
    Json,
    /// One row a figure.
    Csv,
    /// Virtual Client's metrics, one row each.
    VcCsv,
    /// The same as an array of objects.
    VcJson,
}

/// A result in `format`, ending in a line break. Colours are the caller's to choose; without them
/// the bytes are the same but for the escapes.
#[must_use]
pub fn render(report: &Report, format: Format, style: &Style) -> String {
    match format {
        Format::Text => text::report(report, style),
        Format::Json => json::pretty(report),
        Format::Csv => csv::report(report),
        Format::VcCsv => vc::csv(&[report]),
        Format::VcJson => vc::json(&[report]),
    }
}

/// Several runs of the same call in one: least, most and average of each metric; `None` where the format has no form for that.
#[must_use]
pub fn repeated(reports: &[&Report], format: Format) -> Option<String> {
    match format {
        Format::VcCsv => Some(vc::csv(reports)),
        Format::VcJson => Some(vc::json(reports)),
        Format::Text | Format::Json | Format::Csv => None,
    }
}

/// The result document with every window of every point under the key `raw`.
#[must_use]
pub fn document_with_raw(report: &Report, points: &[PointRecord]) -> String {
    json::with_raw(report, points)
}

/// A machine; `None` where the format has no form for it.
#[must_use]
pub fn topology(machine: &Machine, format: Format, style: &Style) -> Option<String> {
    match format {
        Format::Text => Some(topology::text(machine, style)),
        Format::Json => Some(json::pretty(machine)),
        Format::Csv | Format::VcCsv | Format::VcJson => None,
    }
}

/// A plan, for a dry run; `None` where the format has no form for it.
#[must_use]
pub fn plan(plan: &Plan, machine: &Machine, format: Format, style: &Style) -> Option<String> {
    match format {
        Format::Text => Some(plan::text(plan, machine, style)),
        Format::Json => Some(json::pretty(plan)),
        Format::Csv | Format::VcCsv | Format::VcJson => None,
    }
}

/// Any value of the model as an indented JSON text with a closing line break.
#[must_use]
pub fn json<T: serde::Serialize>(value: &T) -> String {
    json::pretty(value)
}
