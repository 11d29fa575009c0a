//! Whether stated intervals hold: of 40 short runs in one placement class, at least 35 must cover the median of all.

use anyhow::Result;

use crate::peers::idle::{STRIDE, WINDOW};
use crate::peers::multichase::Chase;
use crate::peers::ours::{Figure, Placement, SHORT, Void};
use crate::peers::part::Part;
use crate::peers::quiet::Watch;
use crate::peers::ratios::{Verdict, median};
use crate::peers::slots::alike;
use crate::peers::{Body, Section, Setting, table};
use crate::say;

/// 35 of 40: an interval of 95 % that is honest fails that once in seventy times.
const COVERING: f64 = 0.875;
/// Runs to each side that are near.
const NEAR: usize = 4;
/// Fewer runs are no share.
const ENOUGH: usize = 20;

/// Idle latency, and reads by all CPUs, whose class can change. It needs no peer.
pub fn measure(setting: &Setting<'_>) -> Result<Result<Section, String>> {
    let machine = setting.machine;
    let bytes = machine.chase_buffer(setting.buffer);
    let huge = machine.thp_refused().is_none();
    let chase = Chase { cpu: machine.cpu, bytes, stride: STRIDE, window: WINDOW, huge };
    let threads = machine.cpus.len() as u64;
    let working_set = machine.memory_set(setting.buffer, threads).div_ceil(4096) * 4096;
    let rows = [
        row("idle latency, window-random", setting, &|| setting.ours.latency(&chase, "window-random", SHORT))?,
        row(&format!("read, {threads} threads"), setting, &|| {
            setting.ours.peak(&["read"], &machine.cpus, machine.default_pages(), working_set)
        })?,
    ];
    let verdict = rows.iter().map(|(_, verdict)| *verdict).find(|verdict| *verdict == Verdict::Fails);
    let verdict = verdict.or_else(|| rows.iter().map(|(_, verdict)| *verdict).find(|verdict| *verdict == Verdict::TooFewPairs));
    let head = [
        "",
        "runs",
        "not counted",
        "pooled median",
        "half-width, median",
        "intervals that cover it",
        "the runs around",
        "verdict",
    ];
    let text = table::aligned(&head.map(str::to_owned), &rows.map(|(cells, _)| cells));
    let about = format!(
        "{}, {} runs each of six rounds; idle: CPU {}, {} MiB, {} pages; read: {} MiB a thread. Of {} runs {} stated intervals must cover the median of all",
        setting.ours.version()?,
        setting.pairs,
        chase.cpu,
        bytes >> 20,
        if huge { "thp" } else { "base" },
        working_set >> 20,
        setting.pairs,
        demanded(setting.pairs),
    );
    Ok(Ok(Section { part: Part::Coverage, about, body: Body::Counted { text, verdict: verdict.unwrap_or(Verdict::Holds) } }))
}

fn row(name: &str, setting: &Setting<'_>, run: &dyn Fn() -> Result<Result<Figure, Void>>) -> Result<([String; 8], Verdict)> {
    say::stage(&format!("coverage, {name}: {} runs", setting.pairs));
    let mut figures: Vec<Figure> = Vec::new();
    let mut tried = 0_usize;
    while tried < setting.tries() && one_class(&figures).len() < setting.pairs && setting.in_time() {
        tried += 1;
        let watch = Watch::start();
        let figure = run()?;
        match (figure, watch.disturbance()) {
            (Ok(figure), None) => {
                say::stage(&format!("  {}", told(&figure)));
                figures.push(figure);
            }
            (Err(why), _) | (_, Some(why)) => say::stage(&format!("  void: {why}")),
        }
    }
    let runs = one_class(&figures);
    let pooled = median(runs.iter().map(|run| run.0).collect());
    let covering = runs.iter().filter(|run| run.1.0 <= pooled && pooled <= run.1.1).count();
    let nearby = around(&runs);
    let half = median(runs.iter().map(|run| (run.1.1 - run.1.0) / 2.0 / run.0).collect());
    let verdict = judged(covering, runs.len());
    let word = match verdict {
        Verdict::Holds => "intervals hold",
        Verdict::Fails => "intervals TOO NARROW",
        Verdict::TooFewPairs => "too few runs",
    };
    let value = if pooled > 1e6 { format!("{:.2} GB/s", pooled / 1e9) } else { format!("{pooled:.2} ns") };
    let cells = [
        name.to_owned(),
        runs.len().to_string(),
        (tried - runs.len()).to_string(),
        value,
        format!("{:.2} %", half * 100.0),
        covering.to_string(),
        nearby.to_string(),
        word.to_owned(),
    ];
    Ok((cells, verdict))
}

/// Runs whose interval covers the median of those around it, four to each side: a host that drifts over the minutes is then no fault of the
/// intervals.
fn around(runs: &[(f64, (f64, f64))]) -> usize {
    let covers = |(at, (_, (lo, hi))): &(usize, &(f64, (f64, f64)))| {
        let near = &runs[at.saturating_sub(NEAR)..runs.len().min(at + NEAR + 1)];
        let middle = median(near.iter().map(|run| run.0).collect());
        (*lo..=*hi).contains(&middle)
    };
    runs.iter().enumerate().filter(covers).count()
}

/// In the figure's own unit, for whoever wants to see whether it drifted.
fn told(figure: &Figure) -> String {
    let (lo, hi) = figure.interval.unwrap_or((f64::NAN, f64::NAN));
    format!("{:.4e} [{lo:.4e}, {hi:.4e}]", figure.value)
}

/// Value and interval of the runs of the class in which most of them lie.
fn one_class(figures: &[Figure]) -> Vec<(f64, (f64, f64))> {
    let like = |one: &Figure, other: &Figure| match (one.placement, other.placement) {
        (Placement::Apart(a), Placement::Apart(b)) => alike(a, b),
        (a, b) => a == b && a == Placement::Indifferent,
    };
    let of = |one: &Figure| {
        figures.iter().filter(|other| like(one, other)).filter_map(|run| Some((run.value, run.interval?))).collect()
    };
    figures.iter().map(of).max_by_key(Vec::len).unwrap_or_default()
}

fn judged(covering: usize, runs: usize) -> Verdict {
    match covering >= demanded(runs) {
        _ if runs < ENOUGH => Verdict::TooFewPairs,
        true => Verdict::Holds,
        false => Verdict::Fails,
    }
}

fn demanded(runs: usize) -> usize {
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of runs")]
    let least = (runs as f64 * COVERING).ceil() as usize;
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(value: f64, placement: Placement) -> Figure {
        Figure { value, interval: Some((value - 1.0, value + 1.0)), bytes: None, placement, rejected: false }
    }

    #[test]
    fn thirty_five_of_forty_are_enough() {
        assert_eq!((judged(35, 40), judged(34, 40), judged(19, 19)), (Verdict::Holds, Verdict::Fails, Verdict::TooFewPairs));
    }

    #[test]
    fn a_drift_is_no_fault_of_those_that_hold_what_is_around_them() {
        let drifting: Vec<(f64, (f64, f64))> =
            (0..40).map(|at| f64::from(at) / 4.0).map(|at| (at, (at - 1.0, at + 1.0))).collect();
        assert_eq!(around(&drifting), 40);
        let narrow: Vec<(f64, (f64, f64))> = (0..40).map(|at| f64::from(at % 3)).map(|at| (at, (at - 0.1, at + 0.1))).collect();
        assert!(around(&narrow) < 25);
    }

    #[test]
    fn runs_of_the_rarer_class_are_left_out() {
        let far = run(9.0, Placement::Apart(184.0));
        let near = |value| run(value, Placement::Apart(40.0));
        let kept: Vec<f64> =
            one_class(&[near(1.0), far, near(2.0), run(3.0, Placement::Unknown)]).iter().map(|run| run.0).collect();
        assert_eq!(kept, [1.0, 2.0]);
        let alone = [run(5.0, Placement::Indifferent), run(6.0, Placement::Indifferent)];
        assert_eq!(one_class(&alone).len(), 2);
        assert!(one_class(&[]).is_empty());
    }
}
