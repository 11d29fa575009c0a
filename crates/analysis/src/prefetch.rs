//! Is prefetching on? By the ratio of two chases in the same memory, one that it helps and one that it can't help.

use crate::draft::{Draft, Labels, gap};
use crate::figures::{Case, assemble};
use crate::jobs::{self, Chaser};
use crate::labels::{self, set};
use crate::rounds::{self, Quantity, Series};
use memgauge_model::{
    CpuList, Measure, Metric, Order, PointId, Prefetch, PrefetchState, PrefetchVerdict, Prefetching, ProbeVerdict, Reason, Window,
};

/// A kind of prefetching and what shows it.
struct Probe {
    kind: &'static str,
    /// The chase that it helps, order and stride.
    helped: (Order, u64),
    /// The chase that it can't help.
    bare: (Order, u64),
    /// On is a ratio below this.
    limit: f64,
}

/// Sequential hops cost 0.07 of random ones where a stream is fetched ahead, and hardly less than 0.6 where not: rows that
/// are open already make them cheaper, too.
const STREAMING: Probe = Probe { kind: "streaming", helped: (Order::Sequential, 64), bare: (Order::FullRandom, 128), limit: 0.5 };
/// The other line of a pair costs nothing in half of the cases: 0.7 is usual.
const SPATIAL: Probe =
    Probe { kind: "spatial", helped: (Order::WindowRandom, 64), bare: (Order::WindowRandom, 128), limit: 0.85 };

/// Writes the ratios and says in a line what was done about prefetchers and what the probe found.
pub(crate) fn write(case: &Case<'_>, draft: &mut Draft) -> Option<PrefetchVerdict> {
    let (plan, control) = (&case.record.plan, &case.record.run.prefetch);
    let leads = |point: &memgauge_model::Point| point.threads.first().is_some_and(|thread| thread.job.chases());
    if !plan.points.iter().any(leads) {
        return None;
    }
    let (streaming, said_streaming) = STREAMING.judge(case, draft);
    let (spatial, said_spatial) = SPATIAL.judge(case, draft);
    let done = match control {
        PrefetchState::Off { changes } => {
            let cpus: CpuList = changes.iter().map(|change| change.cpu).collect();
            format!("switched off by register on CPUs {cpus} while a chase ran")
        }
        PrefetchState::Left { reason } if reason.is_empty() => "left as they are".to_owned(),
        PrefetchState::Left { reason } => format!("left as they are ({reason}){}", around(case)),
    };
    match STREAMING.points(case).or(SPATIAL.points(case)) {
        Some(_) => draft.note(format!("prefetchers by probe: {said_streaming}, {said_spatial}; {done}")),
        None => draft.note(format!("prefetchers: {done}; not probed")),
    }
    let on = [(&streaming, STREAMING.kind), (&spatial, SPATIAL.kind)];
    let on: Vec<&str> = on.iter().filter(|(probe, _)| probe.verdict == Prefetching::On).map(|(_, kind)| *kind).collect();
    // Where nobody insists on it the figures stand all the same; a finding then says so.
    if matches!(control, PrefetchState::Off { .. }) && plan.request.prefetch == Prefetch::Off && !on.is_empty() {
        draft.reject_run(format!(
            "--prefetch off: the registers read back as off, yet the probe finds {} prefetching",
            on.join(" and ")
        ));
    }
    Some(PrefetchVerdict { control: control.clone(), streaming, spatial })
}

/// What makes prefetchers that are on harmless, where all chases are such.
fn around(case: &Case<'_>) -> &'static str {
    let plan = &case.record.plan;
    // In a sweep's orders a line that came along with another has its turn much later.
    let swept = |order| matches!(order, Order::SplitRandom | Order::FullRandom);
    let figures = plan.points.iter().filter(|point| point.measure != Measure::PrefetchProbe);
    let chasers = figures.filter_map(|point| Some((jobs::chaser(plan, point)?, point.measure.span().is_some())));
    let mut others = chasers.filter(|(chaser, span)| !(*span && swept(chaser.order))).peekable();
    let harmless = others.peek().is_some() && others.all(|(chaser, _)| chaser.order != Order::Sequential && chaser.stride >= 128);
    if harmless { ": chases run in random order at 128 B or more, where they lose" } else { "" }
}

impl Probe {
    /// The verdict, and it in words.
    fn judge(&self, case: &Case<'_>, draft: &mut Draft) -> (ProbeVerdict, String) {
        let unknown =
            |why: &str| (ProbeVerdict { verdict: Prefetching::Unknown, metric: None }, format!("{} unknown ({why})", self.kind));
        let Some((helped, bare)) = self.points(case) else { return unknown("not probed") };
        let [a, b] = [helped, bare].map(|point| series(case, point));
        let most = case.record.plan.windows.limits.excluded_share;
        let disturbed = [&a, &b].iter().any(|series| series.excluded_share() > most);
        let ratio = rounds::paired(&a, &b, |a, b| a / b, |a, b| [a[0] / b[1], a[1] / b[0]]);
        let labels = self.labels(case, helped);
        let Some(estimate) = rounds::estimate(&ratio, "") else {
            draft.miss(gap(
                "prefetch_ratio",
                &labels,
                Reason::OutOfTime,
                "no round measured both chases",
                "let the run finish, on a quieter machine",
            ));
            return unknown("no round measured both chases");
        };
        let mut metric = assemble("prefetch_ratio", "ratio", &labels, &ratio, estimate);
        let verdict = if disturbed { Prefetching::Unknown } else { self.verdict(&metric) };
        metric.remarks.push(format!("{} prefetching {}: on is below {}", self.kind, verdict.word(), self.limit));
        let spread = metric.ci95.or(metric.range).map_or_else(String::new, |[lo, hi]| format!(", {lo:.3}…{hi:.3}"));
        let why = match (verdict, disturbed, metric.ci95) {
            (Prefetching::Unknown, true, _) => "; too many disturbed windows",
            (Prefetching::Unknown, _, Some(_)) => "; not the same in every round",
            (Prefetching::Unknown, _, None) => "; too few rounds for an interval",
            _ => "",
        };
        let said = format!("{} {} ({:.3}{spread}, on is below {}{why})", self.kind, verdict.word(), metric.value, self.limit);
        (ProbeVerdict { verdict, metric: draft.add(metric) }, said)
    }

    /// On or off where all of the interval is.
    fn verdict(&self, metric: &Metric) -> Prefetching {
        match metric.ci95 {
            Some([_, hi]) if hi < self.limit => Prefetching::On,
            Some([lo, _]) if lo > self.limit => Prefetching::Off,
            _ => Prefetching::Unknown,
        }
    }

    /// The two chases: same memory, same CPU, kept awake alike.
    fn points(&self, case: &Case<'_>) -> Option<(PointId, PointId)> {
        let plan = &case.record.plan;
        let of = |(order, stride): (Order, u64)| {
            plan.points.iter().enumerate().filter_map(move |(id, point)| {
                let probing = matches!(point.measure, Measure::PrefetchProbe | Measure::Idle { .. });
                let chaser = jobs::chaser(plan, point).filter(|_| probing)?;
                (chaser.order == order && chaser.stride == stride).then_some((id, chaser, jobs::keeps_alive(point)))
            })
        };
        let alike = |a: &Chaser<'_>, b: &Chaser<'_>| a.cpu == b.cpu && std::ptr::eq(a.arena, b.arena);
        of(self.helped).find_map(|(helped, a, awake)| {
            let bare = of(self.bare).find(|(_, b, also)| alike(&a, b) && awake == *also);
            bare.map(|(bare, ..)| (helped, bare))
        })
    }

    fn labels(&self, case: &Case<'_>, helped: PointId) -> Labels {
        let (plan, mut labels) = (&case.record.plan, Labels::new());
        let point = &plan.points[helped];
        set(&mut labels, "kind", self.kind);
        set(&mut labels, "keepalive", if jobs::keeps_alive(point) { "yes" } else { "no" });
        if let Some(chaser) = jobs::chaser(plan, point) {
            set(&mut labels, "cpu", chaser.cpu);
            set(&mut labels, "node", chaser.arena.node);
            set(&mut labels, "pages", chaser.arena.pages.word());
            set(&mut labels, "bytes", chaser.bytes);
        }
        if labels::prefetch_off(case.record, point) {
            set(&mut labels, "prefetch", "off");
        }
        labels
    }
}

fn series(case: &Case<'_>, point: PointId) -> Series {
    let limits = &case.record.plan.windows.limits;
    Series::of_windows(&case.selections[point].blocks, limits, Quantity::Latency, Window::latency_ns)
}
