//! The clock's own figures.

use crate::draft::{Draft, Labels, gap};
use crate::labels::set;
use memgauge_model::{ClockFacts, Metric, Reason};

/// Writes frequency, step and cost.
pub(crate) fn write(clock: &ClockFacts, draft: &mut Draft) {
    let mut labels = Labels::new();
    set(&mut labels, "source", &clock.source);
    let after = if usable(clock.hz_after) { clock.hz_after } else { clock.hz };
    let ends = [clock.hz.min(after), clock.hz.max(after)];
    let reason = if usable(clock.hz_after) { "at the start and at the end" } else { "calibrated once" };
    figure("clock_hz", "Hz", clock.hz, ends, reason, &labels, draft);
    figure("clock_quantum", "ns", clock.quantum_ns, [clock.quantum_ns; 2], "measured once", &labels, draft);
    figure("clock_cost", "ns", clock.cost_ns, [clock.cost_ns; 2], "measured once", &labels, draft);
}

fn figure(name: &str, unit: &str, value: f64, range: [f64; 2], reason: &str, labels: &Labels, draft: &mut Draft) {
    if !usable(value) {
        return draft.miss(gap(name, labels, Reason::OutOfTime, "the clock was not calibrated", "let the run finish"));
    }
    draft.add(Metric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        labels: labels.clone(),
        value,
        ci95: None,
        range: Some(range),
        range_reason: Some(reason.to_owned()),
        undisturbed: None,
        undisturbed_ci95: None,
        best: None,
        samples: 1,
        windows: 0,
        excluded: 0,
        placement: None,
        remarks: Vec::new(),
    });
}

fn usable(value: f64) -> bool {
    value.is_finite() && value > 0.0
}
