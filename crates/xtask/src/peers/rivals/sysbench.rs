//! sysbench memory: reads or plain stores, in blocks of a power of two, each thread its own.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{Duel, Found, Rival, Want, figure, first_line, number_after, packaged, pinned};

pub struct Sysbench {
    binary: PathBuf,
    version: String,
}

pub fn find() -> Found {
    let binary = packaged("sysbench")?;
    let version = first_line(Command::new(&binary).arg("--version")).map_err(|error| format!("sysbench: {error:#}"))?;
    Ok(Box::new(Sysbench { binary, version }))
}

impl Rival for Sysbench {
    fn about(&self) -> String {
        format!("{} (memory, local scope, 1 s)", self.version)
    }

    fn duel<'a>(&'a self, want: &Want<'a>) -> Option<Result<Duel<'a>>> {
        let mixes: &'static [&'static str] = match want.mix {
            "read" => &["read"],
            "write" => &["write"],
            _ => return None,
        };
        // The power of two at or below what is wanted. Small ones measure its loop around the blocks.
        let bytes = 1_u64 << want.stream_bytes().ilog2();
        if bytes < 1 << 24 {
            return None;
        }
        let operation = want.mix;
        Some(Ok(want.duel("sysbench", mixes, bytes, move |cpus| {
            let mut command = pinned(&self.binary, cpus);
            command.args(["memory", "--memory-scope=local", "--memory-total-size=1T", "--time=1"]);
            command.arg(format!("--threads={}", cpus.len())).arg(format!("--memory-block-size={bytes}"));
            command.arg(format!("--memory-oper={operation}")).arg("run");
            figure(&mut command, |said| number_after(said, "MiB transferred (").map(|rate| rate * 1_048_576.0))
        })))
    }
}
