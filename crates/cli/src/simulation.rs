//! `--simulate`: the machine that is described there.

use crate::args::Call;
use crate::trouble::Trouble;
use memgauge_engine::simulated::{Description, names, preset};
use memgauge_model::Refusal;
use std::io::Read;
use std::path::Path;

/// Longer than any description.
const MOST: u64 = 1 << 20;

/// The preset of this name, else what the file says.
///
/// # Errors
///
/// A refusal that says what is wrong with it, and where.
pub fn description(call: &Call) -> Result<Description, Trouble> {
    let path = call.simulate.as_deref().unwrap_or(Path::new(""));
    if let Some(found) = path.to_str().and_then(preset) {
        return Ok(found);
    }
    let refuse = |problem: String, remedy: &str| {
        let value = path.to_string_lossy().into_owned();
        Trouble::Refused(Refusal::new("--simulate", value, problem, remedy))
    };
    let known = names().collect::<Vec<_>>().join(", ");
    let text = text(path).map_err(|error| {
        let error = error.to_string();
        let plain = error.split(" (os error").next().unwrap_or_default().to_lowercase();
        refuse(format!("no preset, and as a file: {plain}"), &format!("use {known}, or name a file (docs/simulate.md)"))
    })?;
    Description::read(&text).map_err(|error| refuse(error.to_string(), "mend the file; docs/simulate.md has every key"))
}

fn text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let mut file = std::fs::File::open(path)?.take(MOST + 1);
    file.read_to_string(&mut text)?;
    match text.len() as u64 {
        ..=MOST => Ok(text),
        _ => Err(std::io::Error::other("more than 1 MiB, which no description is")),
    }
}
