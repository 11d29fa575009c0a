use crate::support::{Lab, bandwidths, metric};
use memgauge_model::{Isa, Job, Measure, Mix};

/// Full-line and 8-byte stores by two threads, and a copy beside them; GB/s of application bytes.
fn lab(full: f64, partial: f64) -> Lab {
    let mut lab = Lab::new();
    let (write, copy) = (lab.peak(&[0, 1], Mix::Write), lab.peak(&[0, 1], Mix::Copy));
    let threads = lab.streams(&[0, 1], Mix::WritePartial);
    let probe = lab.point(Measure::RfoProbe, threads);
    lab.measure(write, 6, |_| bandwidths(&[full * 1e9; 5]));
    lab.measure(copy, 6, |round| bandwidths(&[(20.0 + f64::from(round)) * 1e9; 5]));
    lab.measure(probe, 6, |_| bandwidths(&[partial * 1e9; 5]));
    lab
}

#[test]
fn equal_line_rates_count_each_store_twice() {
    // 16 GB/s of full lines are as many lines as 2 GB/s of 8 bytes each.
    let report = lab(16.0, 2.0).report();
    assert_eq!(metric(&report, "peak_bandwidth_dram", &[("mix", "write")]).value, 32e9);
    let copy = metric(&report, "peak_bandwidth_dram", &[("mix", "copy")]);
    assert_eq!((copy.value, copy.ci95), (33.75e9, Some([30e9, 37.5e9])));
    assert!(copy.remarks.contains(&"rfo: factor 2 by probe (1.00)".to_owned()), "{:?}", copy.remarks);
    assert!(report.find("peak_bandwidth", &[("mix", "write-partial")]).is_none());
}

#[test]
fn faster_full_lines_give_a_range_and_no_interval() {
    let report = lab(20.0, 2.0).report();
    let copy = metric(&report, "peak_bandwidth_dram", &[("mix", "copy")]);
    let app = metric(&report, "peak_bandwidth", &[("mix", "copy")]);
    // From the application bytes' lower end to the upper end of all that may be read too.
    let [lo, hi] = app.ci95.unwrap();
    assert_eq!((copy.ci95, copy.range), (None, Some([lo, hi * 1.5])));
    assert_eq!(copy.value, app.value * 1.5);
    assert_eq!(copy.range_reason.as_deref(), Some("rfo: may be skipped (full lines 1.25 times as fast)"));
}

#[test]
fn without_a_probe_at_these_threads_it_is_said() {
    let mut lab = lab(16.0, 2.0);
    let alone = lab.peak(&[0], Mix::Copy);
    lab.measure(alone, 6, |_| bandwidths(&[10e9; 5]));
    let report = lab.report();
    let copy = metric(&report, "peak_bandwidth_dram", &[("mix", "copy"), ("threads", "1")]);
    assert_eq!((copy.value, copy.remarks.as_slice()), (15e9, ["rfo: not probed".to_owned()].as_slice()));
}

#[test]
fn a_probe_in_another_class_tells_nothing() {
    let mut lab = lab(16.0, 2.0);
    // Write and probe ran far apart, the copy beside each other.
    for (point, ns) in [(0, 184.0), (1, 41.0), (2, 184.0)] {
        lab.record.plan.points[point].class_pair = Some((0, 1));
        lab.record.run.points[point].rounds.iter_mut().for_each(|block| block.class_before_ns = Some(ns));
    }
    let report = lab.report();
    let remarks = |mix| metric(&report, "peak_bandwidth_dram", &[("mix", mix)]).remarks.join(" ");
    assert_eq!((remarks("copy").as_str(), remarks("write").as_str()), ("rfo: not probed", "rfo: factor 2 by probe (1.00)"));
}

#[test]
fn the_reference_of_a_probe_may_be_a_probe_itself() {
    let mut lab = Lab::new();
    let copy = lab.peak(&[0], Mix::Copy);
    lab.measure(copy, 6, |_| bandwidths(&[10e9; 5]));
    for (mix, rate) in [(Mix::Write, 16e9), (Mix::WritePartial, 2e9)] {
        let threads = lab.streams(&[0], mix);
        let probe = lab.point(Measure::RfoProbe, threads);
        lab.measure(probe, 6, |_| bandwidths(&[rate; 5]));
    }
    let report = lab.report();
    assert_eq!(metric(&report, "peak_bandwidth_dram", &[]).remarks, ["rfo: factor 2 by probe (1.00)"]);
    assert!(report.find("peak_bandwidth", &[("mix", "write")]).is_none());
}

#[test]
fn reads_count_once_and_a_hint_is_a_range() {
    let mut lab = Lab::new();
    let (read, nt, hint) = (lab.peak(&[0], Mix::Read), lab.peak(&[0], Mix::WriteNt), lab.peak(&[0], Mix::WriteNt));
    if let Job::Stream { isa, .. } = &mut lab.record.plan.points[hint].threads[0].job {
        *isa = Isa::Neon;
    }
    for point in [read, nt, hint] {
        lab.measure(point, 6, |_| bandwidths(&[10e9; 5]));
    }
    let report = lab.report();
    let dram = |labels: &[(&str, &str)]| metric(&report, "peak_bandwidth_dram", labels);
    assert_eq!(dram(&[("mix", "read")]).ci95, Some([10e9, 10e9]));
    assert_eq!(dram(&[("mix", "write-nt"), ("isa", "avx2")]).value, 10e9);
    let hint = dram(&[("mix", "write-nt"), ("isa", "neon")]);
    assert_eq!((hint.value, hint.range), (10e9, Some([10e9, 20e9])));
}

#[test]
fn the_observer_only_loads() {
    let mut lab = Lab::new();
    let points = lab.curve(&[0]);
    lab.record.plan.curves[0].mix = Mix::R1W1;
    for thread in &mut lab.record.plan.points[points[0]].threads {
        if let Job::Stream { mix, .. } = &mut thread.job {
            *mix = Mix::R1W1;
        }
    }
    lab.measure(points[0], 6, |_| {
        let mut windows = bandwidths(&[10e9; 5]);
        windows.iter_mut().for_each(|window| window.observer_bytes_per_s = 1e9);
        windows
    });
    let report = lab.report();
    assert_eq!(metric(&report, "loaded_bandwidth", &[]).value, 11e9);
    assert_eq!(metric(&report, "loaded_bandwidth_dram", &[]).value, 21e9);
}
