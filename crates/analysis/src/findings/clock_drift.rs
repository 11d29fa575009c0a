//! The clock's rate against CLOCK_MONOTONIC_RAW changed between start and end: every time is as wrong as that.

use super::evidence::{finding, named};
use memgauge_model::{Finding, Record, Report, Severity};

/// Worth a warning: a tenth of a per cent is more than any oscillator does within a run.
const DRIFT: f64 = 0.001;
/// More than the intervals that we state.
const MUCH: f64 = 0.01;

pub(super) fn find(record: &Record, report: &Report) -> Vec<Finding> {
    let clock = &record.run.clock;
    let drift = (clock.hz_after / clock.hz - 1.0).abs();
    // An interrupted run has no second calibration.
    if !(clock.hz_after > 0.0 && drift > DRIFT) {
        return Vec::new();
    }
    let severity = if drift > MUCH { Severity::Critical } else { Severity::Warning };
    let text = format!(
        "the clock ({}) ran {:.2} % {} at the end than at the start: no time is surer than that; look at the clock source of the machine or its host",
        clock.source,
        drift * 100.0,
        if clock.hz_after > clock.hz { "faster" } else { "slower" }
    );
    vec![finding("clock_drift", severity, text, named(report, "clock_hz").map(|(id, _)| id).collect())]
}
