//! What guests boot: kernels with their modules and busybox, fetched once from Debian's packages.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::lab::debian::{self, Archive};
use crate::lab::folder::Lab;
use crate::{say, sh};

/// A kernel for guests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// This Debian's own.
    Stock,
    /// This Debian's newest, which makes memory of CXL devices (6.3 on).
    Newest,
    /// For AArch64, pages of 4 KiB.
    Arm,
    /// For AArch64, pages of 16 KiB.
    Arm16k,
}

/// What is kept of a kernel, all from one package: modules load into their own kernel only.
pub struct Boot {
    /// For `qemu -kernel`.
    pub image: PathBuf,
    /// To be loaded, in any order.
    pub modules: Vec<PathBuf>,
    /// A busybox that needs no library.
    pub busybox: PathBuf,
}

impl Kernel {
    /// Is it for AArch64?
    pub fn is_arm(self) -> bool {
        matches!(self, Self::Arm | Self::Arm16k)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Stock => "stock",
            Self::Newest => "newest",
            Self::Arm => "arm64",
            Self::Arm16k => "arm64-16k",
        }
    }

    /// The package that stands for the kernel of the day.
    fn package(self) -> &'static str {
        match self {
            Self::Stock | Self::Newest => "linux-image-amd64",
            Self::Arm => "linux-image-arm64",
            Self::Arm16k => "linux-image-arm64-16k",
        }
    }

    fn modules(self) -> &'static [&'static str] {
        match self {
            Self::Stock => &["*/kernel/arch/x86/kernel/msr.ko*"],
            Self::Newest => &["*/kernel/drivers/cxl/*.ko*", "*/kernel/drivers/dax/*.ko*"],
            Self::Arm | Self::Arm16k => &[],
        }
    }

    fn archive(self, lab: &Path, install: bool) -> Result<Archive> {
        let [own, backports] = debian::suites()?;
        match self {
            Self::Stock => Ok(Archive::system(install)),
            Self::Newest => Archive::of(lab, "amd64", &[backports]),
            Self::Arm | Self::Arm16k => Archive::of(lab, "arm64", &[own, backports]),
        }
    }
}

/// The kernel and what belongs to it, fetched where it is not there yet.
pub fn boot(lab: &Lab, kernel: Kernel, install: bool) -> Result<Boot> {
    let folder = lab.cached(&format!("kernel-{}", kernel.name()), |folder, scratch| {
        let archive = kernel.archive(lab.path(), install)?;
        let package = archive.stands_for(kernel.package())?;
        say::stage(&format!("fetch {package}"));
        let found = archive.extract(&package, &[&["*/boot/vmlinuz-*"], kernel.modules()].concat(), scratch)?;
        fs::create_dir(folder.join("modules"))?;
        for file in found {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            match name.split_once(".ko") {
                Some((module, _)) => fs::write(folder.join(format!("modules/{module}.ko")), module_in(&file)?)?,
                None => fs::write(folder.join("image"), unpacked(&fs::read(&file)?, scratch)?)?,
            }
        }
        say::stage("fetch busybox-static");
        let programs = if kernel.is_arm() { archive } else { Archive::system(install) };
        let busybox = programs.extract("busybox-static", &["*bin/busybox"], scratch)?;
        fs::copy(busybox.first().context("no busybox")?, folder.join("busybox"))?;
        Ok(())
    })?;
    let mut modules: Vec<PathBuf> = fs::read_dir(folder.join("modules"))?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    modules.sort();
    Ok(Boot { image: folder.join("image"), modules, busybox: folder.join("busybox") })
}

/// A module, whatever it is packed with.
fn module_in(file: &Path) -> Result<Vec<u8>> {
    match file.extension().is_some_and(|end| end == "xz") {
        true => sh::output(Command::new("xz").arg("-dc").arg(file)),
        false => Ok(fs::read(file)?),
    }
}

/// The ELF kernel inside a bzImage: QEMU enters it directly (PVH), which saves
/// the guest from unpacking itself under emulation. Offsets: the kernel's page
/// on the x86 boot protocol.
fn unpacked(image: &[u8], scratch: &Path) -> Result<Vec<u8>> {
    // AArch64's is not packed.
    if image.get(0x38..0x3c) == Some(b"ARM\x64".as_slice()) {
        return Ok(image.to_vec());
    }
    let payload = payload(image).context("the kernel image has no boot header")?;
    let mut tool = match payload {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            let mut xz = Command::new("xz");
            xz.args(["-dc", "--single-stream"]);
            xz
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let mut zstd = Command::new("zstd");
            zstd.arg("-dcq");
            zstd
        }
        // Boots too, only slower.
        _ => return Ok(image.to_vec()),
    };
    let file = scratch.join("payload");
    fs::write(&file, payload)?;
    // The exit code says nothing: the size that follows the payload makes a tool complain.
    let output = tool
        .stdin(File::open(file)?)
        .stderr(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", tool.get_program().display()))?;
    if !output.stdout.starts_with(b"\x7fELF") {
        bail!("the kernel image does not unpack to an ELF file");
    }
    Ok(output.stdout)
}

fn payload(image: &[u8]) -> Option<&[u8]> {
    let word = |at: usize| {
        let bytes: [u8; 4] = image.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    if image.get(0x202..0x206)? != b"HdrS" {
        return None;
    }
    let setup_sectors = usize::from(*image.get(0x1f1)?);
    let start = (setup_sectors + 1) * 512 + word(0x248)?;
    image.get(start..start + word(0x24c)?)
}

#[cfg(test)]
mod tests {
    use super::payload;

    #[test]
    fn the_payload_is_found_by_the_header() {
        let mut image = vec![0; 4096];
        image[0x1f1] = 3;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x248] = 16;
        image[0x24c] = 5;
        image[2064..2069].copy_from_slice(b"hello");
        assert_eq!(payload(&image), Some(b"hello".as_slice()));
        image[0x24d] = 255;
        assert_eq!(payload(&image), None, "beyond the end");
        assert_eq!(payload(b"short"), None);
    }
}
