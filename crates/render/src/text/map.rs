//! A map of all pairs of many CPUs: its classes, and the heat map.

use super::figures;
use super::heat::{self, Grid};
use super::page::Page;
use crate::figure::{spread, value};
use crate::table::{Cell, Table};
use memgauge_model::{MapClass, MapPlan, PairMap, units};
use std::collections::BTreeMap;

pub fn section(page: &mut Page, map: &PairMap) {
    let pairs: u64 = map.classes.iter().map(|class| class.pairs).sum();
    let what = format!(
        "{pairs} pairs of {}, {} ({})",
        units::count(map.cpus.len() as u64, "CPU"),
        map.kind.word(),
        map.kind.method().word()
    );
    page.labelled("Core to core", &what);
    let head = ["apart", "pairs", "ns", "95 %", "alone", "at once"];
    let mut table = Table::new(
        head.iter()
            .enumerate()
            .map(|(at, name)| if at == 1 || at == 2 { Cell::right(*name) } else { Cell::left(*name) })
            .collect(),
    );
    for class in &map.classes {
        let metric = class.metric.and_then(|id| page.show(id));
        table.row(vec![
            Cell::left(class.apart.clone()),
            Cell::right(class.pairs.to_string()),
            metric.map_or_else(|| Cell::right("–"), |metric| Cell::right(value(metric))),
            metric.map_or_else(|| Cell::left(""), |metric| Cell::left(spread(metric))),
            Cell::left(alone(class)),
            Cell::left(at_once(class)),
        ]);
    }
    page.table(&table);
    figures::placement(page, "c2c_latency");
    if let Some(plan) = &page.report.plan.map {
        draw(page, map, plan);
    }
    // The sampled pairs are what the classes are made of; they stand in the document.
    for (id, _) in page.all("c2c_latency") {
        page.show(id);
    }
}

fn alone(class: &MapClass) -> String {
    let verdict = &class.verdict;
    let pairs = units::count(verdict.sampled.into(), "value");
    match (verdict.uniform, verdict.span_ns) {
        (_, None) => "none could be measured".to_owned(),
        (Some(true), _) => format!("{pairs}, alike"),
        (Some(false), Some([low, high])) => format!("{pairs}, not alike: {low:.1} to {high:.1}"),
        (None, Some(_)) => format!("{pairs}, too few to compare"),
    }
}

fn at_once(class: &MapClass) -> String {
    match class.filled_ns {
        Some([low, high]) => format!("{} pairs: {low:.1} to {high:.1}", class.filled),
        None => String::new(),
    }
}

fn draw(page: &mut Page, map: &PairMap, plan: &MapPlan) {
    let metrics = &page.report.metrics;
    let of_class: BTreeMap<_, f64> =
        map.classes.iter().filter_map(|class| Some((class.verdict.apart, metrics.get(class.metric?)?.value))).collect();
    let figure = |row: usize, column: usize| {
        let measured = map.cells.get(row).and_then(|cells| cells.get(column).copied().flatten()).map(f64::from);
        let known = || {
            (row != column && row.max(column) < plan.places.len())
                .then(|| of_class.get(&plan.apart(row, column)).copied())
                .flatten()
        };
        measured.or_else(known)
    };
    let grid = Grid { rows: &map.cpus, columns: &map.cpus, value: &figure };
    heat::draw(page, &grid, &format!("{} {}", map.kind.method().word(), map.kind.word()), &sure(map));
}

fn sure(map: &PairMap) -> String {
    if map.cells.is_empty() {
        return "every pair has its class's figure".to_owned();
    }
    let mut parts =
        vec!["pairs of classes that are alike have their class's figure, others were measured concurrently".to_owned()];
    parts.extend(map.crowded.map(|factor| format!("{:+.0} % against alone", (factor - 1.0) * 100.0)));
    parts.extend(map.within.map(|share| format!("half of them within {:.1} % when repeated", share * 100.0)));
    parts.join(", ")
}
