//! `meminfo` files, the machine's and each node's: `Name: number kB`, where kB is 1024 bytes.

use crate::files::{Files, Miss};
use std::collections::HashMap;

/// The numbers of such a file, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Meminfo(HashMap<String, u64>);

impl Meminfo {
    /// /proc/meminfo.
    pub(crate) fn of_system(files: &Files<'_>) -> Self {
        Self::parse(&files.text("proc/meminfo").unwrap_or_default())
    }

    /// A node's, whose lines begin with `Node N`.
    pub(crate) fn of_node(files: &Files<'_>, folder: &str) -> Result<Self, Miss> {
        files.text(&format!("{folder}/meminfo")).map(|text| Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let (name, value) = line.split_once(':')?;
            let name = name.trim().rsplit(' ').next()?;
            let mut words = value.split_ascii_whitespace();
            let number: u64 = words.next()?.parse().ok()?;
            let unit = if words.next() == Some("kB") { 1024 } else { 1 };
            Some((name.to_owned(), number.checked_mul(unit)?))
        };
        Self(text.lines().take(1024).filter_map(line).collect())
    }

    /// A figure in bytes (or plain, for counts).
    pub(crate) fn bytes(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    /// What can be had of a node: free pages, file pages and slab that the kernel would give up.
    pub(crate) fn reclaimable(&self) -> u64 {
        let parts = ["MemFree", "Active(file)", "Inactive(file)", "SReclaimable"];
        parts.iter().filter_map(|name| self.bytes(name)).fold(0, u64::saturating_add)
    }

    /// What can be had of the machine: the kernel's estimate, on kernels before 3.14 free plus caches.
    pub(crate) fn available(&self) -> u64 {
        let old = || ["MemFree", "Buffers", "Cached"].iter().filter_map(|name| self.bytes(name)).fold(0, u64::saturating_add);
        self.bytes("MemAvailable").unwrap_or_else(old)
    }
}

#[cfg(test)]
mod tests {
    use super::Meminfo;

    #[test]
    fn both_forms() {
        let system = Meminfo::parse(
            "MemTotal:       24684092 kB\nHugePages_Total:       3\nbroken\nMemFree: -5 kB\nX: 99999999999999999999 kB\n",
        );
        assert_eq!(system.bytes("MemTotal"), Some(24_684_092 << 10));
        assert_eq!(system.bytes("HugePages_Total"), Some(3));
        assert_eq!(system.bytes("MemFree"), None);
        let node = Meminfo::parse("Node 33 MemFree:  4 kB\nNode 33 Active(file):  2 kB\n");
        assert_eq!(node.reclaimable(), 6 << 10);
        assert_eq!(Meminfo::parse("Big: 18446744073709551615 kB").bytes("Big"), None);
    }
}
