//! The arguments of `cargo xtask peers`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

/// What is compared, each with a peer of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Idle,
    Read,
}

#[derive(Debug)]
pub struct Options {
    pub pairs: usize,
    pub only: Option<Part>,
    /// Bytes.
    pub buffer: Option<u64>,
    /// Instead of the release binary, which is then not built.
    pub binary: Option<PathBuf>,
    /// Update the page.
    pub write: bool,
}

impl Options {
    pub fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self { pairs: 15, only: None, buffer: None, binary: None, write: false };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} wants a value"));
            match arg.as_str() {
                "--pairs" => {
                    options.pairs = value()?.parse().ok().filter(|n| *n > 0).context("--pairs wants a number above 0")?
                }
                "--only" => options.only = Some(part(value()?)?),
                "--buffer" => options.buffer = Some(size(value()?)?),
                "--binary" => options.binary = Some(value()?.into()),
                "--write" => options.write = true,
                other => bail!("peers: no option `{other}`"),
            }
        }
        Ok(options)
    }

    pub fn parts(&self) -> Vec<Part> {
        self.only.map_or_else(|| vec![Part::Idle, Part::Read], |part| vec![part])
    }
}

fn part(name: &str) -> Result<Part> {
    match name {
        "idle" => Ok(Part::Idle),
        "read" => Ok(Part::Read),
        _ => bail!("--only {name}: it is idle or read"),
    }
}

/// Bytes, or with a binary suffix.
fn size(text: &str) -> Result<u64> {
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor: u64 = match unit {
        "" => 1,
        "k" | "KiB" => 1 << 10,
        "m" | "MiB" => 1 << 20,
        "g" | "GiB" => 1 << 30,
        _ => bail!("--buffer {text}: bytes, or KiB, MiB, GiB"),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(factor)).filter(|bytes| *bytes > 0);
    bytes.with_context(|| format!("--buffer {text}: not a size"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options> {
        Options::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_asked_is_what_is_done() {
        let options = parse(&["--pairs", "3", "--only", "read", "--buffer", "64MiB"]).expect("parses");
        assert_eq!((options.pairs, options.parts(), options.buffer), (3, vec![Part::Read], Some(64 << 20)));
        assert_eq!(parse(&[]).expect("parses").parts(), [Part::Idle, Part::Read]);
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [
            &["--pairs", "0"][..],
            &["--pairs"],
            &["--only", "write"],
            &["--buffer", "1GB"],
            &["--buffer", "GiB"],
            &["--buffer", "99999999999GiB"],
            &["x"],
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
