//! The loaded curve: what must hold of its figures whatever the machine.

use super::mlc;
use memgauge_model::{Record, Report};
use memgauge_stats::BurstFit;
use memgauge_stats::burst::BURST_BYTES;
use std::path::Path;

/// Report and record.
fn ran(args: &[&str]) -> (Report, Record) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let output = mlc(&[args, &["--quiet", "--seed", "7", "--out", out.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let file = |name: &str| std::fs::read(Path::new(&out).join(name)).unwrap();
    (serde_json::from_slice(&file("report.json")).unwrap(), serde_json::from_slice(&file("record.json")).unwrap())
}

/// By delay: what the loads alone moved, B/s.
fn loads(record: &Record) -> Vec<(f64, f64)> {
    let by_point = record.run.points.iter().filter_map(|point| {
        let blocks = point.rounds.iter().filter(|block| !block.superseded);
        let delay = blocks.clone().find_map(|block| block.delay)?;
        let rates: Vec<f64> = blocks.flat_map(|block| &block.windows).map(|window| window.load_bytes_per_s).collect();
        Some((f64::from(delay), memgauge_stats::median(&rates)?))
    });
    by_point.collect()
}

/// Nineteen rows; bandwidth falls with the delay; the longest delay's latency is not above the shortest one's; loads are paced as planned.
fn holds(report: &Report, record: &Record, threads: f64) -> BurstFit {
    let by_delay = |name: &str| {
        let figures = report.metrics.iter().filter(|metric| metric.name == name);
        let mut figures: Vec<_> = figures.map(|metric| (metric.labels["delay"].parse::<u32>().unwrap(), metric)).collect();
        figures.sort_by_key(|(delay, _)| *delay);
        figures
    };
    let (latencies, rates) = (by_delay("loaded_latency"), by_delay("loaded_bandwidth_dram"));
    assert_eq!((latencies.len(), rates.len()), (19, 19));
    let delays: Vec<f64> = rates.iter().map(|(delay, _)| f64::from(*delay)).collect();
    let values: Vec<f64> = rates.iter().map(|(_, metric)| metric.value).collect();
    let tau = memgauge_stats::tau_b(&delays, &values).unwrap();
    // Where the memory is saturated, delays that are short enough make no difference.
    let limit = if threads > 1.0 { -0.8 } else { -0.95 };
    assert!(tau <= limit, "tau {tau}: {values:?}");
    let (least, most) = (latencies[0].1, latencies[18].1);
    let halves = least.half_width().unwrap() + most.half_width().unwrap();
    assert!(most.value <= least.value + halves, "{} ns, {} ns at 20000", least.value, most.value);
    let fit = memgauge_stats::fit_bursts(&loads(record), threads * BURST_BYTES).unwrap();
    assert!(fit.points == 8 && fit.worst_residual < 0.03, "{fit:?}");
    fit
}

#[test]
fn one_load_and_many_keep_their_pace() {
    for (loads, threads) in [("-k1", 1.0), ("-k1-15", 15.0)] {
        let (report, record) = ran(&["--loaded_latency", "-c0", loads, "-j0", "-R", "-b100m", "-t2", "--simulate", "icelake-2s"]);
        let fit = holds(&report, &record, threads);
        // The described clock.
        assert!((2.55e9..2.65e9).contains(&fit.clock_hz) && (0.0..100.0).contains(&fit.burst_cycles), "{fit:?}");
    }
}

/// Where there are two CPUs; a factor that no noise makes.
#[test]
fn real_a_delay_thins_the_load() {
    let cpus: Vec<u32> = memgauge_sys::cpu::affinity().unwrap().iter().collect();
    let [observer, load, ..] = cpus[..] else { return };
    let folder = tempfile::tempdir().unwrap();
    let delays = folder.path().join("delays");
    std::fs::write(&delays, "0\n20000\n").unwrap();
    let words = [format!("-c{observer}"), format!("-k{load}"), format!("-g{}", delays.display())];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = mlc(&[&["--loaded_latency", "-R", "-b32m", "-t1", "--quiet"], words.as_slice()].concat());
    // Two CPUs of one core: the load is refused.
    if output.status.code() == Some(22) {
        return;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<&str>> = super::behind(&text, "=====").iter().map(|row| row.split('\t').map(str::trim).collect()).collect();
    assert_eq!((rows.len(), rows[0][0], rows[1][0]), (2, "00000", "20000"), "{text}");
    let number = |row: usize, cell: usize| rows[row][cell].parse::<f64>().unwrap();
    assert!(number(0, 2) > 2.0 * number(1, 2) && number(0, 1) > 0.0 && number(1, 1) > 0.0, "{text}");
}

#[test]
fn real_loads_go_without_a_latency_thread() {
    let cpus: memgauge_model::CpuList = memgauge_sys::cpu::affinity().unwrap().iter().collect();
    let output = mlc(&["--loaded_latency", "-T", &format!("-k{cpus}"), "-R", "-b32m", "-d0", "-t1", "--quiet"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let [row] = super::behind(&text, "=====")[..] else { panic!("{text}") };
    let rate = row.strip_prefix(" 00000\t  0.00\t").unwrap_or_else(|| panic!("{text}"));
    assert!(rate.trim().parse::<f64>().unwrap() > 0.0, "{text}");
}
