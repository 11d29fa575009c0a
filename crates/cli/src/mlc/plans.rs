//! What options do to plans: who, where, which loop, which pages. On machines that are only described.

use super::argv::{self, Asked};
use super::translate;
use memgauge_engine::simulated::preset;
use memgauge_model::{
    C2cKind, C2cVia, Cpu, DelayRef, Holds, Isa, Job, Machine, Manner, Measure, Mix, NodeId, Order, Pages, Plan, Prefetch, Quota,
    Refusal,
};

const LOADS: &str = "0-3 W5 seq 40m dram 1 300\n6 W5 seq 40m dram 1 300\n";
const UNLIKE: &str = "1 R rand 8m dram 0\n2 W23 seq 4m dram 0 dram 1 25\n3 W27 seq 4m dram 0 dram 1 10\n\
                      4 W21 seq 4m dram 0 dram 1 50\n41 W6 seq 4m dram 1 300\n";

fn machine(name: &str) -> Machine {
    preset(name).unwrap().machine()
}

fn asked(words: &str) -> Asked {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let files = |path: &str| {
        let text = match path {
            "loads" => LOADS,
            "unlike" => UNLIKE,
            "far" => "1 R seq 4m dram 7",
            "patterns" => return Ok("5a".repeat(64)),
            _ => "7\n9\n",
        };
        Ok(text.to_owned())
    };
    argv::read(&words, &files).unwrap_or_else(|wrong| panic!("{words:?}: {wrong:?}"))
}

fn try_plan(words: &str) -> Result<Plan, Refusal> {
    let (asked, machine) = (asked(words), machine("icelake-2s"));
    let (_, request) = asked.sections(&machine).remove(0);
    memgauge_plan::build(&request, &machine).map_err(|refusal| translate::refusal(refusal, &asked.given))
}

fn plan(words: &str) -> Plan {
    try_plan(words).unwrap_or_else(|refusal| panic!("{words}: {refusal}"))
}

/// Mixes, instruction sets, blocks and delays of all streams.
fn streams(plan: &Plan) -> Vec<(Mix, Isa, Option<u32>, DelayRef)> {
    let jobs = plan.points.iter().flat_map(|point| &point.threads).map(|thread| &thread.job);
    let streams = jobs.filter_map(|job| match job {
        Job::Stream { mix, isa, block_lines, delay, .. } => Some((*mix, *isa, *block_lines, *delay)),
        _ => None,
    });
    streams.collect()
}

fn delays(plan: &Plan) -> Vec<u32> {
    let of = |measure: &Measure| match measure {
        Measure::Loaded { delay: DelayRef::Fixed(delay), .. } => Some(*delay),
        _ => None,
    };
    plan.points.iter().filter_map(|point| of(&point.measure)).collect()
}

#[test]
fn observer_loads_node_and_buffer_are_those_that_were_named() {
    let plan = plan("--loaded_latency -c2 -k4-7 -j1 -R -b10m -t3");
    assert_eq!((plan.observer, plan.loads.to_string().as_str(), plan.target), (Some(2), "4-7", 1));
    assert!(plan.arenas.iter().all(|arena| arena.node == 1));
    assert!(streams(&plan).iter().all(|(mix, ..)| *mix == Mix::Read));
    assert_eq!(plan.request.buffer, Some(10 << 20));
    assert_eq!(plan.request.time_ns, Some(3_000_000_000));
    assert_eq!(delays(&plan), memgauge_model::MLC_DELAYS);
}

/// Node of the CPU, node of its memory, of every load.
fn places(plan: &Plan) -> std::collections::BTreeSet<(NodeId, NodeId)> {
    let machine = machine("icelake-2s");
    let home = |cpu: Cpu| machine.nodes.iter().find(|node| node.cpus.contains(cpu)).unwrap().node;
    let of = |thread: &memgauge_model::Thread| match thread.job {
        Job::Stream { arena, .. } => Some((home(thread.cpu), plan.arenas[arena].node)),
        _ => None,
    };
    plan.points.iter().flat_map(|point| &point.threads).filter_map(of).collect()
}

#[test]
fn loads_are_near_their_own_memory_unless_a_node_is_named() {
    for mode in ["--loaded_latency -d0", "--loaded_latency -d0 -W2", "--max_bandwidth", "--peak_injection_bandwidth"] {
        assert_eq!(Vec::from_iter(places(&plan(mode))), [(0, 0), (1, 1)], "{mode}");
    }
    let named = plan("--loaded_latency -d0 -j1");
    assert_eq!(Vec::from_iter(places(&named)), [(0, 1), (1, 1)]);
    let local = plan("--loaded_latency -d0");
    assert_eq!((local.target, chases(&local)[0].1), (0, 0));
}

#[test]
fn without_a_latency_thread_every_cpu_may_load_and_nobody_chases() {
    for words in ["-T -k0-15 -j0 -R -b100m -d0", "-T -mffff -j0 -R -b100m -d0 -c0 -r -D64"] {
        let plan = plan(&format!("--loaded_latency {words}"));
        assert_eq!((plan.observer, plan.loads.to_string().as_str()), (None, "0-15"), "{words}");
        let streams = plan.points[0].threads.iter().filter(|thread| matches!(thread.job, Job::Stream { .. })).count();
        assert_eq!((streams, plan.points[0].threads.len(), chases(&plan).len()), (16, 16, 0), "{words}");
    }
    let all = plan("--loaded_latency -T -d0");
    assert_eq!(all.loads, machine("icelake-2s").allowed_cpus);
}

#[test]
fn a_mask_and_a_list_are_the_same_loads() {
    assert_eq!(plan("--loaded_latency -mf0").loads, plan("--loaded_latency -k4-7").loads);
    assert!(!plan("--loaded_latency -d0").loads.contains(0));
}

#[test]
fn delays_are_one_or_those_of_a_file() {
    assert_eq!(delays(&plan("--loaded_latency -d0")), [0]);
    assert_eq!(delays(&plan("--loaded_latency -gfile")), [7, 9]);
}

/// CPU, mix, block, delay, node, bytes of each stream, and where its second one lies with the percent that goes there.
type Stream = (Cpu, Mix, Option<u32>, DelayRef, NodeId, u64, Option<(NodeId, u32)>);

fn loads(plan: &Plan) -> Vec<Stream> {
    let of = |thread: &memgauge_model::Thread| match thread.job {
        Job::Stream { arena, mix, block_lines, delay, manner, .. } => {
            let Holds::Streams { bytes, .. } = plan.arenas[arena].holds else { panic!("no streams") };
            let second = manner.second.map(|(arena, percent)| (plan.arenas[arena].node, percent));
            Some((thread.cpu, mix, block_lines, delay, plan.arenas[arena].node, bytes, second))
        }
        _ => None,
    };
    plan.points[0].threads.iter().filter_map(of).collect()
}

#[test]
fn a_file_of_loads_gives_each_cpu_what_its_line_says() {
    let all = plan("--loaded_latency -oloads");
    assert_eq!((all.observer, all.loads.to_string().as_str(), all.target), (Some(0), "1-3,6", 1));
    assert_eq!(delays(&all), [300]);
    let own = DelayRef::Fixed(300);
    let line = |cpu| (cpu, Mix::R1W1, None, own, 1, 40 << 20, None);
    assert_eq!(loads(&all), [line(1), line(2), line(3), line(6)]);
    // The latency thread takes buffer and place of its own line.
    let Job::Chase { arena, .. } = all.points[0].threads[0].job else { panic!("no chase") };
    assert!(matches!(all.arenas[arena].holds, Holds::Chase { bytes, .. } if bytes == 40 << 20) && all.arenas[arena].node == 1);

    let unlike = plan("--loaded_latency -ounlike");
    assert_eq!(delays(&unlike), memgauge_model::MLC_DELAYS);
    let first = DelayRef::Fixed(0);
    assert_eq!(
        loads(&unlike),
        [
            (1, Mix::Read, Some(memgauge_model::LOAD_BLOCK_LINES), first, 0, 8 << 20, None),
            (2, Mix::R3W1, None, first, 0, 4 << 20, Some((1, 25))),
            (3, Mix::R2W1Nt, None, first, 0, 4 << 20, Some((1, 10))),
            (4, Mix::Read, None, first, 0, 4 << 20, Some((1, 50))),
            // Local to node 1.
            (41, Mix::W1Nt, None, own, 1, 4 << 20, None),
        ]
    );
    assert!(try_plan("--loaded_latency -ofar").unwrap_err().to_string().starts_with("-o far: no such node"));
}

#[test]
fn random_loads_go_by_blocks() {
    for mode in ["--loaded_latency -d0", "--bandwidth_matrix", "--max_bandwidth"] {
        let blocks: Vec<_> = streams(&plan(&format!("{mode} -U"))).iter().map(|(.., block, _)| *block).collect();
        assert!(!blocks.is_empty() && blocks.iter().all(|block| *block == Some(memgauge_model::LOAD_BLOCK_LINES)), "{mode}");
    }
    assert!(streams(&plan("--loaded_latency -d0 -U -n512")).iter().all(|(.., block, _)| *block == Some(512)));
    assert!(try_plan("--loaded_latency -d0 -U -n500").unwrap_err().to_string().starts_with("-n 500: "));
}

#[test]
fn one_buffer_is_read_by_all() {
    for mode in ["--loaded_latency -d0 -k1-4 -j0", "--bandwidth_matrix", "--max_bandwidth", "--peak_injection_bandwidth"] {
        let plan = plan(&format!("{mode} -u -b4m"));
        for point in plan.points.iter().filter(|point| !matches!(point.measure, Measure::RfoProbe)) {
            let streams = point.threads.iter().filter(|thread| matches!(thread.job, Job::Stream { .. }));
            let arenas: std::collections::BTreeSet<_> = streams.clone().flat_map(|thread| thread.job.arenas()).collect();
            let nodes: std::collections::BTreeSet<_> = arenas.iter().map(|arena| plan.arenas[*arena].node).collect();
            assert_eq!(arenas.len(), nodes.len(), "{mode}: one in each node, of {} threads", streams.count());
        }
        assert!(streams(&plan).iter().all(|(mix, ..)| *mix == Mix::Read), "{mode}");
        assert!(plan.points.iter().any(|point| point.threads.len() > 4), "{mode}");
    }
}

#[test]
fn parts_of_lines_flushes_checks_and_threads_are_as_asked() {
    let manners = |words: &str| {
        let jobs = plan(words).points.into_iter().flat_map(|point| point.threads).map(|thread| thread.job);
        let of = jobs.filter_map(|job| if let Job::Stream { manner, .. } = job { Some(manner) } else { None });
        of.collect::<Vec<_>>()
    };
    let all = |words: &str, is: fn(&Manner) -> bool| {
        let manners = manners(words);
        !manners.is_empty() && manners.iter().all(is)
    };
    assert!(all("--loaded_latency -d0 -K0", |manner| !manner.partial));
    assert!(all("--loaded_latency -d0 -K1", |manner| manner.partial));
    assert!(all("--loaded_latency -d0 -W2 -K1", |manner| manner.partial));
    assert!(all("--bandwidth_matrix -K2 -b40m", |manner| manner.partial), "small, and only read");
    assert!(all("--bandwidth_matrix -K2 -b60m", |manner| !manner.partial));
    assert!(all("--bandwidth_matrix -K2 -b40m -W6", |manner| !manner.partial));
    assert!(all("--loaded_latency -d0 -W5 -Q -Z", |manner| manner.flush));
    assert!(all("--loaded_latency -d0 -I", |manner| manner.checked));
    assert!(try_plan("--loaded_latency -d0 -Q").unwrap_err().to_string().starts_with("-Q: nothing is stored"));
    assert!(try_plan("--loaded_latency -d0 -W2 -I").unwrap_err().to_string().starts_with("-I: only buffers"));
    let filled = plan("--bandwidth_matrix -Mpatterns").request;
    assert_eq!(memgauge_model::fill_bytes(&filled.fill), [0x5a; 64]);
    assert!(plan("--loaded_latency -d0 -B").tells_threads() && !plan("--loaded_latency -d0").tells_threads());
}

#[test]
fn traffic_codes_choose_the_loop() {
    for (code, mix) in [("2", Mix::R2W1), ("5", Mix::R1W1), ("6", Mix::W1Nt), ("10", Mix::R2W1NtTwo), ("12", Mix::R4W1)] {
        assert_eq!(plan(&format!("--bandwidth_matrix -W{code}")).request.mixes, [mix]);
        assert!(streams(&plan(&format!("--loaded_latency -d0 -W{code}"))).iter().any(|(got, ..)| *got == mix), "{code}");
    }
    let peak = streams(&plan("--peak_injection_bandwidth"));
    for mix in [Mix::Read, Mix::R3W1, Mix::R2W1, Mix::R1W1, Mix::R2W1NtTwo] {
        assert!(peak.iter().any(|(got, ..)| *got == mix), "{mix:?}");
    }
}

#[test]
fn vectors_pages_blocks_and_threads_are_as_asked() {
    assert!(streams(&plan("--max_bandwidth -Y")).iter().all(|(_, isa, ..)| *isa == Isa::Avx2));
    assert!(streams(&plan("--max_bandwidth -Z")).iter().all(|(_, isa, ..)| *isa == Isa::Avx512));
    let widest = |words: &str| plan(words).points.iter().map(|point| point.threads.len()).max();
    let (one, all) = (widest("--peak_injection_bandwidth -X"), widest("--peak_injection_bandwidth"));
    assert_eq!(one.map(|one| one * 2), all);
    for (letter, pages) in [('L', Pages::Huge2M), ('h', Pages::Huge1G)] {
        // The described machine may have none reserved: it is then refused by the letter.
        match try_plan(&format!("--idle_latency -{letter} -b64m")) {
            Ok(plan) => assert!(plan.arenas.iter().all(|arena| arena.pages == pages)),
            Err(refusal) => assert_eq!(refusal.flag, format!("-{letter}")),
        }
    }
}

#[test]
fn the_chase_goes_in_sequence_where_prefetchers_can_be_switched_or_shall_be_left() {
    let order = |words: &str| (plan(words).request.order, plan(words).request.prefetch);
    let mut machine = machine("icelake-2s");
    machine.platform.prefetch_control = memgauge_model::Avail::Known(Vec::new());
    let switchable = asked("--idle_latency").sections(&machine).remove(0).1;
    assert_eq!((switchable.order, switchable.prefetch), (Some(Order::Sequential), Prefetch::Off));
    assert_eq!(order("--idle_latency -e"), (Some(Order::Sequential), Prefetch::Leave));
    assert_eq!(order("--idle_latency -r -e"), (Some(Order::WindowRandom), Prefetch::Leave));
    assert_eq!(order("--idle_latency"), (Some(Order::WindowRandom), Prefetch::Auto));
    assert_eq!(plan("--idle_latency -l256").request.stride, Some(256));
}

#[test]
fn transfers_are_between_those_that_were_named() {
    let plan = plan("--c2c_latency -w4 -c2 -S6 -C64 -H");
    assert!(!plan.points.is_empty());
    for point in &plan.points {
        assert_eq!(point.threads.iter().map(|thread| thread.cpu).collect::<Vec<_>>(), [4, 2, 6]);
        assert!(matches!(point.measure, Measure::C2c { kind: C2cKind::Hit, via: C2cVia::Third, .. }));
    }
    assert!(plan.arenas.iter().all(|arena| matches!(arena.holds, Holds::C2c { bytes: 65536, .. })));
}

#[test]
fn lines_are_pushed_and_the_reader_reads_more() {
    let of = |words: &str| {
        let plan = plan(words);
        let via = |point: &memgauge_model::Point| match point.measure {
            Measure::C2c { via, .. } => Some(via),
            _ => None,
        };
        let behind = plan.arenas.iter().map(|arena| match arena.holds {
            Holds::C2c { push, .. } => push >> 10,
            _ => 0,
        });
        (plan.points.iter().find_map(via), behind.max())
    };
    assert_eq!(of("--c2c_latency -w4 -c2"), (Some(C2cVia::L2), Some(0)));
    assert_eq!(of("--c2c_latency -w4 -c2 -E0 -G0"), (Some(C2cVia::L2), Some(0)));
    assert_eq!(of("--c2c_latency -w4 -c2 -E3000"), (Some(C2cVia::L3), Some(3000)));
    assert_eq!(of("--c2c_latency -w4 -c2 -G100"), (Some(C2cVia::L2), Some(100)));
    assert_eq!(of("--c2c_latency -w4 -c2 -S6 -E200 -G100"), (Some(C2cVia::Third), Some(300)));
}

#[test]
fn a_scan_reads_with_as_many_threads_as_asked() {
    let near = plan("--memory_bandwidth_scan -j1 -t2");
    let far = plan("--memory_bandwidth_scan -j1 -t2 -n0");
    let readers = |plan: &Plan| {
        assert!(plan.arenas.iter().all(|arena| arena.node == 1));
        let of = |point: &memgauge_model::Point| point.threads.iter().map(|thread| thread.cpu).collect::<Vec<_>>();
        let mut all: Vec<_> = plan.points.iter().map(of).collect();
        all.dedup();
        all.concat()
    };
    let node = |node| machine("icelake-2s").node(node).unwrap().cpus.iter().take(2).collect::<Vec<_>>();
    assert_eq!((readers(&near), readers(&far)), (node(1), node(0)));
    assert!(try_plan("--memory_bandwidth_scan -t9999").unwrap_err().to_string().starts_with("-t 9999: "));
    assert!(try_plan("--memory_bandwidth_scan -n7").unwrap_err().to_string().starts_with("-n 7: "));
}

/// CPU, node, toucher of every chase.
fn chases(plan: &Plan) -> Vec<(Cpu, NodeId, Cpu)> {
    let of = |thread: &memgauge_model::Thread| match thread.job {
        Job::Chase { arena, .. } => Some((thread.cpu, plan.arenas[arena].node, plan.arenas[arena].toucher)),
        _ => None,
    };
    plan.points.iter().flat_map(|point| &point.threads).filter_map(of).collect()
}

#[test]
fn a_row_for_each_cpu_or_one_of_each_core() {
    let machine = machine("icelake-2s");
    let rows = |words: &str| chases(&plan(words)).iter().map(|chase| chase.0).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(rows("--latency_matrix -a").len(), machine.allowed_cpus.len());
    assert_eq!(rows("--latency_matrix -a -X").len(), machine.cores.len());
    assert_eq!(rows("--idle_latency -a"), rows("--latency_matrix -a"));
    assert_eq!(rows("--latency_matrix").len(), 2);
}

#[test]
fn blocks_have_so_many_lines_where_there_are_blocks() {
    let blocks = |words: &str| {
        let of = |arena: &memgauge_model::Arena| match &arena.holds {
            Holds::Chase { rings, .. } => rings.iter().map(|ring| ring.block).collect(),
            _ => Vec::new(),
        };
        plan(words).arenas.iter().flat_map(of).collect::<Vec<_>>()
    };
    for mode in ["--idle_latency", "--loaded_latency -d0", "--latency_matrix"] {
        let blocks = blocks(&format!("{mode} -D64"));
        assert!(!blocks.is_empty() && blocks.iter().all(|block| *block == Some(64)), "{mode}: {blocks:?}");
    }
    assert!(blocks("--idle_latency -D64 -e").iter().all(|block| *block != Some(64)), "in sequence");
    assert!(try_plan("--idle_latency -D1").unwrap_err().to_string().starts_with("-D 1: "));
}

#[test]
fn single_accesses_are_counted_where_a_bin_is_named() {
    let plan = plan("--idle_latency -f3");
    assert_eq!(plan.request.histogram, Some(3));
    assert!(plan.points.iter().any(|point| matches!(point.measure, Measure::Access { .. })));
    let wide = "-f 13: bins wider than 2^12 ticks tell nothing apart; use 0 to 12, 3 is usual";
    assert_eq!(try_plan("--idle_latency -f13").unwrap_err().to_string(), wide);
}

#[test]
fn memory_of_files_has_the_pages_that_it_has() {
    let plan = plan("--idle_latency -J/mnt/pmem -c0");
    assert_eq!(plan.request.folder.as_deref(), Some("/mnt/pmem"));
    assert!(plan.arenas.iter().all(|arena| arena.pages == memgauge_model::Pages::Base));
    assert!(try_plan("--idle_latency -J/mnt/pmem -L").unwrap_err().to_string().starts_with("-L"));
}

#[test]
fn who_touches_first_decides_where_the_lines_are() {
    let far = machine("icelake-2s").node(1).unwrap().cpus.first().unwrap();
    for mode in ["--idle_latency", "--loaded_latency -d0"] {
        let chases = chases(&plan(&format!("{mode} -c0 -i{far}")));
        assert!(!chases.is_empty() && chases.iter().all(|chase| *chase == (0, 1, far)), "{mode}: {chases:?}");
    }
    let plan = plan(&format!("--c2c_latency -w1 -c2 -i{far}"));
    assert!(plan.arenas.iter().all(|arena| (arena.node, arena.toucher, arena.first_touch) == (1, far, true)));
}

#[test]
fn counts_stand_in_place_of_times() {
    let quotas = |words: &str| {
        let plan = plan(words);
        let wanted = |point: &&memgauge_model::Point| !matches!(point.measure, Measure::Access { .. } | Measure::RfoProbe);
        let of = |point: &memgauge_model::Point| (point.quota, plan.rounds.looks.last().copied());
        let mut all: Vec<_> = plan.points.iter().filter(wanted).map(of).collect();
        all.dedup();
        all
    };
    for mode in ["--idle_latency", "--latency_matrix", "--loaded_latency", "--c2c_latency"] {
        let [(Some(Quota::Hops(hops)), Some(rounds))] = quotas(&format!("{mode} -x20"))[..] else { panic!("{mode}") };
        assert!((20_000_000..20_000_100).contains(&(hops * u64::from(rounds))), "{mode}: {hops} in {rounds} rounds");
    }
    // One pass in each round: every node of the ring, of 128 bytes.
    assert!(matches!(quotas("--idle_latency -x0 -b64m")[..], [(Some(Quota::Hops(524_288)), _)]));
    let [(Some(Quota::Bytes(bytes)), Some(rounds))] = quotas("--memory_bandwidth_scan -q12")[..] else { panic!() };
    assert_eq!(bytes * u64::from(rounds), 12 << 30);
    assert!(quotas("--idle_latency -t2").iter().all(|(quota, _)| quota.is_none()));
    assert!(try_plan("--memory_bandwidth_scan -q0").unwrap_err().to_string().starts_with("-q 0: "));
    assert!(try_plan("--idle_latency -x4000000").unwrap_err().to_string().starts_with("-x 4000000: "));
}

#[test]
fn named_cpus_are_kept_busy() {
    let plan = plan("--idle_latency -c0 -p1,3-4");
    for point in &plan.points {
        let busy = point.threads.iter().filter(|thread| thread.job == Job::KeepAlive);
        assert_eq!(busy.map(|thread| thread.cpu).collect::<Vec<_>>(), [1, 3, 4]);
    }
    assert!(
        try_plan("--idle_latency -c0 -p0").unwrap_err().to_string().starts_with("-p 0: CPU 0 is on the core of the observer")
    );
}

#[test]
fn a_whole_run_is_five_sections_and_each_has_a_plan() {
    let machine = machine("icelake-2s");
    let sections = asked("-e -r -X").sections(&machine);
    assert_eq!(sections.len(), 5);
    for (mode, request) in sections {
        assert!(memgauge_plan::build(&request, &machine).is_ok(), "{mode:?}");
    }
}

#[test]
fn what_the_machine_lacks_is_refused_in_letters() {
    let refused = |words: &str| try_plan(words).unwrap_err().to_string();
    assert!(refused("--idle_latency -j7").starts_with("-j 7: no such node"), "{}", refused("--idle_latency -j7"));
    assert!(refused("--idle_latency -c9999").starts_with("-c 9999: "));
    assert!(refused("--loaded_latency -k9999").starts_with("-k 9999: "));
    assert!(refused("--loaded_latency -c0 -k0").starts_with("-k 0: CPU 0 is the observer"));
    assert!(refused("--loaded_latency -b9999g").starts_with("-b 9999g: "));
}

#[test]
fn memory_is_what_each_kind_of_traffic_needs() {
    // Four loads of 8 MiB, and the latency thread's buffer of as much.
    for (traffic, buffers) in
        [("-R", 1), ("-W2", 2), ("-W3", 2), ("-W7", 2), ("-W8", 2), ("-W9", 2), ("-W12", 2), ("-W10", 3), ("-W11", 3)]
    {
        let plan = plan(&format!("--loaded_latency -d0 -k1-4 -b8m -j0 {traffic}"));
        let of = |arena: &memgauge_model::Arena| match arena.holds {
            Holds::Streams { streams, bytes } => u64::from(streams) * bytes,
            Holds::Chase { bytes, .. } => bytes,
            _ => 0,
        };
        assert_eq!(plan.arenas.iter().map(of).sum::<u64>() >> 20, 4 * 8 * buffers + 8, "{traffic}");
        let each = if buffers > 1 { format!("{buffers} × ") } else { String::new() };
        let told = super::sections::budget(&plan);
        let expected = format!("memory: 4 load buffers of {each}8 MiB, latency buffer of 8 MiB, ");
        assert!(told.starts_with(&expected), "{told}");
    }
}
