//! Guests hide SMT siblings: which CPUs share a core that the topology shows as two?

use crate::hardware::Hardware;
use memgauge_model::{Cpu, Machine, SharingProbe};

/// Below this share of the throughput alone, two CPUs share a core.
const SHARED: f64 = 0.75;
/// Pairs that are tried at most.
const MOST: usize = 64;

/// Probes the pairs that are likely siblings under the numberings that hypervisors use: neighbours, and halves apart. Only in
/// a guest, where the topology may lie; on metal the kernel knows. Takes some milliseconds a pair.
#[must_use]
pub fn probe(machine: &Machine, hardware: &Hardware) -> Vec<SharingProbe> {
    let (clock, hz) = hardware.clock_and_hz();
    likely(machine)
        .into_iter()
        .filter_map(|pair| {
            let ratio = crate::hardware::sharing_ratio(clock, hz, pair)?;
            Some(SharingProbe { pair, ratio, shared: ratio < SHARED })
        })
        .collect()
}

/// Neighbours and halves of the allowed CPUs that the topology shows on different cores.
fn likely(machine: &Machine) -> Vec<(Cpu, Cpu)> {
    if !machine.is_guest() {
        return Vec::new();
    }
    let cpus: Vec<Cpu> = machine.allowed_cpus.iter().collect();
    let neighbours = cpus.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    let (low, high) = cpus.split_at(cpus.len() / 2);
    let halves = low.iter().copied().zip(high.iter().copied());
    let mut pairs: Vec<(Cpu, Cpu)> = neighbours.chain(halves).filter(|(a, b)| !machine.core_of(*a).contains(*b)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.truncate(MOST);
    pairs
}
