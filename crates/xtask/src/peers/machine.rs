//! The machine, as memgauge describes it, and the buffers that suit it.

use anyhow::{Context, Result};
use serde_json::Value;

const GIB: u64 = 1 << 30;
const HUGE: u64 = 2 << 20;
/// A multiple of every base page size and of likwid's smallest unit, 1 kB.
const LIKWID_STEP: u64 = 8_192_000;

#[derive(Debug)]
pub struct Machine {
    /// In one line.
    pub about: String,
    pub architecture: String,
    pub flags: Vec<String>,
    /// The CPU on which latency is compared: the first that may be used.
    pub cpu: u64,
    /// Bytes of the last-level cache that this CPU reaches; 0 if unknown.
    llc: u64,
    available: u64,
    thp: String,
    thp_defrag: String,
}

impl Machine {
    /// From the document of `memgauge topology`.
    pub fn of(topology: &Value) -> Result<Self> {
        let word = |pointer: &str| topology.pointer(pointer).and_then(Value::as_str).unwrap_or("unknown").to_owned();
        let number = |pointer: &str| topology.pointer(pointer).and_then(Value::as_u64);
        let cpu = number("/allowed_cpus/0").context("memgauge topology names no CPU")?;
        let flags = topology.pointer("/cpu/flags").and_then(Value::as_array);
        Ok(Self {
            about: about(topology, &word),
            architecture: word("/cpu/architecture"),
            flags: flags.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
            cpu,
            llc: last_level(topology, cpu),
            available: number("/memory/available_bytes").context("memgauge topology names no available memory")?,
            thp: word("/memory/thp"),
            thp_defrag: word("/memory/thp_defrag"),
        })
    }

    /// Bytes of a chase: 8 × LLC where a third of the memory holds it, at least 1 GiB.
    pub fn chase_buffer(&self, asked: Option<u64>) -> u64 {
        let wanted = asked.unwrap_or_else(|| self.llc.saturating_mul(8).max(GIB).min(self.available / 3));
        // At the top and not at the bottom: 8 × LLC is a least size.
        wanted.div_ceil(HUGE) * HUGE
    }

    /// Bytes that each of so many threads reads: 4 × LLC where half the memory holds it.
    pub fn read_buffer(&self, asked: Option<u64>, threads: u64) -> u64 {
        let share = self.available / 2 / threads.max(1);
        let wanted = asked.unwrap_or_else(|| self.llc.saturating_mul(4).max(GIB / 2).min(share));
        wanted.div_ceil(LIKWID_STEP) * LIKWID_STEP
    }

    /// What a program gets that asks for nothing.
    pub fn default_pages(&self) -> &'static str {
        if self.thp == "always" { "thp" } else { "base" }
    }

    /// Why transparent huge pages can't be asked for by a peer. multichase rewrites
    /// the machine's settings where they stand in its way; nothing here may do that.
    pub fn thp_refused(&self) -> Option<String> {
        let given = ["always", "madvise"].contains(&self.thp.as_str())
            && ["always", "madvise", "defer+madvise"].contains(&self.thp_defrag.as_str());
        (!given).then(|| format!("THP is {}, defrag {}: the peer would change that", self.thp, self.thp_defrag))
    }
}

fn about(topology: &Value, word: &dyn Fn(&str) -> String) -> String {
    let count = |pointer: &str| topology.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len);
    let memory = topology.pointer("/memory/total_bytes").and_then(Value::as_u64).unwrap_or(0);
    let kernel = word("/platform/kernel");
    let kernel: Vec<&str> = kernel.split('.').take(2).collect();
    let host = topology.pointer("/platform/hypervisor").and_then(Value::as_str).map(|name| format!(", {name} guest"));
    format!(
        "{} ({} CPUs, {} nodes{}), {} GiB, THP {}, Linux {}",
        word("/cpu/name"),
        count("/online_cpus"),
        count("/nodes"),
        host.unwrap_or_default(),
        (memory + GIB / 2) / GIB,
        word("/memory/thp"),
        kernel.join(".")
    )
}

/// The size of the highest level's cache that this CPU shares.
fn last_level(topology: &Value, cpu: u64) -> u64 {
    let of_cpu = |cache: &&Value| {
        let cpus = cache.get("cpus").and_then(Value::as_array);
        cpus.is_some_and(|cpus| cpus.iter().any(|shared| shared.as_u64() == Some(cpu)))
    };
    ["L3", "L2"]
        .iter()
        .filter_map(|level| topology.pointer(&format!("/caches/{level}"))?.as_array()?.iter().find(of_cpu))
        .find_map(|cache| cache.get("size").and_then(Value::as_u64))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn machine(available: u64, thp: &str, defrag: &str) -> Machine {
        let topology = json!({
            "online_cpus": [0, 4, 5], "allowed_cpus": [4, 5], "nodes": [{}],
            "caches": {"L2": [{"size": 1 << 20, "cpus": [4]}],
                       "L3": [{"size": 7, "cpus": [0]}, {"size": 256 << 20, "cpus": [4, 5]}]},
            "cpu": {"architecture": "x86_64", "name": "Some CPU", "flags": ["avx2"]},
            "memory": {"total_bytes": 25_276_510_208_u64, "available_bytes": available, "thp": thp, "thp_defrag": defrag},
            "platform": {"kernel": "6.12.3-1-generic", "hypervisor": "KVM"},
        });
        Machine::of(&topology).expect("complete")
    }

    #[test]
    fn buffers_follow_the_cache_of_the_first_allowed_cpu() {
        let large = machine(64 * GIB, "madvise", "madvise");
        assert_eq!((large.cpu, large.chase_buffer(None)), (4, 2 * GIB));
        assert_eq!(large.read_buffer(None, 2), GIB.div_ceil(LIKWID_STEP) * LIKWID_STEP);
        assert_eq!(large.chase_buffer(Some(1)), HUGE);
    }

    #[test]
    fn buffers_shrink_with_the_memory() {
        let small = machine(3 * GIB, "madvise", "madvise");
        assert_eq!(small.chase_buffer(None), GIB);
        assert!(small.read_buffer(None, 16) < 2 * LIKWID_STEP + 3 * GIB / 32);
    }

    #[test]
    fn no_peer_gets_to_change_the_settings() {
        assert!(machine(GIB, "never", "madvise").thp_refused().is_some());
        assert!(machine(GIB, "always", "never").thp_refused().is_some());
        assert!(machine(GIB, "madvise", "defer+madvise").thp_refused().is_none());
    }

    #[test]
    fn the_line_names_no_build_of_a_kernel() {
        assert_eq!(
            machine(GIB, "madvise", "never").about,
            "Some CPU (3 CPUs, 1 nodes, KVM guest), 24 GiB, THP madvise, Linux 6.12"
        );
    }
}
