use crate::support::{Lab, MIB, bandwidths, latencies, metric};
use memgauge_model::{Avail, Holds, Mix, Order, Pages, Reason, Report, State};

fn read(lab: &mut Lab, rate: f64) -> Report {
    let point = lab.peak(&[0, 1], Mix::Read);
    lab.measure(point, 6, |_| bandwidths(&[rate; 5]));
    lab.report()
}

/// All buffers have this size.
fn shrink(lab: &mut Lab, size: u64) {
    for arena in &mut lab.record.plan.arenas {
        match &mut arena.holds {
            Holds::Chase { bytes, .. }
            | Holds::Streams { bytes, .. }
            | Holds::Region { bytes, .. }
            | Holds::C2c { bytes, .. } => {
                *bytes = size;
            }
        }
    }
}

#[test]
fn more_than_the_modules_can_give_is_invalid() {
    let report = read(&mut Lab::new(), 101e9);
    let fault = "invalid: above the theoretical 100.0 GB/s";
    assert_eq!(report.status.reasons, [format!("peak_bandwidth read thp avx2 threads 2: {fault}")]);
    assert!(metric(&report, "peak_bandwidth_dram", &[]).remarks.contains(&fault.to_owned()));
    let mut stated = Lab::new();
    stated.record.plan.request.theoretical = Some(200e9);
    assert_eq!(read(&mut stated, 101e9).status.state, State::Complete);
}

#[test]
fn an_unknown_limit_is_never_passed() {
    let mut lab = Lab::new();
    lab.record.machine.dimms.theoretical_bandwidth = Avail::missing(Reason::NotPresent, "no SMBIOS");
    let report = read(&mut lab, 101e9);
    assert_eq!(report.status.state, State::Complete);
    assert!(report.notes.iter().any(|note| note.starts_with("plausibility of bandwidths: unknown")));
}

#[test]
fn more_than_a_core_can_move_was_not_moved() {
    // 2 GHz, 128 B a cycle, two threads: 512 GB/s.
    let mut lab = Lab::new();
    lab.record.plan.request.theoretical = Some(1e15);
    assert_eq!(read(&mut lab, 511e9).status.state, State::Complete);
    let mut lab = Lab::new();
    lab.record.plan.request.theoretical = Some(1e15);
    assert!(read(&mut lab, 513e9).status.reasons[0].ends_with("the loop was removed"));
}

#[test]
fn a_chosen_buffer_names_its_level_and_is_no_memory() {
    for (bytes, level) in [
        (16 << 10, "level: L1"),
        (MIB / 2, "level: L2"),
        (8 * MIB, "level: L3"),
        (20 * MIB, "level: partly the last-level cache"),
        (32 * MIB, "level: beyond the last-level cache"),
    ] {
        let mut lab = Lab::new();
        lab.record.plan.request.buffer = Some(bytes);
        let point = lab.peak(&[0, 1], Mix::Read);
        shrink(&mut lab, bytes);
        lab.measure(point, 6, |_| bandwidths(&[150e9; 5]));
        let report = lab.report();
        assert!(metric(&report, "peak_bandwidth", &[]).remarks.contains(&level.to_owned()), "{bytes}: {report:?}");
        // Only memory has memory's limit.
        let state = if level.contains("beyond") { State::Rejected } else { State::Complete };
        assert_eq!(report.status.state, state, "{level}");
    }
}

#[test]
fn a_small_buffer_that_nobody_asked_for_is_rejected() {
    let mut lab = Lab::new();
    let point = lab.idle(Pages::Thp, Order::WindowRandom);
    shrink(&mut lab, 40 * MIB);
    lab.measure(point, 6, |_| latencies(&[30.0; 5]));
    let report = lab.report();
    assert_eq!(report.status.state, State::Rejected);
    assert!(report.status.reasons[0].contains("below twice the last-level cache"), "{:?}", report.status);
}
