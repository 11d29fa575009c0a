//! What `cargo xtask ci` and `vm` need beyond the Rust toolchain, in one place.

use std::process::Command;

use anyhow::{Result, bail};

use crate::sh;

/// A program and the Debian package that brings it.
struct Need {
    program: &'static str,
    package: &'static str,
}

/// The last four are on every Debian; elsewhere they are named like the rest.
const NEEDS: &[Need] = &[
    need("qemu-system-x86_64", "qemu-system-x86"),
    need("g++", "g++"),
    need("xz", "xz-utils"),
    need("zstd", "zstd"),
    need("apt-get", "apt"),
    need("dpkg-deb", "dpkg"),
    need("tar", "tar"),
    need("setpriv", "util-linux"),
];

const fn need(program: &'static str, package: &'static str) -> Need {
    Need { program, package }
}

/// Whether packages may be installed: asked for by `--install` or by `CI=true`.
pub fn may_install(args: &[String]) -> bool {
    args.iter().any(|arg| arg == "--install") || std::env::var("CI").is_ok_and(|ci| ci == "true")
}

/// Sees to it that everything in the list is there: installs it where that is
/// allowed, else fails with the names.
pub fn provide(install: bool) -> Result<()> {
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    if !install {
        bail!("missing Debian packages: {names} (install them, or say --install, or set CI=true)");
    }
    if sh::which("apt-get").is_none() {
        bail!("missing Debian packages: {names}, and there is no apt-get to install them");
    }
    refresh_index()?;
    sh::stage(&format!("install {names}"), apt().args(["install", "-y", "--no-install-recommends"]).args(missing))
}

/// Fetches the package index.
pub fn refresh_index() -> Result<()> {
    sh::stage("apt-get update", apt().arg("update"))
}

fn apt() -> Command {
    let mut command = Command::new("apt-get");
    command.arg("-qq").env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn missing() -> Vec<&'static str> {
    NEEDS.iter().filter(|need| sh::which(need.program).is_none()).map(|need| need.package).collect()
}
