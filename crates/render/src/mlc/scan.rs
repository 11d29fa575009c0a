//! Every gibibyte of a node's memory.

use super::Style;
use memgauge_model::{Metric, Report, Scan};
use std::collections::BTreeMap;

/// Width of a bucket unless another one is asked for, 10^6 B/s.
const BUCKET: u64 = 5000;
const GIB: u64 = 1 << 30;

/// What was had, the histogram, and region by region with its physical address (`-` where that is hidden), 10^6 B/s.
#[must_use]
pub fn scan(report: &Report, style: &Style) -> String {
    report.scans.iter().map(|scan| one(report, scan, style)).collect()
}

/// A region that has a figure.
struct Region<'a> {
    metric: &'a Metric,
    at: Option<u64>,
    giant: bool,
}

fn one(report: &Report, scan: &Scan, style: &Style) -> String {
    let node = scan.node;
    let of = |(at, id): (usize, &Option<usize>)| {
        let metric = report.metrics.get((*id)?)?;
        let kind = metric.placement.as_ref().map(|placement| placement.kind.as_str());
        let giant = kind.or(metric.labels.get("pages").map(String::as_str)) == Some("1g");
        Some(Region { metric, at: scan.addresses.get(at).copied().flatten(), giant })
    };
    let mut regions = scan.regions.iter().enumerate().filter_map(of).collect::<Vec<_>>();
    // By address, the highest first; those without one last, as they were measured.
    regions.sort_by_key(|region| std::cmp::Reverse(region.at));
    let label = |name| regions.first().and_then(|region| region.metric.labels.get(name)).cloned().unwrap_or_default();
    let (giant, rest): (Vec<_>, Vec<_>) = regions.iter().partition(|region| region.giant);
    let (all, small) = (scan.scanned_bytes, scan.region_bytes * rest.len() as u64);
    let mut text = String::new();
    let mut line = |words: String| text.push_str(&(words + "\n"));
    let from = scan_readers(report, &label("cpus")).unwrap_or(node);
    line(format!("Running memory scan using {} threads on numa node {from} accessing memory on node {node}", label("threads")));
    if !giant.is_empty() {
        let pages = giant.len();
        line(format!("Reserved {pages} 1GB pages"));
        line(format!("Now allocating {pages} 1GB pages. This may take several minutes.."));
        line("1GB page allocation completed".to_owned());
    }
    line(format!("Allocating remaining {} KB memory in 4KB pages", small / 1024));
    line(format!("Totally {} GB memory allocated in 4KB+1GB pages on NUMA node {node}", all / GIB));
    line("Measuring memory bandwidth for each of those 1GB memory regions..".to_owned());
    line(format!("\nHistogram report of BW in MB/sec across each 1GB region on NUMA node {node}"));
    line("BW_range(MB/sec)\t#_of_1GB_regions\n----------------\t----------------".to_owned());
    for (from, count) in buckets(&regions, style) {
        line(format!("[{from}-{}]\t{count}", from + width(style) - 1));
    }
    if !giant.is_empty() {
        line(format!("\nDetailed BW report for each 1GB region allocated as contiguous 1GB page on NUMA node {node}"));
        line("phys_addr\tGBaligned_page#\tMB/sec\n---------\t---------------\t------".to_owned());
        for region in giant {
            let page = region.at.map_or_else(|| "-".to_owned(), |at| (at / GIB).to_string());
            line(format!("{}\t{page}\t{}", address(region), rate(region)));
        }
    }
    if !rest.is_empty() {
        line(format!("\nDetailed BW report for each 1GB region allocated as 4KB page on NUMA node {node}"));
        line("phys_addr\tMB/sec\n---------\t------".to_owned());
        rest.iter().for_each(|region| line(format!("{}\t{}", address(region), rate(region))));
    }
    text
}

/// The node whose CPUs read.
fn scan_readers(report: &Report, cpus: &str) -> Option<u32> {
    let first = cpus.split([',', '-']).next()?.parse::<u32>().ok()?;
    report.machine.nodes.iter().find(|node| node.cpus.contains(first)).map(|node| node.node)
}

fn width(style: &Style) -> u64 {
    if style.scan_bucket == 0 { BUCKET } else { u64::from(style.scan_bucket) }
}

fn buckets(regions: &[Region<'_>], style: &Style) -> BTreeMap<u64, u64> {
    let mut buckets = BTreeMap::new();
    for region in regions {
        *buckets.entry(rate(region) / width(style) * width(style)).or_default() += 1;
    }
    buckets
}

fn rate(region: &Region<'_>) -> u64 {
    (region.metric.value / 1e6) as u64
}

fn address(region: &Region<'_>) -> String {
    region.at.map_or_else(|| "-".to_owned(), |at| format!("{at:#x}"))
}
