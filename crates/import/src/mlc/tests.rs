use super::read;
use crate::ImportError;
use memgauge_model::{Report, Severity, State};
use memgauge_render::mlc::{self, Style};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Rows of our own in every format that is read, TABs as they are printed.
const WHOLE: &str = "\
memgauge, output format of Intel(R) Memory Latency Checker - v3.11b
*** Unable to modify prefetchers (try executing 'modprobe msr')
*** So, enabling random access for latency measurements
Measuring idle latencies for random access (in ns)...
\t\tNuma node
Numa node\t     0\t     2\t
       0\t  88.9\t 143.2\t
       1\t 142.8\t     -\t

Measuring Peak Injection Memory Bandwidths for the system
Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)
Using all the threads from each core if Hyper-threading is enabled
Using traffic with the following read-write ratios
ALL Reads        :\t352479.5\t
3:1 Reads-Writes :\t313648.6\t
2:1 Reads-Writes :\t296356.8\t
1:1 Reads-Writes :\t99124.2\t
Stream-triad like:\t320760.6\t

Measuring Memory Bandwidths between nodes within system 
Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)
Using all the threads from each core if Hyper-threading is enabled
Using Read-only traffic type
\t\tNuma node
Numa node\t     0\t     2\t
       0\t176193.2\t55673.9\t
       1\t55699.1\t 7120.2\t

Measuring Loaded Latencies for the system
Using all the threads from each core if Hyper-threading is enabled
Using Read-only traffic type
Inject\tLatency\tBandwidth
Delay\t(ns)\tMB/sec
==========================
 00000\t260.83\t 352764.7
 00200\t109.76\t 173464.9
 20000\t  0.00\t   2870.0

Measuring cache-to-cache transfer latency (in ns)...
Local Socket L2->L2 HIT  latency\t60.1
Local Socket L2->L2 HITM latency\t64.3
Remote Socket L2->L2 HITM latency (data address homed in writer socket)
\t\t\tReader Numa Node
Writer Numa Node     0\t     1\t
            0\t     -\t 127.2\t
            1\t 127.1\t     -\t
Remote Socket L2->L2 HITM latency (data address homed in reader socket)
\t\t\tReader Numa Node
Writer Numa Node     0\t     1\t
            0\t     -\t 227.4\t
            1\t 227.0\t     -\t
";

/// All sections of a whole run, as they are printed.
fn written(report: &Report, style: &Style) -> String {
    let all = [mlc::latency_matrix, mlc::peak, mlc::bandwidth_matrix, mlc::loaded, mlc::c2c];
    mlc::banner(style) + &all.iter().map(|section| section(report, style)).collect::<String>()
}

fn value(report: &Report, name: &str, labels: &[(&str, &str)]) -> f64 {
    report.find(name, labels).unwrap_or_else(|| panic!("{name} {labels:?}: {:?}", report.metrics)).1.value
}

#[test]
fn what_is_read_is_printed_again_to_the_byte() {
    let report = read(WHOLE.as_bytes()).unwrap();
    let style = Style { prefetch_warning: true, ..Style::default() };
    assert_eq!(written(&report, &style), WHOLE);
    // Without TABs, and with the line ends of another system, it is the same.
    let blanks = WHOLE.replace('\t', "        ").replace('\n', "\r\n");
    assert_eq!(read(blanks.as_bytes()).unwrap(), report);
}

#[test]
fn a_figure_says_that_it_is_one_and_the_document_where_it_comes_from() {
    let report = read(WHOLE.as_bytes()).unwrap();
    assert_eq!(report.status.state, State::Imported);
    assert!(report.status.reasons[0].starts_with("imported: output of the Memory Latency Checker v3.11b"));
    for metric in &report.metrics {
        assert_eq!((metric.samples, metric.ci95, metric.range), (1, None, Some([metric.value; 2])));
        assert_eq!(metric.range_reason.as_deref(), Some("imported: one figure, no interval"));
    }
    assert_eq!(value(&report, "matrix_latency", &[("from", "1"), ("to", "0"), ("order", "window-random")]), 142.8);
    assert_eq!(value(&report, "loaded_bandwidth", &[("delay", "200")]), 173464.9e6);
    assert_eq!(value(&report, "c2c_latency", &[("from", "0"), ("to", "1"), ("home", "1"), ("kind", "hitm")]), 227.4);
    // Application bytes of a mix with writes are another number, which nobody printed.
    assert!(report.find("peak_bandwidth", &[("mix", "3:1")]).is_none());
    assert_eq!(value(&report, "peak_bandwidth_dram", &[("mix", "3:1")]), 313648.6e6);
    assert!(report.find("loaded_latency", &[("delay", "20000")]).is_none(), "0.00 is no latency");
}

#[test]
fn single_modes_carry_their_arguments() {
    let idle = "Intel(R) Memory Latency Checker - v3.5\nCommand line parameters: --idle_latency -c3 -j 1\n\n\
                Using buffer size of 2000.000MB\nEach iteration took 201.2 core clocks ( 80.5    ns)\n";
    let report = read(idle.as_bytes()).unwrap();
    let labels = [("cpu", "3"), ("node", "1"), ("order", "sequential"), ("bytes", "2097152000")];
    assert_eq!(value(&report, "idle_latency", &labels), 80.5);
    let text = mlc::idle(&report, &Style { version: "3.5".parse().unwrap(), ..Style::default() });
    assert_eq!(text, "Each iteration took 201.2 core clocks (\t80.5\tns)\n");

    let pair = "Command line parameters: --c2c_latency -c0 -w5 -H\n\nLatency = 120.2 base frequency clocks (60.1 ns)\n";
    let labels = [("scope", "cpu"), ("from", "5"), ("to", "0"), ("kind", "hit")];
    assert_eq!(value(&read(pair.as_bytes()).unwrap(), "c2c_latency", &labels), 60.1);

    let cpus = "Command line parameters: --latency_matrix -r -a \n\nMeasuring idle latencies (in ns) for all cores...\n\
                \t\tNuma node\nCPU\t     0\t     1\t\n     0\t 117.8\t 184.4\t\n    10\t 116.1\t 185.4\t\n";
    let report = read(cpus.as_bytes()).unwrap();
    assert_eq!(value(&report, "matrix_latency", &[("cpu", "10"), ("to", "1"), ("order", "window-random")]), 185.4);
    let style = Style { version: "3.9a".parse().unwrap(), ..Style::default() };
    assert!(cpus.contains(mlc::latency_matrix(&report, &style).trim_end()));

    let mixed =
        "Command line parameters: --loaded_latency -W2\nMeasuring Loaded Latencies for the system\n 00100\t121.01\t 106422.8\n";
    assert_eq!(value(&read(mixed.as_bytes()).unwrap(), "loaded_bandwidth_dram", &[("mix", "2:1")]), 106422.8e6);

    let scan = "Running memory scan using 36 threads on numa node 0 accessing memory on node 1 \n[85000-89999]\t74\n\
                Detailed BW report for each 1GB region allocated as contiguous 1GB page on NUMA node 1\n\
                phys_addr\tGBaligned_page#\tMB/sec\n0x3840000000\t225\t88503\n\
                Detailed BW report for each 1GB region allocated as 4KB page on NUMA node 1\n0x3f30423000\t90419\n";
    let report = read(scan.as_bytes()).unwrap();
    assert_eq!(value(&report, "scan_bandwidth", &[("pages", "1g"), ("address", "0x3840000000"), ("node", "1")]), 88503e6);
    assert_eq!(value(&report, "scan_bandwidth", &[("pages", "base"), ("region", "1"), ("threads", "36")]), 90419e6);
    assert_eq!(report.notes, ["rows of histograms that were left out: 1"]);
}

#[test]
fn outputs_one_after_the_other_are_told_apart_where_they_have_the_same_figure() {
    let one = |version: &str, ns: &str| {
        format!("Intel(R) Memory Latency Checker - v{version}\nEach iteration took 100.0 core clocks (\t{ns}\tns)\n")
    };
    let report = read((one("3.5", "80.5") + &one("3.9a", "89.0")).as_bytes()).unwrap();
    let values = report.metrics.iter().filter(|metric| metric.name == "idle_latency");
    let values: Vec<_> = values.map(|metric| (metric.labels.get("run").map(String::as_str), metric.value)).collect();
    assert_eq!(values, [(None, 80.5), (Some("2"), 89.0)]);
    assert!(report.status.reasons[0].contains("v3.5, v3.9a"));
    // Within one output the first counts, and it is said.
    let twice = read("Each took 1.0 clocks (8.0 ns)\nEach took 1.0 clocks (9.0 ns)\n".as_bytes()).unwrap();
    assert_eq!(value(&twice, "idle_latency", &[]), 8.0);
    assert_eq!(twice.notes, ["figures that stood there twice: 2; the first of each counts"]);
}

/// A loaded run on so many CPUs at 2.5 GHz, t0 45 cycles, beside an observer of 100 ns.
fn loaded(arguments: &str, cpus: f64) -> Report {
    let row = |delay: u32| {
        let mega = (cpus * 256.0 * 2.5e9 / f64::from(delay + 45) + 6.4e8) / 1e6;
        format!(" {delay:05}\t100.00\t{mega:9.1}\n")
    };
    let rows = [1000, 2500, 20000].map(row).concat();
    read(format!("Command line parameters: {arguments}\nMeasuring Loaded Latencies for the system\n{rows}").as_bytes()).unwrap()
}

#[test]
fn load_cpus_that_could_not_have_made_a_table_are_found_out() {
    let [fine, wrong, unnamed] = [("-k1-15", 15.0), ("-k1-15", 150.0), ("-j0", 15.0)].map(|(a, cpus)| loaded(a, cpus));
    let said = |report: &Report| (report.status.state, report.findings[0].severity);
    assert_eq!(said(&fine), (State::Imported, Severity::Info));
    assert!(fine.findings[0].text.contains("37.5 GHz") && fine.findings[0].text.contains("2.5 GHz for each of the 15 load CPUs"));
    assert_eq!(said(&wrong), (State::Rejected, Severity::Critical));
    assert_eq!(wrong.findings[0].evidence.len(), 3);
    assert_eq!(said(&unnamed), (State::Imported, Severity::Info));
    // Bytes of a burst with writes are another number.
    assert!(loaded("-k1-15 -W2", 150.0).findings.is_empty());
}

#[test]
fn the_published_table_that_fifteen_cpus_can_not_have_made_is_rejected() {
    let text = "Command line parameters: --loaded_latency -c0 -k1-15 -j0 -R -b100m -t10\n\nMeasuring Loaded Latencies for the system\n \
                01000\t120.51\t  94452.8\n 09000\t110.58\t  11356.1\n 20000\t111.73\t   5434.1\n";
    let report = read(text.as_bytes()).unwrap();
    assert_eq!(report.status.state, State::Rejected);
    assert!(report.status.reasons[1].contains("implausible"), "{:?}", report.status);
}

#[test]
fn what_has_no_figure_is_no_output() {
    for text in ["", "Measuring idle latencies (in ns)...\n", "Invalid Argument:--help\n", "\u{0}\u{fffd}", "Each iteration took"]
    {
        assert_eq!(read(text.as_bytes()), Err(ImportError::NoFigure), "{text}");
    }
}

/// Published outputs: beside the repository, or where MEMGAUGE_SAMPLES says.
fn samples() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/mlc-samples");
    let folder = std::env::var_os("MEMGAUGE_SAMPLES").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{}: no samples; set MEMGAUGE_SAMPLES", folder.display());
    note(&format!("skipped: no published outputs in {}; set MEMGAUGE_SAMPLES", folder.display()));
    None
}

#[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
fn note(text: &str) {
    eprintln!("{text}");
}

#[test]
fn every_published_output_is_read() {
    let Some(folder) = samples() else { return };
    let figures = [
        ("cxl-3node-v3.9a.expanded.txt", 6 + 12 + 2 * 6),
        ("haswell_mlc.txt", 4 + 6 + 8 + 57 + 2 + 4),
        ("icelake_mlc.txt", 4 + 6 + 8 + 57 + 2 + 4),
        ("skylake_mlc.txt", 4 + 6 + 8 + 57 + 2 + 4),
        ("idle-latency.expanded.txt", 10),
        ("loaded-latency-v3.10.restored.txt", 6),
        ("memory-bandwidth-scan.expanded.txt", 8),
        ("sapphire-rapids-v3.11.expanded.txt", 8 + 4 + 6),
        ("snc-4node-c2c-v3.9.restored.txt", 2 + 24),
    ];
    for (name, count) in figures {
        let report = read(&std::fs::read(folder.join(name)).unwrap()).unwrap();
        assert_eq!(report.metrics.len(), count, "{name}: {:#?}", report.metrics);
        assert!(!report.notes.iter().any(|note| note.contains("twice")), "{name}");
        let rejected = report.status.state == State::Rejected;
        assert_eq!(rejected, name.starts_with("loaded"), "{name}: {:?}", report.status);
    }
}

#[test]
fn published_whole_runs_are_printed_again_to_the_byte() {
    let Some(folder) = samples() else { return };
    for name in ["haswell_mlc.txt", "skylake_mlc.txt", "icelake_mlc.txt"] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let report = read(text.as_bytes()).unwrap();
        let style =
            Style { version: report.tool.version.parse().unwrap(), prefetch_warning: text.contains("***"), ..Style::default() };
        assert_eq!(written(&report, &style).split_once('\n').unwrap().1, text.split_once('\n').unwrap().1, "{name}");
    }
}

proptest! {
    /// Lines in any order, cut and joined: whatever comes out is a sound document.
    #[test]
    fn no_text_breaks_it(at in proptest::collection::vec((0..60usize, 0..80usize), 0..60)) {
        let lines: Vec<&str> = WHOLE.lines().collect();
        let cut = |(line, from): &(usize, usize)| {
            let line = lines[line % lines.len()];
            if *from < 40 { line } else { line.get(from - 40..).unwrap_or("") }
        };
        let text = at.iter().map(cut).collect::<Vec<_>>().join("\n");
        if let Ok(report) = read(text.as_bytes()) {
            let named: BTreeSet<_> = report.metrics.iter().map(|metric| (&metric.name, &metric.labels)).collect();
            prop_assert_eq!(named.len(), report.metrics.len());
            prop_assert!(report.metrics.iter().all(|metric| metric.value.is_finite()));
            let ids = report.matrices.iter().flat_map(|view| view.cells.iter().flatten().flatten());
            prop_assert!(ids.copied().all(|id| id < report.metrics.len()));
            let _written = written(&report, &Style::default());
        }
    }
}
