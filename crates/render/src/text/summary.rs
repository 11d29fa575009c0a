//! The default run in a few lines: the headline of each kind of figure.

use super::figures::label;
use super::loaded;
use super::matrix;
use super::page::Page;
use super::{idle, page, sweep};
use crate::figure::{figure, number, spread, undisturbed, unit, value};
use crate::style::paint;
use memgauge_model::{Matrix, Metric, MetricId};

pub fn section(page: &mut Page) {
    idle(page);
    peak(page);
    under_load(page);
    nodes(page);
    c2c(page);
    sweep::caches(page);
    sweep::levels(page, "level_latency", "");
}

/// Idle latency: the headline with its conditions, then the other orders and page kinds and the TLB cost.
pub fn idle(page: &mut Page) {
    let Some(headline) = idle::headline(page) else { return };
    let told = |key: &str| headline.labels.get(key).map(|value| label(page, key, value)).unwrap_or_default();
    let conditions = format!("{}, {}, CPU {} → node {}", told("order"), told("pages"), told("cpu"), told("node"));
    let text = format!("{}  {}", paint(page.style.figure, &figure(headline)), paint(page.style.dim, &conditions));
    page.labelled("Idle latency", &text);

    // The headline's own twins: another order or page kind, the same keep-alive.
    let twins = page.all("idle_latency").into_iter().filter(|(_, metric)| {
        let same = |key: &str| metric.labels.get(key) == headline.labels.get(key);
        !std::ptr::eq(*metric, headline) && same("keepalive") && same("cpu") && same("node") && same("bytes")
    });
    let mut parts: Vec<String> = undisturbed(headline).map(|value| format!("undisturbed {value}")).into_iter().collect();
    for (id, metric) in twins.collect::<Vec<_>>() {
        page.show(id);
        let told = |key: &str| metric.labels.get(key).map(|value| label(page, key, value)).unwrap_or_default();
        parts.push(format!("{} {}: {}", told("order"), told("pages"), figure(metric)));
    }
    if let Some(cost) = page.find("tlb_cost", &[("order", "full-random")]).or_else(|| page.find("tlb_cost", &[])) {
        parts.push(format!("TLB cost {}", figure(cost)));
    }
    page.parts("", &parts);
}

/// Peak bandwidth at the most threads, then at one.
pub fn peak(page: &mut Page) {
    let metrics = page.all("peak_bandwidth");
    let threads = |metric: &Metric| metric.labels.get("threads").and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let mut counts = metrics.iter().map(|(_, metric)| threads(metric)).collect::<Vec<_>>();
    counts.sort_unstable();
    counts.dedup();
    let shown = [counts.last().copied(), counts.first().copied().filter(|_| counts.len() > 1)];
    for (place, count) in shown.into_iter().flatten().enumerate() {
        let mut of_count = metrics.iter().filter(|(_, metric)| threads(metric) == count).copied().collect::<Vec<_>>();
        // Reads first; the sort is stable, so the others stay in the plan's order.
        of_count.sort_by_key(|(_, metric)| metric.labels.get("mix").is_none_or(|mix| mix != "read"));
        let Some((_, first)) = of_count.first().copied() else { continue };
        let class = first.labels.get("class").map(|class| format!(", class {class}")).unwrap_or_default();
        let mut parts = mixes(page, &of_count);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let conditions = format!("{}{class}", page::count(count, "thread"));
        if let Some(last) = parts.last_mut() {
            *last += &format!("  {}", paint(page.style.dim, &crate::style::clean(&conditions)));
        }
        page.parts(if place == 0 { "Peak bandwidth" } else { "" }, &parts);
        quiet(page, &of_count, |metric| metric.labels.get("mix").cloned().unwrap_or_default());
    }
}

/// Undisturbed values of figures on the lines above, where they differ.
fn quiet(page: &mut Page, metrics: &[(MetricId, &Metric)], called: impl Fn(&Metric) -> String) {
    let part = |metric: &Metric| Some(format!("{} {}", undisturbed(metric)?, called(metric)));
    let mut parts: Vec<String> = metrics.iter().filter_map(|(_, metric)| part(metric)).collect();
    if let Some(first) = parts.first_mut() {
        *first = format!("undisturbed {first}");
        page.parts("", &parts);
    }
}

/// `84.1 GB/s ±0.6 read · 86.3 ±0.5 write-nt`: the unit once, at the first.
fn mixes(page: &mut Page, metrics: &[(MetricId, &Metric)]) -> Vec<String> {
    let mut parts = Vec::new();
    for (id, metric) in metrics {
        page.show(*id);
        let mix = metric.labels.get("mix").map_or("", String::as_str);
        let value = paint(page.style.figure, &format!("{} {}", value(metric), unit(&metric.unit).0));
        parts.push(format!("{value} {} {mix}", spread(metric)));
    }
    parts
}

/// Each loaded curve in a line.
fn under_load(page: &mut Page) {
    for (place, curve) in page.report.curves.iter().enumerate() {
        let drawn = loaded::sparkline(page, curve);
        let mut parts = match &curve.shape {
            None => vec!["too few points to say more".to_owned()],
            Some(shape) => {
                let mut parts = vec![format!("{} ns, flat to {} GB/s", number(shape.idle_ns), number(shape.flat_to / 1e9))];
                let knee = shape.knee.and_then(|id| page.show(id));
                let safe = shape.safe.and_then(|id| page.show(id));
                parts.push(knee.map_or_else(|| loaded::not_saturated(shape), |knee| format!("knee {}", figure(knee))));
                parts.extend(knee.and(safe).map(|safe| format!("safe to {}", figure(safe))));
                parts
            }
        };
        parts.push(format!("{drawn}  {}", paint(page.style.dim, &loaded::loads(curve))));
        page.parts(if place == 0 { "Under load" } else { "" }, &parts);
    }
}

/// On machines with more than one node: the matrices themselves, which no line could hold. Of transfers those whose lines have their home in
/// the writer's node, as usual.
fn nodes(page: &mut Page) {
    let several = page.report.matrices.iter().filter(|matrix| matrix.rows.len() > 1 || matrix.columns.len() > 1);
    let usual = |matrix: &&Matrix| matrix.labels.get("home").is_none_or(|home| home == "writer");
    let several = several.filter(usual).collect::<Vec<_>>();
    for matrix in &several {
        matrix::matrix_table(page, matrix);
    }
    if !several.is_empty() {
        page.gap();
    }
    penalties(page);
}

/// Each NUMA penalty, or the ends of what they come to.
fn penalties(page: &mut Page) {
    const MOST: usize = 6;
    let mut penalties = page.all("numa_penalty");
    let count = penalties.len();
    let way = |metric: &Metric| {
        let told = |key: &str| metric.labels.get(key).map_or("?", String::as_str);
        crate::style::clean(&format!("{}  node {} → node {}", figure(metric), told("from"), told("to")))
    };
    if count > MOST {
        penalties.sort_by(|(_, a), (_, b)| a.value.total_cmp(&b.value));
        penalties = [penalties[0], penalties[count - 1]].to_vec();
    }
    for (place, (id, metric)) in penalties.into_iter().enumerate() {
        page.show(id);
        let more =
            if count > MOST && place == 1 { format!(", the most of {count}: memgauge matrix latency") } else { String::new() };
        page.labelled(if place == 0 { "NUMA penalty" } else { "" }, &format!("{}{more}", way(metric)));
    }
}

/// Core to core: a line for each pair.
pub fn c2c(page: &mut Page) {
    const MOST: usize = 4;
    let metrics = page.all("c2c_latency");
    let pair = |metric: &Metric| {
        let told = |key: &str| metric.labels.get(key).cloned().unwrap_or_default();
        (told("scope"), told("from"), told("to"))
    };
    let mut pairs = metrics.iter().map(|(_, metric)| pair(metric)).collect::<Vec<_>>();
    pairs.dedup();
    for (place, (scope, from, to)) in pairs.iter().take(MOST).enumerate() {
        let mut parts = Vec::new();
        let of_pair = |(_, metric): &&(MetricId, &Metric)| pair(metric) == (scope.clone(), from.clone(), to.clone());
        let of_pair: Vec<(MetricId, &Metric)> = metrics.iter().filter(of_pair).copied().collect();
        for (id, metric) in &of_pair {
            page.show(*id);
            let told = |key: &str| metric.labels.get(key).map_or("", String::as_str);
            let kind = kind(metric);
            parts.push(format!("{} {kind} ({})", paint(page.style.figure, &figure(metric)), told("method")));
        }
        if let Some(first) = parts.first_mut() {
            *first = format!("{scope} {from} → {scope} {to}: {first}");
        }
        page.parts(if place == 0 { "Core to core" } else { "" }, &parts);
        quiet(page, &of_pair, kind);
    }
    if pairs.len() > MOST {
        page.labelled("", &format!("and {} more pairs: memgauge c2c", pairs.len() - MOST));
    }
}

/// The kind of a transfer: the states of a cache's line in capitals, as they are written everywhere. With what else tells the
/// figures of a pair apart: where its lines came from, and their home if that is not the writer's node.
fn kind(metric: &Metric) -> String {
    let told = |label: &str| metric.labels.get(label).map(String::as_str);
    let mut text = match told("kind").unwrap_or_default() {
        state @ ("hit" | "hitm") => state.to_uppercase(),
        operation => operation.to_owned(),
    };
    if let Some(via) = told("via") {
        text += &format!(" via {via}");
    }
    if let Some(home) = told("home").filter(|home| told("scope") == Some("node") && told("from") != Some(home)) {
        text += &format!(" home {home}");
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::{Format, Style, render, sample};

    #[test]
    fn of_many_penalties_the_ends_are_told() {
        let text = |nodes: u32| {
            let mut report = sample::all();
            for to in 1..=nodes {
                let label = to.to_string();
                let metric = sample::metric("numa_penalty", "ns", 100.0 - f64::from(to), &[("from", "0"), ("to", &label)]);
                report.metrics.push(metric);
            }
            render(&report, Format::Text, &Style::plain())
        };
        assert_eq!(text(6).matches("node 0 → node 3").count(), 1);
        let many = text(7);
        let lines = "NUMA penalty     93.0 ns ±0.9  node 0 → node 7\n                 99.0 ns ±1.0  node 0 → node 1, the most of 7: memgauge";
        assert!(many.contains(lines) && !many.contains("node 0 → node 3"), "{many}");
    }
}
