//! One row a guest. Small on purpose: under emulation, spinning threads beyond the host's CPUs crawl.

use super::super::checks::faults::{LOAD_OFFLINE, OBSERVER_OFFLINE, PAGES_MOVED};
use super::super::checks::{
    ALL_FIGURES, ARM, DRY_RUN, FORGETFUL, LOADED, MASKED, MATRIX_BANDWIDTH, MATRIX_LATENCY, MLC, THIRD_CORE, TOPOLOGY, TUTORIAL,
    of_pages, refusal,
};
use super::super::image::Kernel;
use super::{Guest, Node, Path, Shape, node};

/// What most guests have.
const PLAIN: Guest = Guest {
    name: "",
    about: "",
    kernel: Kernel::Stock,
    page_bytes: 4096,
    shape: Shape(2, 2, 1),
    plugged: None,
    nodes: &[],
    distances: &[],
    paths: &[],
    machine: "",
    cpu: "Skylake-Server",
    devices: &[],
    cxl: false,
    cmdline: "",
    setup: "",
    offline: &[],
    cpuset: None,
    checks: &[TOPOLOGY, MATRIX_LATENCY, MATRIX_BANDWIDTH],
};

const MIB2: u64 = 2 << 20;
const GIB: u64 = 1 << 30;

pub const ALL: &[Guest] = &[
    Guest {
        name: "2s",
        about: "2 sockets × 2 cores × 2 threads, 2 nodes",
        shape: Shape(2, 2, 2),
        nodes: &[node(0, Some((0, 3)), 1024), node(1, Some((4, 7)), 1024)],
        distances: &[(0, 1, 21)],
        checks: &[
            TOPOLOGY,
            MATRIX_LATENCY,
            MATRIX_BANDWIDTH,
            LOADED,
            MLC,
            FORGETFUL,
            refusal(
                "a load on the observer's sibling",
                "memgauge loaded --cpu 0 --load-cpus 1,4 --no-bundle",
                &["--load-cpus 1,4", "CPU 1 shares the core", "use 4"],
            ),
            refusal(
                "more than a node has",
                "memgauge idle --node 1 --buffer 1GiB --no-bundle",
                &["--buffer 1GiB", "node 1 has free"],
            ),
        ],
        ..PLAIN
    },
    Guest {
        name: "snc",
        about: "2 sockets × 4 cores, 4 nodes: two in each socket",
        shape: Shape(2, 4, 1),
        nodes: &[node(0, Some((0, 1)), 768), node(1, Some((2, 3)), 768), node(2, Some((4, 5)), 768), node(3, Some((6, 7)), 768)],
        distances: &[(0, 1, 12), (2, 3, 12), (0, 2, 21), (0, 3, 21), (1, 2, 21), (1, 3, 21)],
        checks: &[TOPOLOGY, MATRIX_LATENCY, MATRIX_BANDWIDTH, THIRD_CORE],
        ..PLAIN
    },
    Guest {
        name: "cxl",
        about: "2 sockets × 2 cores, node 2 has memory and no CPUs",
        nodes: &[node(0, Some((0, 1)), 1024), node(1, Some((2, 3)), 1024), node(2, None, 1024)],
        distances: &[(0, 1, 21), (0, 2, 26), (1, 2, 36)],
        checks: &[TOPOLOGY, MATRIX_LATENCY, MATRIX_BANDWIDTH, ALL_FIGURES],
        ..PLAIN
    },
    Guest {
        name: "memless",
        about: "3 sockets × 2 cores, node 2 has CPUs and no memory",
        shape: Shape(3, 2, 1),
        nodes: &[node(0, Some((0, 1)), 1024), node(1, Some((2, 3)), 1024), node(2, Some((4, 5)), 0)],
        distances: &[(0, 1, 21), (0, 2, 21), (1, 2, 21)],
        checks: &[
            TOPOLOGY,
            MATRIX_LATENCY,
            MATRIX_BANDWIDTH,
            ALL_FIGURES,
            refusal(
                "memory of a node that has none",
                "memgauge idle --node 2 --no-bundle",
                &["--node 2", "the node has no memory", "use one of 0-1"],
            ),
        ],
        ..PLAIN
    },
    Guest {
        name: "hmat",
        about: "2 sockets × 2 cores, a node without CPUs, firmware states latency and bandwidth (HMAT), AVX is masked",
        machine: ",hmat=on",
        nodes: &[
            Node { initiator: Some(0), ..node(0, Some((0, 1)), 768) },
            Node { initiator: Some(1), ..node(1, Some((2, 3)), 768) },
            Node { initiator: Some(1), ..node(2, None, 768) },
        ],
        // Node 2 is nearer to node 0 by these, and to node 1 by the paths: those must win.
        distances: &[(0, 1, 21), (0, 2, 26), (1, 2, 36)],
        paths: &[
            Path { from: 0, to: 0, ns: 80, mib_s: 200_000 },
            Path { from: 0, to: 1, ns: 140, mib_s: 100_000 },
            Path { from: 0, to: 2, ns: 320, mib_s: 20_000 },
            Path { from: 1, to: 0, ns: 140, mib_s: 100_000 },
            Path { from: 1, to: 1, ns: 80, mib_s: 200_000 },
            Path { from: 1, to: 2, ns: 250, mib_s: 32_000 },
        ],
        cmdline: "noxsave",
        checks: &[
            TOPOLOGY,
            MATRIX_LATENCY,
            MATRIX_BANDWIDTH,
            MASKED,
            refusal("masked registers", "memgauge peak --isa avx2 --no-bundle", &["--isa avx2"]),
        ],
        ..PLAIN
    },
    Guest {
        name: "offline",
        about: "2 sockets × 4 cores, one CPU switched off, two never started",
        shape: Shape(2, 4, 1),
        nodes: &[node(0, Some((0, 3)), 768), node(1, Some((4, 7)), 768)],
        distances: &[(0, 1, 21)],
        cmdline: "maxcpus=6",
        setup: "echo 0 > /sys/devices/system/cpu/cpu2/online",
        offline: &[2, 6, 7],
        checks: &[
            TOPOLOGY,
            MATRIX_LATENCY,
            LOADED,
            refusal(
                "a CPU that is switched off",
                "memgauge idle --cpu 2 --no-bundle",
                &["--cpu 2", "this CPU is offline", "use one of 0-1,3-5"],
            ),
            OBSERVER_OFFLINE,
            LOAD_OFFLINE,
        ],
        ..PLAIN
    },
    Guest {
        name: "gap",
        about: "nodes 0 and 2, nothing between; node 2 has no CPUs",
        shape: Shape(3, 2, 1),
        // Node 1 is sockets that hold nothing. The kernel numbers nodes as the firmware's table names them, CPUs first.
        plugged: Some(2),
        nodes: &[node(0, Some((0, 1)), 768), node(2, None, 768)],
        devices: &["-numa", "node,nodeid=1,cpus=2-5"],
        checks: &[
            TOPOLOGY,
            MATRIX_LATENCY,
            MATRIX_BANDWIDTH,
            refusal("the node in the gap", "memgauge idle --node 1 --no-bundle", &["--node 1", "no such node (there: 0,2)"]),
        ],
        ..PLAIN
    },
    Guest {
        name: "pages",
        about: "2 MiB and 1 GiB pages reserved, unlike numbers on the two nodes",
        nodes: &[
            Node { pools: &[(MIB2, 8), (GIB, 0)], ..node(0, Some((0, 1)), 2048) },
            Node { pools: &[(MIB2, 24), (GIB, 1)], ..node(1, Some((2, 3)), 2048) },
        ],
        distances: &[(0, 1, 21)],
        cmdline: "hugepagesz=1G hugepages=1:1 hugepagesz=2M hugepages=0:8,1:24",
        checks: &[
            TOPOLOGY,
            of_pages(
                "matrix on 2 MiB pages",
                "memgauge matrix latency --pages 2m --time 20ms --buffer 2MiB --format json --no-bundle",
                "2m",
            ),
            of_pages(
                "a 1 GiB page",
                "memgauge idle --pages 1g --node 1 --time 20ms --buffer 2MiB --format json --no-bundle",
                "1g",
            ),
            refusal(
                "a 1 GiB page of a node that has none",
                "memgauge idle --pages 1g --node 0 --buffer 2MiB --no-bundle",
                &["--pages 1g", "on node 0, 0 are free"],
            ),
            refusal(
                "more 2 MiB pages than a node has",
                "memgauge idle --pages 2m --node 0 --buffer 32MiB --no-bundle",
                &["--pages 2m", "on node 0, 8 are free"],
            ),
        ],
        ..PLAIN
    },
    Guest {
        name: "cgroup",
        about: "2 sockets × 2 cores × 2 threads, a cgroup leaves four CPUs, one node and 300 MiB",
        shape: Shape(2, 2, 2),
        nodes: &[node(0, Some((0, 3)), 1024), node(1, Some((4, 7)), 1024)],
        distances: &[(0, 1, 21)],
        setup: "mount -t cgroup2 cgroup /sys/fs/cgroup && cd /sys/fs/cgroup \
                && echo '+cpuset +memory' > cgroup.subtree_control && mkdir box && cd box \
                && echo 1,4-6 > cpuset.cpus && echo 1 > cpuset.mems && echo 300M > memory.max && echo 1 > cgroup.procs",
        cpuset: Some((&[1, 4, 5, 6], &[1])),
        checks: &[
            TOPOLOGY,
            MATRIX_LATENCY,
            LOADED,
            refusal(
                "a CPU outside",
                "memgauge idle --cpu 0 --no-bundle",
                &["--cpu 0", "may not run on this CPU", "use one of 1,4-6"],
            ),
            refusal(
                "a node outside",
                "memgauge idle --node 0 --no-bundle",
                &["--node 0", "may not take its memory", "use node 1"],
            ),
            refusal(
                "more than the cgroup leaves",
                "memgauge idle --buffer 400MiB --no-bundle",
                &["--buffer 400MiB", "more than the cgroup leaves"],
            ),
            PAGES_MOVED,
        ],
        ..PLAIN
    },
    Guest {
        name: "cxl-device",
        about: "2 sockets × 2 cores, node 2 is the memory of a CXL device (type 3)",
        kernel: Kernel::Newest,
        machine: ",cxl=on",
        // Under a hypervisor that shows itself the kernel makes no region: it could not flush the caches.
        cpu: "Skylake-Server,-hypervisor",
        cxl: true,
        nodes: &[node(0, Some((0, 1)), 768), node(1, Some((2, 3)), 768), Node { device: Some("CXL"), ..node(2, None, 256) }],
        distances: &[(0, 1, 21)],
        devices: &[
            "-object",
            "memory-backend-ram,size=256M,id=device",
            "-device",
            "pxb-cxl,bus_nr=12,bus=pcie.0,id=bridge",
            "-device",
            "cxl-rp,port=0,bus=bridge,id=root0,chassis=0,slot=2",
            "-device",
            "cxl-type3,bus=root0,volatile-memdev=device,id=card,sn=1",
            "-M",
            "cxl-fmw.0.targets.0=bridge,cxl-fmw.0.size=1G",
        ],
        setup: include_str!("cxl.sh"),
        checks: &[TOPOLOGY, ALL_FIGURES],
        ..PLAIN
    },
    Guest {
        name: "64",
        about: "64 CPUs: 2 sockets × 32 cores; planned for, not measured",
        shape: Shape(2, 32, 1),
        // Room for what a tutorial asks for; nothing touches it.
        nodes: &[node(0, Some((0, 31)), 3072), node(1, Some((32, 63)), 3072)],
        distances: &[(0, 1, 21)],
        checks: &[TOPOLOGY, DRY_RUN, TUTORIAL],
        ..PLAIN
    },
    Guest {
        name: "arm64",
        about: "AArch64, 2 sockets × 2 cores, CPU 0 switched off",
        kernel: Kernel::Arm,
        cpu: "max",
        nodes: &[node(0, Some((0, 1)), 768), node(1, Some((2, 3)), 768)],
        distances: &[(0, 1, 21)],
        setup: "echo 0 > /sys/devices/system/cpu/cpu0/online",
        offline: &[0],
        checks: &[TOPOLOGY, MATRIX_LATENCY, MATRIX_BANDWIDTH, ARM, LOADED],
        ..PLAIN
    },
    Guest {
        name: "arm64-16k",
        about: "AArch64 with base pages of 16 KiB, a node without CPUs",
        kernel: Kernel::Arm16k,
        page_bytes: 16 << 10,
        cpu: "max",
        nodes: &[node(0, Some((0, 1)), 768), node(1, Some((2, 3)), 768), node(2, None, 768)],
        distances: &[(0, 1, 21), (0, 2, 26), (1, 2, 36)],
        checks: &[
            TOPOLOGY,
            MATRIX_LATENCY,
            MATRIX_BANDWIDTH,
            ARM,
            of_pages(
                "matrix on base pages",
                "memgauge matrix latency --pages base --time 20ms --buffer 2MiB --format json --no-bundle",
                "base",
            ),
        ],
        ..PLAIN
    },
];
