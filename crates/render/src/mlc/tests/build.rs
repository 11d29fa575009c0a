//! Reports made of the figures that a section prints.

use crate::sample;
use memgauge_model::{Curve, CurvePoint, Matrix, Report, What};
use std::collections::BTreeMap;

/// A report that grows.
pub struct Build(pub Report);

impl Build {
    pub fn new() -> Self {
        let mut report = sample::report(What::All);
        report.metrics.push(sample::metric("clock_hz", "Hz", 2e9, &[]));
        Self(report)
    }

    pub fn add(&mut self, name: &str, unit: &str, value: f64, labels: &[(&str, &str)]) -> Option<usize> {
        self.0.metrics.push(sample::metric(name, unit, value, labels));
        Some(self.0.metrics.len() - 1)
    }

    /// A bandwidth in 10^6 B/s, with application bytes that are another number.
    pub fn rate(&mut self, name: &str, mega: f64, labels: &[(&str, &str)]) -> Option<usize> {
        self.add(&format!("{name}_dram"), "B/s", mega * 1e6, labels);
        self.add(name, "B/s", mega * 7e5, labels)
    }

    pub fn idle(mut self, ns: f64) -> Self {
        self.add("idle_latency", "ns", ns, &[("bytes", "6041600"), ("order", "sequential")]);
        self
    }

    /// Rows of cells, nodes from 0 on.
    pub fn latencies(mut self, order: &str, rows: &[&[f64]]) -> Self {
        self.matrix("matrix_latency", rows, |build, value, from, to| {
            build.add("matrix_latency", "ns", value, &[("from", from), ("to", to), ("order", order), ("bytes", "204800000")])
        });
        self
    }

    pub fn bandwidths(mut self, rows: &[&[f64]]) -> Self {
        self.matrix("matrix_bandwidth_dram", rows, |build, value, from, to| {
            let labels = [("from", from), ("to", to), ("mix", "read"), ("bytes", "104857600")];
            build.rate("matrix_bandwidth", value, &labels).map(|id| id - 1)
        });
        self
    }

    fn matrix(&mut self, name: &str, rows: &[&[f64]], cell: impl Fn(&mut Self, f64, &str, &str) -> Option<usize>) {
        let mut cells = Vec::new();
        for (from, row) in rows.iter().enumerate() {
            let row = row.iter().enumerate().map(|(to, value)| cell(self, *value, &from.to_string(), &to.to_string()));
            cells.push(row.collect::<Vec<_>>());
        }
        self.0.matrices.push(Matrix {
            name: name.into(),
            unit: "of a test".into(),
            rows: (0..rows.len() as u32).collect(),
            columns: (0..rows[0].len() as u32).collect(),
            labels: BTreeMap::new(),
            cells,
        });
    }

    /// The five of `peak_bandwidth` or `max_bandwidth`; beside them those of one thread, which are not printed.
    pub fn five(mut self, name: &str, values: [f64; 5]) -> Self {
        for ((_, mix), value) in crate::mlc::LABELLED_MIXES.iter().zip(values) {
            for (threads, value) in [("16", value), ("1", value / 10.0), ("9", value / 2.0)] {
                self.rate(name, value, &[("mix", mix), ("threads", threads), ("bytes", "104857600")]);
            }
        }
        self
    }

    /// Delay, ns (none without an observer), 10^6 B/s.
    pub fn curve(mut self, rows: &[(u32, Option<f64>, f64)]) -> Self {
        let points = rows.iter().map(|(delay, ns, mega)| {
            let text = delay.to_string();
            let labels = [("delay", text.as_str()), ("mix", "read"), ("load_bytes", "104857600")];
            let latency = ns.and_then(|ns| self.add("loaded_latency", "ns", ns, &labels));
            CurvePoint { delay: *delay, latency, bandwidth: self.rate("loaded_bandwidth", *mega, &labels) }
        });
        let points = points.collect();
        self.0.curves.push(Curve { mix: "read".into(), cpu: Some(0), node: 0, threads: 1, points, shape: None, burst_fit: None });
        self
    }

    /// Writer, reader, home, kind, ns.
    pub fn transfer(mut self, from: u32, to: u32, home: u32, kind: &str, ns: f64) -> Self {
        let [from, to, home] = [from, to, home].map(|node| node.to_string());
        let labels = [("scope", "node"), ("from", &from), ("to", &to), ("home", &home), ("kind", kind)];
        for (method, ns) in [("pingpong", ns / 2.0), ("chase", ns)] {
            let with = labels.iter().copied().chain([("method", method)]).collect::<Vec<_>>();
            self.add("c2c_latency", "ns", ns, &with);
        }
        self
    }
}
