//! Rounds, windows, and the whole run's time.

use crate::support::*;
use memgauge_model::{Measure, Plan, Quota, What};

const MS: u64 = 1_000_000;

fn rounds(what: What, flags: &[(&str, &str)]) -> (Vec<u32>, u64) {
    let plan = plan(&two_cpus(), what, flags);
    (plan.rounds.looks.clone(), plan.points[0].time_ns / MS)
}

#[test]
fn a_points_time_is_shared_by_all_its_rounds() {
    assert_eq!(rounds(What::Idle, &[]), (vec![6, 9, 13, 19], 105));
    assert_eq!(rounds(What::Idle, &[("--time", "190ms")]), (vec![6, 9, 13, 19], 10));
    assert_eq!(rounds(What::Idle, &[("--time", "100ms")]), (vec![6, 9], 11));
    assert_eq!(rounds(What::Idle, &[("--time", "40ms")]), (vec![4], 10));
    assert_eq!(rounds(What::All, &[("--time", "20ms")]), (vec![2], 10));
    assert_eq!(rounds(What::All, &[("--time", "600ms")]), (vec![6], 100));
    assert_eq!(rounds(What::All, &[("--precision", "2%")]).0, [6, 9, 13, 19]);
}

/// Of the first point: rounds at most, what each holds.
fn quota(what: What, flags: &[(&str, &str)]) -> (u32, Option<Quota>) {
    let plan = plan(&two_cpus(), what, flags);
    (*plan.rounds.looks.last().unwrap(), plan.points[0].quota)
}

#[test]
fn a_count_is_shared_by_all_rounds_of_what_it_counts() {
    assert_eq!(quota(What::Idle, &[("--accesses", "19000000")]), (19, Some(Quota::Hops(1_000_000))));
    assert_eq!(quota(What::MatrixLatency, &[("--accesses", "1000000")]), (9, Some(Quota::Hops(111_112))));
    assert_eq!(quota(What::Idle, &[("--accesses", "0"), ("--buffer", "1MiB"), ("--stride", "256")]).1, Some(Quota::Hops(4096)));
    assert_eq!(quota(What::Idle, &[]).1, None);
    let loaded = plan(&two_cpus(), What::Loaded, &[("--accesses", "19000000"), ("--delays", "mlc")]);
    let mut curve = loaded.points.iter().filter(|point| matches!(point.measure, Measure::Loaded { .. }));
    assert!(curve.all(|point| point.quota.is_some()));
    let (rounds, bytes) = quota(What::Scan, &[("--passes", "12")]);
    assert_eq!(bytes, Some(Quota::Bytes((12_u64 << 30).div_ceil(u64::from(rounds)))));
}

#[test]
fn counts_that_make_no_rounds_and_two_ends_are_refused() {
    let refused = |what, flags: &[(&str, &str)]| refusal(&two_cpus(), what, flags);
    assert_eq!(
        refused(What::Idle, &[("--accesses", "1000")]),
        "--accesses 1000: too few for two rounds of one 10 ms window; use 200000 or more, or 0 for one pass in each round"
    );
    assert!(
        refused(What::Idle, &[("--accesses", "2000000000000")]).starts_with("--accesses 2000000000000: takes more than a day")
    );
    assert!(refused(What::Scan, &[("--passes", "0")]).starts_with("--passes 0: nothing would be read"));
    assert_eq!(
        refused(What::Idle, &[("--accesses", "1000000"), ("--time", "100ms")]),
        "--accesses 1000000: a count and a time (--time) are two ends; leave one of the two out"
    );
}

#[test]
fn precision_is_promised_by_commands_and_reported_by_the_default_run() {
    let precision = |what, flags: &[(&str, &str)]| plan(&two_cpus(), what, flags).rounds.precision;
    assert_eq!(precision(What::Peak, &[]), Some(0.01));
    assert_eq!(precision(What::Peak, &[("--precision", "50%")]), Some(0.5));
    assert_eq!(precision(What::All, &[]), None);
}

/// Large caches mean long set-up; windows shrink until the estimate keeps the limit.
#[test]
fn the_default_run_on_two_cpus_keeps_half_a_minute() {
    let limited = plan(&two_cpus(), What::All, &[]);
    assert!(limited.estimate.total_ns() <= 30_000 * MS, "{:?}", limited.estimate);
    assert_eq!(limited.rounds.whole_ns, Some(27_000 * MS));
    assert!(limited.points.iter().all(|point| point.time_ns >= limited.windows.min_ns));
    let easy = plan(&two_cpus().with(|m| m.caches.l3[0].size = memgauge_model::Avail::Known(32 * MIB)), What::All, &[]);
    assert_eq!(easy.points[0].time_ns, 60 * MS);
    let large = plan(&giant(), What::All, &[]);
    assert!(large.estimate.total_ns() > 30_000 * MS && large.rounds.whole_ns.is_none(), "{:?}", large.estimate);
    let asked = plan(&two_cpus(), What::All, &[("--time", "600ms")]);
    assert_eq!(asked.rounds.whole_ns, None);
}

#[test]
fn the_estimate_adds_up() {
    let sum = |plan: &Plan| plan.points.iter().map(|point| point.time_ns).sum::<u64>();
    let peak = plan(&two_cpus(), What::Peak, &[]);
    assert_eq!(peak.estimate.rounds, 19);
    assert_eq!(peak.estimate.windows_ns, 19 * sum(&peak));
    let max = plan(&two_cpus(), What::Max, &[("--mix", "read")]);
    // Five candidates twice, one of them nineteen times more.
    assert_eq!(max.estimate.windows_ns, (5 * 2 + 19) * max.points[0].time_ns);
}

#[test]
fn a_time_that_no_sum_could_hold_is_refused() {
    let day = plan(&two_sockets(), What::C2c, &[("--all-pairs", ""), ("--time", "86400000ms")]);
    assert!(day.estimate.total_ns() > 86_400 * 1000 * MS);
    let longer = refusal(&two_cpus(), What::Loaded, &[("--time", "86401000ms")]);
    assert!(longer.starts_with("--time 86401000ms: more than a day for each figure; use 86400s or less"), "{longer}");
}
