//! Prefetching by probe, where it matters: latencies that it helped, or bandwidth that it does not help.

use super::evidence::{finding, label};
use memgauge_model::{Finding, Metric, MetricId, PrefetchState, PrefetchVerdict, Prefetching, Record, Report, Severity};

/// Below this stride the spatial prefetcher has a node's neighbour ready.
const PAIR: u64 = 128;

pub(super) fn find(_: &Record, report: &Report) -> Vec<Finding> {
    let Some(prefetch) = &report.prefetch else { return Vec::new() };
    helped(report, prefetch).into_iter().chain(asleep(report, prefetch)).chain(stay_on(prefetch)).collect()
}

/// Chases in an order or at a stride that the prefetchers which act here can follow.
fn helped(report: &Report, prefetch: &PrefetchVerdict) -> Option<Finding> {
    let on = |verdict: Prefetching| verdict == Prefetching::On;
    let (streaming, spatial) = (on(prefetch.streaming.verdict), on(prefetch.spatial.verdict));
    let latencies = report.metrics.iter().enumerate().filter(|(_, metric)| metric.name.ends_with("_latency"));
    let followed = latencies.filter(|(_, metric)| {
        let stride: Option<u64> = label(metric, "stride").parse().ok();
        let chase = label(metric, "prefetch") != "off";
        let close = stride.is_some_and(|stride| stride < PAIR) && !neighbours_wait(metric);
        chase && (streaming && label(metric, "order") == "sequential" || spatial && close)
    });
    let mut evidence: Vec<MetricId> = followed.map(|(id, _)| id).collect();
    let first = report.metrics.get(*evidence.first()?)?;
    let text = format!(
        "{} of {:.1} ns ({} at {} B) is that of prefetched lines, not of memory: prefetchers act here; use --order window-random at a stride of {PAIR} B or more, or --prefetch off where that can be had",
        first.name,
        first.value,
        label(first, "order"),
        label(first, "stride")
    );
    evidence.extend([prefetch.streaming.metric, prefetch.spatial.metric].into_iter().flatten());
    Some(finding("prefetched_latency", Severity::Warning, text, evidence))
}

/// A line that comes along with another has its turn when the whole working set has gone by: early only where a cache holds that.
fn neighbours_wait(metric: &Metric) -> bool {
    let swept = metric.name == "sweep_latency" || metric.name == "level_latency";
    label(metric, "order") == "split-random" || (swept && label(metric, "order") == "full-random")
}

/// Nobody switched the streaming prefetcher off in this run, and still it does not act.
fn asleep(report: &Report, prefetch: &PrefetchVerdict) -> Option<Finding> {
    let left = matches!(prefetch.control, PrefetchState::Left { .. });
    let ratio = prefetch.streaming.metric.filter(|_| left && prefetch.streaming.verdict == Prefetching::Off)?;
    let text = format!(
        "streaming prefetch does not act: rising addresses take {:.2} of the time of random ones; programs that read in order lose bandwidth by it; look at the firmware's prefetcher settings",
        report.metrics.get(ratio)?.value
    );
    Some(finding("prefetch_off", Severity::Warning, text, vec![ratio]))
}

/// Registers that read back as off and have no effect.
fn stay_on(prefetch: &PrefetchVerdict) -> Option<Finding> {
    let kinds = [("streaming", prefetch.streaming), ("spatial", prefetch.spatial)];
    let on: Vec<_> = kinds.into_iter().filter(|(_, probe)| probe.verdict == Prefetching::On).collect();
    if on.is_empty() || !matches!(prefetch.control, PrefetchState::Off { .. }) {
        return None;
    }
    let names: Vec<&str> = on.iter().map(|(name, _)| *name).collect();
    let text = format!(
        "the prefetchers' registers read back as off, yet the probe finds {} prefetching: a hypervisor keeps the value and does nothing, or this CPU has more prefetchers than its registers; go by the probe",
        names.join(" and ")
    );
    Some(finding("prefetchers_stay_on", Severity::Warning, text, on.iter().filter_map(|(_, probe)| probe.metric).collect()))
}
