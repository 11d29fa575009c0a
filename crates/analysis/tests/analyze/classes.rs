use crate::support::{Lab, bandwidths, metric};
use memgauge_model::{Mix, Reason};

/// Six rounds of a two-CPU read: GB/s, and the ping-pong before and after, ns.
fn lab(rounds: &[(f64, Option<f64>, Option<f64>)]) -> Lab {
    let mut lab = Lab::new();
    let point = lab.peak(&[0, 1], Mix::Read);
    lab.record.plan.points[point].class_pair = Some((1, 0));
    lab.measure(point, u32::try_from(rounds.len()).unwrap_or(0), |round| bandwidths(&[rounds[round as usize].0 * 1e9; 5]));
    for (block, (_, before, after)) in lab.record.run.points[point].rounds.iter_mut().zip(rounds) {
        (block.class_before_ns, block.class_after_ns) = (*before, *after);
    }
    lab
}

const NEAR: (f64, Option<f64>, Option<f64>) = (43.0, Some(41.0), Some(42.0));
const FAR: (f64, Option<f64>, Option<f64>) = (86.0, Some(184.0), Some(180.0));

#[test]
fn the_figure_is_of_the_class_with_most_rounds() {
    let report = lab(&[NEAR, FAR, FAR, NEAR, FAR, FAR]).report();
    let read = metric(&report, "peak_bandwidth", &[("class", "far")]);
    assert_eq!((read.value, read.samples), (86e9, 4));
    assert_eq!(read.range_reason.as_deref(), Some("4 rounds, an interval needs 6; 2 in class near"));
    for name in ["peak_bandwidth", "peak_bandwidth_dram"] {
        let gap = report.unavailable.iter().find(|gap| gap.name == name).unwrap();
        assert_eq!((gap.labels.get("class").unwrap().as_str(), gap.reason), ("near", Reason::NotApplicable));
        assert_eq!(gap.detail, "class changed: 2 of 6 rounds were in class near");
    }
    assert!(report.notes.iter().any(|note| note.contains("class near is 42 ns by ping-pong, class far 182 ns")));
}

#[test]
fn equally_many_rounds_give_the_near_class() {
    let report = lab(&[FAR, FAR, FAR, NEAR, NEAR, NEAR]).report();
    assert_eq!(metric(&report, "peak_bandwidth", &[("class", "near")]).value, 43e9);
}

#[test]
fn one_class_has_a_name_too_and_no_answer_another() {
    assert_eq!(metric(&lab(&[FAR; 6]).report(), "peak_bandwidth", &[("class", "one")]).samples, 6);
    let silent = (50.0, None, None);
    assert_eq!(metric(&lab(&[silent; 6]).report(), "peak_bandwidth", &[("class", "unknown")]).samples, 6);
    // One end is enough.
    let half = (86.0, Some(184.0), None);
    assert_eq!(metric(&lab(&[half, FAR, FAR, FAR, FAR, NEAR]).report(), "peak_bandwidth", &[("class", "far")]).samples, 5);
}

#[test]
fn a_block_whose_ends_differ_is_disturbed_and_a_repeated_one_gone() {
    let flipped = (60.0, Some(41.0), Some(184.0));
    let mut lab = lab(&[FAR, FAR, FAR, FAR, flipped, FAR]);
    let report = lab.report();
    let read = metric(&report, "peak_bandwidth", &[("class", "far")]);
    assert_eq!((read.samples, read.windows, read.excluded), (5, 25, 5));
    // Marked as repeated, it is not even excluded: another block took its place. Its times still tell the classes.
    lab.record.run.points[0].rounds[4].superseded = true;
    let report = lab.report();
    let read = metric(&report, "peak_bandwidth", &[("class", "far")]);
    assert_eq!((read.samples, read.excluded), (5, 0));
}

#[test]
fn all_points_of_a_curve_are_of_one_class() {
    let mut lab = Lab::new();
    let points = lab.curve(&[0, 1000]);
    // Delay 0 was mostly near, the curve as a whole mostly far.
    for (point, near) in points.into_iter().zip([4, 0]) {
        lab.record.plan.points[point].class_pair = Some((0, 1));
        lab.measure(point, 6, |_| bandwidths(&[10e9; 5]));
        for (at, block) in lab.record.run.points[point].rounds.iter_mut().enumerate() {
            block.windows.iter_mut().for_each(|window| (window.hops, window.hop_ns) = (100, 12_000.0));
            block.class_before_ns = Some(if at < near { 40.0 } else { 180.0 });
        }
    }
    let report = lab.report();
    let class = |delay| metric(&report, "loaded_bandwidth", &[("delay", delay)]).labels.get("class").cloned();
    assert_eq!((class("0"), class("1000")), (Some("far".to_owned()), Some("far".to_owned())));
}
