//! Machines that are unlike the captured ones: made by code, then bent and broken.
mod support;

use memgauge_machine::{ReadError, Root, read, snapshot};
use memgauge_model::{CpuList, Reason};
use proptest::prelude::*;
use std::time::{Duration, Instant};
use support::{Cpu, Tree};

const CPU: &str = "sys/devices/system/cpu";
const NODE: &str = "sys/devices/system/node";

fn list(text: &str) -> CpuList {
    text.parse().unwrap_or_default()
}

fn lists(texts: &[&str]) -> Vec<CpuList> {
    texts.iter().map(|text| list(text)).collect()
}

#[test]
fn two_sockets_four_nodes_with_gaps() {
    let machine = support::two_sockets().read();
    // 8 CPUs, whatever this machine has; nothing of its affinity and policy.
    assert_eq!(machine.online_cpus, list("0-7"));
    assert_eq!(machine.allowed_cpus, list("0-7"));
    assert_eq!(machine.cores, lists(&["0,4", "1,5", "2,6", "3,7"]));
    assert_eq!(machine.packages, lists(&["0-1,4-5", "2-3,6-7"]));
    assert_eq!(machine.nodes.iter().map(|node| node.node).collect::<Vec<_>>(), [0, 2, 8, 9]);
    assert_eq!(machine.allowed_nodes, list("0,2,8-9"));
    let node = machine.node(8).unwrap();
    assert_eq!(node.distances.iter().map(|(id, d)| (*id, *d)).collect::<Vec<_>>(), [(0, 32), (2, 32), (8, 10), (9, 12)]);
    assert_eq!((node.huge_pages[0].page_bytes, node.huge_pages[0].total, node.huge_pages[0].free), (1 << 30, 3, 2));
    assert_eq!(machine.caches.l1.len(), 4, "instruction caches are not counted");
    assert_eq!(machine.caches.l3.iter().map(|c| c.size.known().copied()).collect::<Vec<_>>(), [Some(32 << 20); 2]);
    assert_eq!(machine.cpu.architecture, "x86_64");
    assert_eq!(machine.memory.page_bytes, 4096);
    assert_eq!(machine.platform.hypervisor.known().unwrap(), "none");
    assert!(machine.limits.memory_policy.known().is_none(), "a tree has no memory policy");
    assert!(machine.platform.prefetchers.known().is_none(), "a tree has no registers");
}

#[test]
fn a_cxl_node_has_the_cpus_that_hmat_gives_it() {
    let machine = support::with_cxl().read();
    let cxl = machine.node(4).unwrap();
    assert!(cxl.cpus.is_empty());
    assert_eq!(cxl.local_cpus, list("0-1"), "class 0 names a device, class 1 the CPUs");
    assert_eq!(cxl.subtype, "CXL");
    assert_eq!(cxl.memory_tier, Some(22));
    let class = &cxl.access[1];
    assert_eq!((class.class, class.read_latency_ns, class.read_bandwidth), (1, Some(250), Some(30_000_000_000)));
    assert_eq!((class.write_latency_ns, class.write_bandwidth), (None, None), "0 and −1 tell nothing");
    assert_eq!(machine.node(0).unwrap().memory_side_caches[0].size, 1 << 30);
    let device = machine.node(7).unwrap();
    assert_eq!((device.memory_bytes, &device.local_cpus), (0, &list("0-1")), "by distance");
    // 6 GiB free in 98304 pages.
    assert_eq!(machine.memory.page_bytes, 65536);
}

#[test]
fn hybrid_cores_are_told_apart() {
    let machine = support::hybrid().read();
    let kinds: Vec<_> = machine.core_kinds.iter().map(|kind| (kind.name.as_str(), kind.cpus.clone(), kind.max_hz)).collect();
    assert_eq!(kinds, [("intel_core", list("0-3"), Some(5_000_000_000)), ("intel_atom", list("4-7"), Some(3_800_000_000))]);
    assert_eq!(machine.caches.l2.iter().map(|cache| cache.cpus.clone()).collect::<Vec<_>>(), lists(&["0-1", "2-3", "4-7"]));
    assert_eq!(machine.power.governors.known().unwrap()["powersave"], list("4-7"));
    assert_eq!(machine.power.limits_hz.known(), Some(&(400_000_000, 4_000_000_000)));
    assert_eq!(machine.power.boost.known(), Some(&false));
}

#[test]
fn an_unreadable_node_is_unknown_and_not_without_memory() {
    let tree = support::two_sockets();
    tree.folder(&format!("{NODE}/node2/meminfo")).remove(&format!("{NODE}/node8/meminfo"));
    let machine = tree.read();
    let why = machine.node(2).unwrap().unread.as_ref().unwrap();
    assert!(why.contains("node2/meminfo: "), "{why}");
    assert!(machine.notes.contains(&format!("memory: that of node 2 is unknown ({why})")), "{:?}", machine.notes);
    assert!(machine.node(0).unwrap().unread.is_none() && machine.node(8).unwrap().unread.is_some());
    // What is missing from the nodes' sum is theirs, and no other node's late memory.
    assert!(!machine.notes.iter().any(|note| note.contains("the nodes count")), "{:?}", machine.notes);
}

#[test]
fn cpus_that_are_there_but_offline_are_present() {
    let tree = support::two_sockets();
    tree.file(&format!("{CPU}/online"), "0-5");
    assert_eq!(tree.read().present_cpus, list("0-7"), "by their folders");
    tree.file(&format!("{CPU}/present"), "0-6");
    assert_eq!(tree.read().present_cpus, list("0-6"));
}

#[test]
fn without_sys_proc_tells() {
    let tree = Tree::empty();
    let block = |cpu: u32, package: u32, core: u32| {
        format!("processor\t: {cpu}\nphysical id\t: {package}\ncore id\t\t: {core}\nflags\t: lm hypervisor\n\n")
    };
    tree.file("proc/cpuinfo", [block(0, 0, 0), block(1, 0, 1), block(2, 1, 0), block(3, 0, 0)].concat());
    support::meminfo(&tree, 1 << 20);
    let machine = tree.read();
    assert_eq!(machine.online_cpus, list("0-3"));
    assert_eq!(machine.cores, lists(&["0,3", "1", "2"]));
    assert_eq!(machine.packages, lists(&["0-1,3", "2"]));
    let node = &machine.nodes[0];
    assert_eq!((node.node, &node.cpus, node.memory_bytes, node.available_bytes), (0, &list("0-3"), 1 << 30, 3 << 28));
    assert_eq!(machine.platform.hypervisor.known().unwrap(), "unknown");
    assert!(machine.caches.l1.is_empty());
}

#[test]
fn a_v2_cgroup_limits_cpus_nodes_memory_and_quota() {
    let tree = support::two_sockets();
    tree.file("proc/mounts", "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cg\\040roup cgroup2 rw,nsdelegate 0 0\n");
    tree.file("proc/self/cgroup", "0::/batch/job/step\n");
    let top = "sys/fs/cg roup";
    tree.file(&format!("{top}/cgroup.controllers"), "cpuset cpu io memory");
    tree.file(&format!("{top}/batch/job/cpuset.cpus.effective"), "1-2,5,900");
    tree.file(&format!("{top}/batch/job/cpuset.mems.effective"), "2,8");
    tree.file(&format!("{top}/batch/job/step/memory.max"), "max").file(&format!("{top}/batch/memory.max"), "3000");
    tree.file(&format!("{top}/batch/job/memory.max"), "4000").file(&format!("{top}/batch/job/memory.current"), "3900");
    tree.file(&format!("{top}/batch/memory.current"), "1000");
    tree.file(&format!("{top}/batch/job/memory.stat"), "anon 1\ninactive_file 500\n");
    tree.file(&format!("{top}/batch/job/step/cpu.max"), "max 100000").file(&format!("{top}/batch/cpu.max"), "150000 100000");
    tree.file(&format!("{top}/batch/job/step/cpu.stat"), "usage_usec 5\nnr_throttled 7\nthrottled_usec 80\n");
    let machine = tree.read();
    assert_eq!(machine.allowed_cpus, list("1-2,5"));
    assert_eq!(machine.allowed_nodes, list("2,8"));
    assert_eq!(machine.limits.cgroup_memory_limit.known(), Some(&3000));
    assert_eq!(machine.limits.cgroup_memory_left.known(), Some(&600), "the tightest place need not be the lowest limit");
    assert_eq!(machine.limits.cpu_quota.known(), Some(&1.5));
    assert_eq!(machine.limits.cgroup.known().unwrap(), "/batch/job/step");
    let counters = snapshot(&tree.root());
    assert_eq!((counters["cgroup.cpu.nr_throttled"], counters["cgroup.cpu.throttled_usec"]), (7, 80));
}

#[test]
fn a_v1_cgroup_in_a_container_limits_too() {
    let tree = support::two_sockets();
    // The container sees its own part of the hierarchy only, under another path than /proc/self/cgroup gives.
    tree.file(
        "proc/self/mountinfo",
        "30 20 0:1 /docker/abc /sys/fs/cgroup/memory ro,nosuid master:9 - cgroup cgroup rw,memory\n\
         31 20 0:2 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n\
         32 20 0:3 /docker/abc /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n",
    );
    tree.file("proc/self/cgroup", "9:memory:/docker/abc\n5:cpu,cpuacct:/docker/abc\n3:cpuset:/docker/abc\n");
    tree.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000").file("sys/fs/cgroup/memory/memory.usage_in_bytes", "2500");
    tree.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1").file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
    tree.file("sys/fs/cgroup/cpuset/cpuset.cpus", "6-7");
    let machine = tree.read();
    assert_eq!(machine.allowed_cpus, list("6-7"));
    assert_eq!(machine.limits.cgroup_memory_limit.known(), Some(&2000));
    assert_eq!(machine.limits.cgroup_memory_left.known(), Some(&0));
    assert!(machine.limits.cpu_quota.known().is_none(), "−1 is no quota");
    assert_eq!(machine.platform.container.known().unwrap(), "docker");
    tree.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    assert!(tree.read().limits.cgroup_memory_limit.known().is_none(), "v1's way to write none");
}

#[test]
fn a_cpuset_that_leaves_nothing_is_not_believed() {
    let tree = support::two_sockets();
    tree.file("proc/mounts", "none /dev/cpuset cpuset rw 0 0\n")
        .file("proc/self/cpuset", "/gone")
        .file("dev/cpuset/gone/cpus", "77");
    let machine = tree.read();
    assert_eq!(machine.allowed_cpus, list("0-7"));
    assert!(machine.notes.iter().any(|note| note.contains("/gone")), "{:?}", machine.notes);
}

#[test]
fn what_is_damaged_is_missing_and_never_zero() {
    let tree = support::two_sockets();
    tree.remove(&format!("{CPU}/cpu0/cache/index2/size"));
    tree.file(&format!("{CPU}/cpu1/cache/index2/size"), "99999999999999999999K");
    tree.file(&format!("{CPU}/cpu2/cache/index2/size"), "0K");
    tree.folder(&format!("{CPU}/cpu3/cache/index2/size"));
    tree.file(&format!("{CPU}/cpu0/cache/index3/level"), "-3");
    tree.file("proc/sys/vm/zone_reclaim_mode", "\0\0");
    let machine = tree.read();
    assert_eq!(machine.caches.l2.len(), 4);
    assert!(machine.caches.l2.iter().all(|cache| cache.size.known().is_none()), "{:?}", machine.caches.l2);
    assert_eq!(machine.caches.l3.len(), 2, "the other CPUs still tell of it");
    assert!(machine.memory.zone_reclaim_mode.known().is_none());
}

#[test]
fn sets_that_contradict_each_other_hold_each_cpu_once() {
    let tree = support::two_sockets();
    tree.file(&format!("{CPU}/cpu1/topology/thread_siblings_list"), "0-7");
    tree.file(&format!("{CPU}/cpu2/topology/thread_siblings_list"), "3");
    let mut seen: Vec<u32> = tree.read().cores.iter().flat_map(CpuList::iter).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..8).collect::<Vec<_>>());
}

#[test]
fn links_stay_inside_and_loops_end() {
    let outside = Tree::empty();
    outside.file("secret", "always [leaked] never");
    let tree = support::two_sockets();
    let thp = "sys/kernel/mm/transparent_hugepage";
    let leaked = outside.path().join("secret");
    tree.link(&format!("{thp}/enabled"), leaked.to_str().unwrap());
    tree.link(&format!("{thp}/defrag"), &format!("{}{}", "../".repeat(40), leaked.display()));
    tree.link("sys/kernel/mm/ksm", "/sys/loop/a").link("sys/loop/a", "b").link("sys/loop/b", "a");
    tree.file("sys/real/osrelease", "9.9.9").link("proc/sys/kernel", "/sys/real");
    let machine = tree.read();
    assert!(machine.memory.thp.known().is_none() && machine.memory.thp_defrag.known().is_none(), "{:?}", machine.memory);
    assert!(machine.memory.ksm.known().is_none());
    assert_eq!(machine.platform.kernel.known().unwrap(), "9.9.9", "an absolute link means the tree's own");
}

#[test]
fn a_fifo_does_not_block() {
    let tree = support::two_sockets();
    tree.remove(&format!("{CPU}/online"));
    let made = std::process::Command::new("mkfifo").arg(tree.path().join(format!("{CPU}/online"))).status().unwrap();
    assert!(made.success());
    assert_eq!(tree.read().online_cpus, list("0-7"), "from the folders");
}

#[test]
fn an_unreadable_file_is_no_permission() {
    use std::os::unix::fs::PermissionsExt;
    let tree = support::with_cxl();
    let table = tree.path().join("sys/firmware/dmi/tables/DMI");
    std::fs::set_permissions(&table, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&table).is_ok() {
        return; // root reads everything
    }
    let dimms = serde_json::to_value(tree.read().dimms).unwrap();
    assert_eq!(dimms["theoretical_bandwidth"]["unavailable"], "no_permission");
}

#[test]
fn modules_tell_the_theoretical_bandwidth() {
    let tree = support::with_cxl();
    let dimms = tree.read().dimms;
    let modules = dimms.modules.known().unwrap();
    assert_eq!(modules.len(), 3, "the empty slot is none");
    let first = &modules[0];
    assert_eq!(
        (first.size, first.kind.as_str(), first.rated_mts, first.configured_mts),
        (16 << 30, "DDR5", Some(4800), Some(4400))
    );
    assert_eq!((first.data_bits, first.ranks, first.part.as_str()), (Some(64), Some(2), "PART-1"));
    assert_eq!(dimms.channels.known(), Some(&2));
    assert_eq!(dimms.theoretical_bandwidth.known(), Some(&(2.0 * 4400e6 * 8.0)), "one module a channel counts");

    let table = std::fs::read(tree.path().join("sys/firmware/dmi/tables/DMI")).unwrap();
    tree.file("sys/firmware/dmi/entries/17-0/raw", &table[..table.len() / 4]).remove("sys/firmware/dmi/tables");
    assert_eq!(tree.read().dimms.channels.known(), Some(&1), "from the kernel's single entries");
}

#[test]
fn channels_are_never_guessed() {
    let tree = support::with_cxl();
    for bank in ["BANK 0", "A1", "NODE 1", "CHANNELS", "P0 CHANNEL"] {
        tree.file("sys/firmware/dmi/tables/DMI", support::dmi_table(&[bank]));
        let dimms = tree.read().dimms;
        assert!(dimms.modules.known().is_some());
        let text = serde_json::to_string(&dimms.theoretical_bandwidth).unwrap();
        assert!(text.contains("not_present") && text.contains("--theoretical"), "{bank}: {text}");
    }
    for bank in ["P0_Node0_Channel1_Dimm0", "ChannelA-DIMM0", "P1 CHANNEL H", "channel 3"] {
        tree.file("sys/firmware/dmi/tables/DMI", support::dmi_table(&[bank]));
        assert_eq!(tree.read().dimms.channels.known(), Some(&1), "{bank}");
    }
}

#[test]
fn lazily_counted_memory_is_available() {
    let tree = support::two_sockets();
    support::meminfo(&tree, 64 << 20);
    tree.file("sys/devices/system/memory/block_size_bytes", "80000000");
    // 2 GiB blocks: 48 GiB in node 2, 4 GiB, which are counted, in node 0.
    for block in 0..24 {
        tree.folder(&format!("{NODE}/node2/memory{block}"));
    }
    tree.folder(&format!("{NODE}/node0/memory90")).folder(&format!("{NODE}/node0/memory91"));
    let machine = tree.read();
    let node = |id| machine.node(id).unwrap();
    assert_eq!((node(2).memory_bytes, node(2).free_bytes), (4 << 30, 2 << 30), "the kernel's words stand");
    assert_eq!(node(2).available_bytes, (2 << 30) + (44 << 30), "all that it spans, but no more than that");
    assert_eq!(node(0).available_bytes, 2 << 30);
    assert!(machine.notes.iter().any(|note| note.contains("lazily")), "{:?}", machine.notes);
}

#[test]
fn a_running_page_scanner_is_noted() {
    let tree = support::two_sockets();
    let scanners = "sys/kernel/mm/damon/admin/kdamonds";
    tree.file(&format!("{scanners}/nr_kdamonds"), "2").file(&format!("{scanners}/0/state"), "off");
    assert!(tree.read().notes.is_empty());
    tree.file(&format!("{scanners}/1/state"), "on\n");
    assert!(tree.read().notes.iter().any(|note| note.contains("DAMON")));
}

#[test]
fn without_meminfo_the_nodes_are_summed() {
    let tree = support::two_sockets();
    tree.remove("proc/meminfo");
    let memory = tree.read().memory;
    assert_eq!((memory.total_bytes, memory.available_bytes), (16 << 30, 8 << 30));
}

#[test]
fn resctrl_is_told_by_the_group_of_this_process() {
    let tree = support::two_sockets();
    let text = |tree: &Tree| tree.read().limits.resctrl;
    assert!(text(&tree).known().is_none(), "not mounted");
    tree.file("proc/mounts", "resctrl /sys/fs/resctrl resctrl rw,relatime 0 0\n");
    tree.file("sys/fs/resctrl/schemata", "    MB:0=100;1=100\n    L3:0=fff;1=fff\n");
    tree.file("sys/fs/resctrl/small/schemata", "L3:0=00f\n");
    for (groups, told) in
        [("res:/\nmon:\n", "default group: MB:0=100;1=100; L3:0=fff;1=fff"), ("res:small\nmon:m\n", "small: L3:0=00f")]
    {
        tree.file("proc/self/cpu_resctrl_groups", groups);
        assert_eq!(text(&tree).known().map(String::as_str), Some(told));
    }
    tree.file("proc/self/cpu_resctrl_groups", "res:../../etc\n");
    assert!(text(&tree).known().is_none(), "no way out of the mount");
}

#[test]
fn counters_of_a_tree() {
    let tree = support::with_cxl();
    tree.file("proc/self/stat", "7 (a) b) R 1 7 7 0 -1 4194304 100 0 12 0 3 4 0 0 20 0 1 0 5 6 7\n");
    tree.file("proc/self/status", "Name:\ta) b\nVmRSS:\t  9 kB\nVmSwap:\t     8 kB\n");
    let counters = snapshot(&tree.root());
    assert_eq!((counters["self.major_faults"], counters["self.swap_bytes"], counters["self.cpu_ticks"]), (12, 8192, 7));
    assert_eq!((counters["vmstat.pswpin"], counters["vmstat.oom_kill"], counters["stat.steal_ticks"]), (5, 1, 890));
    assert_eq!(counters["stat.busy_ticks"], 1 + 2 + 3 + 6 + 7);
    assert!(!counters.contains_key("vmstat.nr_dirty"));
    assert!(snapshot(&Root::tree("/nonexistent")).is_empty());
}

#[test]
fn a_root_that_is_no_machine_is_named() {
    let gone = Root::tree("/nonexistent/tree");
    assert_eq!(read(&gone).unwrap_err(), ReadError::Missing("/nonexistent/tree".into()));
    let tree = Tree::empty();
    tree.file("etc/os-release", "NAME=x");
    let error = read(&tree.root()).unwrap_err().to_string();
    assert!(error.contains(tree.path().to_str().unwrap()) && error.contains("neither sys nor proc"), "{error}");
    tree.folder("proc");
    assert!(tree.read().online_cpus.is_empty(), "nothing of the live machine stands in");
}

#[test]
fn the_live_machine_is_read() {
    let machine = read(&Root::system()).unwrap();
    assert_eq!(machine.root, "/");
    assert!(!machine.allowed_cpus.is_empty() && machine.allowed_cpus.without(&machine.online_cpus).is_empty());
    assert!(machine.memory.page_bytes.is_power_of_two() && machine.memory.total_bytes > 0);
    assert!(
        !machine.nodes.is_empty() && machine.limits.memory_policy != memgauge_model::Avail::missing(Reason::NotApplicable, "")
    );
    assert!(snapshot(&Root::system()).contains_key("stat.steal_ticks"));
}

#[test]
fn a_thousand_cpus_take_linear_time() {
    let tree = Tree::empty();
    tree.file(&format!("{CPU}/online"), "0-1023");
    for id in 0..1024 {
        let (own, package) = (id.to_string(), if id < 512 { "0-511" } else { "512-1023" });
        support::cpu(&tree, &Cpu { id, core: &own, package, l2: &own, l3: package });
    }
    let machine = tree.read();
    assert_eq!(
        (machine.cores.len(), machine.packages.len(), machine.caches.l2.len(), machine.caches.l3.len()),
        (1024, 2, 1024, 2)
    );
}

/// What may have happened to a file on its way.
#[derive(Debug, Clone)]
enum Damage {
    Cut(usize),
    Bytes(Vec<u8>),
    Text(String),
    Gone,
    Folder,
    Link(&'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    let texts = [
        "0-1048575",
        "-1",
        "18446744073709551615",
        "4294967296",
        "0-4294967295,1",
        "ffffffff,".repeat(200).as_str(),
        "",
        "\0",
        "[",
        ":",
    ]
    .map(str::to_owned)
    .to_vec();
    let links = ["/", "..", ".", "self", "/sys", "/etc/passwd", "../../../../../../../../etc/passwd"].to_vec();
    prop_oneof![
        (0_usize..40).prop_map(Damage::Cut),
        proptest::collection::vec(any::<u8>(), 0..300).prop_map(Damage::Bytes),
        proptest::sample::select(texts).prop_map(Damage::Text),
        "[0-9a-fKM:,\\- \n]{0,30}".prop_map(Damage::Text),
        Just(Damage::Gone),
        Just(Damage::Folder),
        proptest::sample::select(links).prop_map(Damage::Link),
    ]
}

fn bend(tree: &Tree, file: &str, damage: &Damage) {
    match damage {
        Damage::Cut(length) => {
            let mut content = std::fs::read(tree.path().join(file)).unwrap_or_default();
            content.truncate(*length);
            tree.file(file, content)
        }
        Damage::Bytes(bytes) => tree.file(file, bytes),
        Damage::Text(text) => tree.file(file, text),
        Damage::Gone => tree.remove(file),
        Damage::Folder => tree.folder(file),
        Damage::Link(target) => tree.link(file, target),
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_makes_it_fall_over(
        kind in 0..3,
        damages in proptest::collection::vec((any::<proptest::sample::Index>(), damage()), 1..12),
    ) {
        let tree = [support::two_sockets, support::with_cxl, support::hybrid][kind as usize]();
        let files = tree.files();
        for (index, damage) in &damages {
            bend(&tree, &files[index.index(files.len())], damage);
        }
        let start = Instant::now();
        let machine = tree.read();
        let _counters = snapshot(&tree.root());
        prop_assert!(start.elapsed() < Duration::from_secs(5), "hangs");
        // Whatever was bent, no set names a CPU that is not online, and no CPU is in two cores.
        let cores: Vec<u32> = machine.cores.iter().flat_map(CpuList::iter).collect();
        prop_assert_eq!(cores.len(), machine.online_cpus.len());
        let caches = [&machine.caches.l1, &machine.caches.l2, &machine.caches.l3];
        let sets = caches.iter().flat_map(|level| level.iter().map(|cache| &cache.cpus)).chain(&machine.packages);
        for set in sets.chain(machine.nodes.iter().map(|node| &node.local_cpus)).chain([&machine.allowed_cpus]) {
            prop_assert!(set.without(&machine.online_cpus).is_empty());
        }
        let json = serde_json::to_string(&machine).unwrap();
        prop_assert!(!json.contains("root:x:"), "a file outside the tree was read");
    }
}
