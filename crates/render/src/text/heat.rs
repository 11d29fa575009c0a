//! A matrix of CPUs as a heat map: numbers while they fit, shades alone beyond. Colour only doubles what the shades say.

use super::figures;
use super::page::Page;
use crate::style::paint;
use anstyle::Style as Ansi;
use memgauge_model::{Matrix, Metric};

/// Rows and columns that are drawn; more are taken together in equal groups.
const MOST: usize = 32;
/// Up to this many the figures themselves stand in the cells.
const NUMBERS: usize = 16;
/// A shade is this much of the lowest figure at least: else the map of a machine whose pairs are all alike shows its noise.
const LEAST: f64 = 0.05;
/// From the lowest figure to the highest.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// A grid of figures in ns.
pub struct Grid<'a> {
    /// Numbers of the rows and of the columns.
    pub rows: &'a [u32],
    pub columns: &'a [u32],
    /// By row and column, indices; none where there is no figure.
    pub value: &'a dyn Fn(usize, usize) -> Option<f64>,
}

/// A matrix of metrics, with what its shades mean and how sure its figures are.
pub fn map(page: &mut Page, matrix: &Matrix) {
    let cells: Vec<&Metric> = matrix.cells.iter().flatten().flatten().filter_map(|id| page.show(*id)).collect();
    let widest = cells.iter().filter_map(|metric| metric.ci95.or(metric.range)).map(|[low, high]| (high - low) / 2.0);
    let widest = widest.fold(0.0, f64::max);
    let metrics = &page.report.metrics;
    let value = |row: usize, column: usize| metrics.get(matrix.cells[row][column]?).map(|metric| metric.value);
    let conditions = figures::conditions(page, &matrix.labels);
    let grid = Grid { rows: &matrix.rows, columns: &matrix.columns, value: &value };
    draw(page, &grid, &conditions, &format!("each figure within ±{widest:.1} or better; all with --format csv"));
}

/// The map; `sure` says how sure its figures are.
pub fn draw(page: &mut Page, grid: &Grid, conditions: &str, sure: &str) {
    let all = || (0..grid.rows.len()).flat_map(|row| (0..grid.columns.len()).filter_map(move |column| (grid.value)(row, column)));
    let (low, high) = all().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return;
    }
    page.gap();
    page.labelled("CPU to CPU", &paint(page.style.dim, conditions));
    let group = grid.rows.len().max(grid.columns.len()).div_ceil(MOST).max(1);
    let numbers = grid.columns.len() <= NUMBERS;
    let width = if numbers { 7 } else { 2 };
    let rows: Vec<String> = grid.rows.chunks(group).map(span).collect();
    let margin = rows.iter().map(|row| row.chars().count()).max().unwrap_or(0).max("from".len()) + 1;
    page.line(&paint(page.style.dim, &head(grid.columns, group, margin, width, numbers)));
    for (at, row) in rows.iter().enumerate() {
        let mut line = paint(page.style.dim, &format!("  {row:<margin$}"));
        for to in (0..grid.columns.len()).step_by(group) {
            line += &match median(grid, (at * group, to), group) {
                None => format!("{:>width$}", "–"),
                Some(value) => {
                    let level = level(value, low, step(low, high));
                    let text = if numbers { format!("{value:.1}{}", SHADES[level]) } else { SHADES[level].to_string() };
                    paint(hue(page, level), &format!("{text:>width$}"))
                }
            };
        }
        page.line(&line);
    }
    legend(page, low, high, group, sure);
}

/// Numbers over the columns; where there is no room, the first and the last.
fn head(columns: &[u32], group: usize, margin: usize, width: usize, numbers: bool) -> String {
    let start = format!("  {:<margin$}", "from");
    if numbers {
        return start + &columns.iter().map(|column| format!("{:>width$}", format!("to {column}"))).collect::<String>();
    }
    let ends = (columns.first(), columns.last());
    let (first, last) = (ends.0.copied().unwrap_or(0), ends.1.copied().unwrap_or(0));
    let each = if group > 1 { format!(", {group} CPUs a cell") } else { String::new() };
    format!("{start} to {first} … {last}, left to right{each}")
}

fn legend(page: &mut Page, low: f64, high: f64, group: usize, sure: &str) {
    let mut edges = Vec::new();
    for (at, shade) in (0_u8..).zip(SHADES) {
        let edge = low + step(low, high) * f64::from(at);
        if at == 0 || edge <= high {
            edges.push(format!("{shade} from {edge:.1}"));
        }
    }
    let taken = if group > 1 { "median of each group; " } else { "" };
    let shades = format!("  ns: {} to {high:.1}", edges.join(", "));
    page.line(&paint(page.style.dim, &shades));
    page.line(&paint(page.style.dim, &format!("  {taken}{sure}")));
}

/// `4` or `4-7`.
fn span(cpus: &[u32]) -> String {
    match cpus {
        [] => String::new(),
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
    }
}

/// The middle figure of a group's cells; none where none was measured.
fn median(grid: &Grid, (row, column): (usize, usize), group: usize) -> Option<f64> {
    let rows = row..(row + group).min(grid.rows.len());
    let columns = column..(column + group).min(grid.columns.len());
    let mut values: Vec<f64> = rows.flat_map(|row| columns.clone().filter_map(move |column| (grid.value)(row, column))).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// From shade to shade.
fn step(low: f64, high: f64) -> f64 {
    ((high - low) / 5.0).max(LEAST * low)
}

fn level(value: f64, low: f64, step: f64) -> usize {
    [1.0, 2.0, 3.0, 4.0].iter().filter(|edge| value - low >= **edge * step).count()
}

fn hue(page: &Page, level: usize) -> Ansi {
    let style = page.style;
    [style.good, style.good, style.figure, style.warn, style.bad][level.min(4)]
}

#[cfg(test)]
mod tests {
    use crate::{Format, Style, render, sample};
    use memgauge_model::{Matrix, Report, What};
    use std::collections::BTreeMap;

    /// `cpus` CPUs; the second half is `far` ns from the first.
    fn report(cpus: u32, far_ns: f64) -> Report {
        let mut report = sample::all();
        report.plan.request.what = What::C2c;
        report.metrics.clear();
        report.matrices.clear();
        report.curves.clear();
        let mut cells = Vec::new();
        for from in 0..cpus {
            let mut row = Vec::new();
            for to in 0..cpus {
                let far = (from < cpus / 2) != (to < cpus / 2);
                let (from_word, to_word) = (from.to_string(), to.to_string());
                let labels = [("scope", "cpu"), ("from", from_word.as_str()), ("to", to_word.as_str()), ("kind", "cas")];
                row.push((from != to).then(|| {
                    report.metrics.push(sample::metric("c2c_latency", "ns", if far { far_ns } else { 20.0 }, &labels));
                    report.metrics.len() - 1
                }));
            }
            cells.push(row);
        }
        let labels = BTreeMap::from([("scope".into(), "cpu".into()), ("kind".into(), "cas".into())]);
        let all: Vec<u32> = (0..cpus).collect();
        let (name, unit) = ("c2c_latency".into(), "ns".into());
        report.matrices.push(Matrix { name, unit, rows: all.clone(), columns: all, labels, cells });
        report
    }

    fn drawn(cpus: u32, far_ns: f64) -> String {
        let text = render(&report(cpus, far_ns), Format::Text, &Style::plain());
        let from = text.find("CPU to CPU").unwrap();
        text[from..].lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn few_cpus_have_their_figures() {
        insta::assert_snapshot!(drawn(4, 120.0), @r"
        CPU to CPU       cas
          from    to 0   to 1   to 2   to 3
          0          –  20.0· 120.0█ 120.0█
          1      20.0·      – 120.0█ 120.0█
          2     120.0█ 120.0█      –  20.0·
          3     120.0█ 120.0█  20.0·      –
          ns: · from 20.0, ░ from 40.0, ▒ from 60.0, ▓ from 80.0, █ from 100.0 to 120.0
          each figure within ±1.2 or better; all with --format csv
        ");
    }

    #[test]
    fn noise_has_no_shades() {
        insta::assert_snapshot!(drawn(2, 20.4), @r"
        CPU to CPU       cas
          from    to 0   to 1
          0          –  20.4·
          1      20.4·      –
          ns: · from 20.4 to 20.4
          each figure within ±0.2 or better; all with --format csv
        ");
        assert!(drawn(4, 20.9).contains("20.9·") && drawn(4, 21.1).contains("21.1░"));
    }

    #[test]
    fn many_cpus_are_taken_together_and_stay_narrow() {
        let text = drawn(128, 120.0);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2 + 32 + 2, "{text}");
        assert!(lines[1].contains("to 0 … 127") && lines[1].contains("4 CPUs a cell"), "{text}");
        assert!(
            lines[2].starts_with("  0-3") && lines[2].matches('·').count() == 16 && lines[2].matches('█').count() == 16,
            "{text}"
        );
        assert!(lines.iter().all(|line| line.chars().count() <= 120), "{text}");
    }
}
