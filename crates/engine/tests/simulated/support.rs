//! Simulated machines, runs of them, and what their figures should say.

use memgauge_analysis::analyze;
use memgauge_engine::simulated::{Description, Simulated};
use memgauge_engine::{Quiet, run};
use memgauge_model::*;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

static STOP: AtomicBool = AtomicBool::new(false);

/// Two sockets of four cores, small enough for thousands of runs; seven loads saturate a node.
const SMALL: &str = r#"
name = "small"
flags = ["sse2", "avx2"]
[[cores]]
ghz = 2.5
lines = 20
l1 = { kib = 32, ns = 1.6, gb_per_s = 200 }
l2 = { kib = 512, ns = 5, gb_per_s = 80 }
[l3]
mib = 8
cores = 4
ns = 18
gb_per_s = 30
[[nodes]]
count = 2
cores = [["uniform", 4]]
memory = { gib = 16, ns = 90, channels = 2, gb_per_s = 25.6 }
[[links]]
from = "0"
to = "1"
ns = 50
gb_per_s = 30
[transfer]
core_ns = 8
l2_ns = 8
l3_ns = 40
package_ns = 60
far_ns = 120
"#;

/// The small machine with these lines before or behind its description.
pub fn small(before: &str, behind: &str) -> Description {
    Description::read(&format!("{before}\n{SMALL}\n{behind}")).unwrap()
}

/// A run, its machine, and what was made of it.
pub struct Done {
    pub machine: Simulated,
    pub record: Record,
    pub report: Report,
}

/// Plans, runs and analyses.
pub fn done(description: &Description, request: &Request) -> Done {
    let machine = description.machine();
    let plan = memgauge_plan::build(request, &machine).unwrap();
    let mut backend = Simulated::new(description.clone(), request.seed, &STOP);
    let run = run(&plan, &mut backend, &mut Quiet);
    let tool = Tool { name: "memgauge".into(), version: String::new(), build: String::new() };
    let command =
        Command { argv: vec![], seed: request.seed, started: String::new(), seconds: 1.0, environment: BTreeMap::new() };
    let record = Record { tool, command, machine, plan, before: BTreeMap::new(), after: BTreeMap::new(), run };
    Done { report: analyze(&record), machine: backend, record }
}

/// A request with this seed.
pub fn ask(what: What, seed: u64) -> Request {
    Request { seed, ..Request::new(what) }
}

/// A figure that a point gives, and what it should say.
#[derive(Debug)]
pub struct Truth {
    pub name: &'static str,
    pub labels: Vec<(&'static str, String)>,
    pub value: f64,
}

impl Truth {
    /// The report's figure; none where it has none.
    pub fn find<'a>(&self, report: &'a Report) -> Option<&'a Metric> {
        let labels: Vec<(&str, &str)> = self.labels.iter().map(|(key, value)| (*key, value.as_str())).collect();
        report.find(self.name, &labels).map(|(_, metric)| metric)
    }
}

impl Done {
    /// What the points of idle latencies, peaks and matrices should say.
    pub fn truths(&self) -> Vec<Truth> {
        let plan = &self.record.plan;
        let points = plan.points.iter().enumerate();
        points.filter_map(|(at, point)| self.truth(at, point)).collect()
    }

    fn truth(&self, at: PointId, point: &Point) -> Option<Truth> {
        let plan = &self.record.plan;
        let latency = || self.machine.expected(plan, at, 0).unwrap().latency_ns.unwrap();
        let bandwidth = || self.machine.expected(plan, at, 0).unwrap().bytes_per_s();
        let threads = ("threads", point.threads.len().to_string());
        let truth = |name, labels, value| Some(Truth { name, labels, value });
        match &point.measure {
            Measure::Idle { keepalive, .. } => {
                let Job::Chase { arena, ring } = point.threads[0].job else { return None };
                let Holds::Chase { rings, .. } = &plan.arenas[arena].holds else { return None };
                let labels = vec![
                    ("order", rings[ring].order.word().to_owned()),
                    ("pages", plan.arenas[arena].pages.word().to_owned()),
                    ("keepalive", if *keepalive { "yes" } else { "no" }.to_owned()),
                ];
                truth("idle_latency", labels, latency())
            }
            Measure::Peak { mix } => truth("peak_bandwidth", vec![("mix", mix.name().to_owned()), threads], bandwidth()),
            Measure::MatrixLatency { from, to } => {
                truth("matrix_latency", vec![("from", from.to_string()), ("to", to.to_string())], latency())
            }
            Measure::MatrixBandwidth { from, to, .. } => {
                truth("matrix_bandwidth", vec![("from", from.to_string()), ("to", to.to_string())], bandwidth())
            }
            Measure::C2c { from, to, home, kind, via, repeat: false, scope: C2cScope::Node } => {
                let mut labels = vec![
                    ("from", from.to_string()),
                    ("to", to.to_string()),
                    ("home", home.to_string()),
                    ("kind", kind.word().to_owned()),
                ];
                // The usual way has no label, and comes first.
                if *via != C2cVia::L2 {
                    labels.push(("via", via.word().to_owned()));
                }
                truth("c2c_latency", labels, self.machine.expected_transfer(plan, at).unwrap())
            }
            _ => None,
        }
    }

    /// The knee of the noise-free curve of a point like this, over all delays: those of a coarse ladder, then a fine one around
    /// the best of them, whose steps are half a per cent.
    pub fn true_knee(&self) -> f64 {
        let plan = &self.record.plan;
        let loaded = plan.points.iter().position(|point| matches!(point.measure, Measure::Loaded { .. })).unwrap();
        let at = |delay: f64| {
            let expected = self.machine.expected(plan, loaded, delay.round() as u32).unwrap();
            (delay, expected.bytes_per_s(), expected.bytes_per_s() / expected.latency_ns.unwrap())
        };
        let best = |from: f64, to: f64, step: f64| {
            let delays = std::iter::successors(Some(from), |delay| Some(delay * step)).take_while(|delay| *delay <= to);
            delays.map(at).max_by(|a, b| a.2.total_cmp(&b.2)).unwrap()
        };
        let (delay, ..) = best(1.0, 20_000.0, 1.1);
        best(delay / 1.15, delay * 1.15, 1.005).1
    }
}
