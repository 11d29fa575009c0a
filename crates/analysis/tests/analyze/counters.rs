//! Recorded readings of counters through the whole analysis.

use crate::support::{Lab, bandwidths, latencies, metric};
use memgauge_model::{
    Avail, BlockCounters, Count, Counted, CounterEvent, CounterRefusal, CounterScope, CpuList, Missing, Mix, Order, Pages,
    PointId, Reason, Report, ThreadCounts,
};

/// A window's length in the lab, ns; blocks here have five.
const BLOCK_NS: u64 = 50_000_000;

/// Two controllers on a package each, reads and writes; misses of both kinds.
fn lab() -> Lab {
    let mut lab = Lab::new();
    for (pmu, cpu) in [("uncore_imc_0", 0), ("uncore_imc_1", 1)] {
        for (event, counts) in [("cas_count_read", Counted::DramRead), ("cas_count_write", Counted::DramWrite)] {
            push(&mut lab, pmu, event, counts, CounterScope::System { cpus: CpuList::from(vec![cpu]) });
        }
    }
    for (event, counts) in [("dTLB-load-misses", Counted::DtlbMisses), ("LLC-load-misses", Counted::LlcMisses)] {
        push(&mut lab, "cpu", event, counts, CounterScope::Thread { cpus: None });
    }
    lab.record.run.counters.used = (0..6).collect();
    let events = lab.record.plan.counters.clone();
    let (core, dram) = events.into_iter().partition(|event| event.pmu == "cpu");
    lab.record.machine.counters.core = Avail::Known(core);
    lab.record.machine.counters.dram = Avail::Known(dram);
    lab
}

fn push(lab: &mut Lab, pmu: &str, event: &str, counts: Counted, scope: CounterScope) {
    let (pmu, event) = (pmu.to_owned(), event.to_owned());
    let bytes = if matches!(scope, CounterScope::System { .. }) { 64.0 } else { 0.0 };
    lab.record.plan.counters.push(CounterEvent { pmu, event, counts, kind: 20, config: [0; 3], scope, bytes });
}

fn count(event: usize, value: u64) -> Count {
    Count { event, cpu: 0, value, enabled_ns: BLOCK_NS, running_ns: BLOCK_NS }
}

/// Lines that both controllers together read and wrote in each block; each thread's accesses and misses of both kinds.
fn read(lab: &mut Lab, point: PointId, reads: u64, writes: u64, threads: &[(u64, u64, u64)]) {
    for block in &mut lab.record.run.points[point].rounds {
        let system = [(0, reads / 4), (1, writes / 2), (2, reads - reads / 4), (3, writes - writes / 2)];
        let thread = |(accesses, dtlb, llc): &(u64, u64, u64)| ThreadCounts {
            cpu: 0,
            accesses: *accesses,
            counts: vec![count(4, *dtlb), count(5, *llc)],
        };
        block.counters = Some(BlockCounters {
            system_ns: BLOCK_NS as f64,
            system: system.iter().map(|(event, value)| count(*event, *value)).collect(),
            threads: threads.iter().map(thread).collect(),
        });
    }
}

/// Six rounds of a copy at 16 GB/s of application bytes by two threads.
fn copy(lab: &mut Lab) -> PointId {
    let copy = lab.peak(&[0, 1], Mix::Copy);
    lab.measure(copy, 6, |_| bandwidths(&[16e9; 5]));
    copy
}

fn gap<'r>(report: &'r Report, name: &str) -> &'r Missing {
    match report.unavailable.iter().find(|missing| missing.name == name) {
        Some(gap) => gap,
        None => panic!("no gap {name} among {:?}", report.unavailable),
    }
}

#[test]
fn counted_bytes_stand_beside_the_estimated_ones() {
    let mut lab = lab();
    let copy = copy(&mut lab);
    // 24 GB/s in 50 ms: two lines read for each written, as reads for ownership make it.
    read(&mut lab, copy, 12_500_000, 6_250_000, &[(6_000_000, 600, 3_000_000), (6_000_000, 0, 1_500_000)]);
    let report = lab.report();
    let of = [("of", "peak_bandwidth"), ("mix", "copy"), ("threads", "2")];
    let reads = metric(&report, "counter_dram_read", &of);
    assert_eq!((reads.value, reads.unit.as_str(), reads.samples), (16e9, "B/s", 6));
    assert_eq!(reads.remarks, ["by uncore_imc cas_count_read"]);
    assert_eq!(metric(&report, "counter_dram_write", &of).value, 8e9);
    assert_eq!(metric(&report, "peak_bandwidth_dram", &[("mix", "copy")]).value, 24e9);
    assert_eq!(metric(&report, "counter_dram_ratio", &of).value, 1.0);
    // Misses of both threads over the lines of both.
    assert_eq!(metric(&report, "counter_dtlb_misses", &of).value, 600.0 / 12e6);
    assert_eq!(metric(&report, "counter_llc_misses", &of).value, 4.5e6 / 12e6);
    assert!(report.unavailable.iter().all(|missing| !missing.name.starts_with("counter_")), "{:?}", report.unavailable);
}

#[test]
fn a_wrong_estimate_shows_and_changes_no_other_figure() {
    let mut lab = lab();
    let copy = copy(&mut lab);
    let before = lab.report();
    // No line was read for ownership: one read for each written.
    read(&mut lab, copy, 6_250_000, 6_250_000, &[(1, 0, 0), (1, 0, 0)]);
    let after = lab.report();
    let ratio = metric(&after, "counter_dram_ratio", &[]);
    assert!((ratio.value - 16.0 / 24.0).abs() < 1e-12, "{ratio:?}");
    let others = |report: &Report| -> Vec<_> {
        report.metrics.iter().filter(|metric| !metric.name.starts_with("counter_")).cloned().collect()
    };
    assert_eq!(others(&before), others(&after));
    assert_eq!(before.status, after.status);
}

#[test]
fn a_chase_has_its_own_misses_and_no_misses_are_a_figure_too() {
    let mut lab = lab();
    let idle = lab.idle(Pages::Thp, Order::WindowRandom);
    lab.measure(idle, 6, |_| latencies(&[100.0; 5]));
    read(&mut lab, idle, 500_000, 0, &[(500_000, 0, 500_000)]);
    let report = lab.report();
    let of = [("of", "idle_latency"), ("order", "window-random")];
    let misses = metric(&report, "counter_dtlb_misses", &of);
    assert_eq!((misses.value, misses.ci95, misses.unit.as_str()), (0.0, Some([0.0, 0.0]), "1/access"));
    assert_eq!(metric(&report, "counter_llc_misses", &of).value, 1.0);
    assert_eq!(metric(&report, "counter_dram_read", &of).value, 0.64e9);
    assert!(report.find("counter_dram_ratio", &[]).is_none(), "nothing is estimated of a latency");
}

#[test]
fn under_load_the_observers_misses_and_the_loads_are_apart() {
    let mut lab = lab();
    let points = lab.curve(&[0]);
    lab.measure(points[0], 6, |_| {
        let mut windows = latencies(&[150.0; 5]);
        windows.iter_mut().for_each(|window| window.load_bytes_per_s = 10e9);
        windows
    });
    read(&mut lab, points[0], 7_812_500, 0, &[(300_000, 30_000, 300_000), (7_500_000, 0, 750_000)]);
    let report = lab.report();
    assert_eq!(metric(&report, "counter_dtlb_misses", &[("of", "loaded_latency")]).value, 0.1);
    assert_eq!(metric(&report, "counter_llc_misses", &[("of", "loaded_bandwidth")]).value, 0.1);
    assert_eq!(metric(&report, "counter_dram_read", &[]).labels["of"], "loaded_bandwidth");
    assert_eq!(report.metrics.iter().filter(|metric| metric.name == "counter_dram_read").count(), 1);
}

#[test]
fn shared_counters_are_scaled_and_said_to_be() {
    let mut lab = lab();
    let copy = copy(&mut lab);
    read(&mut lab, copy, 3_125_000, 6_250_000, &[(1, 0, 0), (1, 0, 0)]);
    for block in &mut lab.record.run.points[copy].rounds {
        let counters = block.counters.as_mut().unwrap();
        for count in counters.system.iter_mut().filter(|count| count.event % 2 == 0) {
            count.running_ns = BLOCK_NS / 4;
        }
    }
    let report = lab.report();
    let reads = metric(&report, "counter_dram_read", &[]);
    assert_eq!(reads.value, 16e9);
    assert!(reads.remarks[1].contains("each counted 25 % of the time or more"), "{:?}", reads.remarks);
    assert_eq!(metric(&report, "counter_dram_write", &[]).remarks.len(), 1);
}

#[test]
fn a_sum_that_lacks_a_controller_is_none() {
    let mut lab = lab();
    let copy = copy(&mut lab);
    read(&mut lab, copy, 12_500_000, 6_250_000, &[(1, 0, 0), (1, 0, 0)]);
    for block in &mut lab.record.run.points[copy].rounds {
        block.counters.as_mut().unwrap().system.retain(|count| count.event != 2);
    }
    let report = lab.report();
    assert!(report.find("counter_dram_read", &[]).is_none() && report.find("counter_dram_ratio", &[]).is_none());
    assert_eq!(gap(&report, "counter_dram_read").reason, Reason::OutOfTime);
    assert_eq!(metric(&report, "counter_dram_write", &[]).value, 8e9);
}

#[test]
fn counters_that_see_reads_and_writes_together_give_a_total() {
    let mut lab = lab();
    let copy = copy(&mut lab);
    let total = lab.record.plan.counters.iter_mut().filter(|event| event.bytes > 0.0);
    total.for_each(|event| event.counts = Counted::DramTotal);
    read(&mut lab, copy, 12_500_000, 6_250_000, &[(1, 0, 0), (1, 0, 0)]);
    let report = lab.report();
    assert_eq!(metric(&report, "counter_dram_total", &[]).value, 24e9);
    assert_eq!(metric(&report, "counter_dram_ratio", &[]).value, 1.0);
    let gap = gap(&report, "counter_dram_write");
    assert!(gap.reason == Reason::NotSupported && gap.detail.contains("counter_dram_total"), "{gap:?}");
}

#[test]
fn what_may_not_be_counted_names_the_kernels_setting() {
    let mut lab = lab();
    copy(&mut lab);
    lab.record.run.counters.used.clear();
    lab.record.machine.counters.paranoid = Avail::Known(3);
    let detail = || "not allowed to count: Permission denied".to_owned();
    for event in [0, 1, 4, 5] {
        let refusal = CounterRefusal { event, reason: Reason::NoPermission, detail: detail() };
        lab.record.run.counters.refused.push(refusal);
    }
    let report = lab.report();
    for (name, level) in [("counter_dram_read", "0"), ("counter_dram_write", "0"), ("counter_dtlb_misses", "2")] {
        let gap = gap(&report, name);
        assert_eq!(gap.reason, Reason::NoPermission);
        assert!(gap.detail.ends_with("perf_event_paranoid is 3") && gap.detail.contains("Permission denied"), "{gap:?}");
        assert!(gap.remedy.contains(&format!("perf_event_paranoid to {level} or less")), "{gap:?}");
    }
    assert_eq!(gap(&report, "counter_llc_misses").detail.split(':').next(), Some("cpu LLC-load-misses"));
}

#[test]
fn a_guest_without_counters_says_so_and_is_complete() {
    let mut lab = Lab::new();
    copy(&mut lab);
    lab.record.machine.platform.hypervisor = Avail::Known("KVM".to_owned());
    lab.record.machine.counters.dram = Avail::missing(Reason::NotPresent, "no memory controller's counters among msr");
    lab.record.machine.counters.core = Avail::missing(Reason::NotPresent, "no counters of CPUs among msr");
    let report = lab.report();
    let (dram, core) = (gap(&report, "counter_dram_read"), gap(&report, "counter_dtlb_misses"));
    assert_eq!((dram.reason, dram.remedy.as_str()), (Reason::NotPresent, "none in a guest: measure on its host"));
    assert_eq!((core.reason, core.remedy.as_str()), (Reason::NotPresent, "give the guest a PMU (KVM: pmu=on)"));
    assert!(core.detail.contains("among msr"));
    assert_eq!(report.status.state, memgauge_model::State::Complete);
}
