//! What `cargo xtask ci`, `lab` and `cross` need beyond the Rust toolchain, in one place.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::sh;

/// Something that must be there and the Debian package that brings it.
pub struct Need {
    /// A program on PATH, or a file by its whole path.
    found_by: &'static str,
    package: &'static str,
}

/// Guests of any kind. The last four are on every Debian; elsewhere they are named like the rest.
pub const GUESTS: &[Need] = &[
    need("xz", "xz-utils"),
    need("zstd", "zstd"),
    need("apt-get", "apt"),
    need("dpkg-deb", "dpkg"),
    need("tar", "tar"),
    need("setpriv", "util-linux"),
];

/// Fuzz targets.
pub const FUZZING: &[Need] = &[need("g++", "g++")];

/// x86-64 guests.
pub const X86_GUESTS: &[Need] = &[need("qemu-system-x86_64", "qemu-system-x86")];

/// AArch64 guests.
pub const ARM_GUESTS: &[Need] = &[need("qemu-system-aarch64", "qemu-system-arm")];

/// Building for AArch64 and running that here.
pub const ARM_CROSS: &[Need] = &[
    need("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
    need("/usr/aarch64-linux-gnu/include/stdio.h", "libc6-dev-arm64-cross"),
    need("qemu-aarch64-static", "qemu-user-static"),
    need("apt-get", "apt"),
    need("dpkg-deb", "dpkg"),
];

const fn need(found_by: &'static str, package: &'static str) -> Need {
    Need { found_by, package }
}

/// Whether packages may be installed: asked for by `--install` or by `CI=true`.
pub fn may_install(args: &[String]) -> bool {
    args.iter().any(|arg| arg == "--install") || std::env::var("CI").is_ok_and(|ci| ci == "true")
}

/// Sees to it that everything in the lists is there: installs it where that is
/// allowed, else fails with the names.
pub fn provide(install: bool, needs: &[&[Need]]) -> Result<()> {
    let mut missing: Vec<&str> = needs.iter().copied().flatten().filter(|need| !need.is_met()).map(|need| need.package).collect();
    missing.dedup();
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

/// Where what is fetched and made once is kept between runs: `$MEMGAUGE_LAB`, else a folder under `/var/tmp`.
pub fn lab() -> PathBuf {
    std::env::var_os("MEMGAUGE_LAB").map_or_else(|| PathBuf::from("/var/tmp/memgauge-lab"), PathBuf::from)
}

fn apt() -> Command {
    let mut command = Command::new("apt-get");
    command.arg("-qq").env("DEBIAN_FRONTEND", "noninteractive");
    command
}

impl Need {
    fn is_met(&self) -> bool {
        if self.found_by.starts_with('/') { Path::new(self.found_by).exists() } else { sh::which(self.found_by).is_some() }
    }
}
