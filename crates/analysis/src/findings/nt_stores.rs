//! Non-temporal against plain stores: which of them a program with big buffers should use here.

use super::evidence::{finding, label, named, percent, surely_above, twin};
use memgauge_model::{Finding, Metric, MetricId, Record, Report, Severity};

/// Worth changing code for.
const WORTH: f64 = 0.1;

pub(super) fn find(_: &Record, report: &Report) -> Vec<Finding> {
    let (mut faster, mut slower) = (Vec::new(), Vec::new());
    for (id, nt) in named(report, "peak_bandwidth") {
        let Some(plain_mix) = label(nt, "mix").strip_suffix("-nt") else { continue };
        let Some((plain_id, plain)) = twin(report, nt, &[("mix", plain_mix)]) else { continue };
        if surely_above(nt, plain).is_some_and(|share| share >= WORTH) {
            faster.push((id, nt, plain_id, plain));
        } else if surely_above(plain, nt).is_some_and(|share| share >= WORTH) {
            slower.push((id, nt, plain_id, plain));
        }
    }
    let gain = said(
        &faster,
        "faster",
        "stores that bypass the caches need no read before the write; use them for buffers beyond the last-level cache",
    );
    let loss = said(&slower, "slower", "plain stores are the better choice here");
    gain.into_iter().chain(loss).collect()
}

type Pair<'a> = (MetricId, &'a Metric, MetricId, &'a Metric);

/// One line for all pairs, with the one that differs most as its example.
fn said(pairs: &[Pair<'_>], word: &str, remedy: &str) -> Option<Finding> {
    let ratio = |(_, nt, _, plain): &Pair<'_>| nt.value / plain.value;
    let distance = |pair: &Pair<'_>| ratio(pair).max(1.0 / ratio(pair));
    let most = pairs.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let (_, nt, _, plain) = most;
    let text = format!(
        "{} is {} {word} than {} ({:.1} against {:.1} GB/s, threads: {}): {remedy}",
        label(nt, "mix"),
        percent((ratio(most) - 1.0).abs()),
        label(plain, "mix"),
        nt.value / 1e9,
        plain.value / 1e9,
        label(nt, "threads")
    );
    let evidence = pairs.iter().flat_map(|(nt, _, plain, _)| [*nt, *plain]).collect();
    Some(finding(&format!("nt_stores_{word}"), Severity::Info, text, evidence))
}
