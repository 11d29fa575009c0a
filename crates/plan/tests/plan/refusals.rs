//! Each way to be refused, once, with its exact line.

use crate::support::*;
use memgauge_model::{Avail, Job, Reason, What};

/// Command, flags, the line.
type Row<'a> = (What, &'a [(&'a str, &'a str)], &'a str);

fn check(lab: &Lab, what: What, flags: &[(&str, &str)], line: &str) {
    assert_eq!(refusal(lab, what, flags), line);
}

#[test]
fn cpus() {
    let offline = two_sockets().with(|m| m.online_cpus = m.online_cpus.without(&list("3,15")));
    check(
        &offline,
        What::Idle,
        &[("--cpu", "15")],
        "--cpu 15: this CPU is offline; use one of 0-2,4-14, or set /sys/devices/system/cpu/cpu15/online to 1",
    );
    check(&two_cpus(), What::Idle, &[("--cpu", "99")], "--cpu 99: this CPU does not exist (there: 0-1); use one of 0-1");
    check(
        &offline,
        What::Idle,
        &[("--cpu", "3")],
        "--cpu 3: this CPU is offline; use one of 0-2,4-14, or set /sys/devices/system/cpu/cpu3/online to 1",
    );
    check(
        &two_sockets().allow("4-5"),
        What::Idle,
        &[("--cpu", "0")],
        "--cpu 0: this process may not run on this CPU (affinity or cpuset); use one of 4-5, or widen what taskset or the cgroup's \
         cpuset allows",
    );
    check(
        &two_cpus(),
        What::Loaded,
        &[("--load-cpus", "1,7")],
        "--load-cpus 1,7: CPU 7 does not exist (there: 0-1); use one of 0-1",
    );
    check(
        &two_cpus().allow(""),
        What::Idle,
        &[],
        "this process may use no CPU that is online; start memgauge under another affinity or cpuset",
    );
}

#[test]
fn prefetchers() {
    let rows = [
        (Reason::NotPresent, "load the driver (modprobe msr), or use --prefetch auto"),
        (Reason::NoPermission, "run as root without kernel lockdown, or use --prefetch auto"),
        (Reason::NotSupported, "use --prefetch auto"),
    ];
    for (reason, remedy) in rows {
        let lab = two_cpus().with(|m| m.platform.prefetch_control = Avail::missing(reason, "CPU 0: why"));
        let line = format!("--prefetch off: prefetchers can't be switched off: CPU 0: why; {remedy}");
        check(&lab, What::Idle, &[("--prefetch", "off")], &line);
        assert_eq!(plan(&lab, What::Idle, &[]).prefetch.left.as_deref(), Some("CPU 0: why"));
    }
}

#[test]
fn nodes() {
    check(&two_cpus(), What::Idle, &[("--node", "7")], "--node 7: no such node (there: 0); use node 0");
    check(&memoryless(), What::Idle, &[("--node", "0")], "--node 0: the node has no memory; use node 1");
    check(
        &two_sockets().with(|m| m.allowed_nodes = list("0")),
        What::Idle,
        &[("--node", "1")],
        "--node 1: this process may not take its memory (Mems_allowed 0); use node 0, or widen the cgroup's cpuset.mems",
    );
    check(
        &two_sockets().with(|m| m.limits.memory_policy = Avail::Known("bind:1".into())),
        What::Idle,
        &[("--node", "0")],
        "--node 0: the inherited memory policy (bind:1) keeps this process off it; use node 1, or start memgauge without that \
         policy",
    );
    check(
        &two_sockets().with(|m| unreadable(m, 1)),
        What::Idle,
        &[("--node", "1")],
        "--node 1: what memory the node has can't be read (/x: permission denied); use node 0, or make that file readable",
    );
    check(
        &two_cpus().with(|m| unreadable(m, 0)),
        What::Idle,
        &[],
        "what memory there is can't be read (/x: permission denied); mount /sys so that this process may read it",
    );
    check(
        &two_cpus().with(|m| m.allowed_nodes = list("5")),
        What::Idle,
        &[],
        "this process may use the memory of no node; start memgauge under another cpuset or memory policy",
    );
}

fn unreadable(machine: &mut memgauge_model::Machine, node: usize) {
    let node = &mut machine.nodes[node];
    (node.memory_bytes, node.unread) = (0, Some("/x: permission denied".to_owned()));
}

#[test]
fn streams_go_in_sequence_or_at_random_in_blocks() {
    check(
        &two_cpus(),
        What::Peak,
        &[("--order", "full-random")],
        "--order full-random: streams have no order across a whole buffer; use sequential, or window-random for blocks of 512 KiB",
    );
    let blocks = |flags: &[(&str, &str)]| {
        let plan = plan(&two_cpus(), What::Peak, flags);
        let threads = plan.points.iter().flat_map(|point| &point.threads);
        let blocks = threads.map(|thread| match thread.job {
            Job::Stream { block_lines, .. } => block_lines,
            _ => None,
        });
        blocks.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(blocks(&[("--order", "window-random")]), [Some(8192)].into());
    assert_eq!(blocks(&[]), [None].into());
}

#[test]
fn roles() {
    check(
        &two_sockets(),
        What::Loaded,
        &[("--cpu", "0"), ("--load-cpus", "0,2")],
        "--load-cpus 0,2: CPU 0 is the observer; use 2, or --share-core (the result is then rejected)",
    );
    check(
        &two_sockets(),
        What::All,
        &[("--cpu", "0"), ("--load-cpus", "8")],
        "--load-cpus 8: CPU 8 shares the core of the observer, CPU 0; name CPUs of other cores, or --share-core (the result is \
         then rejected)",
    );
    check(
        &two_cpus(),
        What::Loaded,
        &[("--load-cpus", "0-1")],
        "--load-cpus 0-1: leaves no core for the observer; leave one core out of the list",
    );
    check(
        &two_cpus(),
        What::Loaded,
        &[("--load-cpus", "none")],
        "--load-cpus none: a loaded curve needs a load; name CPUs, or leave it out",
    );
    check(
        &one_core(),
        What::Loaded,
        &[],
        "a loaded curve needs a load, and no CPU outside the core of the observer, CPU 0, is allowed; allow another core \
         (taskset, cpuset)",
    );
    check(
        &one_cpu(),
        What::Idle,
        &[("--keepalive", "on")],
        "--keepalive on: no CPU outside the core of the observer, CPU 0, is allowed; use --keepalive off, or allow another core",
    );
    check(
        &one_core(),
        What::C2c,
        &[],
        "a transfer needs two cores, and only one is allowed; allow another core (taskset, cpuset)",
    );
    check(
        &two_cpus(),
        What::MatrixBandwidth,
        &[("--load-cpus", "none")],
        "--load-cpus none: a bandwidth matrix needs threads; name CPUs, or leave it out",
    );
}

#[test]
fn buffers() {
    let two = two_cpus();
    check(
        &two,
        What::Idle,
        &[("--buffer", "0")],
        "--buffer 0: a buffer of nothing; use 4KiB or more, or leave it out for the automatic size",
    );
    check(
        &two,
        What::Idle,
        &[("--buffer", "1000")],
        "--buffer 1000: too small for a ring and a burst; use 4KiB or more, or leave it out for the automatic size",
    );
    check(&two, What::Idle, &[("--buffer", "900TiB")], "--buffer 900TiB: more than node 0 has free (24 GiB); use 21GiB or less");
    check(
        &two,
        What::Peak,
        &[("--buffer", "17179869183GiB")],
        "--buffer 17179869183GiB: more than node 0 has free (24 GiB); use 3681MiB or less",
    );
    check(
        &in_cgroup(two_cpus(), 512 * MIB),
        What::Idle,
        &[("--buffer", "1GiB")],
        "--buffer 1GiB: more than the cgroup leaves (512 MiB); use 443MiB or less",
    );
    check(
        &in_cgroup(two_cpus(), 512 * MIB),
        What::Idle,
        &[],
        "buffers of twice the last-level cache need 617.4 MiB in all, more than the cgroup leaves (512 MiB); use --buffer 443MiB \
         or less (caches then hold part of it), or free some memory or raise the limit, or use fewer threads (--load-cpus, --smt one)",
    );
    check(
        &two_cpus().with(|m| m.limits.address_space = Some(GIB)),
        What::Idle,
        &[("--buffer", "2GiB")],
        "--buffer 2GiB: more than the address-space limit (ulimit -v) allows (1 GiB); use 760MiB or less",
    );
    check(
        &two_cpus().with(|m| m.memory.available_bytes = GIB),
        What::Idle,
        &[("--buffer", "2GiB")],
        "--buffer 2GiB: more than the machine has available (1 GiB); use 750MiB or less",
    );
}

#[test]
fn pages() {
    check(
        &two_cpus().pool(0, 2 * MIB, 10),
        What::Idle,
        &[("--pages", "2m"), ("--buffer", "64MiB")],
        "--pages 2m: needs 32 free 2 MiB pages on node 0, 10 are free; reserve them: echo 32 > \
         /sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages",
    );
    // As many as the largest point needs: both threads' two arrays.
    check(
        &two_cpus().pool(0, 2 * MIB, 10),
        What::All,
        &[("--pages", "2m"), ("--buffer", "64MiB")],
        "--pages 2m: needs 134 free 2 MiB pages on node 0, 10 are free; reserve them: echo 134 > \
         /sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages",
    );
    check(
        &two_cpus().pool(0, GIB, 0),
        What::Idle,
        &[("--pages", "1g")],
        "--pages 1g: needs 3 free 1 GiB pages on node 0, 0 are free; reserve them: echo 3 > \
         /sys/devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages",
    );
    check(
        &two_cpus().pool(0, 2 * MIB, 0),
        What::Idle,
        &[("--pages", "1g")],
        "--pages 1g: this kernel has no such huge pages (has: 2 MiB); use --pages thp",
    );
    check(
        &two_cpus().with(|m| m.memory.thp = Avail::Known("never".into())),
        What::Idle,
        &[("--pages", "thp")],
        "--pages thp: transparent huge pages are switched off (never); use --pages base, or write madvise to \
         /sys/kernel/mm/transparent_hugepage/enabled",
    );
    check(
        &two_cpus().with(|m| m.memory.thp = none()),
        What::Idle,
        &[("--pages", "thp")],
        "--pages thp: this kernel shows no transparent huge pages; use --pages base",
    );
}

#[test]
fn values() {
    let two = two_cpus();
    let rows: [Row; 8] = [
        (
            What::Peak,
            &[("--isa", "avx512")],
            "--isa avx512: this CPU or its kernel has no avx512f; use auto or one of portable, sse2, avx2",
        ),
        (What::Peak, &[("--isa", "neon")], "--isa neon: needs aarch64, this is x86_64; use auto or one of portable, sse2, avx2"),
        (
            What::Idle,
            &[("--stride", "32")],
            "--stride 32: a node of the ring takes a 64-byte line of its own; use 64 or more, 128 where prefetchers are on",
        ),
        (What::Idle, &[("--stride", "68")], "--stride 68: not a multiple of 8 bytes; use a multiple of 8 such as 64 or 128"),
        (
            What::Idle,
            &[("--stride", "4096"), ("--buffer", "4096")],
            "--stride 4096: the buffer holds fewer than two such nodes; use a smaller stride or a larger --buffer",
        ),
        (
            What::Idle,
            &[("--stride", "8589934592")],
            "--stride 8589934592: the buffer holds fewer than two such nodes; use a smaller stride or a larger --buffer",
        ),
        (What::Idle, &[("--precision", "0%")], "--precision 0%: outside 0 to 50 %; use a half-width such as 1%"),
        (What::Idle, &[("--time", "19ms")], "--time 19ms: less than two rounds of one 10 ms window; use 20ms or more"),
    ];
    for (what, flags, line) in rows {
        check(&two, what, flags, line);
    }
    check(&two, What::Loaded, &[("--delays", "")], "--delays: an empty list; use delays such as 0,100,1000, or mlc, or auto");
    check(
        &two,
        What::Loaded,
        &[("--delay", "1000001")],
        "--delay 1000001: more than 1000000 core cycles between bursts; use 1000000 or less",
    );
}

/// The remedy of a buffer that is too large is taken when it is typed, and the next larger one is not.
#[test]
fn the_largest_size_that_is_named_fits() {
    for (what, size, beyond) in [(What::Idle, "21GiB", "22GiB"), (What::Peak, "3681MiB", "3682MiB")] {
        plan(&two_cpus(), what, &[("--buffer", size)]);
        refusal(&two_cpus(), what, &[("--buffer", beyond)]);
    }
}
