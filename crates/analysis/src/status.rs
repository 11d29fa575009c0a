//! Complete, partial or rejected, and why.

use crate::draft::Draft;
use memgauge_model::{End, Record, State, Status};

/// What speaks against the result as a whole; reasons of single figures are already in the draft.
pub(crate) fn judge(record: &Record, draft: &mut Draft) -> Status {
    for reason in &record.plan.rejected {
        draft.reject_run(reason.clone());
    }
    let mut early = Vec::new();
    match &record.run.end {
        End::Complete => {}
        End::Interrupted { signal } => early.push(format!("interrupted by {signal}: what was measured stands")),
        End::Failed { reason } => early.push(format!("failed: {reason}; what was measured stands")),
    }
    let (against, missing) = draft.reasons();
    let state = if !against.is_empty() {
        State::Rejected
    } else if !early.is_empty() || !missing.is_empty() {
        State::Partial
    } else {
        State::Complete
    };
    // A stopped run lacks figures because it was stopped: the gaps say which, one by one.
    let missing = if early.is_empty() { missing } else { Vec::new() };
    Status { state, reasons: against.into_iter().chain(early).chain(missing).collect() }
}
