//! Which CPUs the kernel runs, and which of them this process may use.

use crate::cgroup::Cgroups;
use crate::cpuinfo;
use crate::files::{CAP, Files};
use crate::list;
use memgauge_model::CpuList;

/// Where CPUs have their folders.
pub(crate) const CPU: &str = "sys/devices/system/cpu";

/// Without folders to check it against, a list file is believed up to this many CPUs.
const MOST_UNCHECKED: u64 = 1 << 16;

/// The CPUs that the kernel runs, from sysfs, else from `/proc/stat`, else from `/proc/cpuinfo`.
pub(crate) fn online(files: &Files<'_>, notes: &mut Vec<String>) -> CpuList {
    let found = from_sysfs(files).or_else(|| from_stat(files)).or_else(|| from_cpuinfo(files));
    found.unwrap_or_else(|| {
        notes.push("CPUs: neither /sys nor /proc names any".to_owned());
        CpuList::default()
    })
}

/// The CPUs that are there, online or not: what a CPU that is not online could be.
pub(crate) fn present(files: &Files<'_>, online: &CpuList) -> CpuList {
    let listed = files.text(&format!("{CPU}/present")).ok().and_then(|text| list::ranges(&text));
    let present: CpuList = match listed.filter(|listed| listed.count() <= MOST_UNCHECKED) {
        Some(listed) => listed.members().collect(),
        None => files.numbered(CPU, "cpu").into_iter().collect(),
    };
    present.union(online)
}

/// The online CPUs that this process may use. Live: affinity ∩ cpuset. In a tree: the captured process's cpuset, which its
/// /proc/self names and its /proc/mounts leads to.
pub(crate) fn allowed(files: &Files<'_>, cgroups: &Cgroups, online: &CpuList, notes: &mut Vec<String>) -> CpuList {
    let mut allowed = online.clone();
    if files.live() {
        match memgauge_sys::cpu::affinity() {
            Ok(mask) => allowed = allowed.intersection(&mask.iter().collect()),
            Err(error) => notes.push(format!("affinity: {error}; all online CPUs are taken as allowed")),
        }
    }
    let Some(cpuset) = cgroups.cpus(files, online) else { return allowed };
    let both = allowed.intersection(&cpuset);
    if both.is_empty() && !allowed.is_empty() {
        // A cpuset that leaves nothing can't be the one that this process runs in.
        notes.push(format!("cpuset {}: has none of the usable CPUs; ignored", cgroups.name()));
        return allowed;
    }
    both
}

/// `cpuN` folders that `online` lists. Old kernels have no `online` file at the top, but one per CPU; and a CPU that never
/// came up has no topology.
fn from_sysfs(files: &Files<'_>) -> Option<CpuList> {
    let present: CpuList = files.numbered(CPU, "cpu").into_iter().collect();
    let listed = files.text(&format!("{CPU}/online")).ok().and_then(|text| list::ranges(&text)).filter(|l| l.count() > 0);
    let online = match (listed, present.is_empty()) {
        (Some(listed), true) if listed.count() <= MOST_UNCHECKED => listed.members().collect(),
        (Some(listed), false) => listed.within(&present),
        (None, false) => each_by_itself(files, &present),
        _ => return None,
    };
    (!online.is_empty()).then_some(online)
}

fn each_by_itself(files: &Files<'_>, present: &CpuList) -> CpuList {
    let up: CpuList = present.iter().filter(|cpu| files.number(&format!("{CPU}/cpu{cpu}/online")) != Some(0)).collect();
    let known: CpuList = up.iter().filter(|cpu| files.exists(&format!("{CPU}/cpu{cpu}/topology"))).collect();
    // Kernels without any topology exist too.
    if known.is_empty() { up } else { known }
}

fn from_stat(files: &Files<'_>) -> Option<CpuList> {
    let text = files.head("proc/stat", CAP).ok()?;
    let number = |line: &str| line.strip_prefix("cpu")?.split(' ').next()?.parse::<u32>().ok();
    let cpus: CpuList = text.lines().filter_map(number).filter(|cpu| *cpu < list::LARGEST).collect();
    (!cpus.is_empty()).then_some(cpus)
}

fn from_cpuinfo(files: &Files<'_>) -> Option<CpuList> {
    let cpus: CpuList = cpuinfo::processors(files).iter().map(|processor| processor.id).collect();
    (!cpus.is_empty()).then_some(cpus)
}
