//! The arguments of `cargo xtask peers`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::peers::part::Part;

#[derive(Debug)]
pub struct Options {
    /// By the part's own rule if None.
    pub pairs: Option<usize>,
    /// In the order of the page.
    pub parts: Vec<Part>,
    /// Bytes.
    pub buffer: Option<u64>,
    /// Instead of the release binary, which is then not built.
    pub binary: Option<PathBuf>,
    /// Update the page.
    pub write: bool,
}

impl Options {
    pub fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self { pairs: None, parts: Part::ALL.to_vec(), buffer: None, binary: None, write: false };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} wants a value"));
            match arg.as_str() {
                "--pairs" => {
                    let pairs = value()?.parse().ok().filter(|n| *n > 0).context("--pairs wants a number above 0")?;
                    options.pairs = Some(pairs);
                }
                "--only" => options.parts = parts(value()?)?,
                "--buffer" => options.buffer = Some(size(value()?)?),
                "--binary" => options.binary = Some(value()?.into()),
                "--write" => options.write = true,
                other => bail!("peers: no option `{other}`"),
            }
        }
        Ok(options)
    }
}

/// Names by commas; `stream` and `cache` mean several.
fn parts(list: &str) -> Result<Vec<Part>> {
    let mut asked = Vec::new();
    for name in list.split(',') {
        match name {
            "stream" => asked.extend([Part::Write, Part::Copy, Part::Triad]),
            "cache" => asked.extend([Part::L2, Part::L1]),
            _ => asked.push(Part::by_name(name).with_context(|| {
                format!("--only {name}: it is stream, cache or one of {}", Part::ALL.map(Part::name).join(", "))
            })?),
        }
    }
    Ok(Part::ALL.into_iter().filter(|part| asked.contains(part)).collect())
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
        assert_eq!((options.pairs, options.parts, options.buffer), (Some(3), vec![Part::Read], Some(64 << 20)));
        assert_eq!(parse(&[]).expect("parses").parts, Part::ALL);
        let several = parse(&["--only", "c2c,stream,idle"]).expect("parses").parts;
        assert_eq!(several, [Part::Idle, Part::Write, Part::Copy, Part::Triad, Part::C2c]);
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [
            &["--pairs", "0"][..],
            &["--pairs"],
            &["--only", "writes"],
            &["--only", "read,"],
            &["--buffer", "1GB"],
            &["--buffer", "GiB"],
            &["--buffer", "99999999999GiB"],
            &["x"],
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
