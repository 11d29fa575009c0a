//! A standard library for AArch64: rustup's, where it is installed; else built once of the sources of this very rustc; else
//! Debian's, with Debian's rustc.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{LINKER, TARGET, debian_rust};
use crate::lab::debian::Archive;
use crate::lab::folder::Lab;
use crate::{say, sh};

/// Suites of Debian that may have the sources of a given rustc.
const SUITES: [&str; 4] = ["stable", "stable-backports", "testing", "unstable"];

/// How cargo is told of it.
pub enum Toolchain {
    /// Nothing has to be told.
    Installed,
    /// The folder to look into in place of the toolchain's own.
    Sysroot(PathBuf),
    /// The folder of another rustc and rustdoc.
    Other(PathBuf),
}

impl Toolchain {
    /// Finds or makes one.
    pub fn find(lab: &Lab) -> Result<Self> {
        if is_installed()? {
            return Ok(Self::Installed);
        }
        let version = version()?;
        match sources(lab, &version)? {
            Some(sources) => Ok(Self::Sysroot(library(lab, &version, &sources)?)),
            None => Ok(Self::Other(debian_rust::folder(lab)?)),
        }
    }

    /// Gives it to a command of cargo. With `--target` flags are for the target's code alone, not for build scripts and macros.
    pub fn dress(&self, command: &mut Command) {
        command.env_remove("RUSTFLAGS");
        match self {
            Self::Installed => {}
            Self::Sysroot(folder) => {
                let flags = format!("--sysroot\u{1f}{}", folder.display());
                command.env("CARGO_ENCODED_RUSTFLAGS", &flags).env("CARGO_ENCODED_RUSTDOCFLAGS", flags);
            }
            Self::Other(folder) => {
                command.env("RUSTC", folder.join("rustc")).env("RUSTDOC", folder.join("rustdoc"));
            }
        }
    }
}

fn is_installed() -> Result<bool> {
    let folder = sh::rustc(&["--print", "target-libdir", "--target", TARGET])?;
    let mut files = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.file_name()));
    Ok(files.any(|name| name.to_string_lossy().starts_with("libstd-")))
}

/// `1.95.0`
fn version() -> Result<String> {
    let said = sh::rustc(&["--version"])?;
    Ok(said.split(' ').nth(1).context("rustc --version names no version")?.to_owned())
}

/// The folder `library` of the sources of this rustc: rustup's, else Debian's, of whichever suite has that version.
fn sources(lab: &Lab, version: &str) -> Result<Option<PathBuf>> {
    let own = Path::new(&sh::rustc(&["--print", "sysroot"])?).join("lib/rustlib/src/rust/library");
    if own.join("std").exists() {
        return Ok(Some(own));
    }
    let name = format!("rust-src-{version}");
    let here = lab.path().join(&name).join("library");
    if here.exists() {
        return Ok(Some(here));
    }
    let archive = Archive::of(lab.path(), "amd64", &SUITES.map(str::to_owned))?;
    let versions = archive.versions("rust-src")?;
    let Some(found) = versions.iter().find(|found| found.starts_with(&format!("{version}+"))) else {
        say::stage(&format!("Debian has the sources of Rust {}, not of {version}", versions.join(", ")));
        return Ok(None);
    };
    lab.cached(&name, |folder, scratch| {
        say::stage(&format!("fetch rust-src {found}"));
        let all = scratch.join("all");
        archive.unpack(&[format!("rust-src={found}")], &all, scratch)?;
        fs::rename(all.join(format!("usr/src/rustc-{version}/library")), folder.join("library"))
            .with_context(|| format!("rust-src {found} holds no library"))
    })?;
    Ok(Some(here))
}

/// A sysroot that holds the target's library alone.
fn library(lab: &Lab, version: &str, sources: &Path) -> Result<PathBuf> {
    lab.cached(&format!("sysroot-{version}"), |folder, scratch| {
        say::stage(&format!("build the standard library of Rust {version} for {TARGET}"));
        fs::create_dir(scratch.join("src"))?;
        fs::write(scratch.join("src/lib.rs"), "#![no_std]\n")?;
        let manifest = "[package]\nname = \"nothing\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
        fs::write(scratch.join("Cargo.toml"), manifest)?;
        let mut build = sh::cargo(&["build", "--release", "--quiet", "--target", TARGET]);
        build
            .arg("-Zbuild-std=std,panic_unwind,proc_macro,test")
            .current_dir(scratch)
            .env_remove("RUSTFLAGS")
            // Building the library is not a stable feature; neither is naming its sources.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("__CARGO_TESTS_ONLY_SRC_ROOT", sources)
            // As the official one is built, so that programs can be optimised as a whole.
            .env("CARGO_ENCODED_RUSTFLAGS", "-Cembed-bitcode=yes")
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
            .env("CARGO_TARGET_DIR", scratch.join("target"));
        sh::output(&mut build)?;
        let library = folder.join("lib/rustlib").join(TARGET).join("lib");
        fs::create_dir_all(&library)?;
        for entry in fs::read_dir(scratch.join("target").join(TARGET).join("release/deps"))? {
            let path = entry?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name.ends_with(".rlib") && !name.starts_with("libnothing-") {
                fs::copy(&path, library.join(name))?;
            }
        }
        Ok(())
    })
}
