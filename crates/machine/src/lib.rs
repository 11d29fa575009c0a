//! Reads /sys, /proc, DMI and CPUID under a *root path* into a [`Machine`].
//!
//! [`read`] is the machine once, before a plan; [`snapshot`] is the counters that a run may change, taken before and after.
//! A tree that is damaged, foreign or hostile gives a poorer `Machine`, with a note for each thing that was repaired: never a
//! panic, a hang or an unbounded read. Only a root that holds neither `sys` nor `proc` is an error.
#![forbid(unsafe_code)]

mod caches;
mod cgroup;
mod cores;
mod counters;
mod cpuinfo;
mod cpus;
mod dmi;
mod files;
mod hmat;
mod hypervisor;
mod limits;
mod list;
mod meminfo;
mod memory;
mod nodes;
mod platform;
mod power;
mod prefetch;
mod root;
mod smbios;
mod snapshot;

pub use prefetch::PREFETCH_REGISTERS;
pub use root::Root;
pub use snapshot::snapshot;

use cgroup::Cgroups;
use cpuinfo::CpuInfo;
use files::Files;
use memgauge_model::{CpuList, Machine};
use meminfo::Meminfo;
use std::path::PathBuf;

/// Why there is no machine to read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The root is missing, or no folder.
    #[error("{}: no such folder", .0.display())]
    Missing(PathBuf),
    /// The root is a folder without `sys` and `proc`.
    #[error("{}: holds neither sys nor proc, so it is no machine's root", .0.display())]
    NotAMachine(PathBuf),
}

/// Reads the machine. Takes a few milliseconds on a small live machine, a fraction of a second on a tree of thousands of CPUs.
///
/// # Errors
///
/// [`ReadError`] where the root is no machine's.
pub fn read(root: &Root) -> Result<Machine, ReadError> {
    let files = Files::new(root);
    if !root.base().is_dir() {
        return Err(ReadError::Missing(root.base().to_path_buf()));
    }
    if !files.exists("sys") && !files.exists("proc") {
        return Err(ReadError::NotAMachine(root.base().to_path_buf()));
    }
    let mut notes = Vec::new();
    let cgroups = Cgroups::read(&files);
    let info = CpuInfo::read(&files);
    let system = Meminfo::of_system(&files);
    let online = cpus::online(&files, &mut notes);
    let allowed = cpus::allowed(&files, &cgroups, &online, &mut notes);
    let nodes = nodes::read(&files, &online, &system, &mut notes);
    let node_ids: CpuList = nodes.iter().map(|node| node.node).collect();
    let policies = power::policies(&files, &online);
    let cores = cores::read(&files, &online, &mut notes);
    let cpu = platform::cpu_model(&files, &info);
    Ok(Machine {
        root: root.label(),
        simulated: false,
        allowed_nodes: limits::allowed_nodes(&files, &cgroups, &node_ids, &mut notes),
        core_kinds: cores::kinds(&files, &online, &policies),
        caches: caches::read(&files, &online, &cores.cores, &mut notes),
        cores: cores.cores,
        packages: cores.packages,
        dies: cores.dies,
        clusters: cores.clusters,
        memory: memory::read(&files, &system, &nodes, &cpu.architecture, &mut notes),
        dimms: dmi::read(&files),
        platform: platform::read(&files, &info, &cpu, &cgroups, &allowed),
        power: power::read(&files, &policies, &online),
        limits: limits::read(&files, &cgroups),
        counters: counters::read(&files, &online, &cpu, &mut notes),
        present_cpus: cpus::present(&files, &online),
        online_cpus: online,
        allowed_cpus: allowed,
        nodes,
        cpu,
        sharing_probes: Vec::new(),
        notes,
    })
}
