//! `import`: what another program printed, as a result.

use crate::args::Call;
use crate::documents::{self, Several};
use crate::exit;
use crate::outputs::{Outputs, plain};
use crate::trouble::Trouble;
use memgauge_model::{Refusal, Report, State};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// No output of minutes is longer; a file that is may be anything.
const LONGEST: u64 = 64 << 20;

/// Reads the files, then prints and writes them.
///
/// # Errors
///
/// The first file that can't be read, or holds no figure.
pub fn run(call: &Call) -> Result<u8, Trouble> {
    let reports = match &*call.files {
        [file] => {
            let mut outputs = Outputs::prepare(&call.output)?;
            let report = read(file)?;
            documents::one(call, &report, &mut outputs)?;
            vec![report]
        }
        files => {
            let several = Several::prepare(&call.output)?;
            let mut taken = BTreeSet::new();
            let named =
                files.iter().map(|file| Ok((name(file, &mut taken), read(file)?))).collect::<Result<Vec<_>, Trouble>>()?;
            several.write(call, &named)?;
            named.into_iter().map(|(_, report)| report).collect()
        }
    };
    let rejected = reports.iter().any(|report| report.status.state == State::Rejected);
    Ok(if call.output.strict && rejected { exit::REJECTED } else { exit::DONE })
}

fn read(file: &Path) -> Result<Report, Trouble> {
    let refused = |problem: String, remedy: &str| Refusal::new("import mlc", file.to_string_lossy(), problem, remedy);
    let no_file = |error: std::io::Error| refused(plain(&error), "name a file that can be read");
    let mut bytes = Vec::new();
    File::open(file).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes)).map_err(no_file)?;
    if bytes.len() as u64 > LONGEST {
        return Err(refused("longer than any output: 64 MiB".to_owned(), "name a file that holds one output").into());
    }
    let no_figure = |error: memgauge_import::ImportError| refused(error.to_string(), "name a file with what it printed");
    Ok(memgauge_import::mlc::read(&bytes).map_err(no_figure)?)
}

/// The file's own name with another ending, and a number where two have the same.
fn name(file: &Path, taken: &mut BTreeSet<String>) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = (2..).map(|number| format!("{stem}-{number}.json"));
    let name = std::iter::once(format!("{stem}.json")).chain(numbered).find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(name.clone());
    name
}
