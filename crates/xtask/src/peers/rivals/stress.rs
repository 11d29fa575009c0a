//! stress-ng --stream: copy, scale, add and triad with non-temporal stores, and one figure for all of them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{Duel, Found, Rival, Want, figure, first_line, number_after, packaged, pinned};

pub struct Stress {
    binary: PathBuf,
    version: String,
}

pub fn find() -> Found {
    let binary = packaged("stress-ng")?;
    let said = first_line(Command::new(&binary).arg("--version")).map_err(|error| format!("stress-ng: {error:#}"))?;
    let version = said.split('(').next().unwrap_or_default().trim().replace(", version", "");
    Ok(Box::new(Stress { binary, version }))
}

impl Rival for Stress {
    fn about(&self) -> String {
        format!("{} (--stream, 5 s: below that it gives no rate; copy, scale, add and triad together)", self.version)
    }

    fn duel<'a>(&'a self, want: &Want<'a>) -> Option<Result<Duel<'a>>> {
        // Its least array is 4 MiB.
        if want.mix != "triad-nt" || want.stream_bytes() < 4 << 20 {
            return None;
        }
        // An array is four times the cache that it is told.
        let cache = want.stream_bytes() / 4 / 4096 * 4096;
        Some(Ok(want.duel("stress-ng, four kernels", &["copy-nt", "scale-nt", "add-nt", "triad-nt"], cache * 4, move |cpus| {
            let mut command = pinned(&self.binary, cpus);
            command.args(["--stream", &cpus.len().to_string(), "--stream-l3-size", &cache.to_string(), "-t", "5"]);
            command.args(["--stream-madvise", "normal", "--stdout"]);
            figure(&mut command, |said| all_instances(said, cpus.len()))
        })))
    }
}

/// B/s. Its MB are 2^20 bytes: 48 bytes are read for every 4 flop, and it prints 11.44 MB for a Mflop.
/// `memory rate: 6543.03 MB read/sec, 4362.02 MB write/sec, … (instance 0)`
fn all_instances(said: &str, instances: usize) -> Option<f64> {
    let rate = |line: &str| Some(number_after(line, "memory rate:")? + number_after(line, "MB read/sec,")?);
    let rates: Vec<f64> = said.lines().filter_map(rate).collect();
    (rates.len() == instances).then(|| rates.iter().sum::<f64>() * 1_048_576.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_of_all_instances_count() {
        let line =
            "stress-ng: info:  [1] stream: memory rate: 600.5 MB read/sec, 400.5 MB write/sec, 571.74 Mflop/sec (instance 0)\n";
        assert_eq!(all_instances(line, 1), Some(1001.0 * 1_048_576.0));
        assert_eq!(all_instances(&line.repeat(2), 2), Some(2002.0 * 1_048_576.0));
        assert_eq!(all_instances(line, 2), None);
        assert_eq!(all_instances("stream: run duration too short to determine memory rate", 1), None);
    }
}
