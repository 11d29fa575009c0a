//! The curves of published loaded-latency tables, as an outside check of the
//! knee and of the burst formula. The tables belong beside the project, not in
//! it: they are read from `MEMGAUGE_SAMPLES`, else from `shared/data/mlc-samples`
//! beside the workspace.
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic")]

use memgauge_stats::knee::{Curve, Knee, LoadPoint, analyze_curve};
use memgauge_stats::{burst, fit_bursts};
use std::io::Write;
use std::path::{Path, PathBuf};

/// One table: (delay, latency in ns, bandwidth in MB/s), heaviest load first.
type Table = Vec<(u64, f64, f64)>;

/// A table shorter than this is an excerpt.
const WHOLE: usize = 10;

#[test]
fn the_knee_of_every_published_curve_lies_at_078_to_099_of_its_highest() {
    let Some(samples) = samples() else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(&samples).unwrap() {
        let path = entry.unwrap().path();
        let table = table(&path);
        if table.len() < WHOLE {
            continue;
        }
        seen += 1;
        let curve = read(&table);
        let Knee::Found { bandwidth, .. } = curve.knee else {
            panic!("{}: {:?}", path.display(), curve.knee);
        };
        let share = bandwidth / curve.highest;
        assert!((0.775..0.995).contains(&share), "{}: {share}", path.display());
        let matched: Vec<f64> = curve.matched.iter().filter_map(|m| m.bandwidth).collect();
        assert!(matched.len() >= 2 && matched.is_sorted(), "{}", path.display());
        assert!(curve.flat.is_some_and(|f| !f.whole_curve && f.to < matched[0]));
    }
    assert!(seen >= 3, "only {seen} whole tables in {}", samples.display());
}

#[test]
fn the_tutorial_bends_at_delay_100() {
    let Some(samples) = samples() else { return };
    let Some(seed) = present(samples.join("../../seeds/mlc-3.10-tutorial.zh.txt")) else {
        return;
    };
    let table = table(&seed);
    assert_eq!(table.len(), 19, "{}", seed.display());
    let curve = read(&table);
    let Knee::Found { column, bandwidth, saturated_from, .. } = curve.knee else {
        panic!("{:?}", curve.knee);
    };
    assert_eq!(table[column].0, 100);
    // Between that point and its neighbours, which are saturated on one side.
    assert!((bandwidth / 550_627.5e6 - 1.0).abs() < 0.02, "{bandwidth}");
    assert_eq!(saturated_from, Some(553_243.6e6));
    assert_eq!(curve.unloaded, 111.73);
}

#[test]
fn long_delays_follow_the_burst_formula_to_one_per_cent() {
    let Some(samples) = samples() else { return };
    for name in ["haswell_mlc.txt", "skylake_mlc.txt", "icelake_mlc.txt"] {
        let observer = |latency: f64| 64.0 / (latency * 1e-9);
        let points: Vec<(f64, f64)> = table(&samples.join(name))
            .iter()
            .map(|&(delay, latency, mb)| (delay as f64, mb * 1e6 - OBSERVERS * observer(latency)))
            .collect();
        // The thread count is not published: the fit then gives threads × clock.
        let fit = fit_bursts(&points, burst::BURST_BYTES).unwrap();
        assert!(fit.points >= 6 && fit.worst_residual < 0.01, "{name}: {fit:?}");
        assert!((10e9..500e9).contains(&fit.clock_hz), "{name}: {fit:?}");
    }
}

/// One observer in the whole system.
const OBSERVERS: f64 = 1.0;

fn read(table: &Table) -> Curve {
    let round = table.iter().map(|&(_, latency, mb)| Some(LoadPoint { bandwidth: mb * 1e6, latency })).collect();
    analyze_curve(&[round], 1).unwrap()
}

/// The lines of three columns (five-digit delay, ns, MB/s) of a text.
fn table(path: &Path) -> Table {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let row = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            let delay = (row.0.len() == 5 && words.next().is_none()).then_some(row.0)?;
            Some((delay.parse().ok()?, row.1, row.2))
        })
        .collect()
}

/// The folder of samples.
fn samples() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/mlc-samples");
    present(std::env::var_os("MEMGAUGE_SAMPLES").map_or_else(beside, PathBuf::from))
}

/// The path if it is there. Without it these tests have nothing to hold
/// against: they say so, and fail where a machine is supposed to have it.
fn present(path: PathBuf) -> Option<PathBuf> {
    if path.exists() {
        return Some(path);
    }
    let missing = format!("published samples missing: {} (MEMGAUGE_SAMPLES)", path.display());
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{missing}");
    // Written past the test harness, which would keep it to itself.
    let mut stderr = std::io::stderr();
    writeln!(stderr, "skipped: {missing}").unwrap();
    None
}
