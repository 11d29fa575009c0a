//! Where results go. All of it is opened, or found writable, before anything is measured.

use crate::args::{Call, Output};
use crate::say;
use crate::trouble::Trouble;
use memgauge_model::Refusal;
use memgauge_store::{FileTarget, FolderTarget};
use std::path::{Path, PathBuf};

/// The places beside stdout.
pub struct Outputs {
    json: Option<(PathBuf, Json)>,
    out: Option<(PathBuf, FolderTarget)>,
}

/// Where `--json` goes.
enum Json {
    File(FileTarget),
    /// Behind what is printed.
    Stdout,
    /// What is printed is the document already.
    Printed,
}

impl Outputs {
    /// Looks whether all of them can be written.
    ///
    /// # Errors
    ///
    /// A refusal that names the flag.
    pub fn prepare(output: &Output) -> Result<Self, Trouble> {
        let json = output.json.as_deref().map(|path| Ok::<_, Trouble>((path.to_path_buf(), json_target(path)?))).transpose()?;
        let out = output.out.as_deref().map(|path| {
            let folder = FolderTarget::prepare(path).map_err(|error| Trouble::output("--out", path, &error))?;
            Ok::<_, Trouble>((path.to_path_buf(), folder))
        });
        let outputs = Self { json, out: out.transpose()? };
        let elsewhere = outputs.out.is_some() || matches!(outputs.json, Some((_, Json::File(_))));
        if say::closed() && !elsewhere {
            let problem = "stdout is closed: the result would be lost";
            return Err(Refusal::new("", "", problem, "leave it open, or write the result with --json FILE or --out DIR").into());
        }
        Ok(outputs)
    }

    /// Prints `text`, then writes `document` and the folder's `files`.
    ///
    /// # Errors
    ///
    /// The first that failed; the others were tried all the same.
    pub fn write(&mut self, text: &str, document: impl FnOnce() -> String, files: Files<'_>) -> Result<(), Trouble> {
        // Closed on purpose: `prepare` has seen that the result goes elsewhere.
        let printed = if say::closed() { Ok(()) } else { say::result(text) };
        let printed = printed.map_err(|error| Trouble::Failed(format!("stdout: {}", plain(&error))));
        let json = self.json.as_mut().map_or(Ok(()), |(path, target)| match target {
            Json::File(target) => target.write(document().as_bytes()).map_err(|error| Trouble::write("--json", path, &error)),
            Json::Stdout => say::result(&document()).map_err(|error| Trouble::write("--json", path, &plain(&error))),
            Json::Printed => Ok(()),
        });
        let out = self.out.as_ref().map_or(Ok(()), |(path, folder)| {
            files().iter().try_for_each(|(name, content)| {
                folder.write(name, content.as_bytes()).map_err(|error| Trouble::write("--out", path, &error))
            })
        });
        printed.and(json).and(out)
    }
}

/// Names and contents of the folder's files, made only where they are wanted.
type Files<'a> = &'a dyn Fn() -> Vec<(&'static str, String)>;

/// Prints what needs no measuring, and writes it where it is wanted.
///
/// # Errors
///
/// As [`Outputs::prepare`] and [`Outputs::write`].
pub fn at_once(call: &Call, text: &str, document: impl Fn() -> String, name: &'static str) -> Result<(), Trouble> {
    Outputs::prepare(&call.output)?.write(text, &document, &|| vec![(name, document())])
}

fn json_target(path: &Path) -> Result<Json, Trouble> {
    // Our own stdout by its other names: opened anew it would overwrite what is printed.
    let stdout = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    match path {
        path if path.as_os_str() == "-" => Ok(Json::Printed),
        path if stdout.iter().any(|name| path == Path::new(name)) => Ok(Json::Stdout),
        path => FileTarget::prepare(path).map(Json::File).map_err(|error| Trouble::output("--json", path, &error)),
    }
}

/// The system's words without its number.
pub fn plain(error: &std::io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase()
}
