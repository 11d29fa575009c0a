use super::*;
use crate::rng::Rng;
use proptest::prelude::*;

const PEAK: f64 = 100e9;

/// Queueing for a server of rate `PEAK` with a fixed part before it:
/// L = `fixed` + `service`/(1 − u).
fn queue(fixed: f64, service: f64, u: f64) -> LoadPoint {
    LoadPoint { bandwidth: PEAK * u, latency: fixed + service / (1.0 - u) }
}

/// Where u/(fixed + service/(1 − u)) is highest: with v = 1 − u the derivative
/// vanishes at fixed·v² + 2·service·v − service = 0.
fn true_knee(fixed: f64, service: f64) -> f64 {
    let root = libm::sqrt(service * service + fixed * service);
    1.0 - (root - service) / fixed
}

/// The load levels of a curve with evenly spaced points up to `top`.
fn levels(points: usize, top: f64) -> Vec<f64> {
    (1..=points).map(|i| top * i as f64 / points as f64).collect()
}

/// Heaviest load first, as the engine measures it.
fn one_round(points: impl Iterator<Item = LoadPoint>) -> Vec<Option<LoadPoint>> {
    let mut points: Vec<_> = points.map(Some).collect();
    points.reverse();
    points
}

fn noisy_rounds(rounds: usize, spread: f64, fixed: f64, service: f64) -> Vec<Vec<Option<LoadPoint>>> {
    let mut rng = Rng::new(5);
    let mut noise = move || 1.0 + spread * (rng.unit() + rng.unit() + rng.unit() - 1.5);
    (0..rounds)
        .map(|_| {
            let allocation = noise();
            one_round(levels(20, 0.98).into_iter().map(|u| {
                let point = queue(fixed, service, u);
                LoadPoint { bandwidth: point.bandwidth * noise(), latency: point.latency * allocation * noise() }
            }))
        })
        .collect()
}

#[test]
fn the_knee_of_a_queue_is_within_five_per_cent_of_the_truth() {
    for (fixed, service) in [(90.0, 10.0), (80.0, 2.0), (60.0, 40.0), (110.0, 0.5)] {
        let round = one_round(levels(40, 0.99).into_iter().map(|u| queue(fixed, service, u)));
        let curve = analyze_curve(&[round], 1).unwrap();
        let Knee::Found { bandwidth, column, ends, .. } = curve.knee else {
            panic!("{fixed} + {service}: {:?}", curve.knee);
        };
        let truth = true_knee(fixed, service) * PEAK;
        assert!((bandwidth / truth - 1.0).abs() < 0.05, "{bandwidth} {truth}");
        assert!(column < 40 && ends.is_none());
        // The lightest five of forty: u = 0.074 is the middle one.
        assert!((curve.unloaded / queue(fixed, service, 0.074).latency - 1.0).abs() < 0.001);
    }
}

#[test]
fn matched_bandwidths_and_regions_follow_the_curve() {
    let round = one_round(levels(60, 0.98).into_iter().map(|u| queue(90.0, 10.0, u)));
    let curve = analyze_curve(&[round], 1).unwrap();
    let at_latency = |latency: f64| PEAK * (1.0 - 10.0 / (latency - 90.0));
    for matched in curve.matched {
        let truth = at_latency(matched.multiple * curve.unloaded);
        let got = matched.bandwidth.unwrap();
        assert!((got / truth - 1.0).abs() < 0.01, "{matched:?} {truth}");
    }
    let flat = curve.flat.unwrap();
    assert!((flat.to / at_latency(1.1 * curve.unloaded) - 1.0).abs() < 0.01);
    assert!(!flat.whole_curve);
    let Knee::Found { bandwidth, saturated_from, .. } = curve.knee else {
        panic!("{:?}", curve.knee);
    };
    let saturated = saturated_from.unwrap();
    assert!(saturated > bandwidth && saturated >= SATURATED * curve.highest);
}

#[test]
fn rounds_give_an_interval_that_holds_knee_and_truth() {
    let rounds = noisy_rounds(19, 0.01, 90.0, 10.0);
    let curve = analyze_curve(&rounds, 1).unwrap();
    let Knee::Found { bandwidth, ends: Some(ends), at_end, .. } = curve.knee else {
        panic!("{:?}", curve.knee);
    };
    let truth = true_knee(90.0, 10.0) * PEAK;
    let step = 0.049 * PEAK;
    assert!(ends.lo <= bandwidth && bandwidth <= ends.hi);
    assert!(ends.lo - step < truth && truth < ends.hi + step, "{ends:?} {truth}");
    assert!(ends.hi - ends.lo < 0.25 * PEAK, "{ends:?}");
    assert_eq!(curve.knee.safe_maximum(), Some(ends.lo));
    assert_eq!(at_end, 0.0);
    for matched in curve.matched {
        let (b, ends) = (matched.bandwidth.unwrap(), matched.ends.unwrap());
        assert!(ends.lo <= b && b <= ends.hi && ends.lo < ends.hi);
    }
}

#[test]
fn the_same_seed_gives_the_same_curve_and_few_rounds_no_interval() {
    let rounds = noisy_rounds(6, 0.02, 90.0, 10.0);
    assert_eq!(analyze_curve(&rounds, 3), analyze_curve(&rounds, 3));
    assert!(analyze_curve(&rounds, 3).unwrap().knee.safe_maximum().is_some());
    let few = analyze_curve(&rounds[..5], 3).unwrap();
    assert_eq!(few.knee.safe_maximum(), None);
    assert!(few.matched.iter().all(|m| m.ends.is_none()));
}

#[test]
fn a_load_that_cannot_saturate_has_no_knee() {
    // Up to 60 %: B/L rises to the end.
    let round = one_round(levels(12, 0.6).into_iter().map(|u| queue(90.0, 10.0, u)));
    let curve = analyze_curve(&[round], 1).unwrap();
    let Knee::NotSaturated { reached, latency_ratio } = curve.knee else {
        panic!("{:?}", curve.knee);
    };
    assert_eq!(reached, 0.6 * PEAK);
    assert!((latency_ratio / (115.0 / curve.unloaded) - 1.0).abs() < 1e-9);
    assert_eq!(curve.matched[2].bandwidth, None);
}

#[test]
fn a_plateau_without_added_latency_is_not_a_knee() {
    // One load CPU at its own limit: the heaviest points differ by noise, and
    // the heaviest of all happens to have the worse B/L.
    let curve = [(5.0, 100.0), (10.0, 100.2), (15.0, 100.1), (20.0, 101.0), (30.0, 101.5), (37.9, 102.0), (38.0, 103.5)];
    let round = one_round(curve.into_iter().map(|(bandwidth, latency)| LoadPoint { bandwidth, latency }));
    let curve = analyze_curve(&[round], 1).unwrap();
    assert!(matches!(curve.knee, Knee::NotSaturated { reached, .. } if reached == 38.0));
    assert_eq!(curve.flat, Some(Flat { to: 38.0, whole_curve: true }));
}

#[test]
fn equal_bandwidths_share_one_latency() {
    // A saturated server at exactly its rate, from several delays.
    let points = [
        (10.0, 100.0),
        (20.0, 100.0),
        (40.0, 101.0),
        (60.0, 104.0),
        (80.0, 110.0),
        (95.0, 130.0),
        (100.0, 160.0),
        (100.0, 300.0),
        (100.0, 320.0),
    ];
    let round = one_round(points.into_iter().map(|(bandwidth, latency)| LoadPoint { bandwidth, latency }));
    let curve = analyze_curve(&[round], 1).unwrap();
    let Knee::Found { column, bandwidth, saturated_from, .. } = curve.knee else { panic!("{:?}", curve.knee) };
    // The round begins with the heaviest load.
    assert_eq!((column, saturated_from), (3, Some(100.0)));
    assert!((80.0..100.0).contains(&bandwidth), "{bandwidth}");
    assert!(curve.points[6..].iter().all(|p| p.fitted == 260.0));
}

#[test]
fn missing_points_are_left_out_where_they_are_missing() {
    let mut rounds = noisy_rounds(9, 0.01, 90.0, 10.0);
    let whole = analyze_curve(&rounds, 1).unwrap();
    rounds[0][3] = None;
    for round in &mut rounds {
        round[10] = None;
    }
    let curve = analyze_curve(&rounds, 1).unwrap();
    assert_eq!(curve.points.len(), whole.points.len() - 1);
    assert!(curve.points.iter().all(|p| p.column != 10));
}

#[test]
fn what_is_no_curve_is_refused_by_name() {
    let point = |bandwidth, latency| Some(LoadPoint { bandwidth, latency });
    let four: Vec<_> = (1..=4).map(|i| point(f64::from(i), 100.0)).collect();
    assert_eq!(analyze_curve(&[], 1), Err(CurveError::TooFewPoints { have: 0 }));
    assert_eq!(analyze_curve(std::slice::from_ref(&four), 1), Err(CurveError::TooFewPoints { have: 4 }));
    assert_eq!(analyze_curve(&[four.clone(), vec![]], 1), Err(CurveError::Ragged { round: 1 }));
    let mut broken = four;
    broken[2] = point(3.0, f64::NAN);
    let error = analyze_curve(&[broken], 1).unwrap_err();
    assert_eq!(error, CurveError::NotPositive { round: 0, column: 2 });
    assert_eq!(error.to_string(), "round 0, point 2: not a positive number");
}

#[test]
fn the_bits_are_the_same_everywhere() {
    let curve = analyze_curve(&noisy_rounds(9, 0.02, 90.0, 10.0), 7).unwrap();
    let matched = curve.matched[0].ends.unwrap();
    let bits = [curve.unloaded, curve.highest, curve.knee.safe_maximum().unwrap(), matched.lo, matched.hi].map(f64::to_bits);
    assert_eq!(
        bits,
        [0x4059_456b_e36c_cb5c, 0x4236_df4e_770d_e27d, 0x4231_3261_3cad_4832, 0x422e_ee7e_4b16_fb70, 0x4230_31b2_5fd9_936b],
        "{bits:#x?}"
    );
}

proptest! {
    // Each case draws a thousand resamples.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_curve_is_read_without_a_contradiction(
        points in prop::collection::vec((0.1..1e3, 1.0..1e4), 5..25), rounds in 1_usize..9, seed: u64,
    ) {
        let mut rng = Rng::new(seed);
        let rounds: Vec<Vec<_>> = (0..rounds)
            .map(|_| points.iter().map(|&(b, l)| Some(LoadPoint { bandwidth: b * (0.9 + 0.2 * rng.unit()), latency: l * (0.9 + 0.2 * rng.unit()) })).collect())
            .collect();
        let curve = analyze_curve(&rounds, seed).unwrap();
        prop_assert!(curve.points.is_sorted_by(|a, b| a.bandwidth <= b.bandwidth && a.fitted <= b.fitted));
        let reached: Vec<f64> = curve.matched.iter().filter_map(|m| m.bandwidth).collect();
        prop_assert!(reached.is_sorted());
        for m in curve.matched {
            if let (Some(b), Some(ends)) = (m.bandwidth, m.ends) {
                prop_assert!(ends.lo <= b && b <= ends.hi);
            }
        }
        match curve.knee {
            Knee::Found { bandwidth, ends, at_end, .. } => {
                prop_assert!(bandwidth < curve.highest && (0.0..=1.0).contains(&at_end));
                prop_assert_eq!(ends.is_some(), rounds.len() >= MIN_ROUNDS);
                if let Some(ends) = ends {
                    prop_assert!(ends.lo <= bandwidth && bandwidth <= ends.hi);
                }
            }
            Knee::NotSaturated { reached, .. } => prop_assert_eq!(reached, curve.highest),
        }
    }
}
