//! What was planned and is not there, with the reason.

use crate::classes::Selection;
use crate::draft::{Draft, Labels, gap};
use crate::figures::Case;
use crate::labels;
use crate::rounds::Series;
use memgauge_model::{End, EventKind, PointId, Reason, Record, Search, units};

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
        for (name, _) in labels::names(&point.measure) {
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
