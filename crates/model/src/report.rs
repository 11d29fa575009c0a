//! The result document, `memgauge-result/1`: estimates with their uncertainty, and views of them.

use crate::{Command, Histogram, Machine, PairMap, Plan, PrefetchVerdict, Reason, Scan, Tool};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Index into [`Report::metrics`].
pub type MetricId = usize;

/// The whole document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// [`crate::RESULT_SCHEMA`].
    pub schema: String,
    /// Was nothing measured, and is every figure made by a described machine?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// The program.
    pub tool: Tool,
    /// The call.
    pub command: Command,
    /// Complete, partial or rejected, and why.
    pub status: Status,
    /// The machine.
    pub machine: Machine,
    /// The plan.
    pub plan: Plan,
    /// Every figure, once.
    pub metrics: Vec<Metric>,
    /// Whether prefetching was on where a chase ran, by probe; none where nothing chased.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prefetch: Option<PrefetchVerdict>,
    /// Loaded curves: views.
    pub curves: Vec<Curve>,
    /// Matrices: views.
    pub matrices: Vec<Matrix>,
    /// Sweeps over working sets and over threads: views.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<Sweep>,
    /// Scans of nodes' memory, by node and mix: views.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scans: Vec<Scan>,
    /// How single accesses are spread, where that was asked for: views.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histograms: Vec<Histogram>,
    /// All pairs of many CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<PairMap>,
    /// What the figures mean together.
    pub findings: Vec<Finding>,
    /// What was asked for and could not be had.
    pub unavailable: Vec<Missing>,
    /// What a reader should know, that makes nothing invalid.
    pub notes: Vec<String>,
}

/// The state of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {
    /// The state.
    pub state: State,
    /// Why it is not complete, one line each.
    pub reasons: Vec<String>,
}

/// The state's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// All of it, and nothing against it.
    Complete,
    /// It was stopped early; what is there is right.
    Partial,
    /// What another program printed: as it stands there, and nothing more is known of it.
    Imported,
    /// It can't be relied on, for the reasons named.
    Rejected,
}

/// A figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::schema::uncertain))]
pub struct Metric {
    /// Its name in the contract.
    pub name: String,
    /// `ns`, `B/s`, `Hz`, `lines`, `ratio`, `1/access`.
    pub unit: String,
    /// Conditions. Name and labels together are unique in a document.
    pub labels: BTreeMap<String, String>,
    /// The estimate: median over rounds of the median over undisturbed windows.
    pub value: f64,
    /// 95 % interval of it, `lo ≤ value ≤ hi`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ci95: Option<[f64; 2]>,
    /// Lowest and highest round, where there is no interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range: Option<[f64; 2]>,
    /// Why there is a range in place of an interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range_reason: Option<String>,
    /// p10 of a latency, p90 of a bandwidth: the machine when its host leaves it alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undisturbed: Option<f64>,
    /// 95 % interval of that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undisturbed_ci95: Option<[f64; 2]>,
    /// Lowest latency or highest bandwidth of any window. Never the headline.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub best: Option<f64>,
    /// Rounds.
    pub samples: u32,
    /// Windows that count.
    pub windows: u32,
    /// Windows that don't.
    pub excluded: u32,
    /// Where its memory was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub placement: Option<MetricPlacement>,
    /// Conditions that are no labels: `not settled`, `rfo: may be skipped`, …
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub remarks: Vec<String>,
}

/// Where a figure's memory was, by the kernel's own answer, before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricPlacement {
    /// The node that was asked for.
    pub node: u32,
    /// Pages asked about, over all rounds.
    pub pages: u64,
    /// Of those, on the node, before and after.
    pub on_node: u64,
    /// What was got.
    pub kind: String,
    /// Who answered.
    pub verified: String,
}

/// A loaded curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Curve {
    /// The mix.
    pub mix: String,
    /// The observer's CPU; none where nobody watched, or nobody says who.
    pub cpu: Option<u32>,
    /// Memory's node.
    pub node: u32,
    /// Load threads.
    pub threads: u32,
    /// Points in rising delay.
    pub points: Vec<CurvePoint>,
    /// What the curve says, where it says it.
    pub shape: Option<CurveShape>,
    /// f of the fit `B = N·256·f/(d + t0)`, Hz, and t0, core cycles; over the load threads' bandwidth. None where no such fit
    /// describes it, for the reason that stands in `unavailable`.
    pub burst_fit: Option<BurstFit>,
}

/// A point of a loaded curve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurvePoint {
    /// Core cycles between bursts.
    pub delay: u32,
    /// Its latency.
    pub latency: Option<MetricId>,
    /// Its bandwidth.
    pub bandwidth: Option<MetricId>,
}

/// What a curve says. Bandwidths in B/s, latencies in ns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveShape {
    /// Median latency of the five lowest-bandwidth points.
    pub idle_ns: f64,
    /// Up to here L ≤ 1.10 L0.
    pub flat_to: f64,
    /// The knee's metric, where the curve has one.
    pub knee: Option<MetricId>,
    /// The safe maximum's metric.
    pub safe: Option<MetricId>,
    /// From here on saturated (B ≥ 0.97 Bmax beyond the knee).
    pub saturated_from: Option<f64>,
    /// Bandwidth where L = 1.2, 1.5 and 2 L0: (factor, B/s).
    pub at_factor: Vec<(f64, Option<f64>)>,
    /// Highest bandwidth reached and latency there over L0.
    pub reached: (f64, f64),
}

/// The burst fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstFit {
    /// All-core clock, Hz.
    pub f: f64,
    /// Cycles that a burst itself takes.
    pub t0: f64,
    /// Largest relative residual.
    pub residual: f64,
    /// Core clock by the spins between the windows of the same blocks, Hz: what f is held against. None where none was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin_hz: Option<f64>,
}

/// A matrix of figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Matrix {
    /// The metric's name.
    pub name: String,
    /// Unit of all cells.
    pub unit: String,
    /// Numbers of the rows (nodes of the CPUs, writers).
    pub rows: Vec<u32>,
    /// Numbers of the columns (nodes of the memory, readers).
    pub columns: Vec<u32>,
    /// Labels that all cells share.
    pub labels: BTreeMap<String, String>,
    /// Cells by row.
    pub cells: Vec<Vec<Option<MetricId>>>,
}

/// Figures of one kind against the size of the working set, or against the number of threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sweep {
    /// The metric's name.
    pub name: String,
    /// What differs from point to point.
    pub over: SweepOver,
    /// Labels that all points share.
    pub labels: BTreeMap<String, String>,
    /// Points in rising order.
    pub points: Vec<SweepPoint>,
    /// Caches as measured, the innermost first; of latencies over bytes alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<FoundCache>,
    /// What limits the bandwidth of all threads; of bandwidths over threads alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
}

/// What a sweep goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SweepOver {
    /// Bytes of the working set of each thread.
    Bytes,
    /// Threads.
    Threads,
}

/// A point of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepPoint {
    /// Bytes, or threads.
    pub at: u64,
    /// Its figure; none where it could not be had.
    pub metric: Option<MetricId>,
}

/// A cache: as measured, as declared, or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundCache {
    /// `L1`, `L2`, … where the size is one that is declared, or lies nearest to it; else `?`.
    pub level: String,
    /// The metric `cache_size`, where the latency rises at its end.
    pub found: Option<MetricId>,
    /// As declared, bytes.
    pub declared: Option<u64>,
    /// Is the one within one step of the sweep from the other? None where either is missing.
    pub same: Option<bool>,
}

/// What limits the bandwidth of all threads together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Each thread adds what the first one has: the cores.
    Cores,
    /// From this number of threads on, more add next to nothing: the memory.
    Memory {
        /// The fewest threads that reach 95 % of the most.
        threads: u64,
    },
    /// Each further thread adds something, and less than the first.
    Both,
}

/// Something that the figures mean together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The rule.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// In a sentence, with its remedy.
    pub text: String,
    /// The figures that it rests on.
    pub evidence: Vec<MetricId>,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Costs something.
    Warning,
    /// Costs much.
    Critical,
}

/// A figure that could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missing {
    /// The metric's name.
    pub name: String,
    /// Its labels, as far as they are known.
    pub labels: BTreeMap<String, String>,
    /// The kind of reason.
    pub reason: Reason,
    /// What was seen.
    pub detail: String,
    /// What to do about it.
    pub remedy: String,
}

impl Report {
    /// The first metric with this name whose labels hold all of `wanted`.
    #[must_use]
    pub fn find(&self, name: &str, wanted: &[(&str, &str)]) -> Option<(MetricId, &Metric)> {
        self.metrics.iter().enumerate().find(|(_, metric)| metric.name == name && metric.is(wanted))
    }
}

impl Metric {
    /// Do the labels hold all of `wanted`?
    #[must_use]
    pub fn is(&self, wanted: &[(&str, &str)]) -> bool {
        wanted.iter().all(|(label, value)| self.labels.get(*label).is_some_and(|have| have == value))
    }

    /// Half the interval's width (or the range's), in the metric's unit.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        self.ci95.or(self.range).map(|[lo, hi]| (hi - lo) / 2.0)
    }
}
