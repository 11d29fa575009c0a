//! Debian's packages as a source of kernels, programs and sources: fetched and unpacked, never installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{host, say, sh};

/// A mirror in the middle of its update gives an index that doesn't fit: then once more.
const TRIES: u32 = 3;
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A place that packages come from.
pub struct Archive {
    /// May the machine's own index be fetched anew?
    install: bool,
    /// Of an index beside the machine's own.
    config: Option<PathBuf>,
}

impl Archive {
    /// What the machine's own apt knows.
    pub fn system(install: bool) -> Self {
        Self { install, config: None }
    }

    /// Another architecture or other suites of the mirror that the machine uses, with an index under `folder`. The machine's own
    /// apt is left as it is.
    pub fn of(folder: &Path, architecture: &str, suites: &[String]) -> Result<Self> {
        let folder = folder.join(format!("apt-{architecture}-{}", suites.join("-")));
        for part in ["state/lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(folder.join(part)).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let mirror = mirror()?;
        let source = |suite: &String| format!("deb [arch={architecture} signed-by={KEYS}] {mirror} {suite} main\n");
        fs::write(folder.join("sources.list"), suites.iter().map(source).collect::<String>())?;
        fs::write(folder.join("status"), "")?;
        // What it doesn't set (transports, proxies) stays as the machine has it.
        let at = folder.display();
        let config = format!(
            "APT::Architecture \"{architecture}\";\nAPT::Architectures {{ \"{architecture}\"; }};\nAPT::Sandbox::User \"root\";\n\
             Acquire::Languages \"none\";\nDir::Etc::SourceList \"{at}/sources.list\";\nDir::Etc::SourceParts \"-\";\n\
             Dir::Etc::Preferences \"-\";\nDir::Etc::PreferencesParts \"-\";\nDir::State \"{at}/state\";\n\
             Dir::State::Status \"{at}/status\";\nDir::Cache \"{at}/cache\";\n"
        );
        fs::write(folder.join("apt.conf"), config)?;
        let archive = Self { install: false, config: Some(folder.join("apt.conf")) };
        say::stage(&format!("index of {architecture} {}", suites.join(" ")));
        let mut tries = 0;
        while let Err(error) = sh::output(archive.command("apt-get").args(["-qq", "update"])) {
            tries += 1;
            if tries == TRIES {
                return Err(error.context(format!("no index of {architecture} {}", suites.join(" "))));
            }
            std::thread::sleep(std::time::Duration::from_secs(3));
        }
        Ok(archive)
    }

    /// The package that a meta package stands for: the first that it depends on.
    pub fn stands_for(&self, meta: &str) -> Result<String> {
        self.with_fresh_index(|| {
            let said = sh::output(self.command("apt-cache").args(["depends", meta]))?;
            let said = String::from_utf8_lossy(&said).into_owned();
            let package = said.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
            Ok(package.with_context(|| format!("no package {meta} in apt's index"))?.to_owned())
        })
    }

    /// Versions of a package, the newest first.
    pub fn versions(&self, package: &str) -> Result<Vec<String>> {
        let said = sh::output(self.command("apt-cache").args(["madison", package]))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let version = |line: &str| line.split('|').nth(1).map(|version| version.trim().to_owned());
        Ok(said.lines().filter_map(version).collect())
    }

    /// The package and all that it depends on.
    pub fn with_dependencies(&self, package: &str) -> Result<Vec<String>> {
        let kinds = ["recommends", "suggests", "conflicts", "breaks", "replaces", "enhances"].map(|kind| format!("--no-{kind}"));
        let said = sh::output(self.command("apt-cache").args(["depends", "--recurse"]).args(kinds).arg(package))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        // What is depended on stands indented, what only names a service in angle brackets.
        Ok(said.lines().filter(|line| !line.starts_with([' ', '<', '|'])).map(str::to_owned).collect())
    }

    /// Downloads a package (`name` or `name=version`) and gives the files of it that match tar's patterns, all in `scratch`. Only
    /// what is wanted is unpacked: a kernel's package is hundreds of megabytes.
    pub fn extract(&self, package: &str, patterns: &[&str], scratch: &Path) -> Result<Vec<PathBuf>> {
        let folder = self.download(package, scratch)?;
        let script = "dpkg-deb --fsys-tarfile ./*.deb | tar -x --wildcards --transform 's|.*/||' \"$@\"; rm ./*.deb";
        sh::output(Command::new("sh").args(["-ec", script, "sh"]).args(patterns).current_dir(&folder))
            .with_context(|| format!("{package} holds no {}", patterns.join(", ")))?;
        let mut files: Vec<PathBuf> = fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        if files.len() < patterns.len() {
            bail!("{package} holds no {}", patterns.join(", "));
        }
        Ok(files)
    }

    /// Downloads packages and unpacks all of them over each other into `folder`.
    pub fn unpack(&self, packages: &[String], folder: &Path, scratch: &Path) -> Result<()> {
        for package in packages {
            let from = self.download(package, scratch)?;
            let script = "dpkg-deb --extract ./*.deb \"$1\"; rm ./*.deb";
            sh::output(Command::new("sh").args(["-ec", script, "sh"]).arg(folder).current_dir(from))?;
        }
        Ok(())
    }

    /// The folder in `scratch` that holds the package, alone.
    fn download(&self, package: &str, scratch: &Path) -> Result<PathBuf> {
        let folder = scratch.join(package.replace(['=', '/', ':'], "-"));
        fs::create_dir_all(&folder)?;
        self.with_fresh_index(|| {
            sh::output(self.command("apt-get").args(["-qq", "download", package]).current_dir(&folder)).map(drop)
        })?;
        Ok(folder)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        if let Some(config) = &self.config {
            command.env("APT_CONFIG", config);
        }
        command
    }

    /// A stale or missing index of the machine is fetched anew, where that is allowed.
    fn with_fresh_index<T>(&self, mut ask: impl FnMut() -> Result<T>) -> Result<T> {
        match ask() {
            Err(_) if self.install => {
                host::refresh_index()?;
                ask()
            }
            Err(error) if self.config.is_none() => Err(error.context("apt-get update, or --install, may help")),
            done => done,
        }
    }
}

/// This Debian's name (`bookworm`), and the suite of newer packages built for it.
pub fn suites() -> Result<[String; 2]> {
    let release = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    let name = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let name = name.context("/etc/os-release names no VERSION_CODENAME: not a released Debian")?.trim_matches('"');
    Ok([name.to_owned(), format!("{name}-backports")])
}

/// The mirror in the machine's own sources: the first that is not of security updates.
fn mirror() -> Result<String> {
    let mut texts = vec![PathBuf::from("/etc/apt/sources.list")];
    texts.extend(fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())));
    texts.retain(|path| path.extension().is_some_and(|end| end == "list" || end == "sources"));
    texts.sort();
    let texts: Vec<String> = texts.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
    let found = texts.iter().flat_map(|text| text.lines()).find_map(mirror_of);
    found.context("no mirror in /etc/apt/sources.list or /etc/apt/sources.list.d")
}

/// The mirror that a line of either form names.
fn mirror_of(line: &str) -> Option<String> {
    let words = line.strip_prefix("URIs:").or_else(|| line.strip_prefix("deb "))?;
    let main = |word: &&str| word.contains("://") && word.contains("debian") && !word.contains("security");
    words.split_whitespace().find(main).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::mirror_of;

    #[test]
    fn the_mirror_is_found_in_both_forms_of_sources() {
        let found = [
            "URIs: http://mirror/debian",
            "deb [signed-by=/usr/share/key.gpg] http://mirror/debian bookworm main",
            "URIs: http://mirror/debian-security",
            "deb-src http://mirror/debian bookworm main",
            "# deb http://mirror/debian bookworm main",
            "Suites: bookworm",
        ]
        .map(mirror_of);
        let wanted = Some("http://mirror/debian".to_owned());
        assert_eq!(found, [wanted.clone(), wanted, None, None, None, None]);
    }
}
