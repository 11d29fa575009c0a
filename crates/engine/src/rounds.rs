//! When a point has had rounds enough, and how long its windows may be.

use memgauge_model::{Block, DisturbanceLimits, Measure, Plan, PointId, PointRecord, RoundRule};
use memgauge_stats as stats;

/// The value of one block for the stop rule: the median over undisturbed windows of its latency if it has one, else of its
/// bandwidth; for transfers the median pass. This is the same estimate that analysis makes of a round.
pub fn value_of(block: &Block, limits: &DisturbanceLimits, measure: &Measure) -> Option<f64> {
    if !block.passes_ns.is_empty() {
        return stats::median(&block.passes_ns);
    }
    if let Some(access) = &block.access {
        return Some(access.mean_ns);
    }
    let by_latency = matches!(
        measure,
        Measure::Idle { .. } | Measure::MatrixLatency { .. } | Measure::SweepLatency { .. } | Measure::PrefetchProbe
    );
    // Loads may have nobody who watches them.
    let watched = matches!(measure, Measure::Loaded { .. }) && block.windows.iter().any(|window| window.hops > 0);
    let by_latency = by_latency || watched;
    let values = block.windows.iter().filter(|window| window.undisturbed(limits));
    let values: Vec<f64> =
        values.filter_map(|window| if by_latency { window.latency_ns() } else { Some(window.bytes_per_s()) }).collect();
    stats::median(&values)
}

/// Median bandwidth of a block's undisturbed windows (of all, if none is undisturbed), B/s.
pub fn bandwidth_of(block: &Block, limits: &DisturbanceLimits) -> Option<f64> {
    let all = || block.windows.iter();
    let quiet: Vec<f64> = all().filter(|w| w.undisturbed(limits)).map(memgauge_model::Window::bytes_per_s).collect();
    stats::median(&quiet).or_else(|| stats::median(&all().map(memgauge_model::Window::bytes_per_s).collect::<Vec<_>>()))
}

/// Disturbed windows of these blocks over all of them; 0 where there are none.
pub fn disturbed_share<'a>(blocks: impl IntoIterator<Item = &'a Block>, limits: &DisturbanceLimits) -> f64 {
    let (mut disturbed, mut all) = (0_u32, 0_u32);
    for window in blocks.into_iter().flat_map(|block| &block.windows) {
        all += 1;
        disturbed += u32::from(!window.undisturbed(limits));
    }
    if all == 0 { 0.0 } else { f64::from(disturbed) / f64::from(all) }
}

/// Is this point done at a look after `rounds` rounds?
pub fn is_done(plan: &Plan, point: PointId, record: &PointRecord, rounds: u32) -> bool {
    let RoundRule { looks, precision, .. } = &plan.rounds;
    if plan.points[point].brief.is_some_and(|most| rounds >= most) {
        return true;
    }
    if looks.last().is_none_or(|last| rounds >= *last) {
        return true;
    }
    if !looks.contains(&rounds) {
        return false;
    }
    // A verdict needs rounds enough for an interval, and no precision.
    if plan.points[point].measure == Measure::PrefetchProbe {
        return true;
    }
    let Some(precision) = *precision else { return true };
    let counted: Vec<&Block> = record.rounds.iter().filter(|block| !block.superseded).collect();
    let of_most = in_most(&counted);
    let values = counted
        .into_iter()
        .filter(|block| of_most(block))
        .filter_map(|block| value_of(block, &plan.windows.limits, &plan.points[point].measure))
        .collect::<Vec<_>>();
    let Some(interval) = stats::order_interval(&values) else { return false };
    let Some(median) = stats::median(&values) else { return false };
    (interval.hi - interval.lo) / 2.0 <= precision * median.abs()
}

/// Whether a block is of the placement class in which most of these lie; each is where classes are not told apart.
pub fn in_most(blocks: &[&Block]) -> impl Fn(&Block) -> bool + use<> {
    let times: Vec<f64> = blocks.iter().filter_map(|block| block.class_after_ns).collect();
    let told = stats::split_classes(&times).filter(|_| times.len() == blocks.len()).map(|classes| {
        let far = classes.assignment.iter().filter(|class| **class > 0).count();
        let most = usize::from(2 * far >= blocks.len());
        (classes, most)
    });
    move |block| match (&told, block.class_after_ns) {
        (Some((classes, most)), Some(time)) => classes.classify(time) == *most,
        (told, _) => told.is_none(),
    }
}

/// The share of the planned window time that the next round may take, so that the whole run keeps its time: what is left, over
/// the rounds to come, less what a round costs beside its windows, `beside_ns`.
pub fn share(whole_ns: Option<u64>, elapsed_ns: u64, rounds_left: u32, window_ns: u64, beside_ns: u64) -> f64 {
    let (Some(whole), true) = (whole_ns, rounds_left > 0 && window_ns > 0) else { return 1.0 };
    let left = whole.saturating_sub(elapsed_ns) / u64::from(rounds_left);
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of a run stay below 2^52")]
    let share = left.saturating_sub(beside_ns) as f64 / window_ns as f64;
    share.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_setup_shortens_the_windows_and_never_lengthens_them() {
        // 28 s in all, after one round of 6 s of which 3 s were windows: 22 s for five rounds is 4.4 s, 1.4 s for windows.
        let share_now = share(Some(28_000), 6_000, 5, 3_000, 3_000);
        assert!((share_now - 1_400.0 / 3_000.0).abs() < 1e-3, "{share_now}");
        assert!(share(Some(28_000), 2_000, 5, 1_000, 1_000) >= 1.0);
        assert!(share(Some(28_000), 30_000, 5, 1_000, 1_000) <= 0.0);
        assert!(share(None, 30_000, 5, 1_000, 1_000) >= 1.0);
    }
}
