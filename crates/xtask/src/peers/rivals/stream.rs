//! STREAM: plain stores unless its compiler was told otherwise, but for a copy loop that the compiler knew for a memcpy: then libc
//! chooses. Its arrays' length is compiled in.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{Duel, Found, Rival, Want, figure, libc, named, pinned};
use crate::peers::child;

pub struct Stream {
    binary: PathBuf,
    /// Elements of 8 bytes.
    array: u64,
    /// Bytes of one thread's copy from which libc's stores are non-temporal, where libc copies.
    memcpy: Option<u64>,
}

pub fn find() -> Found {
    let binary = named(
        "stream",
        "MEMGAUGE_STREAM",
        "github.com/jeffhammond/STREAM: gcc -O3 -march=native -fopenmp -DSTREAM_ARRAY_SIZE=50331648 -DNTIMES=3 stream.c -o stream",
    )?;
    let said = child::run(pinned(&binary, &[0]).env("OMP_NUM_THREADS", "1")).map_err(|error| format!("STREAM: {error:#}"))?;
    let array = array(&said).ok_or("STREAM that says its array's size")?;
    let bytes = std::fs::read(&binary).map_err(|error| format!("STREAM: {}: {error}", binary.display()))?;
    let memcpy = if calls_memcpy(&bytes) { libc::non_temporal_from() } else { None };
    Ok(Box::new(Stream { binary, array, memcpy }))
}

impl Rival for Stream {
    fn about(&self) -> String {
        let copy = self.memcpy.map_or_else(String::new, |from| {
            format!(
                "; its compiler made a memcpy of the copy loop, whose stores are non-temporal from {} MiB a thread on",
                from >> 20
            )
        });
        format!("STREAM 5.10 ({} MiB an array, average of its passes, plain stores{copy})", (self.array * 8) >> 20)
    }

    fn duel<'a>(&'a self, want: &Want<'a>) -> Option<Result<Duel<'a>>> {
        let bytes = self.array * 8 / want.threads();
        let nt = self.memcpy.is_some_and(|from| bytes >= from);
        let (line, bytes_an_element, mixes): (_, _, &'static [&'static str]) = match want.mix {
            "copy" if !nt => ("Copy:", 16.0, &["copy"]),
            "copy-nt" if nt => ("Copy:", 16.0, &["copy-nt"]),
            "triad" => ("Triad:", 24.0, &["triad"]),
            _ => return None,
        };
        // A size that can't be chosen fits none but memory.
        if bytes < want.stream_bytes() / 4 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a count of elements")]
        let moved = self.array as f64 * bytes_an_element;
        Some(Ok(want.duel("STREAM", mixes, bytes, move |cpus| {
            let mut command = pinned(&self.binary, cpus);
            command.env("OMP_NUM_THREADS", cpus.len().to_string()).env("OMP_PROC_BIND", "true");
            figure(&mut command, |said| Some(moved / average(said, line)?)).context("STREAM")
        })))
    }
}

/// Does the program import memcpy? gcc -O3 replaces STREAM's copy loop by a call of it, and there is no other call.
fn calls_memcpy(program: &[u8]) -> bool {
    program.windows(8).any(|name| name == b"\0memcpy\0")
}

/// `Array size = 67108864 (elements)`
fn array(said: &str) -> Option<u64> {
    said.split_once("Array size = ")?.1.split_whitespace().next()?.parse().ok().filter(|count| *count > 0)
}

/// Seconds: the second figure of `Copy:  24791.4  0.044209  0.043311  0.045757`.
fn average(said: &str, line: &str) -> Option<f64> {
    let row = said.lines().find_map(|row| row.strip_prefix(line))?;
    row.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_average_are_read() {
        let said = "Array size = 67108864 (elements), Offset = 0 (elements)\n\
                    Function    Best Rate MB/s  Avg time     Min time     Max time\n\
                    Copy:           24791.4     0.044209     0.043311     0.045757\n\
                    Triad:          19453.3     0.084234     0.082794     0.088078\n";
        assert_eq!(array(said), Some(67_108_864));
        assert_eq!((average(said, "Copy:"), average(said, "Triad:")), (Some(0.044_209), Some(0.084_234)));
        assert_eq!((array("Array size = x"), average(said, "Scale:")), (None, None));
        assert!(calls_memcpy(b"\x7fELF\0memset\0memcpy\0") && !calls_memcpy(b"\x7fELF\0__memcpy_chk\0"));
    }
}
