//! Results that were not measured by this process: one of them as any other, several beside each other.

use crate::args::{Call, Output};
use crate::outputs::Outputs;
use crate::say;
use crate::trouble::Trouble;
use memgauge_model::{Refusal, Report, State};
use memgauge_render::Format;
use memgauge_store::FolderTarget;
use std::path::Path;

/// Where several documents go: `--out`, one file each.
pub struct Several {
    folder: Option<FolderTarget>,
}

impl Several {
    /// Looks whether all of it can be had, before anything is done.
    ///
    /// # Errors
    ///
    /// A refusal that names the flag.
    pub fn prepare(output: &Output) -> Result<Self, Trouble> {
        if let Some(path) = &output.json {
            let remedy = "write them into a folder with --out DIR";
            return Err(
                Refusal::new("--json", path.to_string_lossy(), "takes one document, and there are several", remedy).into()
            );
        }
        let prepare = |path: &Path| FolderTarget::prepare(path).map_err(|error| Trouble::output("--out", path, &error));
        Ok(Self { folder: output.out.as_deref().map(prepare).transpose()? })
    }

    /// Prints all of them in the call's format, in one where it has a form for that, and writes each under its name.
    ///
    /// # Errors
    ///
    /// What failed first; the others were tried all the same.
    pub fn write(&self, call: &Call, named: &[(String, Report)]) -> Result<(), Trouble> {
        let all: Vec<&Report> = named.iter().map(|(_, report)| report).collect();
        let each = || all.iter().map(|report| memgauge_render::render(report, call.format, &say::style())).collect();
        let text: String = memgauge_render::repeated(&all, call.format).unwrap_or_else(each);
        all.iter().for_each(|report| tell(call.format, report, &text));
        let printed = say::result(&text).map_err(|error| Trouble::Failed(format!("stdout: {error}")));
        let written = self.folder.iter().try_for_each(|folder| {
            named.iter().try_for_each(|(name, report)| {
                let failed = |error| Trouble::write("--out", Path::new(name), &error);
                folder.write(name, memgauge_render::json(report).as_bytes()).map_err(failed)
            })
        });
        printed.and(written)
    }
}

/// Prints one, and writes it where it is wanted.
///
/// # Errors
///
/// As [`Outputs::write`].
pub fn one(call: &Call, report: &Report, outputs: &mut Outputs) -> Result<(), Trouble> {
    let text = memgauge_render::render(report, call.format, &say::style());
    tell(call.format, report, &text);
    let document = || memgauge_render::json(report);
    outputs.write(&text, document, &|| vec![("report.json", document())])
}

/// The columns of some formats are given: what can't be relied on, or has no name there, has to be told beside them.
pub fn tell(format: Format, report: &Report, text: &str) {
    if !matches!(format, Format::VcCsv | Format::VcJson) {
        return;
    }
    if report.status.state == State::Rejected {
        say::line(&format!("rejected: {}", report.status.reasons.join("; ")));
    }
    if text.lines().count() < 2 {
        say::line("none of these figures has a name in this format (docs/vc.md); --format csv or json has all of them");
    }
}
