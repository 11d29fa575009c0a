//! The machine, as memgauge describes it, and the buffers that suit it.

use anyhow::{Context, Result};
use serde_json::Value;

const GIB: u64 = 1 << 30;
const HUGE: u64 = 2 << 20;

#[derive(Debug)]
pub struct Machine {
    /// In one line.
    pub about: String,
    pub architecture: String,
    pub flags: Vec<String>,
    /// The CPU on which latency is compared: the first that may be used.
    pub cpu: u64,
    /// Those that may be used.
    pub cpus: Vec<u64>,
    /// Bytes of the first and second level of that CPU; 0 if unknown.
    pub l1: u64,
    pub l2: u64,
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
        let cpus = topology.pointer("/allowed_cpus").and_then(Value::as_array);
        let flags = topology.pointer("/cpu/flags").and_then(Value::as_array);
        Ok(Self {
            about: about(topology, &word),
            architecture: word("/cpu/architecture"),
            flags: flags.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
            cpu,
            cpus: cpus.into_iter().flatten().filter_map(Value::as_u64).collect(),
            l1: level(topology, "L1", cpu).unwrap_or(0),
            l2: level(topology, "L2", cpu).unwrap_or(0),
            llc: ["L3", "L2"].iter().find_map(|name| level(topology, name, cpu)).unwrap_or(0),
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

    /// Bytes of all streams of each of so many threads: together 4 × LLC where half the memory holds it.
    pub fn memory_set(&self, asked: Option<u64>, threads: u64) -> u64 {
        let all = self.llc.saturating_mul(4).max(GIB / 2).min(self.available / 2);
        asked.unwrap_or(all / threads.max(1))
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

/// The size of the data cache of that level that this CPU uses.
fn level(topology: &Value, name: &str, cpu: u64) -> Option<u64> {
    let of_cpu = |cache: &&Value| {
        let cpus = cache.get("cpus").and_then(Value::as_array);
        cpus.is_some_and(|cpus| cpus.iter().any(|shared| shared.as_u64() == Some(cpu)))
    };
    topology.pointer(&format!("/caches/{name}"))?.as_array()?.iter().find(of_cpu)?.get("size")?.as_u64()
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
        assert_eq!((large.memory_set(None, 2), large.memory_set(Some(5), 2)), (GIB / 2, 5));
        assert_eq!((large.l1, large.l2, large.cpus.as_slice()), (0, 1 << 20, &[4, 5][..]));
        assert_eq!(large.chase_buffer(Some(1)), HUGE);
    }

    #[test]
    fn buffers_shrink_with_the_memory() {
        let small = machine(3 * GIB, "madvise", "madvise");
        assert_eq!(small.chase_buffer(None), GIB);
        assert_eq!(small.memory_set(None, 2), GIB / 2);
        assert_eq!(machine(GIB, "madvise", "madvise").memory_set(None, 2), GIB / 4);
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
