//! `memgauge scan`: how much of which memory, how its regions' figures are spread, and the slow ones.

use super::figures;
use super::page::{Page, count};
use crate::figure::{figure, number, spread, value};
use crate::style::{clean, paint};
use crate::table::{Cell, Table};
use memgauge_model::{Avail, Metric, MetricId, Physical, Scan, ScanBin, ScanFence, SlowRegion, units};

/// Columns of the longest bar.
const BAR: usize = 60;
/// Slow regions that are listed; the document has all.
const MOST: usize = 20;
/// Ranges of physical addresses that are listed of a region, the largest.
const RANGES: usize = 3;

pub fn section(page: &mut Page) {
    let scans: Vec<&Scan> = page.report.scans.iter().collect();
    for (place, scan) in scans.iter().enumerate() {
        if place > 0 {
            page.gap();
        }
        head(page, scan);
        histogram(page, scan);
        slow(page, scan);
    }
    let regions = scans.iter().map(|scan| scan.regions.len()).sum::<usize>();
    if regions > 0 {
        let all = format!("  {} in all: --format csv or json has every one", count(regions, "region"));
        page.line(&paint(page.style.dim, &all));
    }
}

/// What was scanned, and its figures in three lines.
fn head(page: &mut Page, scan: &Scan) {
    let known: Vec<&Metric> = scan.regions.iter().flatten().filter_map(|id| page.show(*id)).collect();
    let median = scan.median.and_then(|id| page.show(id));
    let mut labels = median.map(|metric| metric.labels.clone()).unwrap_or_default();
    labels.retain(|key, _| !["bytes", "node", "isa"].contains(&key.as_str()));
    let conditions = figures::conditions(page, &labels);
    let of = format!(
        "{} of node {} in {} of {}",
        units::bytes(scan.scanned_bytes),
        scan.node,
        count(known.len(), "region"),
        units::bytes(scan.region_bytes)
    );
    page.labelled("Scanned", &format!("{}  {}", paint(page.style.figure, &of), paint(page.style.dim, &conditions)));
    let mut shares = vec![
        format!(
            "{} of the {} that could be had",
            percent(scan.scanned_bytes, scan.available_bytes),
            units::bytes(scan.available_bytes)
        ),
        format!("{} of the node's {}", percent(scan.scanned_bytes, scan.memory_bytes), units::bytes(scan.memory_bytes)),
    ];
    let pages = scan.pages.iter().map(|(kind, regions)| format!("{} on {}", regions_text(*regions), clean(kind)));
    shares.extend(pages);
    page.parts("", &shares);
    let remarks = known.first().map_or(&[][..], |first| &first.remarks);
    let shared = remarks.iter().filter(|remark| known.iter().all(|metric| metric.remarks.contains(remark)));
    let shared = shared.map(|remark| clean(remark)).collect::<Vec<_>>().join("; ");
    if !shared.is_empty() {
        page.labelled("", &paint(page.style.dim, &shared));
    }
    let ends = [("slowest", scan.slowest), ("fastest", scan.fastest)].map(|(word, id)| {
        let metric = page.report.metrics.get(id?)?;
        Some(format!("{word} {} (region {})", paint(page.style.figure, &figure(metric)), clean(told(metric, "region"))))
    });
    let middle = median.map(|metric| format!("median region {}", paint(page.style.figure, &figure(metric))));
    let parts: Vec<String> = middle.into_iter().chain(ends.into_iter().flatten()).collect();
    page.parts("Bandwidth", &parts);
}

fn histogram(page: &mut Page, scan: &Scan) {
    let Some(highest) = scan.histogram.iter().map(|bin| bin.regions).max() else { return };
    page.gap();
    let head = vec![Cell::right("GB/s"), Cell::right("regions"), Cell::left("")];
    let mut table = Table::new(head);
    let decimals = decimals(&scan.histogram);
    let edge = |value: f64| format!("{:.decimals$}", value / 1e9);
    for bin in &scan.histogram {
        let mut bar = "█".repeat(length(bin.regions, highest));
        for fence in scan.fences.iter().filter(|fence| fence.fence.is_some_and(|fence| (bin.from..bin.to).contains(&fence))) {
            let space = if bar.is_empty() { "" } else { " " };
            bar += &format!("{space}◂ the fence{}", on_pages(scan, fence));
        }
        table.row(vec![
            Cell::right(format!("{}…{}", edge(bin.from), edge(bin.to))),
            Cell::right(bin.regions.to_string()).styled(page.style.figure),
            Cell::left(bar),
        ]);
    }
    page.table(&table);
}

/// One column a region while they fit; never none for a region that is there.
fn length(regions: u32, highest: u32) -> usize {
    let (regions, highest) = (regions as usize, highest as usize);
    if highest <= BAR { regions } else { (regions * BAR / highest).max(usize::from(regions > 0)) }
}

/// So many that the edges of bins differ.
fn decimals(bins: &[ScanBin]) -> usize {
    let width = bins.first().map_or(1.0, |bin| (bin.to - bin.from) / 1e9);
    [1.0, 0.1, 0.01].iter().position(|step| width > step * 0.99).unwrap_or(3)
}

fn slow(page: &mut Page, scan: &Scan) {
    page.gap();
    if scan.fences.is_empty() {
        page.labelled("Slow regions", "not looked for: that comes when all regions have had their rounds");
        return;
    }
    for (place, fence) in scan.fences.iter().enumerate() {
        let text = judged(page, scan, fence);
        page.labelled(if place == 0 { "Slow regions" } else { "" }, &text);
    }
    if let Some(fence) = scan.fences.iter().find(|fence| fence.fence.is_some()) {
        let (k, least) = (fence.rule.k, fence.rule.least * 100.0);
        let how = format!("the fence: {k:.1} robust standard deviations below the median, and {least:.1} % at least");
        page.labelled("", &paint(page.style.dim, &how));
    }
    if scan.slow.is_empty() {
        return;
    }
    let outcomes = [
        (Outcome::Stayed, "stayed slow"),
        (Outcome::CameBack, "came back to the others"),
        (Outcome::Open, "left open by the figures"),
        (Outcome::NotAgain, "not measured again"),
    ];
    let counted = outcomes.map(|(wanted, word)| (scan.slow.iter().filter(|region| outcome(region) == wanted).count(), word));
    let parts: Vec<String> =
        counted.iter().filter(|(regions, _)| *regions > 0).map(|(regions, word)| format!("{regions} {word}")).collect();
    page.parts("Measured again", &parts);
    let table = table(page, scan);
    page.table(&table);
    let more = scan.slow.len().saturating_sub(MOST);
    if more > 0 {
        page.line(&paint(page.style.dim, &format!("  and {more} more: --format json has all")));
    }
    places(page, scan);
}

/// What became of a slow region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Stayed,
    CameBack,
    Open,
    NotAgain,
}

fn outcome(region: &SlowRegion) -> Outcome {
    match (region.again, region.stayed) {
        (None, _) => Outcome::NotAgain,
        (_, None) => Outcome::Open,
        (_, Some(true)) => Outcome::Stayed,
        (_, Some(false)) => Outcome::CameBack,
    }
}

/// How many are slow and by what; where none is, what would have been.
fn judged(page: &Page, scan: &Scan, fence: &ScanFence) -> String {
    let on = on_pages(scan, fence);
    let (Some(median), Some(limit)) = (fence.median, fence.fence) else {
        return format!("{}{on}: of fewer than 5 nobody can say which is slow", regions_text(fence.regions));
    };
    let how = format!("below {} GB/s, {:.1} % less than the middle region", number(limit / 1e9), (1.0 - limit / median) * 100.0);
    let first = |region: &&SlowRegion| page.report.metrics.get(region.first?).map(|metric| told(metric, "pages"));
    let below = scan.slow.iter().filter(|region| first(region).is_none_or(|pages| pages == fence.pages.word())).count();
    match below {
        0 => format!("none of {}{on}: one would be {how}", fence.regions),
        some => format!("{some} of {}{on}, {how}", fence.regions),
    }
}

/// Said only where kinds of pages are told apart.
fn on_pages(scan: &Scan, fence: &ScanFence) -> String {
    if scan.fences.len() > 1 { format!(" on {}", fence.pages.word()) } else { String::new() }
}

fn table(page: &mut Page, scan: &Scan) -> Table {
    let head = [
        Cell::right("region"),
        Cell::right("first GB/s"),
        Cell::left("95 %"),
        Cell::right("again GB/s"),
        Cell::left("95 %"),
        Cell::right("others GB/s"),
        Cell::left("95 %"),
        Cell::right("share"),
        Cell::left("95 %"),
        Cell::left(""),
        Cell::left("pages"),
    ];
    let mut table = Table::new(head.into());
    for (place, region) in scan.slow.iter().enumerate() {
        let mut row = vec![Cell::right(region.region.to_string())];
        for id in [region.first, region.again, region.controls, region.ratio] {
            row.extend(cells(page, id));
        }
        let (word, style) = match outcome(region) {
            Outcome::Stayed => ("stayed slow", page.style.bad),
            Outcome::CameBack => ("came back", page.style.good),
            Outcome::Open => ("open", page.style.dim),
            Outcome::NotAgain => ("not measured again", page.style.dim),
        };
        row.push(Cell::left(word).styled(style));
        row.push(Cell::left(if scan.pages.len() > 1 { clean(&region.pages) } else { String::new() }));
        // All are on the page, those that are only counted too.
        if place < MOST {
            table.row(row);
        }
    }
    table
}

fn cells(page: &mut Page, id: Option<MetricId>) -> [Cell; 2] {
    match id.and_then(|id| page.show(id)) {
        Some(metric) => [Cell::right(value(metric)).styled(page.style.figure), Cell::left(spread(metric))],
        None => [Cell::right(""), Cell::left("")],
    }
}

/// `0x140000000-0x17fffffff`, the largest ranges.
fn addresses(place: &Physical) -> String {
    let mut largest: Vec<&[u64; 2]> = place.ranges.iter().collect();
    largest.sort_by_key(|[from, to]| (std::cmp::Reverse(to - from), *from));
    let shown: Vec<String> =
        largest.iter().take(RANGES).map(|[from, to]| format!("{from:#x}-{:#x}", to.saturating_sub(1))).collect();
    let more = (place.ranges.len() as u64 + place.left_out).saturating_sub(shown.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}

/// Where regions are that did not come back; or once why that is not known.
fn places(page: &mut Page, scan: &Scan) {
    let whose = if scan.guest_physical { "guest-physical" } else { "physical" };
    let mut hidden: Option<&str> = None;
    let mut lines = Vec::new();
    for region in scan.slow.iter().take(MOST).filter(|region| outcome(region) != Outcome::CameBack) {
        match &region.physical {
            Avail::Known(place) if place.ranges.is_empty() => {}
            Avail::Known(place) => lines.push(format!("  region {} {whose} {}", region.region, addresses(place))),
            Avail::Unavailable { detail, .. } => hidden = hidden.or(Some(detail)),
        }
    }
    lines.extend(hidden.map(|why| format!("  {whose} addresses are not known: {}", clean(why))));
    lines.iter().for_each(|line| page.line(&paint(page.style.dim, line)));
}

fn regions_text(number: u32) -> String {
    units::count(number.into(), "region")
}

fn told<'m>(metric: &'m Metric, key: &str) -> &'m str {
    metric.labels.get(key).map_or("", String::as_str)
}

#[expect(clippy::cast_precision_loss, reason = "display only")]
fn percent(part: u64, of: u64) -> String {
    format!("{:.0} %", part as f64 / of.max(1) as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use crate::{Format, Style, render, sample};
    use memgauge_model::{
        AgainRule, Avail, MetricId, Pages, Physical, Reason, Report, Scan, ScanBin, ScanFence, SlowRegion, What,
    };
    use std::collections::BTreeMap;

    const GIB: u64 = 1 << 30;
    const RULE: AgainRule = AgainRule { k: 5.0, least: 0.03, most: 16, controls: 3, rounds: 6 };

    fn add(report: &mut Report, name: &str, unit: &str, value: f64, region: Option<u32>) -> Option<MetricId> {
        let number = region.map(|region| region.to_string());
        let mut labels = vec![("mix", "read"), ("node", "0"), ("threads", "2"), ("pages", "thp")];
        labels.extend(number.as_ref().map(|number| ("region", number.as_str())));
        report.metrics.push(sample::metric(name, unit, value, &labels));
        Some(report.metrics.len() - 1)
    }

    /// `regions` at about 33 GB/s.
    fn report(regions: u32) -> Report {
        let mut report = sample::report(What::Scan);
        let rate = |region: u32| 33e9 + 1e8 * f64::from(region % 10);
        let ids: Vec<_> =
            (0..regions).map(|region| add(&mut report, "scan_bandwidth", "B/s", rate(region), Some(region))).collect();
        let median = add(&mut report, "scan_median_bandwidth", "B/s", 33.4e9, None);
        let fence = Some(32.4e9).filter(|_| regions >= 5);
        report.scans.push(Scan {
            node: 0,
            mix: "read".into(),
            region_bytes: GIB,
            scanned_bytes: GIB * u64::from(regions),
            available_bytes: 22 * GIB,
            memory_bytes: 24 * GIB,
            pages: BTreeMap::from([("thp".into(), regions)]),
            median,
            slowest: ids[0],
            fastest: ids[ids.len() - 1],
            histogram: vec![
                ScanBin { from: 32e9, to: 32.5e9, regions: 0 },
                ScanBin { from: 32.5e9, to: 33e9, regions: 1 },
                ScanBin { from: 33e9, to: 33.5e9, regions: regions - 1 },
            ],
            fences: vec![ScanFence { pages: Pages::Thp, regions, median: Some(33.4e9), fence, rule: RULE }],
            slow: Vec::new(),
            guest_physical: false,
            addresses: Vec::new(),
            regions: ids,
        });
        report
    }

    fn slow(report: &mut Report, region: u32, stayed: Option<bool>, physical: Avail<Physical>) {
        let first = report.scans[0].regions[region as usize];
        let again = add(report, "scan_again_bandwidth", "B/s", 20e9, Some(region));
        let controls = add(report, "scan_control_bandwidth", "B/s", 33.3e9, None);
        let ratio = add(report, "scan_again_ratio", "ratio", 0.6, Some(region));
        report.scans[0].slow.push(SlowRegion { region, first, again, controls, ratio, stayed, pages: "thp".into(), physical });
    }

    fn drawn(report: &Report) -> String {
        let text = render(report, Format::Text, &Style::plain());
        assert!(!text.contains("scan_"), "each figure is somewhere: {text}");
        text.lines().skip(1).take_while(|line| !line.starts_with("Verdict")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn nothing_slow() {
        insta::assert_snapshot!(drawn(&report(12)), @r"
        Scanned          12 GiB of node 0 in 12 regions of 1 GiB  read · THP · 2 threads
                         55 % of the 22 GiB that could be had · 50 % of the node's 24 GiB · 12 regions on thp
        Bandwidth        median region 33.4 GB/s ±0.3 · slowest 33.0 GB/s ±0.3 (region 0) · fastest 33.1 GB/s ±0.3 (region 11)

               GB/s  regions
          32.0…32.5        0  ◂ the fence
          32.5…33.0        1  █
          33.0…33.5       11  ███████████

        Slow regions     none of 12: one would be below 32.4 GB/s, 3.0 % less than the middle region
                         the fence: 5.0 robust standard deviations below the median, and 3.0 % at least
          12 regions in all: --format csv or json has every one
        ");
    }

    #[test]
    fn slow_ones_and_where_they_are() {
        let mut report = report(12);
        let ranges = vec![[GIB, 2 * GIB], [8 * GIB, 8 * GIB + 4096], [9 * GIB, 9 * GIB + 8192]];
        slow(&mut report, 3, Some(true), Avail::Known(Physical { ranges, left_out: 2, ..Physical::default() }));
        slow(&mut report, 7, Some(false), Avail::Known(Physical::default()));
        slow(&mut report, 8, None, Avail::missing(Reason::NoPermission, "it takes CAP_SYS_ADMIN"));
        let last = report.scans[0].slow[2].clone();
        report.scans[0].slow.push(SlowRegion { again: None, controls: None, ratio: None, ..last });
        let text = drawn(&report);
        insta::assert_snapshot!(&text[text.find("Slow regions").unwrap()..], @r"
        Slow regions     4 of 12, below 32.4 GB/s, 3.0 % less than the middle region
                         the fence: 5.0 robust standard deviations below the median, and 3.0 % at least
        Measured again   1 stayed slow · 1 came back to the others · 1 left open by the figures · 1 not measured again
          region  first GB/s  95 %  again GB/s  95 %  others GB/s  95 %  share  95 %
               3        33.3  ±0.3        20.0  ±0.2         33.3  ±0.3  0.600  ±0.006  stayed slow
               7        33.7  ±0.3        20.0  ±0.2         33.3  ±0.3  0.600  ±0.006  came back
               8        33.8  ±0.3        20.0  ±0.2         33.3  ±0.3  0.600  ±0.006  open
               8        33.8  ±0.3                                                      not measured again
          region 3 physical 0x40000000-0x7fffffff, 0x240000000-0x240001fff, 0x200000000-0x200000fff and 2 more
          physical addresses are not known: it takes CAP_SYS_ADMIN
          12 regions in all: --format csv or json has every one
        ");
        report.scans[0].guest_physical = true;
        assert!(drawn(&report).contains("region 3 guest-physical 0x40000000-0x7fffffff"));
    }

    #[test]
    fn many_slow_ones_are_counted() {
        let mut report = report(200);
        (0..30).for_each(|region| slow(&mut report, region, Some(true), Avail::Known(Physical::default())));
        let text = drawn(&report);
        assert_eq!(text.matches("  stayed slow").count(), super::MOST, "{text}");
        assert!(text.contains("and 10 more: --format json has all"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
        assert_eq!(super::length(1, 1000), 1, "what is there is seen");
        assert_eq!(super::length(1000, 1000), super::BAR);
    }

    #[test]
    fn few_regions_and_broken_off_ones_are_not_judged() {
        assert!(drawn(&report(4)).contains("4 regions: of fewer than 5 nobody can say which is slow"));
        let mut stopped = report(12);
        stopped.scans[0].fences.clear();
        assert!(drawn(&stopped).contains("Slow regions     not looked for"));
    }
}
