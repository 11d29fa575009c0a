//! What goes wrong on a simulated machine shows in the result, by name.

use crate::support::{Done, ask, done, small};
use memgauge_model::*;

fn with(fault: &str, what: What) -> Done {
    done(&small("", &format!("[[faults]]\n{fault}")), &ask(what, 1))
}

fn reasons(done: &Done) -> String {
    done.report.status.reasons.join("; ")
}

#[test]
fn disturbed_windows_are_left_out_and_too_many_spoil_the_figure() {
    let some = with("what = \"disturbed\"\nshare = 0.1\nsign = \"wait\"\ntime = 1.5", What::Idle);
    assert_eq!(some.report.status.state, State::Complete, "{}", reasons(&some));
    let truths = some.truths();
    let metric = truths[0].find(&some.report).unwrap();
    assert!(metric.excluded > 0 && (metric.value / truths[0].value - 1.0).abs() < 1e-3, "{metric:?}");
    for (sign, word) in
        [("wait", "waited for its CPU"), ("gap", "stood still"), ("spin", "core clock moved"), ("neighbour", "neighbour used")]
    {
        let many = with(&format!("what = \"disturbed\"\nshare = 0.5\nsign = \"{sign}\"\ntime = 1.5"), What::Idle);
        assert_eq!(many.report.status.state, State::Rejected);
        assert!(reasons(&many).contains(word), "{}", reasons(&many));
    }
    // What shows no sign can't be left out: it is part of the scatter.
    let unseen = with("what = \"disturbed\"\nshare = 0.1\nsign = \"none\"\ntime = 1.5", What::Idle);
    assert_eq!(unseen.truths()[0].find(&unseen.report).unwrap().excluded, 0);
}

#[test]
fn a_thread_that_does_not_come_on_costs_its_figures_and_is_named() {
    let stuck = with("what = \"stalled\"\ncpu = 7", What::Peak);
    assert_eq!(stuck.record.run.end, End::Complete);
    assert!(stuck.report.unavailable.iter().any(|gap| gap.name == "peak_bandwidth" && gap.detail.contains("CPU 7")));
    assert!(stuck.report.find("peak_bandwidth", &[("threads", "1")]).is_some());
    let early = with("what = \"stalled\"\ncpu = 7\nduring_s = [0, 5]", What::Peak);
    assert!(early.report.find("peak_bandwidth", &[("threads", "8")]).is_some(), "later rounds stand");
}

#[test]
fn pages_in_the_wrong_place_or_of_the_wrong_kind_spoil_the_figure() {
    let away = with("what = \"misplaced\"\nnode = 0\non = 1\nshare = 0.25", What::Idle);
    assert!(reasons(&away).contains("not on node 0"), "{}", reasons(&away));
    let (found, near) = (away.truths()[0].value, with("what = \"stalled\"\ncpu = 99", What::Idle).truths()[0].value);
    assert!((found - near - 0.25 * 50.0).abs() < 0.5, "a quarter goes over the link: {found} {near}");
    let small = with("what = \"small_pages\"\nnode = 0", What::Idle);
    assert!(reasons(&small).contains("asked thp, got base"), "{}", reasons(&small));
}

#[test]
fn a_slow_channel_slows_its_node_and_a_slow_region_some_allocations() {
    let cell = |done: &Done, node: &str| done.report.find("matrix_bandwidth", &[("from", node), ("to", node)]).unwrap().1.value;
    let channel = with("what = \"slow_channel\"\nnode = 1\nspeed = 0.5", What::MatrixBandwidth);
    assert!((0.45..0.6).contains(&(cell(&channel, "1") / cell(&channel, "0"))));
    let region = with("what = \"slow_region\"\nnode = 0\nshare = 0.5\nlatency = 1.5", What::MatrixLatency);
    let (_, metric) = region.report.find("matrix_latency", &[("from", "0"), ("to", "0")]).unwrap();
    let [lo, hi] = metric.ci95.unwrap();
    assert!(hi / lo > 1.4, "some rounds fall into it: {metric:?}");
}

#[test]
fn a_clock_that_drops_during_the_run_is_found() {
    let drops = |speed: f64| with(&format!("what = \"slow_clock\"\nspeed = {speed}\nduring_s = [2, 999]"), What::Peak);
    let found = |done: &Done| done.report.findings.iter().find(|finding| finding.id == "core_clock").map(|f| f.text.clone());
    assert!(found(&drops(0.7)).is_some_and(|text| text.contains("down to 1.75 from 2.50 GHz")));
    assert_eq!(found(&drops(0.95)), None, "a step of a turbo clock");
}
