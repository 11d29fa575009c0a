//! A plan as text, for `--dry-run`.

use crate::style::{Style, clean, paint};
use crate::table::{Cell, Table};
use crate::text::machine_line;
use memgauge_model::{Budget, C2cVia, CpuList, DelayRef, Holds, Job, Machine, Measure, Plan, Point, Quota, units};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Points of which there are soon thousands: so many are listed, the last one among them.
struct Many {
    what: &'static str,
    is: fn(&Measure) -> bool,
    listed: usize,
}

/// Transfers between cores, twelve pairs in four kinds (they grow with the square of the CPUs), and regions of a scan.
const MANY: [Many; 2] = [
    Many { what: "transfers", is: |measure| matches!(measure, Measure::C2c { .. }), listed: 48 },
    Many { what: "regions", is: |measure| matches!(measure, Measure::Scan { .. }), listed: 12 },
];

/// Roles, memory by node, time, points.
pub fn text(plan: &Plan, machine: &Machine, style: &Style) -> String {
    let mut text = format!("{}\n", paint(style.heading, &format!("Plan for {}", machine_line(machine))));
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "{}{}{value}", paint(style.heading, label), " ".repeat(17_usize.saturating_sub(label.len())));
    };
    line("Roles", &roles(plan));
    for (place, memory) in budget(&plan.budget).iter().enumerate() {
        line(if place == 0 { "Memory" } else { "" }, memory);
    }
    line("Time", &time(plan));
    if let Some(prefetchers) = prefetchers(plan) {
        line("Prefetchers", &clean(&prefetchers));
    }
    for (label, notes) in [("Notes", &plan.notes), ("Rejected", &plan.rejected)] {
        for (place, note) in notes.iter().enumerate() {
            line(if place == 0 { label } else { "" }, &clean(note));
        }
    }
    // Several figures may lack the same thing.
    let mut told = BTreeSet::new();
    for missing in &plan.unavailable {
        let what = clean(&format!("{}: {}; {}", missing.name, missing.detail, missing.remedy));
        let label = if told.is_empty() { "Not to be had" } else { "" };
        if told.insert(what.clone()) {
            line(label, &what);
        }
    }
    text.push('\n');
    for line in points(plan).lines("  ", style.dim) {
        text += &line;
        text.push('\n');
    }
    text
}

fn roles(plan: &Plan) -> String {
    let observer = plan.observer.map_or_else(|| "no observer".to_owned(), |cpu| format!("observer CPU {cpu}"));
    let loads = if plan.loads.is_empty() { "no loads".to_owned() } else { format!("loads CPUs {}", plan.loads) };
    if !plan.scans.is_empty() {
        let nodes: CpuList = plan.scans.iter().map(|scan| scan.node).collect();
        return format!("{observer} · {loads} · memory of {} {nodes}", if nodes.len() == 1 { "node" } else { "nodes" });
    }
    let own = if plan.request.local_loads { ", loads' near their CPUs" } else { "" };
    format!("{observer} · {loads} · memory of node {}{own}", plan.target)
}

fn budget(budget: &Budget) -> Vec<String> {
    let parts = [("buffers", budget.buffers), ("page tables", budget.page_tables), ("program", budget.program)];
    let whole = parts.map(|(what, bytes)| format!("{} {what}", units::bytes(bytes))).join(" + ");
    let mut lines = vec![format!("{whole}, at most, at once")];
    lines.extend(budget.nodes.iter().map(|node| {
        format!("node {}: {} of {} that can be had", node.node, units::bytes(node.needed), units::bytes(node.available))
    }));
    lines.extend(budget.cgroup_left.map(|left| format!("the cgroup leaves {}", units::bytes(left))));
    lines
}

fn time(plan: &Plan) -> String {
    let estimate = &plan.estimate;
    let mut text = format!(
        "about {} for {}: set-up {}, warm-up {}, windows {}",
        units::span(estimate.total_ns()),
        units::count(estimate.rounds.into(), "round"),
        units::span(estimate.setup_ns),
        units::span(estimate.warmup_ns),
        units::span(estimate.windows_ns)
    );
    if let (Some(precision), [_, more @ ..]) = (plan.rounds.precision, plan.rounds.looks.as_slice())
        && !more.is_empty()
    {
        let looks = more.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let _ = write!(text, "; up to {looks} rounds until ±{} %", precision * 100.0);
    }
    text
}

/// None where the plan has nothing to say about them.
fn prefetchers(plan: &Plan) -> Option<String> {
    let planned = &plan.prefetch;
    if let Some(why) = &planned.left {
        return Some(format!("left as they are: {why}"));
    }
    let cpus: CpuList = planned.cores.values().flat_map(CpuList::iter).collect();
    let registers: Vec<String> = planned.registers.iter().map(|register| format!("{:#x}", register.msr)).collect();
    (!registers.is_empty()).then(|| format!("off on CPUs {cpus} while a chase runs there (MSR {})", registers.join(", ")))
}

fn points(plan: &Plan) -> Table {
    let head = ["figure", "job", "CPUs", "memory"].map(Cell::left).into_iter();
    let head = head.chain(["pages", "bytes each"].map(Cell::left)).chain([Cell::right("time a round")]);
    let mut table = Table::new(head.collect());
    let all = MANY.map(|many| plan.points.iter().filter(|point| (many.is)(&point.measure)).count());
    let mut seen = MANY.map(|_| 0);
    for point in &plan.points {
        if let Some(kind) = MANY.iter().position(|many| (many.is)(&point.measure)) {
            let Many { what, listed, .. } = MANY[kind];
            seen[kind] += 1;
            if seen[kind] == listed && listed < all[kind] {
                let between = format!("… {} more {what} …", all[kind] - listed);
                table.row(std::iter::once(between).chain(vec![String::new(); 6]).map(Cell::left).collect());
            }
            if (listed..all[kind]).contains(&seen[kind]) {
                continue;
            }
        }
        let arenas = arenas(point).filter_map(|id| plan.arenas.get(id)).collect::<Vec<_>>();
        let nodes = arenas.iter().map(|arena| arena.node).collect::<CpuList>();
        let pages = arenas
            .first()
            .map_or_else(String::new, |arena| format!("{} ({})", arena.pages.word(), units::bytes(arena.page_bytes)));
        let bytes = arenas.first().map_or_else(String::new, |arena| match &arena.holds {
            Holds::Chase { bytes, .. } | Holds::C2c { bytes, .. } => units::bytes(*bytes),
            Holds::Region { parts: 1, bytes } => units::bytes(*bytes),
            Holds::Region { parts, bytes } => format!("{} in {parts} parts", units::bytes(*bytes)),
            Holds::Streams { streams, bytes } => format!("{streams} × {}", units::bytes(*bytes)),
        });
        table.row(vec![
            Cell::left(figure(&point.measure)),
            Cell::left(job(plan, point)),
            Cell::left(point.threads.iter().map(|thread| thread.cpu).collect::<CpuList>().to_string()),
            Cell::left(if nodes.is_empty() { String::new() } else { format!("node {nodes}") }),
            Cell::left(pages),
            Cell::left(bytes),
            Cell::right(match point.quota {
                Some(Quota::Hops(hops)) => units::count(hops, "access"),
                Some(Quota::Bytes(bytes)) => units::bytes(bytes),
                None => units::span(point.time_ns),
            }),
        ]);
    }
    table
}

fn arenas(point: &Point) -> impl Iterator<Item = usize> {
    point.threads.iter().flat_map(|thread| thread.job.arenas())
}

/// The contract's name of what the point gives, with what tells it from its neighbours.
fn figure(measure: &Measure) -> String {
    match measure {
        Measure::Idle { keepalive, .. } => format!("idle_latency{}", if *keepalive { ", kept awake" } else { "" }),
        Measure::Access { .. } => "access_latency".to_owned(),
        Measure::Peak { mix } => format!("peak_bandwidth {}", mix.name()),
        Measure::Max { mix, delay } => format!("max_bandwidth {} delay {delay}", mix.name()),
        Measure::MatrixLatency { from, to } => format!("matrix_latency {from} → {to}"),
        Measure::MatrixBandwidth { from, to, mix } => format!("matrix_bandwidth {from} → {to} {}", mix.name()),
        Measure::Loaded { delay: DelayRef::Fixed(delay), .. } => format!("loaded_latency delay {delay}"),
        Measure::Loaded { delay: DelayRef::Slot(slot), .. } => format!("loaded_latency, pilot's delay {}", slot + 1),
        Measure::C2c { from, to, home, kind, scope, via, repeat } => format!(
            "c2c_latency {} {from} → {to} {} home {home}{}{}",
            scope.word(),
            kind.word(),
            if *via == C2cVia::L2 { String::new() } else { format!(" via {}", via.word()) },
            if *repeat { ", again" } else { "" }
        ),
        Measure::SweepLatency { span, .. } => format!("sweep_latency {}", units::bytes(span.bytes)),
        Measure::SweepBandwidth { mix, span } => format!("sweep_bandwidth {} {}", mix.name(), units::bytes(span.bytes)),
        Measure::Scan { region, mix, .. } => format!("scan_bandwidth region {region} {}", mix.name()),
        Measure::RfoProbe => "RFO probe".to_owned(),
        Measure::PrefetchProbe => "prefetch probe".to_owned(),
    }
}

/// What the leading thread does, and beside it the others, if they do something else.
fn job(plan: &Plan, point: &Point) -> String {
    let mut words = point.threads.iter().map(|thread| word(plan, &thread.job)).collect::<Vec<_>>();
    words.dedup();
    words.join(" + ")
}

fn word(plan: &Plan, job: &Job) -> String {
    match job {
        Job::Chase { arena, ring } | Job::TimedChase { arena, ring } => {
            let timed = if matches!(job, Job::TimedChase { .. }) { "timed " } else { "" };
            match plan.arenas.get(*arena).map(|arena| &arena.holds) {
                Some(Holds::Chase { rings, .. }) => rings.get(*ring).map_or_else(
                    || format!("{timed}chase"),
                    |ring| format!("{timed}chase {}, {} stride", ring.order.word(), units::bytes(ring.stride)),
                ),
                _ => format!("{timed}chase"),
            }
        }
        Job::Stream { mix, isa, block_lines, manner, .. } => {
            let order = block_lines.map_or_else(String::new, |lines| format!(", random in {lines} lines"));
            let node = |arena: usize| plan.arenas.get(arena).map_or_else(|| "?".to_owned(), |arena| arena.node.to_string());
            let away =
                manner.second.map_or_else(String::new, |(arena, percent)| format!(", {percent} % on node {}", node(arena)));
            let ways = [(manner.partial, ", 8 bytes a line"), (manner.flush, ", flushed"), (manner.checked, ", checked")];
            let ways = ways.into_iter().filter(|(told, _)| *told).map(|(_, word)| word).collect::<String>();
            format!("{} {}{order}{away}{ways}", mix.name(), isa.word())
        }
        Job::KeepAlive => "keep-alive".to_owned(),
        Job::C2c { kind, .. } => format!("{} {}", kind.method().word(), kind.word()),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Style, sample};
    use memgauge_model::{C2cKind, C2cScope, C2cVia, Measure, Point, What};

    #[test]
    fn roles_budget_time_and_points() {
        insta::assert_snapshot!(super::text(&sample::plan(What::Peak), &sample::machine(), &Style::plain()), @r"
        Plan for AMD EPYC (2 CPUs, 1 node, KVM guest) · 24 GiB · THP madvise · prefetcher state unknown
        Roles            observer CPU 0 · loads CPUs 1 · memory of node 0
        Memory           260 MiB buffers + 1 MiB page tables + 16 MiB program, at most, at once
                         node 0: 277 MiB of 22 GiB that can be had
        Time             about 940 ms for 6 rounds: set-up 400 ms, warm-up 300 ms, windows 240 ms; up to 9, 13, 19 rounds until ±1 %

          figure               job        CPUs  memory  pages        bytes each   time a round
          peak_bandwidth read  read avx2  0-1   node 0  thp (2 MiB)  1 × 128 MiB         40 ms
        ");
    }

    #[test]
    fn of_many_transfers_the_first_and_the_last_are_listed() {
        let rows = |count: u32| {
            let mut plan = sample::plan(What::C2c);
            let point = |to| {
                let (scope, via) = (C2cScope::Cpu, C2cVia::L2);
                let measure = Measure::C2c { from: 0, to, home: 0, kind: C2cKind::Cas, scope, via, repeat: false };
                Point { measure, ..plan.points[0].clone() }
            };
            plan.points = (1..=count).map(point).collect();
            let text = super::text(&plan, &sample::machine(), &Style::plain());
            text.lines().filter(|line| line.contains("transfers") || line.contains("c2c")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(rows(48).len() == 48 && rows(48)[47].contains("0 → 48"));
        let many = rows(500);
        assert!(many.len() == 49 && many[46].contains("0 → 47") && many[48].contains("0 → 500"), "{many:#?}");
        assert_eq!(many[47].trim(), "… 452 more transfers …");
    }

    #[test]
    fn prefetchers_that_are_switched_and_those_that_are_left() {
        let row = |prefetch| {
            let plan = memgauge_model::Plan { prefetch, ..sample::plan(What::Idle) };
            let text = super::text(&plan, &sample::machine(), &Style::plain());
            text.lines().find(|line| line.starts_with("Prefetchers")).map(str::to_owned)
        };
        let left = Some("no msr device".to_owned());
        let registers = vec![memgauge_model::PrefetchRegister { msr: 0x1a4, mask: 0xf }];
        let cores = [(0, memgauge_model::CpuList::from(vec![0, 8]))].into();
        let rows = [
            memgauge_model::PrefetchPlan { left, ..Default::default() },
            memgauge_model::PrefetchPlan { registers, cores, left: None },
        ];
        insta::assert_snapshot!(rows.map(row).map(Option::unwrap_or_default).join("\n"), @r"
        Prefetchers      left as they are: no msr device
        Prefetchers      off on CPUs 0,8 while a chase runs there (MSR 0x1a4)
        ");
    }
}
