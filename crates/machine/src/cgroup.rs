//! The cgroups that hold the process of /proc/self, v1, v2 or the old cpuset file system, found through the mount table.

use crate::files::Files;
use crate::list;
use memgauge_model::{Avail, CpuList, Reason};

/// Deeper nesting than any batch system makes; bounds the walk to the top.
const MOST_LEVELS: usize = 64;

/// v1 writes "no limit" as the largest multiple of the page size below 2^63.
const NO_LIMIT: u64 = 1 << 62;

/// Where one controller's files lie: the group's folder and its ancestors', the own one first.
#[derive(Debug, Clone, Default)]
struct Hierarchy {
    folders: Vec<String>,
    v2: bool,
    /// File-name prefix of the cpuset files (`cpuset.`, or none on a `noprefix` mount).
    prefix: &'static str,
}

/// The hierarchies that matter here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cgroups {
    cpuset: Option<Hierarchy>,
    memory: Option<Hierarchy>,
    cpu: Option<Hierarchy>,
    name: Option<String>,
}

impl Cgroups {
    /// Finds them.
    pub(crate) fn read(files: &Files<'_>) -> Self {
        let memberships = memberships(files);
        let mounts = mounts(files);
        let unified = mounts.iter().find(|mount| mount.kind == "cgroup2");
        // On a hybrid system a controller is served by v1 or by v2; v2 lists the ones that it serves.
        let served = unified.map(|mount| files.text(&format!("{}/cgroup.controllers", mount.at)).unwrap_or_default());
        let find = |controller: &str| {
            let in_v2 = served.as_ref().is_some_and(|served| served.split_ascii_whitespace().any(|word| word == controller));
            let v1 = || mounts.iter().find(|mount| mount.serves(controller));
            let mount = if in_v2 { unified } else { v1() }?;
            // Where only /proc/self/cpuset is there it gives the path in v2 as well.
            let own = if mount.kind == "cgroup2" { memberships.path("") } else { None };
            let path = own.or_else(|| memberships.path(controller))?;
            Some(Hierarchy { folders: mount.folders(files, &path), v2: mount.kind == "cgroup2", prefix: mount.prefix() })
        };
        let name = ["", "memory", "cpuset"].iter().find_map(|controller| memberships.path(controller));
        Self { cpuset: find("cpuset"), memory: find("memory"), cpu: find("cpu"), name }
    }

    /// The cgroup's path, for messages.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("/")
    }

    /// The cgroup's path.
    pub(crate) fn path(&self) -> Avail<String> {
        Avail::or_absent(self.name.clone(), "/proc/self/cgroup: no such file")
    }

    /// The cpuset's CPUs among `all`; `None` where there is no cpuset.
    pub(crate) fn cpus(&self, files: &Files<'_>, all: &CpuList) -> Option<CpuList> {
        self.set(files, "cpus", all)
    }

    /// The cpuset's memory nodes among `all`; `None` where there is no cpuset.
    pub(crate) fn mems(&self, files: &Files<'_>, all: &CpuList) -> Option<CpuList> {
        self.set(files, "mems", all)
    }

    /// The nearest ancestor that states a list: in v2 a group without the controller has no file, an empty one inherits.
    fn set(&self, files: &Files<'_>, what: &str, all: &CpuList) -> Option<CpuList> {
        let hierarchy = self.cpuset.as_ref()?;
        let suffixes: &[&str] = if hierarchy.v2 { &[".effective", ""] } else { &[""] };
        hierarchy.folders.iter().find_map(|folder| {
            suffixes.iter().find_map(|suffix| {
                let path = format!("{folder}/{}{what}{suffix}", hierarchy.prefix);
                let ranges = list::ranges(&files.text(&path).ok()?)?;
                (ranges.count() > 0).then(|| ranges.within(all))
            })
        })
    }

    /// The tightest memory limit on the way to the root, and what is left below the limits, bytes.
    pub(crate) fn memory(&self, files: &Files<'_>) -> (Avail<u64>, Avail<u64>) {
        let absent = |what: &str| Avail::missing(Reason::NotPresent, what);
        let Some(hierarchy) = &self.memory else {
            let what = "no memory controller is mounted for this process";
            return (absent(what), absent(what));
        };
        let file = |v2: &'static str, v1: &'static str| if hierarchy.v2 { v2 } else { v1 };
        let limit_of = |folder: &str| {
            let limit = files.number(&format!("{folder}/{}", file("memory.max", "memory.limit_in_bytes")))?;
            (limit < NO_LIMIT).then_some(limit)
        };
        let left_of = |folder: &str, limit: u64| {
            let used = files.number(&format!("{folder}/{}", file("memory.current", "memory.usage_in_bytes")))?;
            // Inactive file pages are dropped before anybody is killed, so they count as free.
            let stat = files.text(&format!("{folder}/memory.stat")).unwrap_or_default();
            let cached = field(&stat, file("inactive_file", "total_inactive_file")).unwrap_or(0);
            Some(limit.saturating_sub(used.saturating_sub(cached)))
        };
        let limits: Vec<_> = hierarchy.folders.iter().filter_map(|folder| Some((folder, limit_of(folder)?))).collect();
        let left = limits.iter().filter_map(|(folder, limit)| left_of(folder, *limit)).min();
        let tightest = limits.iter().map(|(_, limit)| *limit).min();
        let none = "no memory limit on the way to the root cgroup";
        (tightest.map_or_else(|| absent(none), Avail::Known), left.map_or_else(|| absent(none), Avail::Known))
    }

    /// The tightest CPU quota on the way to the root, in CPUs.
    pub(crate) fn cpu_quota(&self, files: &Files<'_>) -> Avail<f64> {
        let quota = |hierarchy: &Hierarchy, folder: &String| {
            let (quota, period) = if hierarchy.v2 {
                let text = files.text(&format!("{folder}/cpu.max")).ok()?;
                let (quota, period) = text.split_once(' ')?;
                (quota.parse::<u64>().ok()?, period.parse::<u64>().ok()?)
            } else {
                // v1 writes −1 for none, which is no u64.
                (files.number(&format!("{folder}/cpu.cfs_quota_us"))?, files.number(&format!("{folder}/cpu.cfs_period_us"))?)
            };
            (period > 0).then(|| quota as f64 / period as f64)
        };
        let quotas = self.cpu.iter().flat_map(|h| h.folders.iter().filter_map(|folder| quota(h, folder)));
        match quotas.min_by(f64::total_cmp) {
            Some(quota) => Avail::Known(quota),
            None => Avail::missing(Reason::NotPresent, "no CPU quota on the way to the root cgroup"),
        }
    }

    /// `cpu.stat` and `memory.events` of the process's own groups, for counters: (file's text, is v2).
    pub(crate) fn counters(&self, files: &Files<'_>) -> Vec<(&'static str, String)> {
        let own = |h: &Option<Hierarchy>, name: &str| {
            let folder = h.as_ref()?.folders.first()?;
            files.text(&format!("{folder}/{name}")).ok()
        };
        let all = [("cpu", own(&self.cpu, "cpu.stat")), ("memory", own(&self.memory, "memory.events"))];
        all.into_iter().filter_map(|(kind, text)| Some((kind, text?))).collect()
    }
}

/// The number after a word at a line's start.
pub(crate) fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix([' ', '\t'])?.trim().parse().ok())
}

/// Lines of /proc/self/cgroup: controllers and path. Kernels with cpusets only have /proc/self/cpuset instead.
struct Memberships(Vec<(String, String)>);

impl Memberships {
    /// The path in the hierarchy that serves the controller; `""` is v2.
    fn path(&self, controller: &str) -> Option<String> {
        let serves = |list: &str| list.split(',').any(|word| word == controller);
        self.0.iter().find(|(list, _)| serves(list)).map(|(_, path)| path.clone())
    }
}

fn memberships(files: &Files<'_>) -> Memberships {
    let text = files.text("proc/self/cgroup").unwrap_or_default();
    let line = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
    };
    let mut all: Vec<_> = text.lines().filter_map(line).collect();
    // Where it stands the cpuset file is the better word: it follows v1, v2 and the old file system alike.
    if let Ok(path) = files.text("proc/self/cpuset")
        && !path.is_empty()
        && !all.iter().any(|(list, _)| list.split(',').any(|word| word == "cpuset"))
    {
        all.push(("cpuset".to_owned(), path));
    }
    Memberships(all)
}

#[derive(Debug, Clone)]
struct Mount {
    at: String,
    /// The part of the hierarchy that is mounted; `/` unless a container shows only its own.
    top: String,
    kind: String,
    options: String,
}

impl Mount {
    fn has(&self, option: &str) -> bool {
        self.options.split(',').any(|word| word == option)
    }

    fn serves(&self, controller: &str) -> bool {
        (self.kind == "cpuset" && controller == "cpuset") || (self.kind == "cgroup" && self.has(controller))
    }

    fn prefix(&self) -> &'static str {
        if self.kind == "cpuset" || self.has("noprefix") { "" } else { "cpuset." }
    }

    /// The group's folder and its ancestors' up to the mount. A path that can't be seen from here (another namespace's) leaves the
    /// mount itself.
    fn folders(&self, files: &Files<'_>, path: &str) -> Vec<String> {
        let below = path.strip_prefix(self.top.trim_end_matches('/')).unwrap_or(path);
        let seen = !below.split('/').any(|step| step == "..") && files.exists(&format!("{}{below}", self.at));
        let steps: Vec<&str> = if seen { below.split('/').filter(|step| !step.is_empty()).collect() } else { Vec::new() };
        let depth = steps.len().min(MOST_LEVELS);
        let folder = |n: usize| steps[..n].iter().fold(self.at.clone(), |folder, step| format!("{folder}/{step}"));
        (0..=depth).rev().map(folder).collect()
    }
}

/// Cgroup mounts. mountinfo knows which part of a hierarchy is mounted; captured trees mostly hold the older table.
fn mounts(files: &Files<'_>) -> Vec<Mount> {
    let from_info = |line: &str| {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (top, at) = (left.next()?, left.next()?);
        let mut right = right.split(' ');
        Some(Mount { top: unescape(top), at: tree_path(at), kind: right.next()?.to_owned(), options: right.nth(1)?.to_owned() })
    };
    let from_mounts = |line: &str| {
        let mut words = line.split(' ').skip(1);
        let (at, kind, options) = (words.next()?, words.next()?, words.next()?);
        Some(Mount { top: "/".to_owned(), at: tree_path(at), kind: kind.to_owned(), options: options.to_owned() })
    };
    let ours = |mount: &Mount| matches!(mount.kind.as_str(), "cgroup" | "cgroup2" | "cpuset");
    let info = files.text("proc/self/mountinfo").unwrap_or_default();
    let found: Vec<Mount> = info.lines().filter_map(from_info).filter(ours).collect();
    if !found.is_empty() {
        return found;
    }
    let table = files.text("proc/mounts").unwrap_or_default();
    table.lines().filter_map(from_mounts).filter(ours).collect()
}

/// Where a file system of this type is mounted, as a path below the root.
pub(crate) fn mounted_at(files: &Files<'_>, kind: &str) -> Option<String> {
    let table = files.text("proc/mounts").ok()?;
    table.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let at = words.next()?;
        (words.next()? == kind).then(|| tree_path(at))
    })
}

fn tree_path(at: &str) -> String {
    unescape(at).trim_matches('/').to_owned()
}

/// Mount tables write blanks in paths as `\040`.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
}
