//! Files that are written before they take their names. One of a run that was killed meanwhile stays behind, until the next
//! run comes this way.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

const ENDING: &str = ".partial";

/// The name under which this process writes `name` first.
pub fn partial(name: &OsStr) -> OsString {
    let mut partial = OsString::from(".");
    partial.push(name);
    partial.push(format!(".{}{ENDING}", std::process::id()));
    partial
}

/// Removes what runs that are no more have left in a folder: of the file `name`, or of all files. What can't be removed stays.
pub fn sweep(folder: &Path, name: Option<&OsStr>) {
    // A folder that can't be read is for others to complain of.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let own = entry.file_type().is_ok_and(|kind| kind.is_file());
        if own && entry.file_name().to_str().is_some_and(|found| is_left(found, name)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Is it such a name, and the process gone?
fn is_left(found: &str, name: Option<&OsStr>) -> bool {
    let parts = || found.strip_prefix('.')?.strip_suffix(ENDING)?.rsplit_once('.');
    let Some((of, Ok(process))) = parts().map(|(of, process)| (of, process.parse::<u32>())) else { return false };
    let processes = Path::new("/proc");
    // Without /proc nobody is known to be gone.
    let gone = processes.join("self").exists() && !processes.join(process.to_string()).exists();
    gone && name.is_none_or(|name| name == of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_left_goes_and_everything_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        // More than any kernel gives out.
        let dead = u32::MAX;
        let (left, of_another) = (format!(".a.json.{dead}.partial"), format!(".b.json.{dead}.partial"));
        let living = partial(OsStr::new("a.json")).into_string().unwrap();
        let others = [living.as_str(), "a.json", ".a.json.partial", ".a.json.x.partial", "a.json.7.partial"];
        for name in others.into_iter().chain([left.as_str(), &of_another]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let is_there = |name: &str| folder.path().join(name).exists();
        sweep(folder.path(), Some(OsStr::new("a.json")));
        assert!(!is_there(&left) && is_there(&of_another));
        sweep(folder.path(), None);
        assert!(!is_there(&of_another));
        assert!(others.into_iter().all(is_there));
    }
}
