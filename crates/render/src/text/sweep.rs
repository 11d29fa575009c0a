//! `memgauge sweep`: the caches, the levels, and a row an octave of what lies between.

use super::figures::{self, label};
use super::page::{Page, count};
use crate::figure::{figure, spread, value};
use crate::style::{clean, paint};
use crate::table::{Cell, Table};
use memgauge_model::{Bound, FoundCache, Metric, Sweep, SweepOver, units};
use std::collections::{BTreeMap, BTreeSet};

pub fn section(page: &mut Page) {
    let sweeps: Vec<&Sweep> = page.report.sweeps.iter().collect();
    let (by_bytes, by_threads): (Vec<&Sweep>, Vec<&Sweep>) = sweeps.iter().partition(|sweep| sweep.over == SweepOver::Bytes);
    caches(page);
    levels(page, "level_latency", "Latency");
    levels(page, "level_bandwidth", "Bandwidth");
    for (place, sweep) in by_threads.iter().enumerate() {
        threads(page, sweep, if place == 0 { "Threads" } else { "" });
    }
    figures::placement(page, "sweep_latency");
    page.gap();
    for sweep in by_bytes.iter().filter(|sweep| sweep.name == "sweep_latency") {
        let drawn = bars(page, sweep);
        let ends = [sweep.points.first(), sweep.points.last()].map(|point| point.map_or(0, |point| point.at));
        let ends = ends.map(units::bytes).join(" to ");
        let text = format!(
            "{drawn}  {}",
            paint(page.style.dim, &format!("{}, {ends}; equal steps are equal factors", walk(page, sweep)))
        );
        page.labelled("Latency", &text);
    }
    let mut columns: Vec<&Sweep> = by_bytes.iter().copied().filter(|sweep| sweep.points.len() > 1).collect();
    columns.sort_by_key(|sweep| told_of(sweep, "threads").parse::<u64>().unwrap_or(0));
    let rows = rows(page, &columns);
    for id in by_bytes.iter().flat_map(|sweep| &sweep.points).filter_map(|point| point.metric) {
        page.show(id);
    }
    page.table(&rows);
    let sizes: BTreeSet<u64> = by_bytes.iter().flat_map(|sweep| &sweep.points).map(|point| point.at).collect();
    page.line(&paint(page.style.dim, &format!("  {} in all: --format csv or json has every one", count(sizes.len(), "size"))));
}

/// `Caches found     48 KiB · 2 MiB · 32 MiB  (declared: the same)`, a line for each latency that tells of caches.
pub fn caches(page: &mut Page) {
    let latencies = || page.report.sweeps.iter().filter(|sweep| sweep.name == "sweep_latency");
    let all_silent = latencies().all(|sweep| sweep.caches.is_empty());
    for (place, sweep) in latencies().filter(|sweep| all_silent || !sweep.caches.is_empty()).enumerate() {
        let found: Vec<String> = sweep.caches.iter().filter_map(|cache| one_cache(page, cache)).collect();
        let found = if found.is_empty() { "no edge in the latency".to_owned() } else { found.join(" · ") };
        let same = !sweep.caches.is_empty() && sweep.caches.iter().all(|cache| cache.same == Some(true));
        let sizes = sweep.caches.iter().filter_map(|cache| Some(format!("{} {}", cache.level, units::bytes(cache.declared?))));
        let sizes = sizes.collect::<Vec<_>>().join(" · ");
        let declared = match (same, sizes.is_empty()) {
            (true, _) => "the same".to_owned(),
            (false, true) => "none".to_owned(),
            (false, false) => sizes,
        };
        let declared = paint(page.style.dim, &clean(&format!("(declared: {declared})  {}", walk(page, sweep))));
        page.labelled(if place == 0 { "Caches found" } else { "" }, &format!("{}  {declared}", paint(page.style.figure, &found)));
    }
}

/// `48 KiB [40 KiB…56 KiB]`: the size, and the interval where that is more than the step to the next size.
fn one_cache(page: &mut Page, cache: &FoundCache) -> Option<String> {
    let metric = page.show(cache.found?)?;
    let value = size(metric.value);
    let ends = |[lo, hi]: [f64; 2]| format!("{}…{}", size(lo), size(hi));
    // As everywhere: an interval in brackets, a range in parentheses.
    let range = || metric.range.map(|range| format!("{value} ({})", ends(range)));
    metric.ci95.map(|interval| format!("{value} [{}]", ends(interval))).or_else(range)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size is a whole number of bytes")]
fn size(bytes: f64) -> String {
    units::bytes(bytes as u64)
}

/// A line for each sweep: its levels side by side.
pub fn levels(page: &mut Page, name: &str, title: &str) {
    let mut groups: BTreeMap<(u64, String), Vec<&Metric>> = BTreeMap::new();
    for (id, metric) in page.all(name) {
        page.show(id);
        let threads = told(metric, "threads").parse().unwrap_or(0);
        let keys = ["mix", "threads", "pages", "order"];
        let mut labels = metric.labels.clone();
        labels.retain(|key, _| keys.contains(&key.as_str()) && (key != "pages" || name == "level_latency"));
        groups.entry((threads, figures::conditions(page, &labels))).or_default().push(metric);
    }
    // What some threads get of the memory alone stands among the threads.
    let several = page.report.sweeps.iter().any(|sweep| sweep.over == SweepOver::Threads);
    groups.retain(|_, metrics| !several || metrics.len() > 1);
    for (place, ((_, conditions), mut metrics)) in groups.into_iter().enumerate() {
        metrics.sort_by_key(|metric| told(metric, "level").to_owned());
        let part = |metric: &Metric| format!("{} {}", clean(told(metric, "level")), paint(page.style.figure, &figure(metric)));
        let mut parts: Vec<String> = metrics.into_iter().map(part).collect();
        if let Some(last) = parts.last_mut() {
            *last += &format!("  {}", paint(page.style.dim, &conditions));
        }
        page.parts(if place == 0 { title } else { "" }, &parts);
    }
}

/// `read, 1.3 GiB each: 1 thread 12.1 GB/s ±0.1 · 2 threads 23.9 GB/s ±0.2 · limited by the cores`.
fn threads(page: &mut Page, sweep: &Sweep, title: &str) {
    let mut parts = Vec::new();
    for point in &sweep.points {
        let Some(metric) = point.metric.and_then(|id| page.show(id)) else { continue };
        let threads = count(usize::try_from(point.at).unwrap_or(usize::MAX), "thread");
        parts.push(format!("{threads} {}", paint(page.style.figure, &figure(metric))));
    }
    parts.extend(sweep.bound.map(|bound| match bound {
        Bound::Cores => "limited by the cores: each adds as much as the first".to_owned(),
        Bound::Memory { threads: 1 } => "limited by the memory: one thread takes it all".to_owned(),
        Bound::Memory { threads } => format!("limited by the memory from {threads} threads on"),
        Bound::Both => "limited by both: each adds something, less than the first".to_owned(),
    }));
    let mut labels = sweep.labels.clone();
    labels.retain(|key, _| key == "mix" || key == "bytes");
    if let Some(last) = parts.last_mut() {
        *last += &format!("  {}", paint(page.style.dim, &figures::conditions(page, &labels)));
    }
    page.parts(title, &parts);
}

/// One row an octave, and the sizes at which a cache ends.
fn rows(page: &mut Page, sweeps: &[&Sweep]) -> Table {
    let mut head = vec![Cell::right("size")];
    for sweep in sweeps {
        let what = match sweep.name.as_str() {
            "sweep_latency" => format!("ns, {}", walk(page, sweep)),
            _ => format!("GB/s, {} × {}", told_of(sweep, "mix"), told_of(sweep, "threads")),
        };
        head.extend([Cell::right(what), Cell::left("95 %")]);
    }
    head.extend([Cell::right("TLB cost ns"), Cell::left("95 %")]);
    let costs: BTreeMap<u64, &Metric> = page
        .all("tlb_cost")
        .into_iter()
        .filter_map(|(id, metric)| Some((told(metric, "bytes").parse().ok()?, page.show(id)?)))
        .collect();
    let ends: BTreeSet<u64> =
        sweeps.iter().flat_map(|sweep| &sweep.caches).filter_map(|cache| found_bytes(page, cache)).collect();
    let sizes: BTreeSet<u64> = sweeps.iter().flat_map(|sweep| &sweep.points).map(|point| point.at).collect();
    let last = sizes.last().copied();
    let mut table = Table::new(head);
    for size in sizes {
        let mut row = vec![Cell::right(units::bytes(size))];
        for sweep in sweeps {
            let point = sweep.points.iter().find(|point| point.at == size);
            let metric = point.and_then(|point| point.metric).and_then(|id| page.show(id));
            row.extend(cells(page, metric));
        }
        row.extend(cells(page, costs.get(&size).copied()));
        if size.is_power_of_two() || ends.contains(&size) || last == Some(size) {
            table.row(row);
        }
    }
    table
}

fn found_bytes(page: &Page, cache: &FoundCache) -> Option<u64> {
    let metric = page.report.metrics.get(cache.found?)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size is a whole number of bytes")]
    Some(metric.value as u64)
}

fn cells(page: &Page, metric: Option<&Metric>) -> [Cell; 2] {
    match metric {
        Some(metric) => [Cell::right(value(metric)).styled(page.style.figure), Cell::left(spread(metric))],
        None => [Cell::right(""), Cell::left("")],
    }
}

/// The pages of a chase, and its order where there are several.
fn walk(page: &Page, sweep: &Sweep) -> String {
    let pages = label(page, "pages", told_of(sweep, "pages"));
    let orders = page.report.sweeps.iter().filter_map(|sweep| sweep.labels.get("order"));
    let several = orders.collect::<BTreeSet<_>>().len() > 1;
    if several { format!("{} {pages}", told_of(sweep, "order")) } else { pages }
}

fn told_of<'s>(sweep: &'s Sweep, key: &str) -> &'s str {
    sweep.labels.get(key).map_or("", String::as_str)
}

fn told<'m>(metric: &'m Metric, key: &str) -> &'m str {
    metric.labels.get(key).map_or("", String::as_str)
}

/// A bar a size. Latencies span two orders of magnitude: equal steps up are equal factors.
fn bars(page: &Page, sweep: &Sweep) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let values = sweep.points.iter().filter_map(|point| page.report.metrics.get(point.metric?)).map(|metric| metric.value);
    let values: Vec<f64> = values.filter(|value| *value > 0.0).collect();
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = values.iter().map(|value| doublings(value / lowest)).fold(1.0, f64::max);
    let bar = |value: &f64| {
        let height = doublings(value / lowest) / highest * 7.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 ≤ height ≤ 7; a NaN becomes 0")]
        BARS[(height.round() as usize).min(7)]
    };
    values.iter().map(bar).collect()
}

/// About log2 of a number of 1 and more: whole doublings exactly, straight between them.
fn doublings(mut ratio: f64) -> f64 {
    let mut whole = 0.0;
    while ratio >= 2.0 && whole < 64.0 {
        ratio /= 2.0;
        whole += 1.0;
    }
    whole + (ratio - 1.0)
}

#[cfg(test)]
mod tests {
    use crate::{Format, Style, render, sample};
    use memgauge_model::{Bound, FoundCache, MetricId, Report, Sweep, SweepOver, SweepPoint, What};
    use std::collections::BTreeMap;

    const SIZES: [u64; 4] = [32 << 10, 48 << 10, 64 << 10, 128 << 10];

    fn add(report: &mut Report, name: &str, unit: &str, value: f64, labels: &[(&str, &str)]) -> Option<MetricId> {
        report.metrics.push(sample::metric(name, unit, value, labels));
        Some(report.metrics.len() - 1)
    }

    fn view(name: &str, over: SweepOver, labels: &[(&str, &str)], points: Vec<SweepPoint>) -> Sweep {
        let labels: BTreeMap<String, String> = labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        Sweep { name: name.into(), over, labels, points, caches: Vec::new(), bound: None }
    }

    /// One latency over four sizes with an edge at 48 KiB, and reads by one and two threads.
    fn report() -> Report {
        let mut report = sample::report(What::Sweep);
        let mut points = Vec::new();
        for (at, ns) in SIZES.into_iter().zip([1.5, 1.5, 5.0, 5.0]) {
            let bytes = at.to_string();
            let metric = add(&mut report, "sweep_latency", "ns", ns, &[("bytes", &bytes), ("pages", "thp")]);
            add(&mut report, "tlb_cost", "ns", 0.25, &[("bytes", &bytes), ("pages", "base")]);
            points.push(SweepPoint { at, metric });
        }
        let mut latency = view("sweep_latency", SweepOver::Bytes, &[("pages", "thp")], points);
        let found = add(&mut report, "cache_size", "B", 49_152.0, &[("level", "L1")]);
        report.metrics.last_mut().unwrap().ci95 = Some([49_152.0, 65_536.0]);
        latency.caches = vec![FoundCache { level: "L1".into(), found, declared: Some(48 << 10), same: Some(true) }];
        add(&mut report, "level_latency", "ns", 5.0, &[("level", "L2"), ("pages", "thp")]);
        add(&mut report, "level_latency", "ns", 1.5, &[("level", "L1"), ("pages", "thp")]);
        let at_threads = |(at, rate): (u64, f64)| {
            let threads = at.to_string();
            let labels = [("bytes", "131072"), ("mix", "read"), ("threads", threads.as_str())];
            SweepPoint { at, metric: add(&mut report, "sweep_bandwidth", "B/s", rate, &labels) }
        };
        let points: Vec<SweepPoint> = [(1, 2e10), (2, 3.9e10)].into_iter().map(at_threads).collect();
        let mut threads = view("sweep_bandwidth", SweepOver::Threads, &[("bytes", "131072"), ("mix", "read")], points);
        threads.bound = Some(Bound::Cores);
        report.sweeps = vec![latency, threads];
        report
    }

    #[test]
    fn caches_levels_threads_and_a_row_an_octave() {
        let text = render(&report(), Format::Text, &Style::plain());
        for line in [
            "Caches found     48 KiB [48 KiB…64 KiB]  (declared: the same)  THP",
            "Latency          L1 1.50 ns ±0.02 · L2 5.00 ns ±0.05  THP",
            "Threads          1 thread 20.0 GB/s ±0.2 · 2 threads 39.0 GB/s ±0.4\n                 limited by the cores",
            "Latency          ▁▁██  THP, 32 KiB to 128 KiB",
            "  4 sizes in all",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        // Powers of two and the size at which a cache ends; every figure is somewhere.
        assert!(SIZES.iter().all(|size| text.contains(&format!("\n  {:>7}  ", memgauge_model::units::bytes(*size)))), "{text}");
        assert!(!text.contains("cache_size") && !text.contains("sweep_latency"), "{text}");
    }

    #[test]
    fn thread_counts_stand_in_their_order_and_once() {
        let mut report = report();
        for (threads, levels) in [("16", 2), ("2", 2), ("4", 1)] {
            for level in ["memory", "L2"].into_iter().take(levels) {
                let labels = [("level", level), ("mix", "read"), ("threads", threads)];
                add(&mut report, "level_bandwidth", "B/s", 1e10, &labels);
            }
        }
        let text = render(&report, Format::Text, &Style::plain());
        let lines = "Bandwidth        L2 10.0 GB/s ±0.1 · memory 10.0 GB/s ±0.1  read · 2 threads\n                 L2 10.0 GB/s";
        assert!(text.contains(lines) && !text.contains("4 threads"), "{text}");
    }

    #[test]
    fn a_cache_that_is_not_where_it_is_declared_stands_beside_it() {
        let mut report = report();
        let caches = &mut report.sweeps[0].caches;
        caches[0].same = Some(false);
        caches.push(FoundCache { level: "L2".into(), found: None, declared: Some(2 << 20), same: None });
        let text = render(&report, Format::Text, &Style::plain());
        assert!(text.contains("48 KiB [48 KiB…64 KiB]  (declared: L1 48 KiB · L2 2 MiB)"), "{text}");
        report.sweeps[0].caches.clear();
        assert!(render(&report, Format::Text, &Style::plain()).contains("no edge in the latency  (declared: none)"));
    }

    #[test]
    fn the_default_run_has_the_caches_and_their_latencies() {
        let mut swept = report();
        swept.plan.request.what = What::All;
        let found = swept.sweeps[0].caches[0].found.unwrap();
        let metric = &mut swept.metrics[found];
        (metric.range, metric.ci95) = (metric.ci95, None);
        metric.range_reason = Some("2 rounds, an interval needs 6".into());
        let text = render(&swept, Format::Text, &Style::plain());
        let lines =
            "Caches found     48 KiB (48 KiB…64 KiB)  (declared: the same)  THP\n                 L1 1.50 ns ±0.02 · L2 5.00";
        assert!(text.contains(lines), "{text}");
        assert!(text.contains("no interval: 2 rounds, an interval needs 6"), "{text}");
    }

    #[test]
    fn doublings_are_exact_at_powers_of_two() {
        for power in 0..20_u32 {
            assert_eq!(super::doublings(f64::from(1_u32 << power)), f64::from(power));
        }
        assert!(super::doublings(3.0) > 1.4 && super::doublings(3.0) < 1.6);
    }
}
