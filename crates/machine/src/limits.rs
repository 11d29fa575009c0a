//! What holds this process back: cgroup limits, resctrl schemata, an inherited memory policy, resource limits.

use crate::cgroup::{self, Cgroups};
use crate::files::Files;
use memgauge_model::{Avail, CpuList, Limits, Reason};
use memgauge_sys::mempolicy::{self, Policy};

/// Reads them. The policy and the resource limits belong to a process, so a tree has none.
pub(crate) fn read(files: &Files<'_>, cgroups: &Cgroups) -> Limits {
    let (limit, left) = cgroups.memory(files);
    let own = files.live().then(memgauge_sys::limits::memory_limits);
    Limits {
        cgroup_memory_limit: limit,
        cgroup_memory_left: left,
        cpu_quota: cgroups.cpu_quota(files),
        cgroup: cgroups.path(),
        memory_policy: if files.live() { policy() } else { Avail::missing(Reason::NotApplicable, "a captured tree") },
        resctrl: resctrl(files),
        address_space: own.and_then(|limits| limits.address_space.into_iter().chain(limits.data).min()),
        locked_memory: own.and_then(|limits| limits.memlock),
    }
}

/// The nodes that this process may take memory from.
pub(crate) fn allowed_nodes(files: &Files<'_>, cgroups: &Cgroups, nodes: &CpuList, notes: &mut Vec<String>) -> CpuList {
    let mut allowed = nodes.clone();
    if files.live() {
        // Where the call is refused the text of /proc says the same.
        let mems = mempolicy::mems_allowed().map(CpuList::from).ok().filter(|mems| !mems.is_empty());
        if let Some(mems) = mems.or_else(|| mems_of_status(files, nodes)) {
            allowed = narrowed(&allowed, &mems, "Mems_allowed", notes);
        }
    }
    match cgroups.mems(files, nodes) {
        Some(mems) => narrowed(&allowed, &mems, "cpuset.mems", notes),
        None => allowed,
    }
}

/// The common nodes; a list that leaves none is not believed.
fn narrowed(nodes: &CpuList, by: &CpuList, what: &str, notes: &mut Vec<String>) -> CpuList {
    let both = nodes.intersection(by);
    if both.is_empty() && !nodes.is_empty() {
        notes.push(format!("{what}: has none of the nodes {nodes}; ignored"));
        return nodes.clone();
    }
    both
}

fn mems_of_status(files: &Files<'_>, nodes: &CpuList) -> Option<CpuList> {
    let status = files.text("proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"))?;
    Some(crate::list::ranges(list)?.within(nodes))
}

fn policy() -> Avail<String> {
    let over = |name: &str, nodes: Vec<u32>| Avail::Known(format!("{name}:{}", CpuList::from(nodes)));
    match mempolicy::inherited_policy() {
        Policy::Default => Avail::Known("default".to_owned()),
        Policy::Local => Avail::Known("local".to_owned()),
        Policy::Bind(nodes) => over("bind", nodes),
        Policy::Preferred(nodes) => over("preferred", nodes),
        Policy::Interleave(nodes) => over("interleave", nodes),
        Policy::WeightedInterleave(nodes) => over("weighted-interleave", nodes),
        Policy::Unknown(mode) => Avail::Known(format!("mode {mode}")),
        Policy::Unavailable(errno) if errno.is_refusal() => {
            Avail::missing(Reason::NoPermission, format!("get_mempolicy: {errno}"))
        }
        Policy::Unavailable(errno) => Avail::missing(Reason::NotSupported, format!("get_mempolicy: {errno}")),
    }
}

/// The resctrl (RDT, QoS, MPAM) group of the process, as `GROUP: SCHEMA; SCHEMA`.
fn resctrl(files: &Files<'_>) -> Avail<String> {
    let Some(at) = cgroup::mounted_at(files, "resctrl") else {
        return Avail::missing(Reason::NotPresent, "resctrl is not mounted");
    };
    // `res:/` is the default group, `res:NAME` another, `res:` none.
    let named = files.text("proc/self/cpu_resctrl_groups").ok();
    let group = named.as_deref().and_then(|text| text.lines().next()?.strip_prefix("res:")).unwrap_or("").trim_matches('/');
    if group.split('/').any(|step| step == "..") {
        return Avail::missing(Reason::NotSupported, "/proc/self/cpu_resctrl_groups: malformed");
    }
    let path = if group.is_empty() { format!("{at}/schemata") } else { format!("{at}/{group}/schemata") };
    files.word(&path).map(|schemata| {
        let lines: Vec<&str> = schemata.lines().map(str::trim).collect();
        format!("{}: {}", if group.is_empty() { "default group" } else { group }, lines.join("; "))
    })
}
