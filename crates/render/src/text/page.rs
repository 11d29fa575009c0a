//! What the sections write on: labelled lines, tables, the margin that marks a result which is not complete or not real.

use crate::style::{Style, clean, paint, width};
use crate::table::Table;
use memgauge_model::{Avail, Machine, Metric, MetricId, PrefetchState, Prefetching, Report, State, units};
use std::collections::BTreeSet;

/// Width of the label column.
const LABEL: usize = 17;
/// Width that lines of figures keep to, the margin included.
const WIDTH: usize = 120;
const SEPARATOR: &str = " · ";

/// A page in the making.
pub struct Page<'a> {
    pub report: &'a Report,
    pub style: &'a Style,
    text: String,
    margin: &'static str,
    shown: BTreeSet<MetricId>,
    reasons: BTreeSet<&'a str>,
}

impl<'a> Page<'a> {
    pub fn new(report: &'a Report, style: &'a Style) -> Self {
        // A line that is cut out of its page must still say what it is worth.
        let margin = match (report.status.state, report.simulated) {
            (State::Complete, false) => "",
            (State::Partial, false) => "~ ",
            (State::Imported, false) => "< ",
            (State::Rejected, false) => "! ",
            (State::Complete, true) => "SIM ",
            (State::Partial, true) => "~SIM ",
            (State::Imported, true) => "<SIM ",
            (State::Rejected, true) => "!SIM ",
        };
        Self { report, style, text: String::new(), margin, shown: BTreeSet::new(), reasons: BTreeSet::new() }
    }

    /// A line as it is.
    pub fn line(&mut self, line: &str) {
        let line = line.trim_end();
        if !line.is_empty() {
            self.text += self.margin;
        }
        self.text += line;
        self.text.push('\n');
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// A line with a label before it; an empty label continues the line above.
    pub fn labelled(&mut self, label: &str, text: &str) {
        let space = " ".repeat(LABEL.saturating_sub(label.chars().count()).max(1));
        self.line(&format!("{}{space}{text}", paint(self.style.heading, label)));
    }

    /// Parts beside a label, as many a line as the page is wide; none is cut.
    pub fn parts(&mut self, label: &str, parts: &[String]) {
        let room = WIDTH - LABEL - self.margin.len() - SEPARATOR.chars().count();
        let mut lines: Vec<String> = Vec::new();
        for part in parts {
            match lines.last_mut().filter(|line| width(line) + width(part) <= room) {
                Some(line) => *line += &format!("{SEPARATOR}{part}"),
                None => lines.push(part.clone()),
            }
        }
        for (place, line) in lines.iter().enumerate() {
            self.labelled(if place == 0 { label } else { "" }, line);
        }
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        for line in table.lines("  ", self.style.dim) {
            self.line(&line);
        }
    }

    /// Notes that a metric is on the page, and why it has no interval, if so.
    pub fn show(&mut self, id: MetricId) -> Option<&'a Metric> {
        let metric = self.report.metrics.get(id)?;
        self.shown.insert(id);
        if metric.ci95.is_none() && !crate::figure::alone(metric) {
            self.reasons.insert(metric.range_reason.as_deref().unwrap_or("one round"));
        }
        Some(metric)
    }

    /// The first metric with this name and labels, noted as shown.
    pub fn find(&mut self, name: &str, wanted: &[(&str, &str)]) -> Option<&'a Metric> {
        let (id, _) = self.report.find(name, wanted)?;
        self.show(id)
    }

    /// Every metric of this name, with its index.
    pub fn all(&self, name: &str) -> Vec<(MetricId, &'a Metric)> {
        self.report.metrics.iter().enumerate().filter(|(_, metric)| metric.name == name).collect()
    }

    /// Metrics that no section has shown yet.
    pub fn unseen(&self) -> Vec<(MetricId, &'a Metric)> {
        self.report.metrics.iter().enumerate().filter(|(id, _)| !self.shown.contains(id)).collect()
    }

    /// Why figures on this page have a range and no interval.
    pub fn range_reasons(&self) -> Vec<&'a str> {
        self.reasons.iter().copied().collect()
    }

    pub fn finish(self) -> String {
        self.text
    }
}

/// The machine in a line: name, CPUs, nodes, kind of host, memory, THP, prefetchers.
pub fn machine_line(machine: &Machine) -> String {
    let prefetchers = match &machine.platform.prefetchers {
        Avail::Known(state) => format!("prefetchers {state}"),
        Avail::Unavailable { .. } => "prefetcher state unknown".to_owned(),
    };
    with_prefetchers(machine, &prefetchers)
}

/// The same of a run: what its probe found says more than registers do.
pub fn run_line(report: &Report) -> String {
    let Some(found) = &report.prefetch else { return machine_line(&report.machine) };
    let control = if matches!(found.control, PrefetchState::Off { .. }) { "while chasing, by probe" } else { "by probe" };
    match (found.streaming.verdict, found.spatial.verdict) {
        (Prefetching::Unknown, Prefetching::Unknown) => machine_line(&report.machine),
        (streaming, spatial) if streaming == spatial => {
            with_prefetchers(&report.machine, &format!("prefetchers {} {control}", streaming.word()))
        }
        (streaming, spatial) => {
            let words = format!("prefetchers: streaming {}, spatial {} {control}", streaming.word(), spatial.word());
            with_prefetchers(&report.machine, &words)
        }
    }
}

fn with_prefetchers(machine: &Machine, prefetchers: &str) -> String {
    if machine.online_cpus.is_empty() {
        return "machine unknown".to_owned();
    }
    let name = machine.cpu.name.known().map_or("unknown CPU", |name| name.trim());
    let mut place = vec![count(machine.online_cpus.len(), "CPU"), count(machine.nodes.len(), "node")];
    if machine.allowed_cpus != machine.online_cpus {
        place.push(format!("{} allowed", machine.allowed_cpus.len()));
    }
    match machine.platform.hypervisor.known().map(String::as_str) {
        Some("none") => {}
        Some(hypervisor) => place.push(format!("{hypervisor} guest")),
        None => place.push("metal or guest unknown".to_owned()),
    }
    if let Some(container) = machine.platform.container.known().filter(|name| *name != "none") {
        place.push(format!("{container} container"));
    }
    let thp = machine.memory.thp.known().map_or_else(|| "no THP".to_owned(), |mode| format!("THP {mode}"));
    let memory = units::bytes(machine.memory.total_bytes);
    let simulated = if machine.simulated { "SIMULATED: " } else { "" };
    clean(&format!("{simulated}{name} ({}) · {memory} · {thp} · {prefetchers}", place.join(", ")))
}

/// `1 node`, `2 nodes`.
pub fn count(number: usize, what: &str) -> String {
    units::count(number as u64, what)
}
