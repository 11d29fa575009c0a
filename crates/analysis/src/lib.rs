//! Pure: a [`Record`] becomes a [`Report`]. No IO, no clock, no environment, no randomness of its own:
//! the same record gives the same bytes on every machine.
//!
//! ```text
//! blocks ─► classes (which count) ─► rounds (windows → round → estimate) ─► figures ─► derived, curves, matrices
//!                                                                              └────► plausibility, notes, status
//! ```
#![forbid(unsafe_code)]

mod absent;
mod access;
mod as_found;
mod classes;
mod clock;
mod counters;
mod curves;
mod derived;
mod draft;
mod dram;
mod figures;
mod findings;
mod jobs;
mod labels;
mod levels;
mod maps;
mod matrices;
mod notes;
mod placement;
mod plausibility;
mod prefetch;
mod repeat;
mod rounds;
mod scans;
mod status;
mod sweeps;
mod too_good;

use as_found::AsFound;
use draft::Draft;
use figures::Case;
use memgauge_model::{RESULT_SCHEMA, Record, Report};

/// Reads a record: estimates with their uncertainty, views of them, what is missing, and whether to rely on it.
#[must_use]
pub fn analyze(record: &Record) -> Report {
    let case = Case::new(record);
    let mut draft = Draft::default();
    record.plan.notes.iter().for_each(|note| draft.note(note.clone()));
    record.plan.unavailable.iter().for_each(|gap| draft.miss(gap.clone()));
    let figures = figures::measured(&case, &mut draft);
    derived::write(&case, &figures, &mut draft);
    counters::write(&case, &figures, &mut draft);
    let curves = curves::write(&case, &figures, &mut draft);
    let sweeps = sweeps::write(&case, &figures, &mut draft);
    let scans = scans::write(&case, &figures, &mut draft);
    let histograms = access::histograms(&case);
    let map = maps::write(&case, &figures, &mut draft);
    let caches = AsFound::of(&case, &sweeps, &draft);
    levels::write(&case, &figures, &caches, &mut draft);
    clock::write(&record.run.clock, &mut draft);
    notes::write(&case, &mut draft);
    repeat::write(&case, &mut draft);
    let bandwidths = too_good::bandwidths(&case, &figures, &sweeps, &caches, &mut draft);
    let memory = [too_good::latencies(&case, &sweeps, &mut draft), bandwidths];
    plausibility::note(&case, &memory, &mut draft);
    let prefetch = prefetch::write(&case, &mut draft);
    let status = status::judge(record, &mut draft);
    let mut report = Report {
        schema: RESULT_SCHEMA.to_owned(),
        simulated: record.machine.simulated,
        tool: record.tool.clone(),
        command: record.command.clone(),
        status,
        machine: record.machine.clone(),
        plan: record.plan.clone(),
        matrices: matrices::write(record, &draft),
        metrics: draft.metrics,
        prefetch,
        curves,
        sweeps,
        scans,
        histograms,
        map,
        findings: Vec::new(),
        unavailable: draft.missing,
        notes: draft.notes,
    };
    report.findings = findings::find(record, &report);
    report
}
