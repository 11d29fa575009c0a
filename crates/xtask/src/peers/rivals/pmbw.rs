//! pmbw: loops of 256-bit loads or plain stores, over sizes that are powers of two.

use std::path::PathBuf;

use anyhow::Result;

use super::{Duel, Found, Rival, Want, figure, named, number_after, pinned};

pub struct Pmbw {
    binary: PathBuf,
}

pub fn find() -> Found {
    Ok(Box::new(Pmbw { binary: named("pmbw", "MEMGAUGE_PMBW", "github.com/bingmann/pmbw, built by ./configure && make")? }))
}

impl Rival for Pmbw {
    fn about(&self) -> String {
        "pmbw 0.6 (256-bit unrolled loops, at least 1 s)".to_owned()
    }

    fn duel<'a>(&'a self, want: &Want<'a>) -> Option<Result<Duel<'a>>> {
        let (function, mixes): (_, &'static [&'static str]) = match want.mix {
            "read" => ("ScanRead256PtrUnrollLoop", &["read"]),
            "write" => ("ScanWrite256PtrUnrollLoop", &["write"]),
            _ => return None,
        };
        if want.machine.architecture != "x86_64" || want.stream_bytes() < 1 << 24 {
            return None;
        }
        // Of all threads together.
        let area = 1_u64 << (want.stream_bytes() * want.threads()).ilog2();
        Some(Ok(want.duel("pmbw", mixes, area / want.threads(), move |cpus| {
            let (threads, size) = (cpus.len().to_string(), area.to_string());
            let mut command = pinned(&self.binary, cpus);
            command.args(["-f", function, "-p", &threads, "-P", &threads, "-s", &size, "-S", &size]);
            // It unlinks the file that it is given and writes it anew: never a device, never somebody's file.
            let folder = tempfile::tempdir()?;
            command.args(["-M", &(area * 4).to_string(), "-o"]).arg(folder.path().join("results"));
            figure(&mut command, |said| number_after(said, "bandwidth="))
        })))
    }
}
