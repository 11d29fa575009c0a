//! Kernel and busybox of the guests, fetched once from Debian's packages.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{host, say, sh};

/// Where guests keep what they need between runs.
pub struct Lab {
    folder: PathBuf,
}

impl Lab {
    /// `$MEMGAUGE_LAB`, else a folder under `/var/tmp`.
    pub fn open() -> Result<Self> {
        let folder = std::env::var_os("MEMGAUGE_LAB").map_or_else(|| PathBuf::from("/var/tmp/memgauge-lab"), PathBuf::from);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make the lab's folder {}", folder.display()))?;
        sweep(&folder)?;
        Ok(Self { folder })
    }

    /// A folder of the lab for one run.
    pub fn scratch(&self, name: &str) -> Result<Scratch> {
        let folder = self.folder.join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Scratch(folder))
    }

    /// The kernel, to be given to `qemu -kernel`.
    pub fn kernel(&self, install: bool) -> Result<PathBuf> {
        self.cached("kernel", |scratch| {
            let package = newest_kernel(install)?;
            say::stage(&format!("fetch {package}"));
            let image = extract(&package, "./boot/vmlinuz-*", scratch, install)?;
            unpacked(&fs::read(image)?, scratch)
        })
    }

    /// The driver of `/dev/cpu/N/msr`. It loads into its own kernel only, so both are fetched anew together.
    pub fn msr_driver(&self, install: bool) -> Result<PathBuf> {
        self.cached("msr.ko", |scratch| {
            let package = newest_kernel(install)?;
            say::stage(&format!("fetch {package} with its msr driver"));
            let image = extract(&package, "./boot/vmlinuz-*", scratch, install)?;
            let kernel = scratch.join("kernel");
            fs::write(&kernel, unpacked(&fs::read(&image)?, scratch)?)?;
            fs::rename(kernel, self.folder.join("kernel"))?;
            fs::remove_file(image)?;
            let driver = extract(&package, "./*/kernel/arch/x86/kernel/msr.ko*", scratch, install)?;
            match driver.extension().is_some_and(|end| end == "xz") {
                true => sh::output(Command::new("xz").arg("-dc").arg(&driver)),
                false => Ok(fs::read(&driver)?),
            }
        })
    }

    /// A busybox that needs no library.
    pub fn busybox(&self, install: bool) -> Result<PathBuf> {
        self.cached("busybox", |scratch| {
            say::stage("fetch busybox-static");
            let program = extract("busybox-static", "*bin/busybox", scratch, install)?;
            Ok(fs::read(program)?)
        })
    }

    /// The file of that name; made when it is not there, by one process at a time.
    fn cached(&self, name: &str, make: impl FnOnce(&Path) -> Result<Vec<u8>>) -> Result<PathBuf> {
        let path = self.folder.join(name);
        let lock = File::create(self.folder.join("lock"))?;
        lock.lock()?;
        if !path.exists() {
            let scratch = self.scratch(&format!("fetch-{name}"))?;
            let part = scratch.path().join("part");
            fs::write(&part, make(scratch.path())?)?;
            fs::rename(part, &path)?;
        }
        Ok(path)
    }
}

/// Removes what runs left that were killed: their folders end with their process id.
fn sweep(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let pid = name.rsplit_once('-').and_then(|(_, pid)| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// A folder that goes away with its owner.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be removed is only a little disk.
        fs::remove_dir_all(&self.0).ok();
    }
}

/// The package that `linux-image-amd64` stands for.
fn newest_kernel(install: bool) -> Result<String> {
    let ask = || {
        let said = sh::output(Command::new("apt-cache").args(["depends", "linux-image-amd64"]))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let package = said.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
        anyhow::Ok(package.context("no package linux-image-amd64 in apt's index")?.to_owned())
    };
    with_fresh_index(install, ask)
}

/// Downloads a package and gives the one file of it that matches.
fn extract(package: &str, pattern: &str, scratch: &Path, install: bool) -> Result<PathBuf> {
    with_fresh_index(install, || {
        let mut download = Command::new("apt-get");
        sh::output(download.args(["-qq", "download", package]).current_dir(scratch))
    })?;
    // Only the file that is wanted: a kernel package unpacks to hundreds of megabytes.
    let script = "dpkg-deb --fsys-tarfile ./*.deb | tar -x --wildcards --transform 's|.*/|found-|' \"$1\"";
    sh::output(Command::new("sh").args(["-ec", script, "sh", pattern]).current_dir(scratch))?;
    let mut entries = fs::read_dir(scratch)?.filter_map(|entry| Some(entry.ok()?.path()));
    entries
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("found-")))
        .with_context(|| format!("{package} holds no {pattern}"))
}

/// A stale or missing package index is fetched anew, where that is allowed.
fn with_fresh_index<T>(install: bool, mut ask: impl FnMut() -> Result<T>) -> Result<T> {
    match ask() {
        Err(_) if install => {
            host::refresh_index()?;
            ask()
        }
        Err(error) => Err(error.context("apt-get update, or --install, may help")),
        done => done,
    }
}

/// The ELF kernel inside a bzImage: QEMU enters it directly (PVH), which saves
/// the guest from unpacking itself under emulation. Offsets: the kernel's page
/// on the x86 boot protocol.
fn unpacked(image: &[u8], scratch: &Path) -> Result<Vec<u8>> {
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
    use super::{payload, sweep};

    #[test]
    fn only_folders_of_dead_processes_are_swept() {
        let lab = tempfile::tempdir().expect("a folder");
        let mine = format!("2s-{}", std::process::id());
        // Beyond what Linux gives to a process.
        for name in ["2s-4194305", "kept", mine.as_str()] {
            std::fs::create_dir(lab.path().join(name)).expect("a folder");
        }
        sweep(lab.path()).expect("swept");
        let left = ["2s-4194305", "kept", mine.as_str()].map(|name| lab.path().join(name).exists());
        assert_eq!(left, [false, true, true]);
    }

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
