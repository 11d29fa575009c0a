//! mbw: libc's memcpy, whose stores are non-temporal from a size on that libc chooses by the machine.

use std::path::PathBuf;

use anyhow::Result;

use super::{Duel, Found, Rival, Want, figure, libc, packaged, pinned};

const MIB: u64 = 1 << 20;

pub struct Mbw {
    binary: PathBuf,
    /// Bytes of one copy from which libc's stores are non-temporal; None where libc doesn't say.
    threshold: Option<u64>,
}

pub fn find() -> Found {
    Ok(Box::new(Mbw { binary: packaged("mbw")?, threshold: libc::non_temporal_from() }))
}

impl Rival for Mbw {
    fn about(&self) -> String {
        let kind = self.threshold.map_or_else(
            || "libc's stores taken for plain".to_owned(),
            |bytes| format!("libc's stores non-temporal from {} MiB on", bytes >> 20),
        );
        format!("mbw (memcpy, average of its runs; {kind})")
    }

    fn duel<'a>(&'a self, want: &Want<'a>) -> Option<Result<Duel<'a>>> {
        let mebibytes = want.stream_bytes().div_ceil(MIB);
        let nt = self.threshold.is_some_and(|from| mebibytes * MIB >= from);
        let mixes: &'static [&'static str] = if nt { &["copy-nt"] } else { &["copy"] };
        // It has one thread, and one size for both arrays.
        if want.threads() > 1 || mixes != [want.mix] || want.stream_bytes() < MIB {
            return None;
        }
        Some(Ok(want.duel("mbw memcpy", mixes, mebibytes * MIB, move |cpus| {
            let mut command = pinned(&self.binary, cpus);
            command.args(["-q", "-t0", "-n", "3", &mebibytes.to_string()]);
            figure(&mut command, copied)
        })))
    }
}

/// B/s, loads and stores: it counts what is copied once. `AVG  Method: MEMCPY … Copy: 1176.254 MiB/s`
fn copied(said: &str) -> Option<f64> {
    let row = said.lines().find(|line| line.starts_with("AVG") && line.contains("MEMCPY"))?;
    #[expect(clippy::cast_precision_loss, reason = "2^20")]
    super::number_after(row, "Copy:").map(|rate| 2.0 * rate * MIB as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_counts_twice() {
        let said = "0\tMethod: MEMCPY\tElapsed: 0.1\tMiB: 64.00000\tCopy: 1.000 MiB/s\nAVG\tMethod: MEMCPY\tElapsed: 0.1\tMiB: 64.0\tCopy: 1000.500 MiB/s\n";
        assert_eq!(copied(said), Some(2001.0 * 1_048_576.0));
        assert_eq!(copied("AVG\tMethod: DUMB\tCopy: 1 MiB/s"), None);
    }
}
