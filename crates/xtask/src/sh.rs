//! Running other programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use crate::say;

/// Makes the workspace root the current folder, so that paths can be relative.
pub fn enter_workspace() -> Result<()> {
    // Cargo sets the variable for `cargo run`; the constant serves a binary that was started by hand.
    let member = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = member.ancestors().nth(2).context("xtask's crate does not lie in a workspace")?;
    std::env::set_current_dir(root).with_context(|| format!("cannot enter the workspace {}", root.display()))
}

/// `cargo`, the one that started xtask.
pub fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    command
}

/// What `rustc`, the one that cargo would call, answers.
pub fn rustc(args: &[&str]) -> Result<String> {
    let said = output(Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).args(args))?;
    Ok(String::from_utf8_lossy(&said).trim().to_owned())
}

/// The target that it builds for by itself.
pub fn host_target() -> Result<String> {
    let said = rustc(&["-vV"])?;
    said.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned).context("rustc -vV names no host")
}

/// Builds the program as it is used, and says where it is.
pub fn release_binary() -> Result<PathBuf> {
    stage("build the release binary", &mut cargo(&["build", "--release", "--locked", "--quiet"]))?;
    Ok(target_folder()?.join("release/memgauge"))
}

/// Where cargo puts what it builds.
pub fn target_folder() -> Result<PathBuf> {
    let metadata = output(&mut cargo(&["metadata", "--format-version=1", "--no-deps"]))?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata)?;
    let folder = metadata.get("target_directory").and_then(serde_json::Value::as_str);
    Ok(PathBuf::from(folder.context("cargo metadata names no target directory")?))
}

/// Announces and runs one step; its output passes through.
pub fn stage(what: &str, command: &mut Command) -> Result<()> {
    say::stage(what);
    let status = command.status().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    if !status.success() {
        bail!("{what}: {status}");
    }
    Ok(())
}

/// Runs a command for its output; a failure carries what it wrote.
pub fn output(command: &mut Command) -> Result<Vec<u8>> {
    let Output { status, stdout, stderr } =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    if !status.success() {
        bail!(
            "{}: {status}\n{}{}",
            command.get_program().display(),
            String::from_utf8_lossy(&stdout),
            String::from_utf8_lossy(&stderr).trim_end()
        );
    }
    Ok(stdout)
}

/// Where `program` is found on PATH.
pub fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
