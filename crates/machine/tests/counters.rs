//! Counters of machines that are not ours: trees of sysfs as their kernels show them.
mod support;

use memgauge_model::{Avail, Counted, CounterEvent, CounterScope, Counters, Reason};
use support::Tree;

const DEVICES: &str = "sys/bus/event_source/devices";

/// A PMU with formats and events as files below it. On a live machine the device is a link, so it is one here.
fn pmu(tree: &Tree, name: &str, kind: u32, files: &[(&str, &str)]) {
    let real = format!("sys/devices/{name}");
    tree.file(&format!("{real}/type"), format!("{kind}\n"));
    for (file, text) in files {
        tree.file(&format!("{real}/{file}"), format!("{text}\n"));
    }
    tree.link(&format!("{DEVICES}/{name}"), &format!("../../../devices/{name}"));
}

fn intel(tree: &Tree, controllers: u32) {
    for at in 0..controllers {
        pmu(
            tree,
            &format!("uncore_imc_{at}"),
            20 + at,
            &[
                ("cpumask", "0,2"),
                ("format/event", "config:0-7"),
                ("format/umask", "config:8-15"),
                ("events/cas_count_read", "event=0x05,umask=0xcf"),
                ("events/cas_count_read.scale", "6.103515625e-5"),
                ("events/cas_count_read.unit", "MiB"),
                ("events/cas_count_write", "event=0x05,umask=0xf0"),
                ("events/cas_count_write.scale", "6.103515625e-5"),
                ("events/cas_count_write.unit", "MiB"),
                ("events/clockticks", "event=0x01"),
            ],
        );
    }
}

fn free_running(tree: &Tree, read: &str, write: &str) {
    let (read, write) = (format!("events/{read}"), format!("events/{write}"));
    let (scale, unit) = (format!("{read}.scale"), format!("{read}.unit"));
    let files = [
        ("cpumask", "0"),
        ("format/event", "config:0-7"),
        ("format/umask", "config:8-15"),
        (&read, "event=0xff,umask=0x20"),
        (&scale, "0.015625"),
        (&unit, "KiB"),
        (&write, "event=0xff,umask=0x30"),
    ];
    pmu(tree, "uncore_imc_free_running_0", 40, &files);
}

fn counters(tree: &Tree) -> Counters {
    tree.read().counters
}

fn known(events: &Avail<Vec<CounterEvent>>) -> &[CounterEvent] {
    events.known().map_or(&[], Vec::as_slice)
}

/// PMU, event, what it counts, config, bytes.
fn seen(events: &[CounterEvent]) -> Vec<(&str, &str, Counted, u64, f64)> {
    events.iter().map(|e| (e.pmu.as_str(), e.event.as_str(), e.counts, e.config[0], e.bytes)).collect()
}

fn system_cpus(event: &CounterEvent) -> String {
    match &event.scope {
        CounterScope::System { cpus } => cpus.to_string(),
        CounterScope::Thread { .. } => "a thread's".to_owned(),
    }
}

#[test]
fn intel_memory_controllers_count_column_accesses_of_each_package() {
    let tree = support::two_sockets();
    intel(&tree, 12);
    // The same traffic once more: it must not be counted twice.
    free_running(&tree, "read", "write");
    tree.file("proc/sys/kernel/perf_event_paranoid", "-1\n");
    let counters = counters(&tree);
    let dram = known(&counters.dram);
    assert_eq!(dram.len(), 24);
    assert_eq!(
        seen(&dram[..2]),
        [
            ("uncore_imc_0", "cas_count_read", Counted::DramRead, 0xcf05, 64.0),
            ("uncore_imc_0", "cas_count_write", Counted::DramWrite, 0xf005, 64.0),
        ]
    );
    assert!(dram.iter().all(|event| system_cpus(event) == "0,2"), "one CPU a package: {dram:?}");
    assert_eq!((dram[23].pmu.as_str(), dram[23].kind), ("uncore_imc_11", 31), "in the order of their numbers");
    assert_eq!(counters.paranoid, Avail::Known(-1));
}

#[test]
fn free_running_counters_do_where_there_are_no_others() {
    for (read, write) in [("read", "write"), ("data_read", "data_write")] {
        let tree = support::with_cxl();
        free_running(&tree, read, write);
        let counters = counters(&tree);
        let (device, reads, writes) = ("uncore_imc_free_running_0", Counted::DramRead, Counted::DramWrite);
        let wanted = [(device, read, reads, 0x20ff, 16.0), (device, write, writes, 0x30ff, 64.0)];
        assert_eq!(seen(known(&counters.dram)), wanted, "the stated scale, else a line");
    }
}

#[test]
fn subchannels_of_one_controller_are_all_counted() {
    let tree = support::with_cxl();
    let read = |at| (format!("events/cas_count_read_sch{at}"), format!("event=0x0{},umask=0xcf", 5 + at));
    let (a, b) = (read(0), read(1));
    let files = [
        ("cpumask", "0"),
        ("format/event", "config:0-7"),
        ("format/umask", "config:8-15"),
        (a.0.as_str(), a.1.as_str()),
        (b.0.as_str(), b.1.as_str()),
        ("events/cas_count_readers", "event=0x09"),
    ];
    pmu(&tree, "uncore_imc_0", 20, &files);
    let counters = counters(&tree);
    let names: Vec<&str> = known(&counters.dram).iter().map(|event| event.event.as_str()).collect();
    assert_eq!(names, ["cas_count_read_sch0", "cas_count_read_sch1"]);
}

#[test]
fn amd_controllers_list_no_events_and_are_encoded_by_their_formats() {
    let tree = support::with_cxl();
    for at in 0..2 {
        let files = [("cpumask", "0"), ("format/event", "config:0-7"), ("format/rdwrmask", "config:8-9")];
        pmu(&tree, &format!("amd_umc_{at}"), 16 + at, &files);
    }
    let counters = counters(&tree);
    assert_eq!(
        seen(known(&counters.dram))[2..],
        [
            ("amd_umc_1", "umc_cas_cmd.rd", Counted::DramRead, 0x10a, 64.0),
            ("amd_umc_1", "umc_cas_cmd.wr", Counted::DramWrite, 0x20a, 64.0),
        ]
    );
}

#[test]
fn the_data_fabric_is_asked_only_where_its_codes_are_known() {
    let tree = |family: u32, model: u32| {
        let tree = support::with_cxl();
        let files = [("cpumask", "0"), ("format/event", "config:0-7,32-35,59-60"), ("format/umask", "config:8-15")];
        pmu(&tree, "amd_df", 17, &files);
        let cpu = format!("processor : 0\nvendor_id : AuthenticAMD\ncpu family : {family}\nmodel : {model}\n");
        tree.file("proc/cpuinfo", cpu);
        tree
    };
    // Rome and Milan; then Genoa and Turin, whose fabric has other codes.
    for (family, model) in [(0x17, 0x31), (0x19, 0x01)] {
        let counters = counters(&tree(family, model));
        let dram = known(&counters.dram);
        assert_eq!((dram.len(), dram[7].config[0], dram[7].counts), (8, 0x1_0000_38c7, Counted::DramTotal));
    }
    for (family, model) in [(0x19, 0x11), (0x1a, 0x02)] {
        assert!(counters(&tree(family, model)).dram.known().is_none(), "{family:#x}");
    }
}

#[test]
fn a_mesh_of_arm_counts_what_home_nodes_ask_of_memory() {
    let tree = support::with_cxl();
    let files = [
        ("cpumask", "0"),
        ("format/type", "config:0-15"),
        ("format/eventid", "config:16-26"),
        ("events/hnf_mc_reqs", "type=0x5,eventid=0xd"),
        ("events/hnf_mc_retries", "type=0x5,eventid=0xc"),
    ];
    pmu(&tree, "arm_cmn_0", 30, &files);
    pmu(&tree, "armv8_pmuv3_0", 10, &[("cpus", "0-1")]);
    let counters = counters(&tree);
    assert_eq!(seen(known(&counters.dram)), [("arm_cmn_0", "hnf_mc_reqs", Counted::DramTotal, 0xd_0005, 64.0)]);
    let core = known(&counters.core);
    assert_eq!(core.iter().map(|event| event.config[0]).collect::<Vec<_>>(), [0x1_0003, 0x1_0002, 3]);
    assert!(core.iter().all(|event| event.scope == CounterScope::Thread { cpus: None }), "{core:?}");
}

#[test]
fn each_kind_of_core_has_its_own_events() {
    let tree = support::hybrid();
    pmu(&tree, "cpu_core", 4, &[("cpus", "0-3")]);
    pmu(&tree, "cpu_atom", 10, &[("cpus", "4-7")]);
    let counters = counters(&tree);
    let core = known(&counters.core);
    let of = |pmu: &str| core.iter().find(|event| event.pmu == pmu && event.counts == Counted::DtlbMisses);
    let (big, little) = (of("cpu_core").unwrap(), of("cpu_atom").unwrap());
    assert_eq!((big.config[0], little.config[0]), (0x4_0001_0003, 0xa_0001_0003));
    assert_eq!(little.scope, CounterScope::Thread { cpus: "4-7".parse().ok() });
}

#[test]
fn what_is_missing_is_named_with_what_was_seen() {
    let tree = support::with_cxl();
    let why = |events: &Avail<Vec<CounterEvent>>| match events {
        Avail::Unavailable { unavailable: Reason::NotPresent, detail } => detail.clone(),
        other => panic!("{other:?}"),
    };
    let nothing = counters(&tree);
    assert!(why(&nothing.dram).contains("empty or not there"), "{nothing:?}");
    assert!(nothing.paranoid.known().is_none());
    for name in ["software", "msr", "breakpoint"] {
        pmu(&tree, name, 1, &[]);
    }
    let guest = counters(&tree);
    assert!(why(&guest.dram).contains("among msr, software, breakpoint"), "{guest:?}");
    assert!(why(&guest.core).contains("no counters of CPUs among msr"), "{guest:?}");
}

#[test]
fn a_hostile_tree_gives_fewer_counters_and_nothing_else() {
    let tree = support::two_sockets();
    intel(&tree, 5);
    let of = |at: u32, file: &str| format!("sys/devices/uncore_imc_{at}/{file}");
    tree.file(&of(0, "type"), "4294967296").file(&of(1, "cpumask"), "99").remove(&of(2, "cpumask"));
    tree.file(&of(3, "format/umask"), "config:8-15,9-70").file(&of(4, "events/cas_count_read"), "event=0x05,../../x=1");
    tree.file(&of(4, "events/cas_count_write.scale"), "inf").file(&of(4, "events/cas_count_write.unit"), [0xff, 0xfe]);
    tree.link(&format!("{DEVICES}/uncore_imc_9"), "uncore_imc_9");
    let machine = tree.read();
    let dram = known(&machine.counters.dram);
    assert_eq!(seen(dram), [("uncore_imc_4", "cas_count_write", Counted::DramWrite, 0xf005, 64.0)]);
    assert!(machine.notes.iter().any(|note| note.contains("5 of 6 counters uncore_imc")), "{:?}", machine.notes);
}

#[test]
fn no_file_of_a_controller_is_missed_badly() {
    let files = |tree: &Tree| tree.files().into_iter().filter(|file| file.contains("uncore_imc")).collect::<Vec<_>>();
    let whole = support::with_cxl();
    intel(&whole, 2);
    for file in files(&whole) {
        let tree = support::with_cxl();
        intel(&tree, 2);
        tree.folder(&file);
        let count = known(&counters(&tree).dram).len();
        assert!((2..=4).contains(&count), "{file}: {count}");
    }
}
