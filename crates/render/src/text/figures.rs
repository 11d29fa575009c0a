//! Tables of figures of one name: shared conditions once, those that differ in columns.

use super::counters::is_counter;
use super::page::{Page, count};
use crate::figure::{alone, scaled, spread, unit, value};
use crate::style::{clean, paint};
use crate::table::{Cell, Table};
use memgauge_model::{Metric, MetricId, units};
use std::collections::{BTreeMap, BTreeSet};

/// Names of figures for people; others stand as they are in the document.
const TITLES: [(&str, &str); 21] = [
    ("idle_latency", "Idle latency"),
    ("access_latency", "Single accesses"),
    ("peak_bandwidth", "Peak bandwidth"),
    ("max_bandwidth", "Max bandwidth"),
    ("matrix_latency", "Latency matrix"),
    ("matrix_bandwidth", "Bandwidth matrix"),
    ("matrix_bandwidth_dram", "DRAM estimate"),
    ("loaded_latency", "Loaded latency"),
    ("loaded_bandwidth", "Load"),
    ("c2c_latency", "Core to core"),
    ("tlb_cost", "TLB cost"),
    ("numa_penalty", "NUMA penalty"),
    ("lines_in_flight", "Lines in flight"),
    ("prefetch_ratio", "Prefetch probe"),
    ("knee_bandwidth", "Knee"),
    ("safe_bandwidth", "Safe maximum"),
    ("burst_fit", "Burst fit"),
    ("scan_bandwidth", "Region bandwidth"),
    ("clock_hz", "Clock"),
    ("clock_quantum", "Clock quantum"),
    ("clock_cost", "Clock cost"),
];

/// Labels in the order in which people look for them.
const ORDER: [&str; 25] = [
    "order",
    "mix",
    "pages",
    "percentile",
    "threads",
    "cpu",
    "cpus",
    "node",
    "region",
    "scope",
    "from",
    "to",
    "kind",
    "method",
    "home",
    "via",
    "isa",
    "stride",
    "bytes",
    "load_bytes",
    "load_nodes",
    "delay",
    "keepalive",
    "prefetch",
    "class",
];

/// A name for people.
pub fn title(name: &str) -> String {
    TITLES.iter().find(|(key, _)| *key == name).map_or_else(|| clean(name), |(_, title)| (*title).to_owned())
}

/// A label's value for people: pages by size, bytes with a unit.
pub fn label(page: &Page, label: &str, value: &str) -> String {
    match (label, value) {
        ("pages", "base") => format!("{} pages", units::bytes(page.report.machine.memory.page_bytes)),
        ("pages", "thp") => "THP".to_owned(),
        ("pages", size) => format!("{} pages", clean(&size.to_uppercase())),
        ("bytes" | "load_bytes" | "stride" | "window" | "push" | "extra_reads", count) => {
            count.parse().map_or_else(|_| clean(count), units::bytes)
        }
        (_, value) => clean(value),
    }
}

/// Everything of these metrics: what they share on the heading's line, the rest in a table. Figures of `name_dram` with
/// equal labels stand beside theirs.
pub fn table(page: &mut Page, name: &str) {
    let metrics = page.all(name);
    if metrics.is_empty() {
        return;
    }
    let labels = labels_of(&metrics);
    let shared = |label: &&String| metrics.iter().all(|(_, metric)| metric.labels.get(*label) == metrics[0].1.labels.get(*label));
    let (same, differing): (Vec<_>, Vec<_>) = labels.iter().partition(shared);
    let mut shared = metrics[0].1.labels.clone();
    shared.retain(|key, _| same.contains(&key));
    let conditions = conditions(page, &shared);
    page.gap();
    page.labelled(&title(name), &paint(page.style.dim, &conditions));
    let remarks = &metrics[0].1.remarks;
    let same_remarks = metrics.len() > 1 && metrics.iter().all(|(_, metric)| metric.remarks == *remarks);
    if same_remarks && !remarks.is_empty() {
        page.labelled("", &paint(page.style.dim, &clean(&remarks.join("; "))));
    }

    let shown = unit(&metrics[0].1.unit).0;
    let mut head = differing.iter().map(|label| Cell::left(label.as_str())).collect::<Vec<_>>();
    head.extend([Cell::right(shown), Cell::left("95 %")]);
    head.push(Cell::right(format!("DRAM est. {shown}")));
    head.extend(["undisturbed", "best", "rounds", "windows", "left out"].map(Cell::right));
    head.push(Cell::left("remarks"));
    let mut table = Table::new(head);
    for (id, metric) in &metrics {
        page.show(*id);
        let mut row = Vec::new();
        for key in &differing {
            row.push(Cell::left(metric.labels.get(*key).map_or_else(String::new, |value| label(page, key, value))));
        }
        row.extend([Cell::right(value(metric)).styled(page.style.figure), Cell::left(spread(metric))]);
        row.push(Cell::right(twin(page, metric)));
        row.push(Cell::right(metric.undisturbed.map_or_else(String::new, |value| scaled(metric, value))));
        row.push(Cell::right(metric.best.map_or_else(String::new, |value| scaled(metric, value))));
        row.extend([metric.samples, metric.windows, metric.excluded].map(|count| Cell::right(count.to_string())));
        row.push(Cell::left(if same_remarks { String::new() } else { clean(&metric.remarks.join("; ")) }));
        table.row(row);
    }
    page.table(&table);
}

/// What the memory controller is estimated to see, for the metric with the same labels: a figure or a range.
pub fn twin(page: &mut Page, metric: &Metric) -> String {
    let name = format!("{}_dram", metric.name);
    let found = page.all(&name).into_iter().find(|(_, other)| other.labels == metric.labels);
    let Some(dram) = found.and_then(|(id, _)| page.show(id)) else { return String::new() };
    match dram.ci95 {
        Some(_) => value(dram),
        None if alone(dram) => value(dram),
        None => spread(dram).trim_matches(['(', ')']).to_owned(),
    }
}

/// The figures that no section has shown.
pub fn rest(page: &mut Page) {
    let mut names = BTreeSet::new();
    let unseen = others(page);
    let singles = unseen.iter().filter(|(_, metric)| unseen.iter().filter(|(_, other)| other.name == metric.name).count() == 1);
    let singles = singles.copied().collect::<Vec<_>>();
    if !singles.is_empty() {
        page.gap();
    }
    for (id, metric) in &singles {
        page.show(*id);
        let conditions = conditions(page, &metric.labels);
        let figure = paint(page.style.figure, &crate::figure::figure(metric));
        let text = format!("{figure}  {}", paint(page.style.dim, &conditions));
        page.labelled(&title(&metric.name), &text);
    }
    // A table shows the `_dram` twins of its figures too, so what is unseen is asked again after each.
    while let Some((_, metric)) = others(page).into_iter().find(|(_, metric)| !names.contains(&metric.name)) {
        names.insert(metric.name.clone());
        table(page, &metric.name);
    }
}

/// What is not shown yet; counters have a line of their own.
fn others<'a>(page: &Page<'a>) -> Vec<(MetricId, &'a Metric)> {
    page.unseen().into_iter().filter(|(_, metric)| !is_counter(&metric.name)).collect()
}

/// Where the memory of these figures was, by the kernel's own answer.
pub fn placement(page: &mut Page, name: &str) {
    let mut seen = BTreeSet::new();
    for (_, metric) in page.all(name) {
        let Some(place) = &metric.placement else { continue };
        let key = (place.node, place.kind.clone(), place.verified.clone());
        if !seen.insert(key) {
            continue;
        }
        let pages = usize::try_from(place.pages).unwrap_or(usize::MAX);
        let text = format!(
            "{} of {} on node {}, {}, by {}",
            place.on_node,
            count(pages, "page"),
            place.node,
            clean(&place.kind),
            clean(&place.verified)
        );
        page.labelled(if seen.len() == 1 { "Memory" } else { "" }, &text);
    }
}

/// Labels in words, in the order in which people look for them.
pub fn conditions(page: &Page, labels: &BTreeMap<String, String>) -> String {
    let mut labels = labels.iter().collect::<Vec<_>>();
    labels.sort_by_key(|(key, _)| place(key));
    // The scope says what `from` and `to` number.
    let ends = if labels.iter().any(|(key, value)| *key == "scope" && *value == "cpu") { "CPU" } else { "node" };
    let words = labels.iter().filter(|(key, _)| *key != "scope").map(|(key, value)| match key.as_str() {
        "from" | "to" => format!("{key} {ends} {}", clean(value)),
        _ => condition(page, key, value),
    });
    words.collect::<Vec<_>>().join(" · ")
}

/// A condition in words.
fn condition(page: &Page, key: &str, value: &str) -> String {
    let text = label(page, key, value);
    match key {
        "order" | "pages" | "mix" | "scope" | "kind" | "method" => text,
        "bytes" => format!("{text} buffer"),
        "load_bytes" => format!("{text} a load stream"),
        "load_nodes" if text.contains(['-', ',']) => format!("loads on nodes {text}"),
        "load_nodes" => format!("loads on node {text}"),
        "stride" => format!("{text} stride"),
        "push" => format!("{text} pushed"),
        "extra_reads" => format!("reader reads {text} more"),
        "percentile" if text == "max" => "slowest".to_owned(),
        "percentile" => format!("p{text}"),
        "memory" if text == "file" => "memory of files".to_owned(),
        "home" => format!("home node {text}"),
        "cpu" => format!("CPU {text}"),
        "cpus" => format!("CPUs {text}"),
        "threads" if text == "1" => "1 thread".to_owned(),
        "threads" => format!("{text} threads"),
        "keepalive" if text == "yes" => "kept awake".to_owned(),
        "keepalive" => "nothing keeps it awake".to_owned(),
        key => format!("{} {text}", clean(key)),
    }
}

fn labels_of(metrics: &[(MetricId, &Metric)]) -> Vec<String> {
    let all = metrics.iter().flat_map(|(_, metric)| metric.labels.keys().cloned()).collect::<BTreeSet<_>>();
    let mut all = all.into_iter().collect::<Vec<_>>();
    all.sort_by_key(|label| place(label));
    all
}

fn place(label: &str) -> usize {
    ORDER.iter().position(|known| *known == label).unwrap_or(ORDER.len())
}
