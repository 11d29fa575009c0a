//! Small machines, made by code: folders with the files that a kernel would show.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A machine's root in a folder of its own.
pub struct Tree {
    folder: TempDir,
}

impl Tree {
    /// Without any file.
    pub fn empty() -> Self {
        Self { folder: tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn root(&self) -> memgauge_machine::Root {
        memgauge_machine::Root::tree(self.path())
    }

    pub fn read(&self) -> memgauge_model::Machine {
        memgauge_machine::read(&self.root()).unwrap()
    }

    /// Writes a file, whatever was there before.
    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let full = self.clear(path);
        fs::write(full, content).unwrap();
        self
    }

    pub fn link(&self, path: &str, target: &str) -> &Self {
        symlink(target, self.clear(path)).unwrap();
        self
    }

    pub fn folder(&self, path: &str) -> &Self {
        fs::create_dir_all(self.clear(path)).unwrap();
        self
    }

    pub fn remove(&self, path: &str) -> &Self {
        self.clear(path);
        self
    }

    /// All regular files, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match fs::symlink_metadata(&path).unwrap().file_type() {
                    kind if kind.is_dir() => folders.push(path),
                    kind if kind.is_file() => found.push(path.strip_prefix(self.path()).unwrap().to_str().unwrap().to_owned()),
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }

    fn clear(&self, path: &str) -> PathBuf {
        let full = self.path().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        match fs::symlink_metadata(&full) {
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(&full).unwrap(),
            Ok(_) => fs::remove_file(&full).unwrap(),
            Err(_) => {}
        }
        full
    }
}

/// A CPU's place and its caches' sharers.
pub struct Cpu<'t> {
    pub id: u32,
    pub core: &'t str,
    pub package: &'t str,
    pub l2: &'t str,
    pub l3: &'t str,
}

const CPU: &str = "sys/devices/system/cpu";
const NODE: &str = "sys/devices/system/node";

pub fn cpu(tree: &Tree, cpu: &Cpu<'_>) {
    let folder = format!("{CPU}/cpu{}", cpu.id);
    tree.file(&format!("{folder}/topology/thread_siblings_list"), cpu.core);
    tree.file(&format!("{folder}/topology/core_siblings_list"), cpu.package);
    let caches = [("1", "Data", "48K", cpu.core), ("1", "Instruction", "32K", cpu.core), ("2", "Unified", "2048K", cpu.l2)];
    for (index, (level, kind, size, cpus)) in caches.into_iter().chain([("3", "Unified", "32M", cpu.l3)]).enumerate() {
        let folder = format!("{folder}/cache/index{index}");
        tree.file(&format!("{folder}/level"), level).file(&format!("{folder}/type"), kind);
        tree.file(&format!("{folder}/size"), size).file(&format!("{folder}/shared_cpu_list"), cpus);
    }
}

pub fn node(tree: &Tree, id: u32, cpus: &str, kib: u64, distance: &str) {
    let folder = format!("{NODE}/node{id}");
    tree.file(&format!("{folder}/cpulist"), cpus).file(&format!("{folder}/distance"), distance);
    tree.file(&format!("{folder}/meminfo"), format!("Node {id} MemTotal: {kib} kB\nNode {id} MemFree: {} kB\n", kib / 2));
}

pub fn meminfo(tree: &Tree, kib: u64) {
    tree.file("proc/meminfo", format!("MemTotal: {kib} kB\nMemFree: {} kB\nMemAvailable: {} kB\n", kib / 2, kib / 4 * 3));
}

/// Two packages of two cores of two threads; four nodes (two a package) with gaps in their numbers.
pub fn two_sockets() -> Tree {
    let tree = Tree::empty();
    tree.file(&format!("{CPU}/online"), "0-7\n\0\0");
    let cores = ["0,4", "1,5", "2,6", "3,7"];
    for id in 0..8 {
        let core = cores[id as usize % 4];
        let package = if id % 4 < 2 { "0-1,4-5" } else { "2-3,6-7" };
        cpu(&tree, &Cpu { id, core, package, l2: core, l3: package });
    }
    tree.file(&format!("{NODE}/online"), "0,2,8-9");
    for (id, cpus, distance) in
        [(0, "0,4", "10 12 32 32"), (2, "1,5", "12 10 32 32"), (8, "2,6", "32 32 10 12"), (9, "3,7", "32 32 12 10")]
    {
        node(&tree, id, cpus, 4 << 20, distance);
        let pool = format!("{NODE}/node{id}/hugepages/hugepages-1048576kB");
        tree.file(&format!("{pool}/nr_hugepages"), "3").file(&format!("{pool}/free_hugepages"), "2");
    }
    meminfo(&tree, 16 << 20);
    tree.file("proc/cpuinfo", "processor : 0\nvendor_id : GenuineIntel\nmodel name : Test\nflags : lm sse2 avx2\n");
    tree
}

/// One package of two CPUs; node 0, a memory-only CXL node 4 that HMAT ties to node 0, and a device node 7 without anything.
pub fn with_cxl() -> Tree {
    let tree = Tree::empty();
    for id in 0..2 {
        let own = id.to_string();
        cpu(&tree, &Cpu { id, core: &own, package: "0-1", l2: &own, l3: "0-1" });
    }
    tree.file(&format!("{CPU}/online"), "0-1").file(&format!("{NODE}/online"), "0,4,7");
    node(&tree, 0, "0-1", 8 << 20, "10 20 30");
    node(&tree, 4, "", 4 << 20, "20 10 40");
    node(&tree, 7, "\n", 0, "30 40 10");
    for (class, initiator) in [(0, 7), (1, 0)] {
        let folder = format!("{NODE}/node4/access{class}/initiators");
        tree.link(&format!("{folder}/node{initiator}"), &format!("../../../node{initiator}"));
        tree.file(&format!("{folder}/read_latency"), "250").file(&format!("{folder}/read_bandwidth"), "30000");
        tree.file(&format!("{folder}/write_latency"), "0").file(&format!("{folder}/write_bandwidth"), "-1");
    }
    tree.file(&format!("{NODE}/node0/memory_side_cache/index1/size"), "1073741824");
    tree.file("sys/devices/virtual/memory_tiering/memory_tier22/nodelist", "4");
    let device = "devices/platform/ACPI0017:00/root0/decoder0.0/region0/dax_region0/dax0.0";
    tree.file(&format!("sys/{device}/target_node"), "4");
    tree.link("sys/bus/dax/devices/dax0.0", &format!("../../../{device}"));
    tree.link("sys/bus/dax/drivers/kmem/dax0.0", &format!("/sys/{device}"));
    meminfo(&tree, 12 << 20);
    tree.file("sys/firmware/dmi/tables/DMI", dmi_table(&["P0 CHANNEL A", "P0 CHANNEL A", "P0 CHANNEL B"]));
    tree.file("proc/vmstat", "nr_free_pages 98304\npswpin 5\npswpout 6\noom_kill 1\nnr_dirty 9\n");
    tree.file("proc/stat", "cpu  1 2 3 4 5 6 7 890 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\n");
    tree
}

/// P cores with two threads, E cores that share an L2, and their clocks.
pub fn hybrid() -> Tree {
    let tree = Tree::empty();
    tree.file(&format!("{CPU}/online"), "0-7");
    for id in 0..8 {
        let (core, l2) = match id {
            0 | 1 => ("0-1".to_owned(), "0-1"),
            2 | 3 => ("2-3".to_owned(), "2-3"),
            _ => (id.to_string(), "4-7"),
        };
        cpu(&tree, &Cpu { id, core: &core, package: "0-7", l2, l3: "0-7" });
        let policy = format!("{CPU}/cpufreq/policy{id}");
        tree.file(&format!("{policy}/affected_cpus"), id.to_string());
        tree.file(&format!("{policy}/scaling_governor"), if id < 4 { "performance" } else { "powersave" });
        tree.file(&format!("{policy}/scaling_min_freq"), "400000").file(&format!("{policy}/scaling_max_freq"), "4000000");
        tree.file(&format!("{policy}/cpuinfo_max_freq"), if id < 4 { "5000000" } else { "3800000" });
    }
    tree.file("sys/devices/cpu_core/cpus", "0-3").file("sys/devices/cpu_atom/cpus", "4-7");
    tree.file(&format!("{CPU}/intel_pstate/no_turbo"), "1");
    meminfo(&tree, 8 << 20);
    tree
}

/// A table of SMBIOS modules of 16 GiB, DDR5-4800 run at 4400 MT/s, 64 bits wide, one for each bank locator; and an empty slot.
pub fn dmi_table(banks: &[&str]) -> Vec<u8> {
    let mut table = Vec::new();
    for (handle, bank) in banks.iter().enumerate() {
        table.extend(module(handle as u16, 16 << 10, bank));
    }
    table.extend(module(100, 0, "P0 CHANNEL C"));
    table.extend([127, 4, 0, 0, 0, 0]);
    table
}

fn module(handle: u16, mib: u16, bank: &str) -> Vec<u8> {
    let mut fields = vec![0_u8; 0x5c];
    let words = [(0x02, handle), (0x08, 72), (0x0a, 64), (0x0c, mib), (0x15, 4800), (0x20, 0xffff)];
    for (at, word) in words {
        fields[at..at + 2].copy_from_slice(&word.to_le_bytes());
    }
    // The configured speed stands in the field that SMBIOS 3.3 added.
    fields[0x58..0x5c].copy_from_slice(&4400_u32.to_le_bytes());
    for (at, byte) in [(0, 17), (1, 0x5c), (0x10, 1), (0x11, 2), (0x12, 0x22), (0x1a, 3), (0x1b, 2), (0x28, 3)] {
        fields[at] = byte;
    }
    let strings = format!("DIMM {}\0{bank}\0PART-1 \0\0", handle % 2);
    [fields, strings.into_bytes()].concat()
}
