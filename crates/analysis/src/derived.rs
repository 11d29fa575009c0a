//! Figures made of two others, paired round by round: what moves both alike drops out.

use crate::draft::{Draft, Labels};
use crate::figures::{Case, Figure, assemble};
use crate::labels::set;
use crate::rounds::{self, Series};
use crate::{absent, jobs};
use memgauge_model::{Measure, Mix, Pages};
use memgauge_stats::lines_in_flight;
use std::cmp::Reverse;

/// Writes all that the measured figures allow.
pub(crate) fn write(case: &Case<'_>, figures: &[Figure], draft: &mut Draft) {
    in_flight(case, figures, draft);
    numa_penalty(case, figures, draft);
    tlb_cost(case, figures, draft);
    absent::differences(case, draft);
}

/// Idle latency × the bandwidth of one reading thread: cache lines under way, prefetched ones included.
fn in_flight(case: &Case<'_>, figures: &[Figure], draft: &mut Draft) {
    let points = &case.record.plan.points;
    for read in figures.iter().filter(|figure| figure.name == "peak_bandwidth") {
        let Some(streams) = jobs::streams(&case.record.plan, &points[read.point]) else { continue };
        let (Mix::Read, [(cpu, arena)]) = (streams.mix, &streams.by_thread[..]) else { continue };
        let idle = |figure: &&Figure| matches!(points[figure.point].measure, Measure::Idle { node, .. } if node == arena.node);
        // The plan's first is the headline; better still one from the same CPU.
        let same = |figure: &&Figure| jobs::chaser(&case.record.plan, &points[figure.point]).is_some_and(|c| c.cpu == *cpu);
        let candidates = || figures.iter().filter(idle);
        let Some(idle) = candidates().find(same).or_else(|| candidates().next()) else { continue };
        let series = rounds::paired(&idle.series, &read.series, lines_in_flight, |a, b| {
            [lines_in_flight(a[0], b[0]), lines_in_flight(a[1], b[1])]
        });
        let mut labels = draft.metrics[read.metric].labels.clone();
        for label in ["cpu", "node", "order", "stride", "keepalive"] {
            if let Some(value) = draft.metrics[idle.metric].labels.get(label).cloned() {
                set(&mut labels, label, value);
            }
        }
        push("lines_in_flight", "lines", &labels, &series, [idle, read], draft);
    }
}

/// Remote less local latency, from the same CPUs.
fn numa_penalty(case: &Case<'_>, figures: &[Figure], draft: &mut Draft) {
    let cells: Vec<(u32, u32, &Figure)> = figures
        .iter()
        .filter_map(|figure| match case.record.plan.points[figure.point].measure {
            Measure::MatrixLatency { from, to } => Some((from, to, figure)),
            _ => None,
        })
        .collect();
    for (from, to, remote) in cells.iter().filter(|(from, to, _)| from != to) {
        let alike = |figure: &Figure| {
            let of = |figure: &Figure| {
                let mut labels = draft.metrics[figure.metric].labels.clone();
                // Buffers follow the caches in front of their memory.
                ["to", "bytes"].iter().for_each(|label| drop(labels.remove(*label)));
                labels
            };
            of(figure) == of(remote)
        };
        let Some((_, _, local)) = cells.iter().find(|(f, t, local)| f == from && t == from && t != to && alike(local)) else {
            continue;
        };
        let mut labels = draft.metrics[remote.metric].labels.clone();
        // Whatever rows the matrix has, the penalty is one node's against another's, seen by the CPU that its label names.
        labels.remove("scope");
        push("numa_penalty", "ns", &labels, &difference(&remote.series, &local.series), [remote, local], draft);
    }
}

/// Base pages less the largest huge pages, at the same order, stride and buffer. The difference between two orders would be
/// no TLB cost.
fn tlb_cost(case: &Case<'_>, figures: &[Figure], draft: &mut Draft) {
    let plan = &case.record.plan;
    let arena = |figure: &Figure| jobs::chaser(plan, &plan.points[figure.point]).map(|chaser| chaser.arena);
    let idle = || figures.iter().filter(|figure| matches!(figure.name, "idle_latency" | "sweep_latency"));
    let is_base = |figure: &&Figure| arena(figure).is_some_and(|arena| arena.pages == Pages::Base);
    for base in idle().filter(is_base) {
        let but_pages = |figure: &Figure| {
            let mut labels = draft.metrics[figure.metric].labels.clone();
            labels.remove("pages");
            labels
        };
        let mut huge: Vec<&Figure> =
            idle().filter(|other| other.name == base.name && !is_base(other) && but_pages(other) == but_pages(base)).collect();
        huge.sort_by_key(|figure| Reverse(arena(figure).map(|arena| (arena.page_bytes, arena.pages))));
        let Some(huge) = huge.first() else { continue };
        let mut labels = but_pages(base);
        set(&mut labels, "pages", Pages::Base.word());
        set(&mut labels, "against", arena(huge).map_or("", |arena| arena.pages.word()));
        push("tlb_cost", "ns", &labels, &difference(&base.series, &huge.series), [base, huge], draft);
    }
}

fn difference(a: &Series, b: &Series) -> Series {
    rounds::paired(a, b, |a, b| a - b, |a, b| [a[0] - b[1], a[1] - b[0]])
}

fn push(name: &str, unit: &str, labels: &Labels, series: &Series, of: [&Figure; 2], draft: &mut Draft) {
    let Some(estimate) = rounds::estimate(series, "") else { return };
    let mut metric = assemble(name, unit, labels, series, estimate);
    for figure in of {
        for remark in &draft.metrics[figure.metric].remarks {
            if !metric.remarks.contains(remark) {
                metric.remarks.push(remark.clone());
            }
        }
    }
    draft.add(metric);
}
