//! Loaded curves: the table, and what the curve says.

use super::figures;
use super::page::Page;
use crate::figure::{figure, number, spread, value};
use crate::style::{clean, paint};
use crate::table::{Cell, Table};
use memgauge_model::{Curve, CurveShape, Metric, MetricId};
use std::collections::BTreeSet;

pub fn section(page: &mut Page) {
    for curve in &page.report.curves {
        page.gap();
        let planned = !page.report.plan.points.is_empty();
        let place = match curve.threads {
            // Of an import that names none nothing else is known either.
            0 if !planned => clean(&curve.mix),
            _ => {
                let observer = curve.cpu.map_or_else(|| "no observer".to_owned(), |cpu| format!("observer CPU {cpu}"));
                format!("{} · {observer} · memory of node {}", loads(curve), curve.node)
            }
        };
        let place = [place, walk(page, curve)].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
        page.labelled("Under load", &paint(page.style.dim, &place));
        let points = points(page, curve);
        page.table(&points);
        said(page, curve);
    }
    let watched = page.report.metrics.iter().any(|metric| metric.name == "loaded_latency");
    figures::placement(page, if watched { "loaded_latency" } else { "loaded_bandwidth" });
}

/// How the observer goes through its memory.
fn walk(page: &Page, curve: &Curve) -> String {
    let first = curve.points.iter().find_map(|point| page.report.metrics.get(point.latency.or(point.bandwidth)?));
    let mut labels = first.map(|metric| metric.labels.clone()).unwrap_or_default();
    labels.retain(|key, _| ["order", "stride", "pages", "load_nodes"].contains(&key.as_str()));
    figures::conditions(page, &labels)
}

/// What the curve says, a line each.
fn said(page: &mut Page, curve: &Curve) {
    let drawn = sparkline(page, curve);
    if !drawn.is_empty() {
        page.labelled("Curve", &format!("{drawn}  latency over bandwidth"));
    }
    if let Some(shape) = &curve.shape {
        told(page, shape);
    }
    if let Some(fit) = &curve.burst_fit {
        let (f, t0, off) = (number(fit.f / 1e9), number(fit.t0), number(fit.residual * 100.0));
        let spin = fit.spin_hz.map_or_else(String::new, |hz| format!(" (the spin says {})", number(hz / 1e9)));
        page.labelled("Burst fit", &format!("f {f} GHz{spin}, t0 {t0} cycles, largest residual {off} %"));
    }
}

/// Where it is flat, where it bends, what bandwidth costs.
fn told(page: &mut Page, shape: &CurveShape) {
    let (ns, flat) = (number(shape.idle_ns), gb(shape.flat_to));
    page.labelled("Flat", &format!("to {flat} GB/s at no more than 1.10 × {ns} ns"));
    match shape.knee.and_then(|id| page.show(id)) {
        Some(knee) => page.labelled("Knee", &paint(page.style.figure, &figure(knee))),
        None => page.labelled("Knee", &not_saturated(shape)),
    }
    if let Some(safe) = shape.safe.and_then(|id| page.show(id)) {
        page.labelled("Safe maximum", &paint(page.style.figure, &figure(safe)));
    }
    if let Some(from) = shape.saturated_from {
        page.labelled("Saturated", &format!("from {} GB/s on", gb(from)));
    }
    let at = shape.at_factor.iter().map(|(factor, bandwidth)| match bandwidth {
        Some(bandwidth) => format!("{factor} × idle at {} GB/s", gb(*bandwidth)),
        None => format!("{factor} × idle not reached"),
    });
    page.labelled("Latency", &at.collect::<Vec<_>>().join(" · "));
}

/// `not saturated: reached 43.0 GB/s at 1.39 × idle`.
pub fn not_saturated(shape: &CurveShape) -> String {
    let (bandwidth, factor) = shape.reached;
    format!("not saturated: reached {} GB/s at {} × idle", gb(bandwidth), number(factor))
}

/// Who loads with what.
pub fn loads(curve: &Curve) -> String {
    match curve.threads {
        1 => format!("{} by 1 load thread", curve.mix),
        threads => format!("{} by {threads} load threads", curve.mix),
    }
}

/// Latency in the order of bandwidth, lowest first. The scale reaches twice the lowest latency at least, so that noise does
/// not look like a knee.
pub fn sparkline(page: &Page, curve: &Curve) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let at = |id: Option<MetricId>| id.and_then(|id| page.report.metrics.get(id)).map(|metric| metric.value);
    let both = curve.points.iter().filter_map(|point| Some((at(point.bandwidth)?, at(point.latency)?)));
    let mut both = both.collect::<Vec<_>>();
    both.sort_by(|a, b| a.0.total_cmp(&b.0));
    let lowest = both.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let highest = both.iter().map(|point| point.1).fold(2.0 * lowest, f64::max);
    let bar = |(_, latency): &(f64, f64)| {
        let height = (latency - lowest) / (highest - lowest) * 7.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 ≤ height ≤ 7; a NaN becomes 0")]
        BARS[(height.round() as usize).min(7)]
    };
    both.iter().map(bar).collect()
}

fn points(page: &mut Page, curve: &Curve) -> Table {
    let mut head = vec![Cell::right("delay, cycles"), Cell::right("latency ns"), Cell::left("95 %")];
    head.extend([Cell::right("bandwidth GB/s"), Cell::left("95 %"), Cell::right("DRAM est. GB/s")]);
    head.extend([Cell::right("rounds"), Cell::right("windows"), Cell::right("left out"), Cell::left("remarks")]);
    let mut table = Table::new(head);
    for point in &curve.points {
        let mut row = vec![Cell::right(point.delay.to_string())];
        let latency = point.latency.and_then(|id| page.show(id));
        let bandwidth = point.bandwidth.and_then(|id| page.show(id));
        for metric in [latency, bandwidth] {
            row.extend(pair(page, metric));
        }
        row.push(Cell::right(bandwidth.map_or_else(String::new, |metric| figures::twin(page, metric))));
        let counts = latency.or(bandwidth).map_or([0; 3], |metric| [metric.samples, metric.windows, metric.excluded]);
        row.extend(counts.map(|count| Cell::right(count.to_string())));
        let mut remarks =
            [latency, bandwidth].into_iter().flatten().flat_map(|metric| metric.remarks.clone()).collect::<Vec<_>>();
        let mut seen = BTreeSet::new();
        remarks.retain(|remark| seen.insert(remark.clone()));
        row.push(Cell::left(crate::style::clean(&remarks.join("; "))));
        table.row(row);
    }
    table
}

fn pair(page: &Page, metric: Option<&Metric>) -> [Cell; 2] {
    match metric {
        Some(metric) => [Cell::right(value(metric)).styled(page.style.figure), Cell::left(spread(metric))],
        None => [Cell::right("–"), Cell::left("")],
    }
}

fn gb(bytes_per_s: f64) -> String {
    number(bytes_per_s / 1e9)
}
