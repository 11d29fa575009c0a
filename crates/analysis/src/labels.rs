//! What a point's figures are called. Names and labels are the document's contract.

use crate::draft::Labels;
use crate::jobs::{self, Chaser, Streams};
use crate::rounds::Quantity;
use memgauge_model::{C2cMethod, C2cScope, C2cVia, CpuList, DelayRef, Measure, Plan, Point, PrefetchState, Record, units};

/// The figures of a point: name and what they are.
pub(crate) fn names(point: &Point) -> &'static [(&'static str, Quantity)] {
    match &point.measure {
        // Nobody watches.
        Measure::Loaded { .. } if !point.threads.iter().any(|thread| thread.job.chases()) => {
            &[("loaded_bandwidth", Quantity::Bandwidth)]
        }
        Measure::Idle { .. } => &[("idle_latency", Quantity::Latency)],
        Measure::Access { .. } => &[("access_latency", Quantity::Latency)],
        Measure::Peak { .. } => &[("peak_bandwidth", Quantity::Bandwidth)],
        Measure::Max { .. } => &[("max_bandwidth", Quantity::Bandwidth)],
        Measure::MatrixLatency { .. } => &[("matrix_latency", Quantity::Latency)],
        Measure::MatrixBandwidth { .. } => &[("matrix_bandwidth", Quantity::Bandwidth)],
        Measure::Loaded { .. } => &[("loaded_latency", Quantity::Latency), ("loaded_bandwidth", Quantity::Bandwidth)],
        // What is told of it is a note (`repeat.rs`).
        Measure::C2c { repeat: true, .. } => &[],
        Measure::C2c { .. } => &[("c2c_latency", Quantity::Latency)],
        Measure::SweepLatency { .. } => &[("sweep_latency", Quantity::Latency)],
        Measure::SweepBandwidth { .. } => &[("sweep_bandwidth", Quantity::Bandwidth)],
        Measure::Scan { .. } => &[("scan_bandwidth", Quantity::Bandwidth)],
        Measure::RfoProbe | Measure::PrefetchProbe => &[],
    }
}

/// The twin that counts what the memory controller is estimated to see.
pub(crate) fn dram_name(name: &str) -> String {
    format!("{name}_dram")
}

/// Labels of a point's figures, without the placement class.
pub(crate) fn of_point(record: &Record, point: &Point) -> Labels {
    let plan = &record.plan;
    let chaser = jobs::chaser(plan, point);
    let streams = jobs::streams(plan, point);
    let mut labels = Labels::new();
    match &point.measure {
        Measure::Idle { node, keepalive, .. } => idle(&mut labels, chaser, *node, *keepalive),
        Measure::Access { node } => idle(&mut labels, chaser, *node, jobs::keeps_alive(point)),
        Measure::SweepLatency { node, keepalive, .. } => idle(&mut labels, chaser, *node, *keepalive),
        Measure::Peak { .. } | Measure::Max { .. } | Measure::SweepBandwidth { .. } => bandwidth(&mut labels, streams.as_ref()),
        Measure::MatrixLatency { from, to } => {
            set(&mut labels, "from", from);
            set(&mut labels, "to", to);
            // Rows of nodes are what the contract's figure means; only those of CPUs are named.
            if plan.request.per_cpu {
                set(&mut labels, "scope", C2cScope::Cpu.word());
            }
            if let Some(chaser) = chaser {
                chase(&mut labels, chaser);
            }
        }
        Measure::MatrixBandwidth { from, to, mix } => {
            bandwidth(&mut labels, streams.as_ref());
            set(&mut labels, "from", from);
            set(&mut labels, "to", to);
            set(&mut labels, "mix", mix.name());
            set(&mut labels, "threads", streams.map_or(0, |streams| streams.threads()));
        }
        Measure::Scan { node, region, .. } => {
            bandwidth(&mut labels, streams.as_ref());
            set(&mut labels, "node", node);
            set(&mut labels, "region", region);
            // Of the region, not of a thread's part.
            if let Some((_, arena)) = streams.as_ref().and_then(|streams| streams.by_thread.first()) {
                set(&mut labels, "bytes", jobs::span(arena));
            }
        }
        Measure::Loaded { curve, .. } => {
            labels = of_curve(plan, *curve);
            if let Some(delay) = delay(record, point) {
                set(&mut labels, "delay", delay);
            }
        }
        Measure::C2c { from, to, home, kind, scope, via, .. } => {
            set(&mut labels, "scope", scope.word());
            set(&mut labels, "from", from);
            set(&mut labels, "to", to);
            set(&mut labels, "kind", kind.word());
            set(&mut labels, "method", kind.method().word());
            set(&mut labels, "home", home);
            if let Some(bytes) = plan.request.window {
                set(&mut labels, "window", bytes);
            }
            let chased = kind.method() == C2cMethod::Chase;
            for (label, bytes) in [("push", plan.request.push), ("extra_reads", plan.request.extra_reads)] {
                bytes.filter(|_| chased).into_iter().for_each(|bytes| set(&mut labels, label, bytes));
            }
            // From L2, as the owner has them, is what the contract's figure means; only other ways are named.
            if *via != C2cVia::L2 {
                set(&mut labels, "via", via.word());
            }
        }
        Measure::RfoProbe | Measure::PrefetchProbe => {}
    }
    if prefetch_off(record, point) {
        set(&mut labels, "prefetch", "off");
    }
    if plan.request.folder.is_some() {
        set(&mut labels, "memory", "file");
    }
    labels
}

/// Were prefetchers off by their registers while this point ran?
pub(crate) fn prefetch_off(record: &Record, point: &Point) -> bool {
    matches!(record.run.prefetch, PrefetchState::Off { .. }) && record.plan.prefetch_off_for(point).is_some()
}

/// Labels that all points of a loaded curve share: who loads with what, and how the observer walks which memory.
pub(crate) fn of_curve(plan: &Plan, at: usize) -> Labels {
    let mut labels = Labels::new();
    let point = plan.points.iter().find(|point| matches!(point.measure, Measure::Loaded { curve, .. } if curve == at));
    if let Some(chaser) = point.and_then(|point| jobs::chaser(plan, point)) {
        chase(&mut labels, chaser);
        if plan.curves.get(at).is_some_and(|curve| curve.node != chaser.arena.node) {
            set(&mut labels, "observer_node", chaser.arena.node);
        }
    }
    let streams = point.and_then(|point| jobs::streams(plan, point));
    if let Some(streams) = &streams {
        set(&mut labels, "isa", streams.isa.word());
        // The observer's buffer is `bytes`; each stream of each load has its own size.
        set(&mut labels, "load_bytes", streams.bytes());
        let nodes: CpuList = streams.by_thread.iter().map(|(_, arena)| arena.node).collect();
        if plan.curves.get(at).is_some_and(|curve| nodes.iter().any(|node| node != curve.node)) {
            set(&mut labels, "load_nodes", nodes);
        }
        // The observer's own order is `order`.
        if let Some(lines) = streams.block_lines {
            set(&mut labels, "load_order", "block-random");
            set(&mut labels, "block_lines", lines);
        }
        manner(&mut labels, streams);
    }
    if let Some(curve) = plan.curves.get(at) {
        let alike = streams.as_ref().is_none_or(Streams::alike);
        set(&mut labels, "mix", if alike { curve.mix.name() } else { "mixed" });
        match curve.observer {
            Some(cpu) => set(&mut labels, "cpu", cpu),
            None => set(&mut labels, "observer", "none"),
        }
        set(&mut labels, "node", curve.node);
        set(&mut labels, "threads", curve.loads.len());
    }
    labels
}

/// The delay of a loaded point, core cycles: what was in force, else what was planned or found.
pub(crate) fn delay(record: &Record, point: &Point) -> Option<u32> {
    match point.measure {
        Measure::Loaded { delay: DelayRef::Fixed(delay), .. } | Measure::Max { delay, .. } => Some(delay),
        Measure::Loaded { curve, delay: DelayRef::Slot(slot) } => record.run.curves.get(curve)?.delays.get(slot).copied(),
        _ => None,
    }
}

/// A figure in a few words: its name and what tells it from its like.
pub(crate) fn title(name: &str, labels: &Labels) -> String {
    const BARE: [&str; 6] = ["mix", "order", "pages", "kind", "isa", "scope"];
    const NUMBERED: [&str; 12] =
        ["against", "cpu", "node", "region", "from", "to", "home", "via", "threads", "delay", "keepalive", "percentile"];
    let bare = BARE.iter().filter_map(|label| labels.get(*label).cloned());
    let numbered = NUMBERED.iter().filter_map(|label| labels.get(*label).map(|value| format!("{label} {value}")));
    // A sweep's figures differ in nothing else.
    let size = labels.get("bytes").filter(|_| name.starts_with("sweep_")).and_then(|bytes| bytes.parse().ok()).map(units::bytes);
    std::iter::once(name.to_owned()).chain(size).chain(bare).chain(numbered).collect::<Vec<_>>().join(" ")
}

/// Sets one label; values are strings.
pub(crate) fn set(labels: &mut Labels, label: &str, value: impl ToString) {
    labels.insert(label.to_owned(), value.to_string());
}

fn idle(labels: &mut Labels, chaser: Option<Chaser<'_>>, node: u32, keepalive: bool) {
    set(labels, "node", node);
    set(labels, "keepalive", if keepalive { "yes" } else { "no" });
    if let Some(chaser) = chaser {
        chase(labels, chaser);
    }
}

fn chase(labels: &mut Labels, chaser: Chaser<'_>) {
    set(labels, "cpu", chaser.cpu);
    set(labels, "order", chaser.order.word());
    set(labels, "stride", chaser.stride);
    set(labels, "pages", chaser.arena.pages.word());
    set(labels, "bytes", chaser.bytes);
    if let Some(block) = chaser.block {
        set(labels, "block", block);
    }
}

/// Whole lines through buffers of their own, unflushed, of words that rise, are what a figure means; only other ways are named.
fn manner(labels: &mut Labels, streams: &Streams<'_>) {
    let unusual = [
        ("lines", "partial", streams.partial),
        ("flush", "yes", streams.flush),
        ("buffer", "shared", streams.shared),
        ("fill", "patterns", streams.filled),
    ];
    unusual.into_iter().filter(|(.., named)| *named).for_each(|(label, word, _)| set(labels, label, word));
}

fn bandwidth(labels: &mut Labels, streams: Option<&Streams<'_>>) {
    let Some(streams) = streams else { return };
    set(labels, "mix", streams.mix.name());
    set(labels, "threads", streams.threads());
    set(labels, "cpus", &streams.cpus);
    set(labels, "isa", streams.isa.word());
    set(labels, "bytes", streams.bytes());
    if let Some((_, arena)) = streams.by_thread.first() {
        set(labels, "pages", arena.pages.word());
    }
    // Sequential is what the contract's figure means; only the other order is named.
    if let Some(lines) = streams.block_lines {
        set(labels, "order", "block-random");
        set(labels, "block_lines", lines);
    }
    manner(labels, streams);
}
