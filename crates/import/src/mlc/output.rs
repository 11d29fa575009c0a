//! One output after the other, section by section, into a draft.

use super::call::Call;
use super::draft::{Draft, Labels};
use super::lines::{Said, Section};
use super::pace::{self, Pace};
use memgauge_model::{CurvePoint, MetricId};

/// The rows of the peak sections, as they are called there, and the mixes' names here.
const MIXES: [(&str, &str); 5] = [
    ("ALL Reads", "read"),
    ("3:1 Reads-Writes", "3:1"),
    ("2:1 Reads-Writes", "2:1"),
    ("1:1 Reads-Writes", "1:1"),
    ("Stream-triad like", "2:1-nt-two"),
];

/// The output that is being read.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// Its number in the text, from 1.
    pub run: u32,
    pub call: Call,
    buffer: Option<u64>,
    random: bool,
    section: Option<Section>,
    columns: Vec<u32>,
    cells: Vec<(u32, u32, MetricId)>,
    points: Vec<CurvePoint>,
    /// The figures of those points: delay, ns, 10^6 B/s.
    pace: Vec<(u32, f64, f64)>,
    writer_home: bool,
    scan: Option<(u32, u32)>,
    giant: bool,
    regions: u32,
}

impl Output {
    /// The next one.
    pub fn next(run: u32) -> Self {
        Self { run, ..Self::default() }
    }

    /// Does this begin another output, whose banner is missing? Arguments and buffer stand in each once.
    pub fn is_over(&self, said: &Said) -> bool {
        match said {
            Said::Arguments(_) => !self.call.0.is_empty(),
            Said::Buffer(_) => self.buffer.is_some(),
            _ => false,
        }
    }

    /// Takes in what a line says. Returns what a finished curve says of its load.
    pub fn take(&mut self, said: Said, draft: &mut Draft) {
        let run = self.run;
        match said {
            Said::Arguments(arguments) => self.call = Call(arguments),
            Said::Buffer(bytes) => self.buffer = Some(bytes),
            Said::Random => self.random = true,
            Said::Columns(columns) => self.columns = columns,
            Said::Row { of, values } => self.row(of, &values, draft),
            Said::Mix { label, mega } => {
                let mix = MIXES.iter().find(|(known, _)| *known == label).map(|(_, mix)| *mix);
                let name = match self.section {
                    Some(Section::Peak) => Some("peak_bandwidth"),
                    Some(Section::Max) => Some("max_bandwidth"),
                    _ => None,
                };
                if let Some((mix, name)) = mix.zip(name) {
                    draft.rate(name, mega, &self.labels(&[("mix", mix)], "bytes"), run);
                }
            }
            Said::Loaded { delay, ns, mega } if self.section == Some(Section::Loaded) => self.loaded(delay, ns, mega, draft),
            Said::Local { modified, ns } => {
                draft.add("c2c_latency", "ns", ns, transfer(if modified { "hitm" } else { "hit" }, "node", 0, 0, Some(0)), run);
            }
            Said::Home { writer } => self.writer_home = writer,
            Said::Idle { clocks, unit, ns } => {
                let mut labels = self.labels(&[("order", self.order(None))], "bytes");
                let named = [("cpu", self.call.number('c')), ("node", self.call.number('j'))];
                labels.extend(named.into_iter().filter_map(|(label, value)| Some((label.to_owned(), value?.to_string()))));
                draft.add("idle_latency", "ns", ns, labels, run);
                clock(clocks, &unit, ns, run, draft);
            }
            Said::Pair { clocks, unit, ns } => {
                let kind = if self.call.option('H').is_some() { "hit" } else { "hitm" };
                let (from, to) = (self.call.number('w').unwrap_or(0), self.call.number('c').unwrap_or(0));
                draft.add("c2c_latency", "ns", ns, transfer(kind, "cpu", from, to, None), run);
                clock(clocks, &unit, ns, run, draft);
            }
            Said::Scan { threads, node, .. } => (self.scan, self.regions) = (Some((threads, node)), 0),
            Said::Pages { giant } => self.giant = giant,
            Said::Region { at, mega } => self.region(at, mega, draft),
            Said::Bin => draft.bins += 1,
            Said::ReadOnly | Said::Loaded { .. } | Said::Banner { .. } | Said::Section(_) => {}
        }
    }

    /// A section begins: the one before it is whole.
    pub fn begin(&mut self, section: Section, draft: &mut Draft) -> Option<Pace> {
        let pace = self.finish(draft);
        self.section = Some(section);
        self.columns.clear();
        pace
    }

    /// Makes a view of the section's figures.
    pub fn finish(&mut self, draft: &mut Draft) -> Option<Pace> {
        let cells = std::mem::take(&mut self.cells);
        match self.section.take()? {
            Section::Latencies { .. } => draft.matrix("matrix_latency", "ns", &cells),
            Section::Bandwidths => {
                let reads = cells.first().is_some_and(|(.., id)| !draft.metrics[*id].name.ends_with("_dram"));
                if reads {
                    draft.matrix("matrix_bandwidth", "B/s", &cells);
                }
                // The twin stands before the one that views hold.
                let twins: Vec<_> =
                    cells.iter().map(|(row, column, id)| (*row, *column, if reads { id - 1 } else { *id })).collect();
                draft.matrix("matrix_bandwidth_dram", "B/s", &twins);
            }
            Section::Loaded if !self.points.is_empty() => {
                let labels = self.of_curve();
                let points = std::mem::take(&mut self.points);
                let evidence = points.iter().filter(|point| point.delay >= pace::LONG).filter_map(|point| point.bandwidth);
                let evidence = evidence.collect();
                draft.curve(&labels, points);
                let rows = std::mem::take(&mut self.pace);
                return Some(Pace { rows, loads: self.call.loads(), mix: self.call.mix(), evidence });
            }
            Section::Transfers => {
                for (role, writer) in [("writer", true), ("reader", false)] {
                    let home = |id: &MetricId| draft.metrics[*id].labels.get("home");
                    let of = |(row, column, id): &&(u32, u32, MetricId)| {
                        home(id) == Some(&if writer { row } else { column }.to_string())
                    };
                    let part: Vec<_> = cells.iter().filter(of).copied().collect();
                    draft.matrix("c2c_latency", "ns", &part);
                    // By role, not by node: that differs from cell to cell.
                    if let Some(view) = draft.matrices.last_mut().filter(|_| !part.is_empty()) {
                        view.labels.insert("home".to_owned(), role.to_owned());
                    }
                }
            }
            Section::Peak | Section::Max | Section::Loaded => {}
        }
        None
    }

    fn row(&mut self, of: u32, values: &[Option<f64>], draft: &mut Draft) {
        let Some(section) = self.section else { return };
        let columns = std::mem::take(&mut self.columns);
        for (column, value) in columns.iter().zip(values).filter_map(|(column, value)| Some((*column, (*value)?))) {
            let (row, to) = (of.to_string(), column.to_string());
            let id = match section {
                Section::Latencies { sequential, by_cpu } => {
                    let place = if by_cpu { vec![("scope", "cpu"), ("cpu", &*row)] } else { vec![("from", &*row)] };
                    let rest = [("to", &*to), ("order", self.order(sequential))];
                    let labels = self.labels(&[place, rest.to_vec()].concat(), "bytes");
                    draft.add("matrix_latency", "ns", value, labels, self.run)
                }
                Section::Bandwidths => {
                    let labels = self.labels(&[("from", &*row), ("to", &*to), ("mix", self.call.mix())], "bytes");
                    draft.rate("matrix_bandwidth", value, &labels, self.run)
                }
                Section::Transfers => {
                    let home = if self.writer_home { of } else { column };
                    draft.add("c2c_latency", "ns", value, transfer("hitm", "node", of, column, Some(home)), self.run)
                }
                Section::Peak | Section::Max | Section::Loaded => None,
            };
            let per_cpu = matches!(section, Section::Latencies { by_cpu: true, .. });
            self.cells.extend(id.filter(|_| !per_cpu).map(|id| (of, column, id)));
        }
        self.columns = columns;
    }

    fn loaded(&mut self, delay: u32, ns: f64, mega: f64, draft: &mut Draft) {
        let mut labels = self.of_curve();
        labels.insert("delay".to_owned(), delay.to_string());
        // 0.00 is what stands there without an observer.
        let latency = (ns > 0.0).then(|| draft.add("loaded_latency", "ns", ns, labels.clone(), self.run)).flatten();
        let bandwidth = draft.rate("loaded_bandwidth", mega, &labels, self.run);
        if bandwidth.is_some() {
            self.points.push(CurvePoint { delay, latency, bandwidth });
            self.pace.push((delay, ns, mega));
        }
    }

    fn region(&mut self, at: Option<u64>, mega: f64, draft: &mut Draft) {
        let Some((threads, node)) = self.scan else { return };
        let pages = if self.giant { "1g" } else { "base" };
        let numbers = [("node", node.to_string()), ("threads", threads.to_string()), ("region", self.regions.to_string())];
        let mut labels = self.labels(&[("mix", "read"), ("pages", pages)], "");
        labels.extend(numbers.map(|(label, value)| (label.to_owned(), value)));
        labels.extend(at.map(|at| ("address".to_owned(), format!("{at:#x}"))));
        draft.add("scan_bandwidth", "B/s", mega * 1e6, labels, self.run);
        self.regions += 1;
    }

    fn of_curve(&self) -> Labels {
        let mut labels = self.labels(&[("mix", self.call.mix())], "load_bytes");
        let threads = self.call.loads().and_then(|list| u32::try_from(list.len()).ok());
        let numbers = [("cpu", self.call.number('c')), ("node", self.call.number('j')), ("threads", threads)];
        labels.extend(numbers.into_iter().filter_map(|(label, value)| Some((label.to_owned(), value?.to_string()))));
        labels
    }

    /// These, and the buffer under that name.
    fn labels(&self, pairs: &[(&str, &str)], buffer: &str) -> Labels {
        let mut labels: Labels = pairs.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect();
        labels.extend(self.buffer.filter(|_| !buffer.is_empty()).map(|bytes| (buffer.to_owned(), bytes.to_string())));
        labels
    }

    /// By the heading; older versions say it by a warning or the arguments alone. Random is shuffled inside windows.
    fn order(&self, sequential: Option<bool>) -> &'static str {
        let random = self.random || self.call.option('r').is_some();
        if sequential.unwrap_or(!random) { "sequential" } else { "window-random" }
    }
}

fn transfer(kind: &str, scope: &str, from: u32, to: u32, home: Option<u32>) -> Labels {
    let words = [("kind", kind), ("scope", scope), ("method", "chase")];
    let numbers = [("from", Some(from)), ("to", Some(to)), ("home", home)];
    let words = words.map(|(label, word)| (label.to_owned(), word.to_owned()));
    words.into_iter().chain(numbers.into_iter().filter_map(|(label, of)| Some((label.to_owned(), of?.to_string())))).collect()
}

/// The clock, by an access's clocks and ns.
fn clock(clocks: f64, unit: &str, ns: f64, run: u32, draft: &mut Draft) {
    if ns > 0.0 && clocks > 0.0 {
        draft.add("clock_hz", "Hz", clocks / ns * 1e9, Labels::from([("source".to_owned(), unit.to_owned())]), run);
    }
}
