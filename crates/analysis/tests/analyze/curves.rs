use crate::support::{Lab, metric};
use memgauge_model::{DelayRef, Measure, PointId, Reason, Window};

const DELAYS: [u32; 8] = [0, 100, 300, 700, 1300, 2500, 5000, 9000];

/// What a loaded point measures in every window: ns, B/s of the load, B/s of the observer.
fn measure(lab: &mut Lab, point: PointId, latency: f64, load: f64) {
    let window = |round: u32| {
        let wobble = 1.0 + 0.001 * f64::from(round);
        let (load_bytes_per_s, observer_bytes_per_s) = (load * wobble, 64e9 / latency);
        Window {
            ns: 1e7,
            hops: 1000,
            hop_ns: latency * wobble * 1000.0,
            load_bytes_per_s,
            observer_bytes_per_s,
            ..Window::default()
        }
    };
    lab.measure(point, 6, |round| vec![window(round); 5]);
}

/// One load thread at 2 GHz whose burst costs 50 cycles, and a latency that depends on its bandwidth.
fn lab(latency: impl Fn(f64) -> f64, most: f64) -> Lab {
    let mut lab = Lab::new();
    for (point, delay) in lab.curve(&DELAYS).into_iter().zip(DELAYS) {
        let load = (256.0 * 2e9 / (f64::from(delay) + 50.0)).min(most);
        measure(&mut lab, point, latency(load), load);
    }
    lab
}

#[test]
fn a_load_that_cannot_saturate_has_no_knee() {
    let report = lab(|_| 100.0, 1e12).report();
    let curve = &report.curves[0];
    assert_eq!(curve.points.iter().map(|point| point.delay).collect::<Vec<_>>(), DELAYS);
    assert!(curve.points.iter().all(|point| point.latency.is_some() && point.bandwidth.is_some()));
    let shape = curve.shape.as_ref().unwrap();
    assert_eq!((shape.knee, shape.safe), (None, None));
    assert!((shape.idle_ns - 100.25).abs() < 0.01);
    let reached = metric(&report, "loaded_bandwidth", &[("delay", "0")]).value;
    assert_eq!(shape.reached.0, reached);
    for name in ["knee_bandwidth", "safe_bandwidth"] {
        let gap = report.unavailable.iter().find(|gap| gap.name == name).unwrap();
        assert_eq!(gap.reason, Reason::NotSaturated);
        assert_eq!(gap.detail, format!("reached {:.1} GB/s at 1.00 × idle", reached / 1e9));
    }
}

#[test]
fn a_curve_that_bends_has_a_knee_and_a_safe_maximum() {
    // Saturates at 2 GB/s: latency triples at the last three delays.
    let mut lab = Lab::new();
    let seen = [
        (300.0, 2.01e9),
        (250.0, 2.0e9),
        (200.0, 1.98e9),
        (120.0, 1.5e9),
        (105.0, 0.9e9),
        (101.0, 0.4e9),
        (100.0, 0.2e9),
        (100.0, 0.1e9),
    ];
    for (point, (latency, load)) in lab.curve(&DELAYS).into_iter().zip(seen) {
        measure(&mut lab, point, latency, load);
    }
    let report = lab.report();
    let shape = report.curves[0].shape.as_ref().unwrap();
    let knee = &report.metrics[shape.knee.unwrap()];
    let safe = &report.metrics[shape.safe.unwrap()];
    let at = metric(&report, "loaded_bandwidth", &[("delay", "700")]);
    assert_eq!((knee.name.as_str(), knee.value, knee.samples), ("knee_bandwidth", at.value, 6));
    assert_eq!(safe.value, knee.ci95.unwrap()[0]);
    let labels = ["bytes", "cpu", "isa", "load_bytes", "mix", "node", "order", "pages", "stride", "threads"];
    assert_eq!(knee.labels.keys().collect::<Vec<_>>(), labels);
    assert!(shape.saturated_from.unwrap() > knee.value);
    assert_eq!(shape.at_factor.iter().map(|(factor, _)| *factor).collect::<Vec<_>>(), [1.2, 1.5, 2.0]);
}

#[test]
fn the_burst_fit_is_of_the_load_threads_alone() {
    let report = lab(|_| 100.0, 1e12).report();
    let fit = report.curves[0].burst_fit.unwrap();
    // Rounds wobble upwards by 0.25 % in the median.
    assert!((fit.f / 2e9 - 1.0025).abs() < 1e-6, "{fit:?}");
    assert!((fit.t0 - 50.0).abs() < 1e-3 && fit.residual < 1e-9, "{fit:?}");
}

#[test]
fn a_load_that_its_delay_does_not_pace_has_no_burst_fit() {
    let paced = |delay: f64| 256.0 * 2e9 / (delay + 50.0);
    // Bandwidth that jumps at every second delay; and a burst of −100 cycles.
    let jumpy = |delay: f64| paced(delay) * if [1300.0, 5000.0].contains(&delay) { 1.2 } else { 1.0 };
    let early = |delay: f64| 256.0 * 2e9 / (delay - 100.0).max(50.0);
    for (load, why) in [(&jumpy as &dyn Fn(f64) -> f64, "departs from its pacing"), (&early, "less than none")] {
        let mut lab = Lab::new();
        for (point, delay) in lab.curve(&DELAYS).into_iter().zip(DELAYS) {
            measure(&mut lab, point, 100.0, load(f64::from(delay)));
        }
        let report = lab.report();
        assert!(report.curves[0].burst_fit.is_none());
        let gap = report.unavailable.iter().find(|gap| gap.name == "burst_fit").unwrap();
        assert!(gap.detail.contains(why), "{gap:?}");
    }
}

#[test]
fn a_fitted_clock_is_held_against_the_spin() {
    let mut lab = lab(|_| 100.0, 1e12);
    let note = |lab: &Lab| lab.report().notes.iter().any(|note| note.contains("is not that of the spin, 3.00 GHz"));
    assert!(!note(&lab));
    let blocks = lab.record.run.points.iter_mut().flat_map(|point| &mut point.rounds);
    blocks.for_each(|block| block.core_hz = 3e9);
    assert!(note(&lab));
    assert_eq!(lab.report().curves[0].burst_fit.unwrap().spin_hz, Some(3e9));
}

#[test]
fn a_short_curve_says_that_it_is_short() {
    let mut lab = Lab::new();
    let points = lab.curve(&[0, 100]);
    points.iter().for_each(|point| measure(&mut lab, *point, 100.0, 1e9));
    let report = lab.report();
    assert!(report.curves[0].shape.is_none());
    let gap = report.unavailable.iter().find(|gap| gap.name == "knee_bandwidth").unwrap();
    assert_eq!((gap.reason, gap.detail.as_str()), (Reason::NotApplicable, "2 load points; a curve needs 5"));
}

#[test]
fn the_same_record_gives_the_same_bytes() {
    let lab = lab(|load| 100.0 + load / 1e9, 3e9);
    let bytes = || serde_json::to_string(&lab.report()).unwrap();
    assert_eq!(bytes(), bytes());
}

#[test]
fn a_delay_that_a_pilot_found_is_the_label() {
    let mut lab = Lab::new();
    for (slot, point) in lab.curve(&[0, 0]).into_iter().enumerate() {
        lab.record.plan.points[point].measure = Measure::Loaded { curve: 0, delay: DelayRef::Slot(slot) };
        measure(&mut lab, point, 100.0, 1e9);
    }
    lab.record.run.curves[0].delays = vec![3000, 40];
    let report = lab.report();
    assert_eq!(report.curves[0].points.iter().map(|point| point.delay).collect::<Vec<_>>(), [40, 3000]);
    assert!(report.find("loaded_latency", &[("delay", "3000")]).is_some());
    // Stopped before the pilot: the gap has no delay to name, and stands once.
    lab.record.run.curves[0].delays.clear();
    lab.record.run.points.iter_mut().for_each(|point| point.rounds.clear());
    let report = lab.report();
    let gaps: Vec<_> = report.unavailable.iter().filter(|gap| gap.name == "loaded_latency").collect();
    assert!(gaps.len() == 1 && !gaps[0].labels.contains_key("delay"), "{gaps:?}");
}
