//! What was planned and is not there, with the reason.

use crate::classes::Selection;
use crate::draft::{Draft, Labels, gap};
use crate::figures::Case;
use crate::rounds::Series;
use crate::{jobs, labels};
use memgauge_model::{End, EventKind, Measure, NodeId, Pages, Point, PointId, Reason, Record, Search, units};
use std::collections::BTreeSet;

const AGAIN: &str = "let the run finish";
const QUIETER: &str = "measure again on a quieter machine, or longer (--time)";

/// Is this point a candidate of a search that is not its result?
pub(crate) fn is_candidate(record: &Record, point: PointId) -> bool {
    let candidate = record.plan.searches.iter().any(|search| search.candidates.contains(&point));
    candidate && !record.run.searches.iter().any(|search| search.winner == point)
}

/// Searches that ended without a winner.
pub(crate) fn searches(case: &Case<'_>, draft: &mut Draft) {
    let won = |search: &Search| case.record.run.searches.iter().any(|seen| search.candidates.contains(&seen.winner));
    for search in case.record.plan.searches.iter().filter(|search| !won(search)) {
        let Some(point) = search.candidates.first().and_then(|point| case.record.plan.points.get(*point)) else { continue };
        let all = labels::of_point(case.record, point);
        // Threads and CPUs are what the search was to find.
        let known: Labels = all.into_iter().filter(|(label, _)| label == "mix" || label == "pages").collect();
        for (name, _) in labels::names(point) {
            let (reason, why, remedy) = failed(case.record, &search.candidates)
                .unwrap_or_else(|| (Reason::OutOfTime, ended(&case.record.run.end), AGAIN));
            draft.miss(gap(name, &known, reason, format!("no winner among the candidates: {why}"), remedy));
            draft.partial(format!("{}: no winner among the candidates", labels::title(name, &known)));
        }
    }
}

/// A point whose figure has no value.
pub(crate) fn figure(case: &Case<'_>, point: PointId, name: &str, labels: &Labels, series: &Series, draft: &mut Draft) {
    let selection = &case.selections[point];
    let title = labels::title(name, labels);
    let (reason, detail, remedy) = if series.excluded > 0 {
        (Reason::OutOfTime, format!("no round is left: {}", series.disturbances()), QUIETER)
    } else if selection.superseded > 0 {
        (Reason::OutOfTime, format!("class changed in each of {}", units::count(selection.superseded as u64, "block")), QUIETER)
    } else if let Some(why) = failed(case.record, &[point]) {
        why
    } else {
        (Reason::OutOfTime, ended(&case.record.run.end), AGAIN)
    };
    draft.partial(format!("{title}: {detail}"));
    draft.miss(gap(name, labels, reason, detail, remedy));
}

/// Rounds of a figure in classes that are not its own.
pub(crate) fn other_classes(selection: &Selection<'_>, name: &str, own: &Labels, draft: &mut Draft) {
    let all = selection.blocks.len() + selection.others.iter().map(|(_, rounds)| rounds).sum::<usize>();
    for (class, rounds) in &selection.others {
        let mut labels = own.clone();
        labels::set(&mut labels, "class", class.word());
        let (all, were) = (units::count(all as u64, "round"), if *rounds == 1 { "was" } else { "were" });
        let detail = format!("class changed: {rounds} of {all} {were} in class {}", class.word());
        draft.miss(gap(name, &labels, Reason::NotApplicable, detail, "pin the guest's CPUs on the host, or measure again"));
    }
}

/// TLB cost and NUMA penalty, where the figures that they are the difference of were not planned or not measured.
pub(crate) fn differences(case: &Case<'_>, draft: &mut Draft) {
    let plan = &case.record.plan;
    let chasers = plan.points.iter().filter(|point| matches!(point.measure, Measure::Idle { .. }));
    let pages: BTreeSet<Pages> = chasers.filter_map(|point| Some(jobs::chaser(plan, point)?.arena.pages)).collect();
    let is_there = |name: &str, draft: &Draft| draft.metrics.iter().any(|metric| metric.name == name);
    if !pages.is_empty() && !is_there("tlb_cost", draft) {
        let why = Reason::NotApplicable;
        let (reason, detail, remedy) = match (pages.contains(&Pages::Base), pages.len()) {
            (true, 1) => (why, "every chase was on base pages", "allow huge pages: THP, or --pages 2m with some reserved"),
            (false, _) => (why, "no chase was on base pages", "measure memgauge idle without --pages, --order and --stride"),
            (true, _) => (Reason::OutOfTime, "no order was measured on base and on huge pages", AGAIN),
        };
        draft.miss(gap("tlb_cost", &Labels::new(), reason, detail, remedy));
    }
    let cells: BTreeSet<(NodeId, NodeId)> = plan.points.iter().filter_map(cell).collect();
    if !cells.is_empty() && cells.iter().all(|(from, to)| from == to) {
        let (detail, remedy) = match case.record.machine.nodes.len() {
            0 | 1 => ("the machine has one node: no memory is remote", "none on this machine"),
            _ => ("only local memory was measured", "measure memgauge matrix latency without --node"),
        };
        draft.miss(gap("numa_penalty", &Labels::new(), Reason::NotApplicable, detail, remedy));
    }
    for (from, to) in cells.iter().filter(|(from, to)| from != to) {
        let (from_text, to_text) = (from.to_string(), to.to_string());
        let wanted = [("from", from_text.as_str()), ("to", to_text.as_str())];
        if draft.metrics.iter().any(|metric| metric.name == "numa_penalty" && metric.is(&wanted)) {
            continue;
        }
        let labels = wanted.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect();
        let (reason, detail, remedy) = match cells.contains(&(*from, *from)) {
            true => (Reason::OutOfTime, "its local or its remote figure is not there".to_owned(), AGAIN),
            false => {
                let detail = format!("no local memory of node {from} was measured to hold it against");
                (Reason::NotApplicable, detail, "none where the node has no memory; else measure without --node")
            }
        };
        draft.miss(gap("numa_penalty", &labels, reason, detail, remedy));
    }
}

fn cell(point: &Point) -> Option<(NodeId, NodeId)> {
    match point.measure {
        Measure::MatrixLatency { from, to } => Some((from, to)),
        _ => None,
    }
}

/// Why the engine gave up on these points, if it did, and what helps.
fn failed(record: &Record, points: &[PointId]) -> Option<(Reason, String, &'static str)> {
    record.run.events.iter().find_map(|event| match &event.what {
        EventKind::PointFailed { point, reason, detail } if points.contains(point) => {
            Some((*reason, detail.clone(), remedy(*reason)))
        }
        _ => None,
    })
}

/// What helps against a failure of this kind.
fn remedy(reason: Reason) -> &'static str {
    match reason {
        Reason::NoPermission => "widen what the affinity, the cpuset or the sandbox allows",
        Reason::NotPresent => "see that the CPU is online and that the memory or the huge pages are there",
        Reason::NotSupported => "use another machine, or ask for another instruction set, page kind or method",
        Reason::OutOfTime => QUIETER,
        Reason::NotApplicable | Reason::NotSaturated => "ask for another size, mix or place",
    }
}

/// The run's end as the reason of a gap.
fn ended(end: &End) -> String {
    match end {
        End::Complete => "the run ended without measuring it".to_owned(),
        End::Interrupted { signal } => format!("interrupted by {signal} before it was measured"),
        End::Failed { reason } => format!("the run failed before it was measured: {reason}"),
    }
}
