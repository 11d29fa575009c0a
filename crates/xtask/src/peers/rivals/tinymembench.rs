//! tinymembench: copies of 32 MiB, mostly cache on a large machine; it runs all its tests, so only its first minute is used.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{Duel, Found, Rival, Want, figure, named};
use crate::sh;

/// Its only size.
const BYTES: u64 = 32 << 20;

pub struct TinyMemBench {
    binary: PathBuf,
}

pub fn find() -> Found {
    let origin = "github.com/ssvb/tinymembench: make CFLAGS='-O2 -DMAXREPEATS=1'";
    let binary = named("tinymembench", "MEMGAUGE_TINYMEMBENCH", origin)?;
    sh::which("stdbuf").ok_or("stdbuf, which lets tinymembench be read while it runs (Debian package coreutils)")?;
    Ok(Box::new(TinyMemBench { binary }))
}

impl Rival for TinyMemBench {
    fn about(&self) -> String {
        "tinymembench 0.4 (32 MiB whatever is asked, its best; a slot takes 20 s or more)".to_owned()
    }

    fn duel<'a>(&'a self, want: &Want<'a>) -> Option<Result<Duel<'a>>> {
        let (line, mixes): (_, &'static [&'static str]) = match want.mix {
            "copy" => ("SSE2 copy", &["copy"]),
            "copy-nt" => ("SSE2 nontemporal copy", &["copy-nt"]),
            _ => return None,
        };
        if want.threads() > 1 || want.machine.architecture != "x86_64" || want.stream_bytes() < BYTES {
            return None;
        }
        Some(Ok(want.duel("tinymembench", mixes, BYTES, move |cpus| {
            let cpu = cpus.first().copied().unwrap_or_default().to_string();
            let mut command = Command::new("sh");
            // sed quits at the line, and the next one that it writes ends the program.
            command.args(["-c", "taskset -c \"$1\" stdbuf -oL \"$0\" | sed \"/^ $2  *:/q\""]);
            command.arg(&self.binary).arg(&cpu).arg(line);
            figure(&mut command, |said| copied(said, line))
        })))
    }
}

/// B/s, loads and stores: it counts what is copied once. ` SSE2 copy      :   9000.5 MB/s (0.3%)`
fn copied(said: &str, line: &str) -> Option<f64> {
    let row = said.lines().find_map(|row| row.trim_start().strip_prefix(line)?.trim_start().strip_prefix(':'))?;
    row.split_whitespace().next()?.parse::<f64>().ok().map(|rate| 2.0 * rate * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_is_the_whole_name() {
        let said = " SSE2 copy prefetched (32 bytes step)   :   1.0 MB/s\n SSE2 copy         :   9000.5 MB/s (0.3%)\n";
        assert_eq!(copied(said, "SSE2 copy"), Some(18_001.0 * 1e6));
        assert_eq!(copied(said, "SSE2 nontemporal copy"), None);
    }
}
