//! How single accesses are spread.

use super::figures;
use super::page::Page;
use crate::table::{Cell, Table};
use memgauge_model::{Histogram, units};

/// Columns of the longest bar.
const BAR: u64 = 40;

pub fn section(page: &mut Page) {
    for histogram in &page.report.histograms {
        page.gap();
        let place = figures::conditions(page, &histogram.labels);
        page.labelled("Spread", &place);
        page.labelled("", &of(histogram));
        let table = table(page, histogram);
        page.table(&table);
    }
}

/// What is in it.
fn of(histogram: &Histogram) -> String {
    let sum = histogram.bins.iter().fold(histogram.beyond, |sum, bin| sum.saturating_add(bin.count));
    let (accesses, rounds) = (units::count(sum, "access"), units::count(u64::from(histogram.rounds), "round"));
    let width = units::count(histogram.width, "tick");
    let mhz = histogram.clock_hz / 1e6;
    let cost = histogram.cost_ns;
    format!("{accesses} of {rounds}; bins of {width} at {mhz:.0} MHz; {cost:.1} ns of timing taken off each")
}

fn table(page: &Page, histogram: &Histogram) -> Table {
    let mut table = Table::new(vec![Cell::right("ticks"), Cell::right("from ns"), Cell::right("accesses"), Cell::left("")]);
    let highest = histogram.bins.iter().map(|bin| bin.count).chain([histogram.beyond]).max().unwrap_or_default();
    // No span of a clock is a span of time where nobody knows its rate.
    let ns = |ticks: u64| match histogram.clock_hz {
        hz if hz > 0.0 => format!("{:.1}", ticks as f64 * 1e9 / hz),
        _ => "-".to_owned(),
    };
    let mut row = |ticks: String, from: u64, count: u64| {
        table.row(vec![
            Cell::right(ticks),
            Cell::right(ns(from)),
            Cell::right(count.to_string()).styled(page.style.figure),
            Cell::left("█".repeat(length(count, highest))),
        ]);
    };
    for bin in &histogram.bins {
        row(format!("{}…{}", bin.from, bin.to.saturating_sub(1)), bin.from, bin.count);
    }
    if histogram.beyond > 0 {
        row(format!("{} or more", histogram.end), histogram.end, histogram.beyond);
    }
    table
}

/// Of [`BAR`] columns; at least one for whatever is a hundredth of the highest.
fn length(count: u64, highest: u64) -> usize {
    let columns = u128::from(count) * u128::from(BAR) / u128::from(highest.max(1));
    usize::try_from(columns).unwrap_or_default().max(usize::from(u128::from(count) * 100 >= u128::from(highest)))
}

#[cfg(test)]
mod tests {
    use crate::{Format, Style, sample};
    use memgauge_model::{Histogram, HistogramBin};

    #[test]
    fn bins_stand_in_a_table() {
        let mut report = sample::all();
        let bin = |from: u64, count| HistogramBin { from, to: from + 16, count };
        report.histograms.push(Histogram {
            name: "access_latency".into(),
            labels: [("cpu", "0"), ("node", "0")].map(|(label, value)| (label.into(), value.into())).into(),
            clock_hz: 2e9,
            width: 16,
            cost_ns: 12.0,
            rounds: 6,
            bins: vec![bin(160, 1000), bin(176, 500), bin(4080, 1)],
            end: 4096,
            beyond: 9,
        });
        report.plan.request.what = memgauge_model::What::Idle;
        let text = crate::render(&report, Format::Text, &Style::plain());
        let shown = text.lines().skip_while(|line| !line.starts_with("Spread")).take(7).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(shown, @r"
        Spread           CPU 0 · node 0
                         1510 accesses of 6 rounds; bins of 16 ticks at 2000 MHz; 12.0 ns of timing taken off each
                 ticks  from ns  accesses
               160…175     80.0      1000  ████████████████████████████████████████
               176…191     88.0       500  ████████████████████
             4080…4095   2040.0         1
          4096 or more   2048.0         9
        ");
    }
}
