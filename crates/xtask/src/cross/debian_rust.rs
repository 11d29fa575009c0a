//! Debian's own newest rustc with its library for the target: for when no suite has the sources of this machine's.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::lab::debian::Archive;
use crate::lab::folder::Lab;
use crate::say;

const SUITE: &str = "unstable";

/// A folder with programs `rustc` and `rustdoc` that start by themselves.
pub fn folder(lab: &Lab) -> Result<PathBuf> {
    // The programs name it, so they must know where it will be.
    let at = lab.path().join("debian-rust");
    lab.cached("debian-rust", |folder, scratch| {
        let host = Archive::of(lab.path(), "amd64", &[SUITE.to_owned()])?;
        let version = host.versions("rustc")?.into_iter().next().with_context(|| format!("Debian {SUITE} has no rustc"))?;
        say::stage(&format!("fetch Debian's rustc {version}"));
        let mut packages = host.with_dependencies("libstd-rust-dev")?;
        packages.push(format!("rustc={version}"));
        host.unpack(&packages, folder, scratch)?;
        let target = Archive::of(lab.path(), "arm64", &[SUITE.to_owned()])?;
        target.unpack(&[format!("libstd-rust-dev={version}")], folder, scratch)?;
        for program in ["rustc", "rustdoc"] {
            let file = folder.join(program);
            fs::write(&file, starter(&at, program))?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    })
}

/// It needs a newer libc than this Debian may have: it is started by its own loader.
fn starter(at: &Path, program: &str) -> String {
    let root = format!("{}/usr", at.display());
    format!(
        "#!/bin/sh\nexec '{root}/lib64/ld-linux-x86-64.so.2' --library-path '{root}/lib/x86_64-linux-gnu' \
         '{root}/bin/{program}' --sysroot '{root}' \"$@\"\n"
    )
}
