use crate::support::{Lab, MIB, latencies, metric, switched};
use memgauge_model::{
    CpuList, Holds, Job, Measure, Order, Pages, PointId, Prefetch, PrefetchRegister, PrefetchState, Prefetching, RegisterChange,
    RingPlan, State, Thread,
};

/// The probe's four chases, in the order of `ns`: sequential, full-random, window-random at 64 and at 128 B.
fn probed(ns: [f64; 4]) -> (Lab, [PointId; 4]) {
    let mut lab = Lab::new();
    let ring = |order, stride| RingPlan { order, stride, grows: false, bytes: None, block: None };
    let rings = vec![
        ring(Order::Sequential, 64),
        ring(Order::FullRandom, 128),
        ring(Order::WindowRandom, 64),
        ring(Order::WindowRandom, 128),
    ];
    let arena = lab.arena(0, Pages::Thp, Holds::Chase { bytes: 512 * MIB, rings });
    let points = [0, 1, 2, 3].map(|ring| {
        let measure = match ring {
            // What an idle figure measures already is not measured twice.
            3 => Measure::Idle { node: 0, keepalive: false, keepalive_reason: None },
            _ => Measure::PrefetchProbe,
        };
        lab.point(measure, vec![Thread { cpu: 0, job: Job::Chase { arena, ring } }])
    });
    for (point, ns) in points.into_iter().zip(ns) {
        lab.measure(point, 6, |round| latencies(&[ns + f64::from(round) / 10.0; 3]));
    }
    (lab, points)
}

fn switched_off(lab: &mut Lab) {
    lab.record.plan.prefetch.registers = vec![PrefetchRegister { msr: 0x1a4, mask: 0xf }];
    lab.record.plan.prefetch.cores = [(0, CpuList::from(vec![0]))].into();
    let changes = vec![RegisterChange { cpu: 0, msr: 0x1a4, old: 0, new: 0xf }];
    lab.record.run.prefetch = PrefetchState::Off { changes };
}

const ON: [f64; 4] = [9.0, 140.0, 96.0, 138.0];
const OFF: [f64; 4] = [90.0, 140.0, 136.0, 138.0];

#[test]
fn on_and_off_are_told_by_where_the_interval_lies() {
    for (ns, wanted) in [(ON, Prefetching::On), (OFF, Prefetching::Off)] {
        let report = probed(ns).0.report();
        let found = report.prefetch.clone().unwrap();
        assert_eq!((found.streaming.verdict, found.spatial.verdict), (wanted, wanted));
        let streaming = metric(&report, "prefetch_ratio", &[("kind", "streaming")]);
        let [lo, hi] = streaming.ci95.unwrap();
        assert!((streaming.value - ns[0] / ns[1]).abs() < 0.01 && lo < hi, "{streaming:?}");
        assert_eq!(found.streaming.metric, report.find("prefetch_ratio", &[("kind", "streaming")]).map(|(id, _)| id));
        assert!(report.notes.iter().any(|note| note.contains(&format!("spatial {}", wanted.word()))), "{:?}", report.notes);
        assert_eq!(report.status.state, State::Complete);
    }
}

#[test]
fn what_changes_meanwhile_or_was_disturbed_is_unknown() {
    let verdict = |lab: &Lab| lab.report().prefetch.unwrap().streaming.verdict;
    let (mut lab, points) = probed(ON);
    lab.record.run.points[points[0]].rounds.clear();
    lab.measure(points[0], 6, |round| latencies(&[if round < 3 { 9.0 } else { 90.0 }; 3]));
    assert_eq!(verdict(&lab), Prefetching::Unknown);
    assert!(lab.report().notes.iter().any(|note| note.contains("not the same in every round")));

    let (mut lab, points) = probed(ON);
    lab.record.run.points[points[0]].rounds.clear();
    lab.measure(points[0], 6, |_| {
        latencies(&[9.0; 3]).into_iter().enumerate().map(|(at, w)| if at == 0 { switched(w) } else { w }).collect()
    });
    assert_eq!(verdict(&lab), Prefetching::Unknown);

    let (mut lab, points) = probed(ON);
    lab.record.run.points[points[1]].rounds.truncate(3);
    assert_eq!(verdict(&lab), Prefetching::Unknown, "three rounds make no interval");
    lab.record.run.points[points[1]].rounds.clear();
    let report = lab.report();
    assert!(report.unavailable.iter().any(|gap| gap.name == "prefetch_ratio" && gap.labels["kind"] == "streaming"));
    assert_eq!(report.prefetch.unwrap().spatial.verdict, Prefetching::On);
}

#[test]
fn registers_that_read_off_are_not_believed() {
    let contradicted = |ns, prefetch| {
        let (mut lab, _) = probed(ns);
        switched_off(&mut lab);
        lab.record.plan.request.prefetch = prefetch;
        let report = lab.report();
        let found = report.findings.iter().find(|finding| finding.id == "prefetchers_stay_on");
        let said = found.is_some_and(|finding| finding.text.contains("streaming and spatial") && finding.evidence.len() == 2);
        assert_eq!(metric(&report, "idle_latency", &[("prefetch", "off")]).value, metric(&report, "idle_latency", &[]).value);
        (said, report.status.state)
    };
    assert_eq!(contradicted(ON, Prefetch::Off), (true, State::Rejected));
    assert_eq!(contradicted(ON, Prefetch::Auto), (true, State::Complete));
    assert_eq!(contradicted(OFF, Prefetch::Off), (false, State::Complete));
}

#[test]
fn where_they_are_left_the_reason_stands_beside_the_verdict() {
    let (mut lab, _) = probed(ON);
    lab.record.run.prefetch = PrefetchState::Left { reason: "no msr device".to_owned() };
    let notes = lab.report().notes;
    assert!(notes.iter().any(|note| {
        note.ends_with("left as they are (no msr device): chases run in random order at 128 B or more, where they lose")
    }));
    // A chase that they win is not passed off as one that they lose.
    lab.idle(Pages::Base, Order::Sequential);
    assert!(lab.report().notes.iter().any(|note| note.ends_with("left as they are (no msr device)")));
    // Nothing chases: nothing to say.
    let mut lab = Lab::new();
    lab.peak(&[0], memgauge_model::Mix::Read);
    assert_eq!(lab.report().prefetch, None);
}

#[test]
fn a_finding_where_prefetching_matters_and_none_where_it_does_not() {
    let ids = |lab: &Lab| -> Vec<String> { lab.report().findings.iter().map(|finding| finding.id.clone()).collect() };
    // On, with the headline at 128 B in random order: as it should be.
    assert!(ids(&probed(ON).0).is_empty());
    // Off, though nobody switched it off; and switched off by us.
    assert_eq!(ids(&probed(OFF).0), ["prefetch_off"]);
    let (mut ours, _) = probed(OFF);
    switched_off(&mut ours);
    assert!(ids(&ours).is_empty());
    // A latency that somebody asked for in rising order.
    let (mut lab, points) = probed(ON);
    lab.record.plan.points[points[0]].measure = Measure::Idle { node: 0, keepalive: false, keepalive_reason: None };
    let report = lab.report();
    let finding = report.findings.iter().find(|finding| finding.id == "prefetched_latency").expect("9 ns are no memory's");
    assert!(finding.text.starts_with("idle_latency of 9.") && finding.evidence.len() == 3, "{finding:?}");
}

#[test]
fn a_ring_over_a_part_of_its_buffer_says_so() {
    let (mut lab, points) = probed(ON);
    let Job::Chase { arena, ring } = lab.record.plan.points[points[0]].threads[0].job else { panic!("a chase") };
    let Holds::Chase { rings, .. } = &mut lab.record.plan.arenas[arena].holds else { panic!("rings") };
    rings[ring].bytes = Some(128 * MIB);
    let report = lab.report();
    let bytes = |kind: &str| metric(&report, "prefetch_ratio", &[("kind", kind)]).labels["bytes"].clone();
    assert_eq!((bytes("streaming"), bytes("spatial")), ((128 * MIB).to_string(), (512 * MIB).to_string()));
}
