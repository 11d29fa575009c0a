//! Figures and views as they come together.

use memgauge_model::{Curve, CurvePoint, Matrix, Metric, MetricId};
use std::collections::{BTreeMap, BTreeSet};

pub(super) type Labels = BTreeMap<String, String>;

/// Why a figure has a range in place of an interval.
const REASON: &str = "imported: one figure, no interval";

/// What there is so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub metrics: Vec<Metric>,
    pub curves: Vec<Curve>,
    pub matrices: Vec<Matrix>,
    pub notes: Vec<String>,
    seen: BTreeSet<(String, Labels)>,
    /// Figures left out since they stood there before.
    pub twice: u32,
    /// Rows of histograms, which become no figures.
    pub bins: u32,
}

impl Draft {
    /// Adds a figure. Name and labels are unique in a document: where an earlier output has the same, this one's number is a
    /// label, too; where the same output has it twice, the first counts.
    pub fn add(&mut self, name: &str, unit: &str, value: f64, mut labels: Labels, run: u32) -> Option<MetricId> {
        if !self.seen.insert((name.to_owned(), labels.clone())) {
            labels.insert("run".to_owned(), run.to_string());
            if run < 2 || !self.seen.insert((name.to_owned(), labels.clone())) {
                self.twice += 1;
                return None;
            }
        }
        self.metrics.push(Metric {
            name: name.to_owned(),
            unit: unit.to_owned(),
            labels,
            value,
            ci95: None,
            range: Some([value; 2]),
            range_reason: Some(REASON.to_owned()),
            undisturbed: None,
            undisturbed_ci95: None,
            best: None,
            samples: 1,
            windows: 0,
            excluded: 0,
            placement: None,
            remarks: Vec::new(),
        });
        Some(self.metrics.len() - 1)
    }

    /// A bandwidth that is printed as the memory controller sees it, 10^6 B/s. Of reads that is what the loops read, too.
    /// Returns the one that views hold.
    pub fn rate(&mut self, name: &str, mega: f64, labels: &Labels, run: u32) -> Option<MetricId> {
        let controller = self.add(&format!("{name}_dram"), "B/s", mega * 1e6, labels.clone(), run);
        let reads = labels.get("mix").is_some_and(|mix| mix == "read");
        if reads { self.add(name, "B/s", mega * 1e6, labels.clone(), run) } else { controller }
    }

    /// A view of a table's cells: row, column, figure.
    pub fn matrix(&mut self, name: &str, unit: &str, cells: &[(u32, u32, MetricId)]) {
        let rows: BTreeSet<u32> = cells.iter().map(|(row, ..)| *row).collect();
        let columns: BTreeSet<u32> = cells.iter().map(|(_, column, _)| *column).collect();
        let by_place: BTreeMap<(u32, u32), MetricId> = cells.iter().map(|(row, column, id)| ((*row, *column), *id)).collect();
        let Some((.., first)) = cells.first() else { return };
        let mut labels = self.metrics[*first].labels.clone();
        labels.retain(|label, value| {
            let shared = cells.iter().all(|(.., id)| self.metrics[*id].labels.get(label) == Some(value));
            shared && !["from", "to", "cpu"].contains(&label.as_str())
        });
        self.matrices.push(Matrix {
            name: name.to_owned(),
            unit: unit.to_owned(),
            cells: rows
                .iter()
                .map(|row| columns.iter().map(|column| by_place.get(&(*row, *column)).copied()).collect())
                .collect(),
            rows: rows.into_iter().collect(),
            columns: columns.into_iter().collect(),
            labels,
        });
    }

    /// A view of a loaded curve.
    pub fn curve(&mut self, labels: &Labels, mut points: Vec<CurvePoint>) {
        points.sort_by_key(|point| point.delay);
        let named = |label: &str| labels.get(label).and_then(|value| value.parse().ok());
        let number = |label: &str| named(label).unwrap_or(0);
        self.curves.push(Curve {
            mix: labels.get("mix").cloned().unwrap_or_default(),
            cpu: named("cpu"),
            node: number("node"),
            threads: number("threads"),
            points,
            shape: None,
            burst_fit: None,
        });
    }
}
