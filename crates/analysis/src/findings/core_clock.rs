//! The cores ran slower in some rounds than in others. Within a block the reference spin at each mark shows it and leaves those
//! windows out; a clock that has dropped before a block began and stays so is steady within it, and shows only here.

use super::evidence::{finding, percent};
use memgauge_model::{Finding, Record, Report, Severity};

/// Three steps of a turbo clock; fewer of them come and go with the temperature.
const DROP: f64 = 0.1;

pub(super) fn find(record: &Record, _: &Report) -> Vec<Finding> {
    // The same work in all its rounds: the clock depends on how many cores are busy, and with what.
    let of_point = |clocks: Vec<f64>| {
        let highest = clocks.iter().copied().fold(0.0, f64::max);
        let lowest = clocks.iter().copied().fold(highest, f64::min);
        let slow = clocks.iter().filter(|clock| **clock < (1.0 - DROP) * highest).count();
        (highest, lowest, slow, clocks.len())
    };
    let counted = |point: &memgauge_model::PointRecord| {
        let blocks = point.rounds.iter().filter(|block| !block.superseded && block.core_hz > 0.0);
        blocks.map(|block| block.core_hz).collect::<Vec<f64>>()
    };
    let points: Vec<_> = record.run.points.iter().map(|point| of_point(counted(point))).collect();
    let (slow, all) = points.iter().fold((0, 0), |(slow, all), point| (slow + point.2, all + point.3));
    let worst = points.iter().filter(|point| point.2 > 0).min_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let Some((highest, lowest, ..)) = worst else { return Vec::new() };
    let text = format!(
        "the core clock was at least {} lower in {slow} of {all} blocks than in others of the same figures, down to {:.2} from {:.2} GHz: limits of power or heat, a governor, or a host that does so; caches and a core's own limits go with it: look at governor and cooling, and measure again",
        percent(DROP),
        lowest / 1e9,
        highest / 1e9,
    );
    vec![finding("core_clock", Severity::Warning, text, Vec::new())]
}
