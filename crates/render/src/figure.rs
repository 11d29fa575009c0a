//! A figure as text: value, unit and uncertainty, always together.

use memgauge_model::Metric;

/// A share of the typical value that the undisturbed one must differ by to be worth the room.
const DIFFERS: f64 = 0.02;

/// A metric's unit for people, and how many of the document's unit make one.
pub fn unit(unit: &str) -> (&str, f64) {
    match unit {
        "B/s" => ("GB/s", 1e9),
        "Hz" => ("GHz", 1e9),
        other => (other, 1.0),
    }
}

/// Enough digits and no more: `137.4`, `8.41`, `0.062`.
pub fn number(value: f64) -> String {
    format!("{value:.*}", decimals(value))
}

/// `137.4 ns ±0.6`; `137.4 ns (137.0…138.2)` where there is no interval.
pub fn figure(metric: &Metric) -> String {
    format!("{} {} {}", value(metric), unit(&metric.unit).0, spread(metric))
}

/// `131.2 ns`: the value on a machine that its host leaves alone, where it is another one than the typical.
pub fn undisturbed(metric: &Metric) -> Option<String> {
    let differs = |value: &f64| (value - metric.value).abs() > DIFFERS * metric.value.abs();
    let value = metric.undisturbed.filter(differs)?;
    Some(format!("{} {}", scaled(metric, value), unit(&metric.unit).0))
}

/// The bare value in the unit for people; a heading must name the unit.
pub fn value(metric: &Metric) -> String {
    scaled(metric, metric.value)
}

/// Another value of the same metric, in the same unit.
pub fn scaled(metric: &Metric, value: f64) -> String {
    number(value / unit(&metric.unit).1)
}

/// The uncertainty: `±0.6`, `[120.1…190.0]` for a wide and lopsided interval, `(137.0…138.2)` for a range, `(single)` where one figure is all that is known.
pub fn spread(metric: &Metric) -> String {
    let scale = unit(&metric.unit).1;
    match (metric.ci95, metric.range) {
        (Some([lo, hi]), _) if lopsided(metric.value, lo, hi) => format!("[{}…{}]", number(lo / scale), number(hi / scale)),
        (Some([lo, hi]), _) => plus_minus(metric.value / scale, (hi - lo) / 2.0 / scale),
        (None, Some(_)) if alone(metric) => "(single)".to_owned(),
        (None, Some([lo, hi])) => format!("({}…{})", number(lo / scale), number(hi / scale)),
        (None, None) => "(no interval)".to_owned(),
    }
}

/// Is it one figure that nothing is known of how it spreads?
pub fn alone(metric: &Metric) -> bool {
    metric.ci95.is_none() && metric.samples == 1 && metric.range.is_some_and(|[lo, hi]| lo == hi)
}

/// Does `±` tell a lie? Only where the interval is wide as well: of a narrow one the sides are mere noise.
fn lopsided(value: f64, lo: f64, hi: f64) -> bool {
    let (below, above) = (value - lo, hi - value);
    hi - lo > 0.1 * value.abs() && below.max(above) > 2.0 * below.min(above)
}

/// The half-width with the decimals of the value; one that would read as zero is said to be less than the last digit.
fn plus_minus(value: f64, half: f64) -> String {
    let decimals = decimals(value);
    let text = format!("{half:.decimals$}");
    if half > 0.0 && text.chars().all(|c| c == '0' || c == '.') {
        return format!("±<{}", ["1", "0.1", "0.01", "0.001"][decimals.min(3)]);
    }
    format!("±{text}")
}

fn decimals(value: f64) -> usize {
    match value.abs() {
        size if size >= 10_000.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::metric;

    #[test]
    fn a_figure_carries_unit_and_uncertainty() {
        let mut latency = metric("idle_latency", "ns", 137.44, &[]);
        latency.ci95 = Some([136.8, 138.0]);
        assert_eq!(figure(&latency), "137.4 ns ±0.6");
        latency.ci95 = Some([137.43, 137.45]);
        assert_eq!(figure(&latency), "137.4 ns ±<0.1");
        latency.ci95 = Some([130.0, 190.0]);
        assert_eq!(figure(&latency), "137.4 ns [130.0…190.0]");
        latency.ci95 = None;
        latency.range = Some([137.0, 138.2]);
        assert_eq!(figure(&latency), "137.4 ns (137.0…138.2)");
        latency.range = None;
        assert_eq!(figure(&latency), "137.4 ns (no interval)");
        assert_eq!(undisturbed(&latency), None, "0.5 % off is the same");
        latency.undisturbed = Some(131.24);
        assert_eq!(undisturbed(&latency).unwrap(), "131.2 ns");
        let mut bandwidth = metric("loaded_bandwidth", "B/s", 6.24e7, &[]);
        bandwidth.ci95 = Some([6.22e7, 6.25e7]);
        assert_eq!(figure(&bandwidth), "0.062 GB/s ±<0.001");
    }
}
