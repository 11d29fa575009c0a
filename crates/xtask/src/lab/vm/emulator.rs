//! The QEMU that a guest needs.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::lab::debian::{self, Archive};
use crate::lab::folder::Lab;
use crate::say;

/// The packages that make up QEMU for x86.
const PACKAGES: [&str; 5] = ["qemu-system-x86", "qemu-system-data", "qemu-system-common", "seabios", "ipxe-qemu"];
const LIBRARY: &str = "usr/lib/x86_64-linux-gnu/qemu";
const DATA: [&str; 3] = ["usr/share/qemu", "usr/share/seabios", "usr/lib/ipxe/qemu"];

/// A way to run QEMU.
pub struct Emulator {
    program: PathBuf,
    /// Where its own files lie, if not where it was built to look.
    folder: Option<PathBuf>,
}

impl Emulator {
    /// The machine's own for x86 guests.
    pub fn x86() -> Self {
        Self { program: "qemu-system-x86_64".into(), folder: None }
    }

    /// The machine's own for AArch64 guests.
    pub fn arm() -> Self {
        Self { program: "qemu-system-aarch64".into(), folder: None }
    }

    /// One that knows volatile CXL memory (8.1 on): the machine's own, else the one of backports, unpacked into the lab.
    pub fn cxl(lab: &Lab, install: bool) -> Result<Self> {
        let own = Command::new("qemu-system-x86_64").args(["-device", "cxl-type3,help"]).output()?;
        if String::from_utf8_lossy(&own.stdout).contains("volatile-memdev") {
            return Ok(Self::x86());
        }
        let folder = lab.cached("qemu-backports", |folder, scratch| {
            let [_, backports] = debian::suites()?;
            say::stage(&format!("fetch QEMU of {backports}"));
            let newer = Archive::of(lab.path(), "amd64", &[backports])?;
            let mut older = Vec::new();
            let mut newest = Vec::new();
            for package in PACKAGES {
                match newer.versions(package)?.first() {
                    Some(version) => newest.push(format!("{package}={version}")),
                    None => older.push(package.to_owned()),
                }
            }
            newer.unpack(&newest, folder, scratch)?;
            Archive::system(install).unpack(&older, folder, scratch)
        })?;
        Ok(Self { program: folder.join("usr/bin/qemu-system-x86_64"), folder: Some(folder) })
    }

    /// To be given the guest's arguments. It ends with this process, however that ends.
    pub fn command(&self) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(&self.program);
        if let Some(folder) = &self.folder {
            command.env("QEMU_MODULE_DIR", folder.join(LIBRARY));
            for part in DATA {
                command.arg("-L").arg(folder.join(part));
            }
        }
        command
    }
}
