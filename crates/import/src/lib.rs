//! Pure: what another program printed in, a [`Report`] out, so that old results can be drawn and
//! compared. No IO, no clock.
//!
//! Such a report holds what the output says and no more: one figure each, without an interval; of the machine nothing.
#![forbid(unsafe_code)]

pub mod mlc;
mod unknown;

use memgauge_model::{RESULT_SCHEMA, Report};

/// A result document of memgauge itself, read again.
///
/// # Errors
///
/// [`ImportError::NoDocument`].
pub fn document(bytes: &[u8]) -> Result<Report, ImportError> {
    let report: Report = serde_json::from_slice(bytes).map_err(|error| ImportError::NoDocument(error.to_string()))?;
    match report.schema == RESULT_SCHEMA {
        true => Ok(report),
        false => Err(ImportError::NoDocument(format!("its schema is {}, not {RESULT_SCHEMA}", report.schema))),
    }
}

/// Why there is no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// None of the headings that it knows has a figure under it.
    #[error("no figure of the Memory Latency Checker is in it")]
    NoFigure,
    /// It is no result document, for this reason.
    #[error("no result document: {0}")]
    NoDocument(String),
}
