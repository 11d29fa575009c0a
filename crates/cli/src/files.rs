//! Files that options name.

use memgauge_model::{Refusal, fill_patterns};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longer than any of them.
const MOST: u64 = 1 << 20;

/// A named file, whole, or why not.
pub fn text(path: &str) -> Result<String, String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MOST + 1).read_to_string(&mut text));
    match read {
        Ok(bytes) if bytes as u64 > MOST => Err("more than 1 MiB".to_owned()),
        Ok(_) => Ok(text),
        Err(error) => Err(crate::outputs::plain(&error)),
    }
}

/// `--fill`: patterns, from a file.
pub fn patterns(path: &Path) -> Result<Vec<String>, Refusal> {
    let typed = path.to_string_lossy();
    let refuse = |problem: String, remedy: &str| Refusal::new("--fill", typed.clone(), problem, remedy);
    let text = text(&typed).map_err(|problem| refuse(problem, "name a file that can be read"))?;
    fill_patterns(&text).map_err(|(line, problem)| refuse(format!("line {line}"), &problem))
}
