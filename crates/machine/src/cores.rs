//! Cores, packages, dies, clusters: sets of CPUs that each member names in its `topology` folder; and kinds of core.

use crate::cpuinfo;
use crate::cpus::CPU;
use crate::files::Files;
use crate::power::Policy;
use memgauge_model::{CoreKind, CpuList};
use std::collections::{BTreeMap, HashSet};

/// File names of a set, the newest first; each is a mask, and on newer kernels also a list (`NAME_list`).
struct Names(&'static [&'static str]);

const CORE: Names = Names(&["core_cpus", "thread_siblings"]);
const PACKAGE: Names = Names(&["package_cpus", "core_siblings"]);
const DIE: Names = Names(&["die_cpus"]);
const CLUSTER: Names = Names(&["cluster_cpus"]);

/// How CPUs lie together.
pub(crate) struct Cores {
    pub(crate) cores: Vec<CpuList>,
    pub(crate) packages: Vec<CpuList>,
    pub(crate) dies: Vec<CpuList>,
    pub(crate) clusters: Vec<CpuList>,
}

/// Reads the sets of the online CPUs. Without sysfs /proc/cpuinfo's ids tell cores and packages; without those every CPU is
/// taken for a core of its own, and said.
pub(crate) fn read(files: &Files<'_>, online: &CpuList, notes: &mut Vec<String>) -> Cores {
    let cores = sets(files, online, &CORE).map(|sets| by_core_id(files, sets));
    let packages = sets(files, online, &PACKAGE);
    let by_ids = if cores.is_none() || packages.is_none() { from_cpuinfo(files, online) } else { None };
    let (id_cores, id_packages) = by_ids.unzip();
    let cores = cores.or(id_cores).unwrap_or_else(|| {
        if !online.is_empty() {
            notes.push("cores: the kernel tells no SMT siblings; each CPU is taken for a core".to_owned());
        }
        online.iter().map(|cpu| CpuList::from(vec![cpu])).collect()
    });
    Cores {
        cores,
        packages: packages.or(id_packages).unwrap_or_default(),
        dies: dies(files, online),
        clusters: clusters(files, online),
    }
}

/// The sets, each once, by their lowest CPU; `None` if no CPU tells its set.
fn sets(files: &Files<'_>, online: &CpuList, names: &Names) -> Option<Vec<CpuList>> {
    let mut placed = HashSet::new();
    let mut sets = Vec::new();
    let mut told = false;
    for cpu in online.iter() {
        if placed.contains(&cpu) {
            continue;
        }
        let set = one_set(files, cpu, online, names);
        told |= set.is_some();
        // A set that claims another set's CPU is damaged; no CPU may stand in two.
        let members = set.unwrap_or_default().union(&vec![cpu].into());
        let members: CpuList = members.iter().filter(|member| placed.insert(*member)).collect();
        sets.push(members);
    }
    told.then_some(sets)
}

fn one_set(files: &Files<'_>, cpu: u32, online: &CpuList, names: &Names) -> Option<CpuList> {
    names.0.iter().find_map(|name| {
        let path = format!("{CPU}/cpu{cpu}/topology/{name}");
        files.mask(&path, online).or_else(|| files.list(&format!("{path}_list"), online)).filter(|set| set.contains(cpu))
    })
}

/// Dies, which kernels tell from 5.2 on: of the first CPU, or of none.
fn dies(files: &Files<'_>, online: &CpuList) -> Vec<CpuList> {
    let told = online.first().is_some_and(|first| one_set(files, first, online, &DIE).is_some());
    if told { sets(files, online, &DIE).unwrap_or_default() } else { Vec::new() }
}

/// Older kernels call the two cores of an AMD compute unit threads of one; their core ids tell them apart.
fn by_core_id(files: &Files<'_>, sets: Vec<CpuList>) -> Vec<CpuList> {
    let split = |set: CpuList| {
        let mut by: BTreeMap<Option<u64>, Vec<u32>> = BTreeMap::new();
        for cpu in if set.len() > 1 { set.iter() } else { return vec![set] } {
            by.entry(files.number(&format!("{CPU}/cpu{cpu}/topology/core_id"))).or_default().push(cpu);
        }
        by.into_values().map(CpuList::from).collect()
    };
    sets.into_iter().flat_map(split).collect()
}

/// Clusters, where the kernel numbers them: without firmware's word it writes −1 (or 65535) and lists each CPU or core as one.
fn clusters(files: &Files<'_>, online: &CpuList) -> Vec<CpuList> {
    let Some(first) = online.first() else { return Vec::new() };
    match files.number(&format!("{CPU}/cpu{first}/topology/cluster_id")) {
        Some(id) if id != 0xffff => sets(files, online, &CLUSTER).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn from_cpuinfo(files: &Files<'_>, online: &CpuList) -> Option<(Vec<CpuList>, Vec<CpuList>)> {
    let mut cores: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    let mut packages: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for processor in cpuinfo::processors(files).iter().filter(|processor| online.contains(processor.id)) {
        let (package, core) = (processor.package?, processor.core?);
        cores.entry((package, core)).or_default().push(processor.id);
        packages.entry(package).or_default().push(processor.id);
    }
    let sorted = |sets: Vec<Vec<u32>>| {
        let mut sets: Vec<CpuList> = sets.into_iter().map(CpuList::from).collect();
        sets.sort_by_key(CpuList::first);
        sets
    };
    (!cores.is_empty()).then(|| (sorted(cores.into_values().collect()), sorted(packages.into_values().collect())))
}

/// Kinds of core: what the kernel names (Intel's `cpu_core`, `cpu_atom`, …), else by Arm's capacity, else one kind.
pub(crate) fn kinds(files: &Files<'_>, online: &CpuList, policies: &[Policy]) -> Vec<CoreKind> {
    let mut kinds = by_device(files, online).unwrap_or_else(|| by_capacity(files, online));
    if kinds.len() < 2 {
        kinds = vec![("uniform".to_owned(), online.clone())];
    }
    let fastest = |cpus: &CpuList| policies.iter().filter(|p| p.cpus.intersects(cpus)).filter_map(|p| p.hardware_max_hz).max();
    kinds.into_iter().map(|(name, cpus)| CoreKind { name, max_hz: fastest(&cpus), cpus }).collect()
}

type Named = Vec<(String, CpuList)>;

fn by_device(files: &Files<'_>, online: &CpuList) -> Option<Named> {
    let devices = [("intel_core", "cpu_core"), ("intel_atom", "cpu_atom"), ("intel_lowpower", "cpu_lowpower")];
    let kind = |(name, device): &(&str, &str)| {
        let cpus = files.list(&format!("sys/devices/{device}/cpus"), online)?;
        (!cpus.is_empty()).then(|| ((*name).to_owned(), cpus))
    };
    let mut kinds: Named = devices.iter().filter_map(kind).collect();
    let named = kinds.iter().fold(CpuList::default(), |all, (_, cpus)| all.union(cpus));
    if kinds.len() >= 2 && named.len() < online.len() {
        kinds.push(("other".to_owned(), online.without(&named)));
    }
    (kinds.len() >= 2).then_some(kinds)
}

fn by_capacity(files: &Files<'_>, online: &CpuList) -> Named {
    let mut by: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for cpu in online.iter() {
        let Some(capacity) = files.number(&format!("{CPU}/cpu{cpu}/cpu_capacity")) else { return Vec::new() };
        by.entry(capacity).or_default().push(cpu);
    }
    by.into_iter().rev().map(|(capacity, cpus)| (format!("capacity-{capacity}"), cpus.into())).collect()
}
