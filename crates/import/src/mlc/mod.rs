//! Output of Intel's Memory Latency Checker, versions 3.1a on, or of memgauge in its format: whole runs, single modes, several of
//! them in one text; TABs or blanks; with what else stands around it.

mod call;
mod draft;
mod lines;
mod output;
mod pace;

#[cfg(test)]
mod tests;

use crate::{ImportError, unknown};
use draft::Draft;
use lines::Said;
use memgauge_model::{Command, Finding, RESULT_SCHEMA, Report, State, Status, Tool, What};
use output::Output;
use pace::Pace;
use std::collections::BTreeMap;

/// Reads an output, or several in one text; figures of a later one that an earlier one has, too, carry its number as the label
/// `run`.
///
/// # Errors
///
/// [`ImportError::NoFigure`].
pub fn read(bytes: &[u8]) -> Result<Report, ImportError> {
    let text = String::from_utf8_lossy(bytes);
    let (mut draft, mut output, mut from) = (Draft::default(), Output::next(1), From::default());
    let mut paces = Vec::new();
    for said in text.lines().filter_map(lines::read) {
        if output.is_over(&said) {
            paces.extend(output.finish(&mut draft));
            output = Output::next(output.run + 1);
        }
        match said {
            Said::Banner { version, ours, simulated } => {
                paces.extend(output.finish(&mut draft));
                let run = if from.versions.is_empty() { 1 } else { output.run + 1 };
                output = Output::next(run);
                from.versions.push(version);
                from.ours |= ours;
                from.simulated |= simulated;
            }
            Said::Section(section) => paces.extend(output.begin(section, &mut draft)),
            Said::Arguments(arguments) => {
                from.argv.extend(arguments.iter().cloned());
                output.take(Said::Arguments(arguments), &mut draft);
            }
            other => output.take(other, &mut draft),
        }
    }
    paces.extend(output.finish(&mut draft));
    if draft.metrics.is_empty() {
        return Err(ImportError::NoFigure);
    }
    Ok(report(draft, from, &paces))
}

/// Where it comes from.
#[derive(Default)]
struct From {
    versions: Vec<String>,
    argv: Vec<String>,
    ours: bool,
    simulated: bool,
}

fn report(draft: Draft, from: From, paces: &[Pace]) -> Report {
    let judged: Vec<(Finding, bool)> = paces.iter().filter_map(Pace::finding).collect();
    let versions =
        if from.versions.is_empty() { "of unknown version".to_owned() } else { format!("v{}", from.versions.join(", v")) };
    let mut reasons = vec![format!("imported: output of the Memory Latency Checker {versions}")];
    let implausible = judged.iter().filter(|(_, against)| *against).map(|(finding, _)| format!("implausible: {}", finding.text));
    reasons.extend(implausible);
    let state = if reasons.len() > 1 { State::Rejected } else { State::Imported };
    let mut notes = draft.notes;
    if draft.twice > 0 {
        notes.push(format!("figures that stood there twice: {}; the first of each counts", draft.twice));
    }
    if draft.bins > 0 {
        notes.push(format!("rows of histograms that were left out: {}", draft.bins));
    }
    let (mut machine, mut plan) = (unknown::machine(), unknown::plan(What::All));
    (machine.simulated, plan.simulated) = (from.simulated, from.simulated);
    Report {
        schema: RESULT_SCHEMA.to_owned(),
        simulated: from.simulated,
        tool: Tool {
            name: if from.ours { "memgauge" } else { "Intel(R) Memory Latency Checker" }.to_owned(),
            version: from.versions.first().cloned().unwrap_or_else(|| "unknown".to_owned()),
            build: format!("imported by memgauge {}", env!("CARGO_PKG_VERSION")),
        },
        command: Command { argv: from.argv, seed: 0, started: "unknown".to_owned(), seconds: 0.0, environment: BTreeMap::new() },
        status: Status { state, reasons },
        machine,
        plan,
        metrics: draft.metrics,
        prefetch: None,
        curves: draft.curves,
        matrices: draft.matrices,
        map: None,
        sweeps: Vec::new(),
        scans: Vec::new(),
        histograms: Vec::new(),
        findings: judged.into_iter().map(|(finding, _)| finding).collect(),
        unavailable: Vec::new(),
        notes,
    }
}
