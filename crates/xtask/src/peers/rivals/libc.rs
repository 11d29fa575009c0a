//! What libc's memcpy does.

use std::path::PathBuf;
use std::process::Command;

use crate::peers::child;

/// Bytes of one copy from which its stores are non-temporal; None where libc doesn't say. From glibc's loader, which prints its
/// tunables.
pub fn non_temporal_from() -> Option<u64> {
    let loader =
        ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"].into_iter().find(|path| PathBuf::from(path).exists())?;
    parse(&child::run(Command::new(loader).arg("--list-tunables")).ok()?)
}

fn parse(said: &str) -> Option<u64> {
    let value = said.split_once("x86_non_temporal_threshold: 0x")?.1.split_whitespace().next()?;
    u64::from_str_radix(value, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_tells_the_threshold() {
        assert_eq!(parse("glibc.cpu.x86_non_temporal_threshold: 0x7200000 (min: 0x4040, max: 0xff)"), Some(0x720_0000));
        assert_eq!(parse("glibc.cpu.x86_hwcaps:"), None);
    }
}
