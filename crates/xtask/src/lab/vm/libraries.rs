//! The shared libraries that a program brings along.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// Where Debian's cross compiler has AArch64's libraries.
const ARM_ROOT: &str = "/usr/aarch64-linux-gnu/lib";
/// What a Rust program may need, its loader first.
const ARM: [&str; 4] = ["ld-linux-aarch64.so.1", "libc.so.6", "libgcc_s.so.1", "libm.so.6"];

/// A library or loader.
pub struct Library {
    pub file: PathBuf,
    /// Where it must lie in the guest, relative to its root.
    pub inside: String,
}

/// Of a program of this host; none of a static one.
pub fn of_host(program: &Path) -> Result<Vec<Library>> {
    let output = Command::new("ldd").arg(program).output().context("cannot run ldd")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let paths = said.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(paths.map(|path| Library { file: path.into(), inside: path.trim_start_matches('/').to_owned() }).collect())
}

/// Of a program for AArch64.
pub fn of_arm() -> Vec<Library> {
    ARM.iter().map(|name| Library { file: Path::new(ARM_ROOT).join(name), inside: format!("lib/{name}") }).collect()
}
