use crate::support::{Lab, bandwidths, latencies, metric, placed};
use memgauge_model::{End, Event, EventKind, Mix, Order, Pages, Reason, Record, SharingProbe, State};

fn interrupted() -> End {
    End::Interrupted { signal: "SIGINT".into() }
}

#[test]
fn a_stopped_run_is_partial_and_names_what_it_lacks() {
    let mut lab = Lab::new();
    let (idle, _) = (lab.idle(Pages::Thp, Order::WindowRandom), lab.peak(&[0], Mix::Read));
    lab.measure(idle, 2, |_| latencies(&[100.0; 5]));
    lab.record.run.end = interrupted();
    let report = lab.report();
    assert_eq!(report.status.state, State::Partial);
    assert_eq!(report.status.reasons, ["interrupted by SIGINT: what was measured stands"]);
    let gap = report.unavailable.iter().find(|gap| gap.name == "peak_bandwidth").unwrap();
    assert_eq!((gap.reason, gap.detail.as_str()), (Reason::OutOfTime, "interrupted by SIGINT before it was measured"));
    let reason = metric(&report, "idle_latency", &[]).range_reason.clone().unwrap();
    assert_eq!(reason, "2 rounds, an interval needs 6; interrupted by SIGINT");
}

#[test]
fn nothing_at_all_is_still_a_document() {
    let mut lab = Lab::new();
    lab.record.run.end = End::Failed { reason: "no clock".into() };
    lab.record.run.points.clear();
    (lab.record.run.clock.hz, lab.record.run.clock.hz_after) = (0.0, f64::NAN);
    let report = lab.report();
    assert_eq!(report.status.reasons, ["failed: no clock; what was measured stands"]);
    assert!(report.unavailable.iter().any(|gap| gap.name == "clock_hz"));
}

#[test]
fn a_point_that_failed_is_a_gap_with_its_reason() {
    let mut lab = Lab::new();
    let point = lab.peak(&[0], Mix::Read);
    for reason in [Reason::NoPermission, Reason::NotPresent, Reason::OutOfTime] {
        let what = EventKind::PointFailed { point, reason, detail: "mmap: ENOMEM".into() };
        lab.record.run.events = vec![Event { at_ns: 1, what }];
        let report = lab.report();
        assert_eq!(report.status.reasons, ["peak_bandwidth read thp avx2 threads 1: mmap: ENOMEM"]);
        assert_eq!((report.unavailable[0].reason, report.unavailable[0].detail.as_str()), (reason, "mmap: ENOMEM"));
    }
}

#[test]
fn what_the_plan_rejects_stays_rejected() {
    let mut lab = Lab::new();
    lab.record.plan.rejected.push("a load shares the observer's core (--share-core)".into());
    lab.record.run.end = interrupted();
    let report = lab.report();
    assert_eq!(report.status.state, State::Rejected);
    assert_eq!(report.status.reasons.len(), 2);
}

#[test]
fn pages_elsewhere_and_lost_huge_pages_reject() {
    let mut lab = Lab::new();
    let (idle, peak) = (lab.idle(Pages::Thp, Order::WindowRandom), lab.peak(&[0], Mix::Read));
    lab.measure(idle, 6, |_| latencies(&[100.0; 5]));
    lab.measure(peak, 6, |_| bandwidths(&[10e9; 5]));
    lab.record.run.points[idle].rounds[3].placements.push(placed(0, Pages::Thp, "thp", 990));
    lab.record.run.points[peak].rounds[0].placements.push(placed(1, Pages::Thp, "base", 1000));
    let report = lab.report();
    assert_eq!(
        report.status.reasons,
        [
            "idle_latency window-random thp cpu 0 node 0 keepalive no: 10 of 1000 pages were not on node 0",
            "peak_bandwidth read thp avx2 threads 1: asked thp, got base",
        ]
    );
    assert_eq!(metric(&report, "peak_bandwidth", &[]).placement.as_ref().unwrap().kind, "base");
}

#[test]
fn what_happened_beside_the_run_is_noted() {
    let mut lab = Lab::new();
    let idle = lab.idle(Pages::Thp, Order::WindowRandom);
    lab.measure(idle, 6, |_| latencies(&[100.0; 5]));
    lab.record.run.points[idle].rounds[1].settled = false;
    lab.record.run.concurrent = true;
    let events = [
        EventKind::Concurrent,
        EventKind::BindRefused { errno: 1 },
        EventKind::ClassChanged { point: 0, before_ns: 41.0, after_ns: 184.0 },
        EventKind::Shortened { round: 3, share: 0.6 },
        EventKind::OutOfTime { rounds: 6 },
    ];
    lab.record.run.events = events.map(|what| Event { at_ns: 0, what }).to_vec();
    lab.record.before.insert("stat.steal_ticks".into(), 0);
    lab.record.after.insert("stat.steal_ticks".into(), 216);
    lab.record.machine.apply_probes(vec![SharingProbe { pair: (0, 1), ratio: 0.55, shared: true }]);
    assert_eq!(lab.record.machine.cores.len(), 1);
    let report = lab.report();
    assert_eq!(report.status.state, State::Complete);
    let notes = report.notes.join("\n");
    for part in [
        "concurrent: ",
        "errno 1",
        "moved the CPUs once",
        "to 60 %",
        "CPUs 0 and 1 share a core",
        "6 rounds took longer",
        "in 1 of 6 blocks",
        "4.0 % of the CPUs' time",
    ] {
        assert_eq!(notes.matches(part).count(), 1, "{part}: {notes}");
    }
    assert_eq!(metric(&report, "idle_latency", &[]).remarks, ["not settled: warm-up ended by time in 1 of 6 rounds"]);
}

#[test]
fn a_swapping_machine_is_rejected() {
    let mut lab = Lab::new();
    lab.record.before.insert("vmstat.pswpin".into(), 4);
    lab.record.after.insert("vmstat.pswpin".into(), 7);
    assert_eq!(lab.report().status.reasons, ["3 pages swapped in during the run"]);
}

#[test]
fn a_record_survives_json_and_reads_the_same() {
    let mut lab = Lab::new();
    let idle = lab.idle(Pages::Thp, Order::WindowRandom);
    lab.measure(idle, 6, |round| latencies(&[100.1 + f64::from(round) / 3.0; 5]));
    let text = serde_json::to_string(&lab.record).unwrap();
    let again: Record = serde_json::from_str(&text).unwrap();
    assert_eq!(again, lab.record);
    assert_eq!(memgauge_analysis::analyze(&again), lab.report());
}

#[test]
fn a_fragmented_machine_is_told_in_one_line() {
    let mut lab = Lab::new();
    let idle = lab.idle(Pages::Thp, Order::WindowRandom);
    lab.measure(idle, 6, |_| latencies(&[100.0; 5]));
    let events = ["mixed-39%", "base", "mixed-97%", "mixed-60%"].map(|got| EventKind::PagesDiffer { arena: 0, got: got.into() });
    lab.record.run.events = events.map(|what| Event { at_ns: 0, what }).to_vec();
    let notes = lab.report().notes;
    let told: Vec<&String> = notes.iter().filter(|note| note.starts_with("asked for thp")).collect();
    assert!(told.len() == 1 && told[0].contains("got base to mixed-97% (4 kinds): memory is fragmented"), "{notes:?}");
}
