//! Pure: what another program printed in, a [`Report`](memgauge_model::Report) out, so that old results can be drawn and
//! compared. No IO, no clock.
//!
//! Such a report holds what the output says and no more: one figure each, without an interval; of the machine nothing.
#![forbid(unsafe_code)]

pub mod mlc;
mod unknown;

/// Why there is no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// None of the headings that it knows has a figure under it.
    #[error("no figure of the Memory Latency Checker is in it")]
    NoFigure,
}
