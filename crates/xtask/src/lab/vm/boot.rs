//! Boots a guest, runs commands in it, brings back what they wrote.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::cpio::Archive;
use super::emulator::Emulator;
use super::guests::Guest;
use super::image::Boot;
use super::libraries::Library;
use super::transcript::{Ran, Transcript};
use crate::lab::folder::Lab;
use crate::say;

/// Under emulation about one boot in some hundred hangs before its first process.
const BOOTS: u32 = 3;
/// Where `init.sh` looks for them.
const MODULES: &str = "lib/modules";
const BOOT_LIMIT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What guests with the same kernel have in common.
pub struct Payload {
    boot: Boot,
    /// Path in the guest and content: the program, its libraries, drivers.
    files: Vec<(String, Vec<u8>)>,
}

impl Payload {
    /// `program` will be on the guest's PATH.
    pub fn new(boot: Boot, program: &Path, libraries: Vec<Library>) -> Result<Self> {
        let name = program.file_name().context("a program has a name")?;
        let mut files =
            vec![(format!("bin/{}", name.display()), read(program)?), ("bin/busybox".to_owned(), read(&boot.busybox)?)];
        for library in libraries {
            files.push((library.inside, read(&library.file)?));
        }
        for module in &boot.modules {
            let name = module.file_name().context("a module has a name")?;
            files.push((format!("{MODULES}/{}", name.display()), read(module)?));
        }
        Ok(Self { boot, files })
    }

    fn archive(&self, guest: &Guest, commands: &[String]) -> Vec<u8> {
        let mut archive = Archive::default();
        archive.program("init", include_bytes!("init.sh"));
        archive.program("setup", guest.setup.as_bytes());
        for (path, content) in &self.files {
            archive.program(path, content);
        }
        for (index, command) in commands.iter().enumerate() {
            archive.program(&format!("commands/{index:03}"), command.as_bytes());
        }
        archive.finish()
    }
}

/// Runs shell commands one after another in a fresh guest, all within `limit` of its boot.
pub fn run(
    lab: &Lab,
    emulator: &Emulator,
    guest: &Guest,
    payload: &Payload,
    commands: &[String],
    limit: Duration,
) -> Result<Vec<Ran>> {
    let scratch = lab.scratch(guest.name)?;
    fs::write(scratch.path().join("initrd"), payload.archive(guest, commands))?;
    let mut boots = 0;
    loop {
        boots += 1;
        let mut qemu = Qemu::start(emulator, guest, &payload.boot.image, scratch.path())?;
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
    fn start(emulator: &Emulator, guest: &Guest, kernel: &Path, folder: &'a Path) -> Result<Self> {
        fs::write(folder.join("port"), "")?;
        // AArch64's machine has one port of its own.
        let (console, port, second_port) = match guest.kernel.is_arm() {
            true => ("ttyAMA0", "ttyS0", &["-chardev", "file,id=port,path=port", "-device", "pci-serial,chardev=port"][..]),
            false => ("ttyS0", "ttyS1", &["-serial", "file:port"][..]),
        };
        let words =
            format!("console={console} quiet panic=-1 mitigations=off tsc=reliable nokaslr port=/dev/{port} {}", guest.cmdline);
        let child = emulator
            .command()
            .args(["-accel", "tcg,thread=multi"])
            .args(["-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot"])
            .args(["-serial", "file:console"])
            .args(second_port)
            .arg("-kernel")
            .arg(kernel)
            .args(["-initrd", "initrd", "-append", words.trim_end()])
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

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
