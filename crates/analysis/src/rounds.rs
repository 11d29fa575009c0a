//! From windows to the value of a round, from rounds to an estimate. The definitions are those of `docs/method.md`.

use memgauge_model::{Block, DisturbanceLimits, Window, units};
use memgauge_stats as stats;
use std::collections::{BTreeMap, BTreeSet};

/// What a figure is: which end is the good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// ns; low is good.
    Latency,
    /// B/s; high is good.
    Bandwidth,
}

impl Quantity {
    pub fn unit(self) -> &'static str {
        match self {
            Self::Latency => "ns",
            Self::Bandwidth => "B/s",
        }
    }

    /// The quantile of windows that stands for a machine that its host leaves alone.
    fn undisturbed(self) -> f64 {
        match self {
            Self::Latency => 0.1,
            Self::Bandwidth => 0.9,
        }
    }

    fn better(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Latency => a.min(b),
            Self::Bandwidth => a.max(b),
        }
    }
}

/// What a round says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    pub round: u32,
    /// Median of its undisturbed windows.
    pub typical: f64,
    /// p10 or p90 of them.
    pub undisturbed: Option<f64>,
}

/// The rounds of a figure.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Series {
    /// By rising round.
    pub samples: Vec<Sample>,
    /// Values of the windows that count, by round and time.
    pub trace: Vec<f64>,
    /// The best of all windows, disturbed or not.
    pub best: Option<f64>,
    /// What stands for the trace where windows can't be had, as in a difference of two figures.
    pub ends: Option<[f64; 2]>,
    /// Windows that count.
    pub windows: u32,
    /// Windows that don't.
    pub excluded: u32,
    /// Of those, how many by reason.
    pub seen: BTreeMap<&'static str, u32>,
    /// No window was undisturbed: the values are those of disturbed ones, and the figure is rejected.
    pub only_disturbed: bool,
}

impl Series {
    /// Rounds of windows, each valued by `value`; what is not positive and finite is no measurement.
    pub fn of_windows(
        blocks: &[&Block],
        limits: &DisturbanceLimits,
        quantity: Quantity,
        value: impl Fn(&Window) -> Option<f64>,
    ) -> Self {
        let mut series = Self::default();
        let mut disturbed = Vec::new();
        for block in blocks {
            let (mut counted, mut all) = (Vec::new(), Vec::new());
            for window in &block.windows {
                let value = value(window).filter(|value| value.is_finite() && *value > 0.0);
                series.best = best(quantity, series.best, value);
                all.extend(value);
                match value.filter(|_| window.undisturbed(limits)) {
                    Some(value) => counted.push(value),
                    None => series.exclude(window, limits),
                }
            }
            series.round(block.round, quantity, counted);
            disturbed.push((block.round, all));
        }
        series.fall_back(quantity, disturbed);
        series
    }

    /// Rounds of which each gives one value, not one a window; 0 is one, too.
    pub fn of_blocks(blocks: &[&Block], value: impl Fn(&Block) -> Option<f64>) -> Self {
        let mut series = Self::default();
        for block in blocks {
            if let Some(typical) = value(block).filter(|value| value.is_finite() && *value >= 0.0) {
                series.samples.push(Sample { round: block.round, typical, undisturbed: None });
                series.windows += count(block.windows.len());
            }
        }
        series
    }

    /// Rounds of core-to-core passes. Windows, where the block has them, only tell what was disturbed.
    pub fn of_passes(blocks: &[&Block], limits: &DisturbanceLimits) -> Self {
        let mut series = Self::default();
        let mut disturbed = Vec::new();
        for block in blocks {
            let passes: Vec<f64> = block.passes_ns.iter().copied().filter(|ns| ns.is_finite() && *ns > 0.0).collect();
            series.best = passes.iter().fold(series.best, |so_far, pass| best(Quantity::Latency, so_far, Some(*pass)));
            let bad = block.windows.iter().filter(|window| !window.undisturbed(limits));
            bad.for_each(|window| series.exclude(window, limits));
            let all_disturbed = !block.windows.is_empty() && block.windows.iter().all(|window| !window.undisturbed(limits));
            match all_disturbed {
                true => disturbed.push((block.round, passes)),
                false => series.round(block.round, Quantity::Latency, passes),
            }
        }
        series.fall_back(Quantity::Latency, disturbed);
        series
    }

    /// A rejected figure is shown: better a marked one than none where no window was left alone.
    fn fall_back(&mut self, quantity: Quantity, disturbed: Vec<(u32, Vec<f64>)>) {
        if self.samples.is_empty() {
            disturbed.into_iter().for_each(|(round, all)| self.round(round, quantity, all));
            self.only_disturbed = !self.samples.is_empty();
            self.windows = 0;
        }
    }

    /// Windows whose placement class changed count as excluded.
    pub fn exclude_changed(&mut self, blocks: &[&Block]) {
        let windows = blocks.iter().map(|block| count(block.windows.len().max(block.passes_ns.len()))).sum::<u32>();
        if windows > 0 {
            self.excluded += windows;
            *self.seen.entry("placement class changed").or_default() += windows;
        }
    }

    /// Takes in how many windows another figure has, and what was disturbed of them.
    pub fn count_with(&mut self, other: &Self) {
        self.windows += other.windows;
        self.excluded += other.excluded;
        other.seen.iter().for_each(|(kind, count)| *self.seen.entry(kind).or_default() += count);
    }

    /// The share of windows that don't count.
    pub fn excluded_share(&self) -> f64 {
        f64::from(self.excluded) / f64::from((self.windows + self.excluded).max(1))
    }

    /// `34 of 100 windows disturbed: waited for its CPU 30, core clock moved 5`; the most frequent first.
    pub fn disturbances(&self) -> String {
        let all = units::count((self.windows + self.excluded).into(), "window");
        format!("{} of {all} disturbed: {}", self.excluded, by_frequency(&self.seen))
    }

    /// Values over rounds.
    pub fn typical(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.typical).collect()
    }

    /// The value of one round.
    pub fn in_round(&self, round: u32) -> Option<f64> {
        self.samples.iter().find(|sample| sample.round == round).map(|sample| sample.typical)
    }

    /// Lowest and highest window that counts, else lowest and highest round.
    pub fn span(&self) -> Option<[f64; 2]> {
        self.ends.or_else(|| span(&self.trace)).or_else(|| span(&self.typical()))
    }

    fn round(&mut self, round: u32, quantity: Quantity, counted: Vec<f64>) {
        self.windows += count(counted.len());
        if let Some(typical) = stats::median(&counted) {
            let undisturbed = stats::quantile(&counted, quantity.undisturbed());
            self.samples.push(Sample { round, typical, undisturbed });
            self.trace.extend(counted);
        }
    }

    fn exclude(&mut self, window: &Window, limits: &DisturbanceLimits) {
        self.excluded += 1;
        let mut named = false;
        for kind in window.disturbances(limits) {
            *self.seen.entry(kind.text()).or_default() += 1;
            named = true;
        }
        if !named {
            *self.seen.entry("gave no value").or_default() += 1;
        }
    }
}

/// A value with its uncertainty.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Estimate {
    pub value: f64,
    pub ci95: Option<[f64; 2]>,
    pub range: Option<[f64; 2]>,
    pub range_reason: Option<String>,
    pub undisturbed: Option<f64>,
    pub undisturbed_ci95: Option<[f64; 2]>,
    /// The interval is that of one allocation.
    pub within_allocation: bool,
}

/// Rounds that an interval needs.
const ENOUGH: usize = 6;

/// The estimate over rounds; none without a round. `why` says what became of the rounds that are missing.
pub(crate) fn estimate(series: &Series, why: &str) -> Option<Estimate> {
    let values = series.typical();
    let value = stats::median(&values)?;
    let quiet: Vec<f64> = series.samples.iter().filter_map(|sample| sample.undisturbed).collect();
    let mut estimate = Estimate { value, undisturbed: stats::median(&quiet), ..Estimate::default() };
    estimate.undisturbed_ci95 = stats::order_interval(&quiet).map(|interval| [interval.lo, interval.hi]);
    estimate.ci95 = stats::order_interval(&values).map(|interval| [interval.lo, interval.hi]);
    if estimate.ci95.is_none() {
        if let [_] = values[..] {
            within(&mut estimate, series);
        } else {
            estimate.range = span(&values);
            estimate.range_reason = Some(format!("{} rounds, an interval needs {ENOUGH}", values.len()));
        }
        if let (Some(reason), false) = (&mut estimate.range_reason, why.is_empty()) {
            *reason += &format!("; {why}");
        }
    }
    Some(estimate)
}

/// One allocation: an interval by as many batches of windows as its autocorrelation leaves independent, else a range.
fn within(estimate: &mut Estimate, series: &Series) {
    let trace = &series.trace;
    estimate.within_allocation = true;
    let independent = stats::lag1_autocorrelation(trace).map_or(0.0, |rho| stats::effective_n(trace.len(), rho));
    // Truncation is meant: 5.9 independent windows are 5.
    let batches = independent as usize;
    if batches >= ENOUGH {
        let at = |batch: usize| batch * trace.len() / batches;
        let medians: Vec<f64> = (0..batches).filter_map(|batch| stats::median(&trace[at(batch)..at(batch + 1)])).collect();
        let interval = stats::order_interval(&medians);
        // The median of batches need not be the median of windows: keep the promise lo ≤ value ≤ hi.
        estimate.ci95 = interval.map(|interval| [interval.lo.min(estimate.value), interval.hi.max(estimate.value)]);
    }
    if estimate.ci95.is_none() {
        estimate.range = series.span().or(Some([estimate.value; 2]));
        estimate.range_reason = Some(match trace.len() {
            0 => "one round".to_owned(),
            1 => "one round, within_allocation: 1 window".to_owned(),
            n if independent <= 0.0 => format!("one round, within_allocation: {n} windows"),
            n => format!("one round, within_allocation: {n} windows, worth {independent:.1} independent ones"),
        });
    }
}

/// Combines two figures round by round: only rounds that measured both count. `span` combines the spreads of their
/// windows, for a run of one round.
pub(crate) fn paired(
    a: &Series,
    b: &Series,
    value: impl Fn(f64, f64) -> f64,
    spread: impl Fn([f64; 2], [f64; 2]) -> [f64; 2],
) -> Series {
    let pairs = a.samples.iter().filter_map(|sample| Some((sample.round, sample.typical, b.in_round(sample.round)?)));
    let samples: Vec<Sample> = pairs.map(|(round, a, b)| Sample { round, typical: value(a, b), undisturbed: None }).collect();
    let ends = a.span().zip(b.span()).filter(|_| samples.len() == 1).map(|(a, b)| spread(a, b));
    Series { samples, ends, windows: a.windows + b.windows, excluded: a.excluded + b.excluded, ..Series::default() }
}

/// Of several like things the middle one in each round that at least half of them have: a round that was broken off would show
/// whichever came first.
pub(crate) fn middle(all: &[&Series]) -> Series {
    let mut middle = Series::default();
    let rounds: BTreeSet<u32> = all.iter().flat_map(|one| &one.samples).map(|sample| sample.round).collect();
    for round in rounds {
        let of_round: Vec<&Sample> = all.iter().filter_map(|one| one.samples.iter().find(|s| s.round == round)).collect();
        let typical: Vec<f64> = of_round.iter().map(|sample| sample.typical).collect();
        let undisturbed: Vec<f64> = of_round.iter().filter_map(|sample| sample.undisturbed).collect();
        if let Some(typical) = stats::median(&typical).filter(|_| of_round.len() * 2 >= all.len()) {
            middle.samples.push(Sample { round, typical, undisturbed: stats::median(&undisturbed) });
        }
    }
    all.iter().for_each(|one| middle.count_with(one));
    middle
}

/// `waited for its CPU 30, core clock moved 5`; the most frequent first.
pub(crate) fn by_frequency(seen: &BTreeMap<&'static str, u32>) -> String {
    let mut kinds: Vec<(&str, u32)> = seen.iter().map(|(kind, count)| (*kind, *count)).collect();
    kinds.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect::<Vec<_>>().join(", ")
}

fn best(quantity: Quantity, so_far: Option<f64>, value: Option<f64>) -> Option<f64> {
    match (so_far, value) {
        (Some(a), Some(b)) => Some(quantity.better(a, b)),
        (one, other) => one.or(other),
    }
}

/// Lowest and highest.
pub(crate) fn span(values: &[f64]) -> Option<[f64; 2]> {
    let (first, rest) = values.split_first()?;
    Some(rest.iter().fold([*first, *first], |[lo, hi], value| [lo.min(*value), hi.max(*value)]))
}

/// A count for the document.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_batches_is_widened_to_the_value() {
        let trace: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 10)).collect();
        let mut estimate = Estimate { value: 50.0, ..Estimate::default() };
        within(&mut estimate, &Series { trace, ..Series::default() });
        assert_eq!(estimate.ci95.map(|[_, hi]| hi), Some(50.0));
    }
}
