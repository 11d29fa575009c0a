//! Boots a guest, runs commands in it, brings back what they wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::cpio::Archive;
use super::guests::Guest;
use super::image::Lab;
use super::transcript::{Ran, Transcript};
use crate::say;

/// Under emulation about one boot in some hundred hangs before its first process.
const BOOTS: u32 = 3;
/// Where `init.sh` looks for it.
const MSR_DRIVER: &str = "lib/msr.ko";
const BOOT_LIMIT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What all guests have in common.
pub struct Payload {
    kernel: PathBuf,
    busybox: Vec<u8>,
    /// Path in the guest and content: the program and its libraries.
    programs: Vec<(String, Vec<u8>)>,
}

impl Payload {
    /// `program` will be on the guest's PATH.
    pub fn new(lab: &Lab, program: &Path, install: bool) -> Result<Self> {
        let name = program.file_name().context("a program has a name")?;
        let mut programs = vec![(format!("bin/{}", name.display()), read(program)?)];
        for library in libraries(program)? {
            let inside = library.trim_start_matches('/').to_owned();
            programs.push((inside, read(Path::new(&library))?));
        }
        programs.push((MSR_DRIVER.to_owned(), read(&lab.msr_driver(install)?)?));
        Ok(Self { kernel: lab.kernel(install)?, busybox: read(&lab.busybox(install)?)?, programs })
    }

    fn archive(&self, commands: &[String]) -> Vec<u8> {
        let mut archive = Archive::default();
        archive.program("init", include_bytes!("init.sh"));
        archive.program("bin/busybox", &self.busybox);
        for (path, content) in &self.programs {
            archive.program(path, content);
        }
        for (index, command) in commands.iter().enumerate() {
            archive.program(&format!("commands/{index:03}"), command.as_bytes());
        }
        archive.finish()
    }
}

/// Runs shell commands one after another in a fresh guest, all within `limit` of its boot.
pub fn run(lab: &Lab, guest: &Guest, payload: &Payload, commands: &[String], limit: Duration) -> Result<Vec<Ran>> {
    let scratch = lab.scratch(guest.name)?;
    fs::write(scratch.path().join("initrd"), payload.archive(commands))?;
    let mut boots = 0;
    loop {
        boots += 1;
        let mut qemu = Qemu::start(guest, &payload.kernel, scratch.path())?;
        if qemu.wait(BOOT_LIMIT, |transcript| transcript.up)? {
            let ended = qemu.wait(limit, |transcript| transcript.ended)?;
            let ran = qemu.transcript()?.ran;
            if !ended || ran.len() != commands.len() {
                let command = commands.get(ran.len()).map_or("the end", String::as_str);
                bail!("guest {}: not done within {} s: {command}\n{}", guest.name, limit.as_secs(), qemu.console());
            }
            return Ok(ran);
        }
        if boots == BOOTS {
            bail!("guest {} did not boot in {BOOTS} attempts\n{}", guest.name, qemu.console());
        }
        say::stage(&format!("guest {} did not boot, once more", guest.name));
    }
}

/// A running emulator; it ends with its owner, and with this process however that ends.
struct Qemu<'a> {
    child: Child,
    folder: &'a Path,
}

impl<'a> Qemu<'a> {
    fn start(guest: &Guest, kernel: &Path, folder: &'a Path) -> Result<Self> {
        fs::write(folder.join("port"), "")?;
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "qemu-system-x86_64"])
            .args(["-accel", "tcg,thread=multi", "-M", "q35", "-cpu", "Skylake-Server"])
            .args(["-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot"])
            .args(["-serial", "file:console", "-serial", "file:port"])
            .arg("-kernel")
            .arg(kernel)
            .args(["-initrd", "initrd"])
            .args(["-append", "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable nokaslr"])
            .args(guest.qemu())
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("qemu"))?)
            .spawn()
            .context("cannot run setpriv")?;
        Ok(Self { child, folder })
    }

    /// Whether `done` came true within the limit, and before the guest ended.
    fn wait(&mut self, limit: Duration, done: impl Fn(&Transcript) -> bool) -> Result<bool> {
        let start = Instant::now();
        loop {
            // Asked before the transcript is read, so that last words count.
            let ended = self.child.try_wait()?.is_some();
            if done(&self.transcript()?) {
                return Ok(true);
            }
            if ended || start.elapsed() > limit {
                return Ok(false);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn transcript(&self) -> Result<Transcript> {
        Ok(Transcript::parse(&fs::read(self.folder.join("port"))?))
    }

    /// The end of what kernel and emulator said, for an error.
    fn console(&self) -> String {
        let mut said = String::new();
        for file in ["qemu", "console"] {
            let text = fs::read(self.folder.join(file)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let lines: Vec<&str> = text.lines().filter(|line| !line.contains("TCG doesn't support")).collect();
            for line in lines.iter().rev().take(15).rev() {
                said.push_str(&format!("  {file}: {line}\n"));
            }
        }
        said
    }
}

impl Drop for Qemu<'_> {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Shared libraries and the loader of a dynamic program; none of a static one.
fn libraries(program: &Path) -> Result<Vec<String>> {
    let output = Command::new("ldd").arg(program).output().context("cannot run ldd")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let paths = said.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(paths.map(str::to_owned).collect())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
