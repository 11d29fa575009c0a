//! How often the intervals of whole runs hold the truth, in worlds whose noise is known.

use crate::support::{ask, done, small};
use memgauge_engine::simulated::Description;
use memgauge_model::*;
use std::collections::BTreeMap;

const RUNS: u64 = 1000;

/// Runs whose intervals held the truth, and all that had one, by figure.
#[derive(Debug, Default)]
struct Tally(BTreeMap<String, (u32, u32)>);

impl Tally {
    fn add(&mut self, figure: String, metric: Option<&Metric>, truth: f64) {
        let Some([lo, hi]) = metric.and_then(|metric| metric.ci95) else { return };
        let (held, all) = self.0.entry(figure).or_default();
        *held += u32::from(lo <= truth && truth <= hi);
        *all += 1;
    }

    /// Of all intervals of the world together: the promise.
    fn hold(&self, world: &str) {
        let sum = self.0.values().fold((0, 0), |(held, all), (h, a)| (held + h, all + a));
        let coverage = f64::from(sum.0) / f64::from(sum.1);
        let by_figure: Vec<String> = self.0.iter().map(|(figure, (held, all))| format!("{figure}: {held} of {all}")).collect();
        assert!((0.93..=0.985).contains(&coverage), "{world}: {coverage} in all\n{}", by_figure.join("\n"));
    }
}

/// Idle latencies, matrices with their penalty, and peaks.
fn world(name: &str, description: &Description) {
    let mut tally = Tally::default();
    for seed in 0..RUNS {
        for what in [What::Idle, What::MatrixLatency] {
            let done = done(description, &ask(what, seed));
            for truth in done.truths() {
                tally.add(format!("{} {:?}", truth.name, truth.labels), truth.find(&done.report), truth.value);
            }
            if let Some((_, penalty)) = done.report.find("numa_penalty", &[("from", "0"), ("to", "1")]) {
                let cell = |to: &str| {
                    let truths = done.truths();
                    let of = |(label, value): &(&str, String), wanted: (&str, &str)| *label == wanted.0 && value == wanted.1;
                    let cell = truths.iter().find(|truth| {
                        truth.name == "matrix_latency" && of(&truth.labels[0], ("from", "0")) && of(&truth.labels[1], ("to", to))
                    });
                    cell.map(|truth| truth.value).unwrap()
                };
                tally.add("numa_penalty".to_owned(), Some(penalty), cell("1") - cell("0"));
            }
        }
        let request = Request { mixes: vec![Mix::Read], ..ask(What::Peak, seed) };
        let done = done(description, &request);
        for truth in done.truths() {
            tally.add(format!("{} {:?}", truth.name, truth.labels), truth.find(&done.report), truth.value);
        }
    }
    tally.hold(name);
}

#[test]
fn independent_noise() {
    world("independent", &small("", "[noise]\nwindow = 0.02"));
}

#[test]
fn windows_with_an_autocorrelation_of_09() {
    world("autocorrelated", &small("", "[noise]\nwindow = 0.01\ncorrelation = 0.9"));
}

#[test]
fn an_allocation_spread_of_half_a_per_cent() {
    world("allocations", &small("", "[noise]\nwindow = 0.004\ncorrelation = 0.5\nallocation = 0.005"));
}

/// A host that moves the CPUs between two states: a figure of several CPUs is of one state, its label says of which, and its
/// interval holds the truth of that one.
#[test]
fn two_placement_states_that_flip() {
    let states = "[noise]\nwindow = 0.006\ncorrelation = 0.5\nallocation = 0.003\n\
                  placement = { dwell_s = 0.8, transfer = 4.5, bandwidth = 1.9 }";
    let description = small("hypervisor = \"KVM\"", states);
    let mut tally = Tally::default();
    let mut classes = BTreeMap::<String, u32>::new();
    for seed in 0..RUNS {
        let request = Request { mixes: vec![Mix::Read], ..ask(What::Peak, seed) };
        let done = done(&description, &request);
        for truth in done.truths() {
            let Some(metric) = truth.find(&done.report) else { continue };
            // The run's ping-pongs tell which state it saw where it saw one only.
            let class = metric.labels.get("class").map_or("alone", String::as_str);
            *classes.entry(class.to_owned()).or_default() += 1;
            let far = match class {
                "far" => true,
                "one" => truth.value * 1.4 < metric.value,
                _ => false,
            };
            let truth_there = truth.value * if far { 1.9 } else { 1.0 };
            tally.add(format!("{} {:?} {class}", truth.name, truth.labels), Some(metric), truth_there);
        }
    }
    assert!(classes["near"] > 200 && classes["far"] > 200, "{classes:?}");
    tally.hold("flipping");
}

/// The knee of every run within a twentieth of the true one, and its interval around it.
#[test]
fn the_knee_and_its_interval() {
    for noise in ["window = 0.01", "window = 0.01\ncorrelation = 0.9", "window = 0.004\nallocation = 0.005"] {
        let description = small("", &format!("[noise]\n{noise}"));
        let (mut near, mut held, mut truth) = (0, 0, None);
        let runs = 100;
        for seed in 0..runs {
            let done = done(&description, &ask(What::Loaded, seed));
            let truth = *truth.get_or_insert_with(|| done.true_knee());
            let Some((_, knee)) = done.report.find("knee_bandwidth", &[]) else { continue };
            near += u32::from((knee.value / truth - 1.0).abs() < 0.05);
            let [lo, hi] = knee.ci95.unwrap();
            held += u32::from(lo <= truth && truth <= hi);
        }
        assert!(near >= 95, "{noise}: {near} of {runs} knees near the truth, {held} intervals around it");
        assert!(held >= 93, "{noise}: {held} of {runs} intervals hold the truth");
    }
}
