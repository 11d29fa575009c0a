//! A literal section each, TABs and blanks as they are.

use super::build::Build;
use crate::mlc::{self, Style, Version};
use memgauge_model::{Histogram, HistogramBin, Scan};

fn style(args: &str, version: &str) -> Style {
    let args = args.split_whitespace().map(str::to_owned).collect();
    Style { args, version: version.parse().unwrap(), ..Style::default() }
}

/// TABs shown as `→`, so that a literal says them.
fn shown(text: &str) -> String {
    text.replace('\t', "→")
}

#[test]
fn the_first_line_is_found_by_readers_and_says_who_speaks() {
    let style = |args| Style { prefetch_warning: true, ..style(args, "3.11b") };
    let whole = mlc::banner(&style(""));
    assert_eq!(
        whole,
        "memgauge, output format of Intel(R) Memory Latency Checker - v3.11b\n\
         *** Unable to modify prefetchers (try executing 'modprobe msr')\n\
         *** So, enabling random access for latency measurements\n"
    );
    let mode = mlc::banner(&style("--bandwidth_matrix -U"));
    assert!(mode.ends_with("v3.11b\nCommand line parameters: --bandwidth_matrix -U \n\n"), "{mode}");
    let hostile = mlc::banner(&style("-J/x\u{1b}[2J"));
    assert!(!hostile.contains('\u{1b}'));
    let simulated = mlc::banner(&Style { simulated: true, ..Style::default() });
    assert!(simulated.starts_with("memgauge, SIMULATED, output format of Intel(R) Memory Latency Checker - v3.11b\n"));
}

#[test]
fn latency_matrix() {
    let report = Build::new().latencies("window-random", &[&[88.9, 143.2], &[142.84, 1088.9]]).0;
    let warned = Style { prefetch_warning: true, ..style("--latency_matrix", "3.11b") };
    assert_eq!(
        shown(&mlc::latency_matrix(&report, &warned)),
        "Using buffer size of 195.312MiB\n\
         *** Unable to modify prefetchers (try executing 'modprobe msr')\n\
         *** So, enabling random access for latency measurements\n\
         Measuring idle latencies for random access (in ns)...\n\
         →→Numa node\n\
         Numa node→     0→     1→\n       0→  88.9→ 143.2→\n       1→ 142.8→1088.9→\n"
    );
    let sequential = Build::new().latencies("sequential", &[&[88.9]]).0;
    let heading = |version| mlc::latency_matrix(&sequential, &style("", version)).lines().next().unwrap().to_owned();
    assert_eq!(heading("3.10"), "Measuring idle latencies for sequential access (in ns)...");
    assert_eq!(heading("3.9a"), "Measuring idle latencies (in ns)...");
}

#[test]
fn latency_matrix_of_cpus() {
    let mut build = Build::new();
    for (cpu, to, ns) in [("10", "0", 116.1), ("10", "2", 561.9), ("0", "0", 117.8)] {
        let labels = [("scope", "cpu"), ("cpu", cpu), ("from", "0"), ("to", to), ("order", "window-random")];
        build.add("matrix_latency", "ns", ns, &labels);
    }
    assert_eq!(
        shown(&mlc::latency_matrix(&build.0, &style("--latency_matrix -a", "3.9a"))),
        "Measuring idle latencies (in ns) for all cores...\n→→Numa node\nCPU→     0→     2→\n     0→ 117.8→     -→\n    10→ 116.1→ 561.9→\n"
    );
}

#[test]
fn bandwidth_matrix() {
    let report = Build::new().bandwidths(&[&[176193.2, 55673.9, 7120.2]]).0;
    let expected = "Using buffer size of 100.000MiB/thread for reads and an additional 100.000MiB/thread for writes\n\
         Measuring Memory Bandwidths between nodes within system \n\
         Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)\n\
         Using all the threads from each core if Hyper-threading is enabled\n\
         Using Read-only traffic type\n\
         →→Numa node\n\
         Numa node→     0→     1→     2→\n       0→176193.2→55673.9→ 7120.2→\n";
    assert_eq!(shown(&mlc::bandwidth_matrix(&report, &style("--bandwidth_matrix", "3.11b"))), expected);
    let wide = mlc::bandwidth_matrix(&report, &style("--bandwidth_matrix -X", "3.11c"));
    assert!(
        wide.ends_with("       0\t176193.2\t 55673.9\t  7120.2\t\n") && wide.contains("Using only one thread from each core")
    );
    assert!(!mlc::bandwidth_matrix(&report, &style("--bandwidth_matrix -W5", "3.11b")).contains("Read-only"));
}

#[test]
fn peak_and_max() {
    let peaks = [352479.5, 313648.64, 296356.8, 99124.2, 1234.5];
    let report = Build::new().five("peak_bandwidth", peaks).five("max_bandwidth", peaks).0;
    let buffers = "Using buffer size of 100.000MiB/thread for reads and an additional 100.000MiB/thread for writes\n\n";
    let unit = "Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)\n\
                Using all the threads from each core if Hyper-threading is enabled\n\
                Using traffic with the following read-write ratios\n";
    let rows = "ALL Reads        :→352479.5→\n3:1 Reads-Writes :→313648.6→\n2:1 Reads-Writes :→296356.8→\n\
                1:1 Reads-Writes :→99124.2→\nStream-triad like:→ 1234.5→\n\n";
    assert_eq!(
        shown(&mlc::peak(&report, &style("--peak_injection_bandwidth", "3.11b"))),
        format!("{buffers}Measuring Peak Injection Memory Bandwidths for the system\n{unit}{rows}")
    );
    assert!(mlc::peak(&report, &style("", "3.1a")).starts_with("Measuring Peak Memory Bandwidths for the system\n"));
    let rows = "ALL Reads        :→352479.50→\n3:1 Reads-Writes :→313648.64→\n2:1 Reads-Writes :→296356.80→\n\
                1:1 Reads-Writes :→99124.20→\nStream-triad like:→1234.50→\n\n";
    assert_eq!(
        shown(&mlc::max(&report, &style("--max_bandwidth", "3.11b"))),
        format!(
            "{buffers}Measuring Maximum Memory Bandwidths for the system\n\
             Will take several minutes to complete as multiple injection rates will be tried to get the best bandwidth\n{unit}{rows}"
        )
    );
}

#[test]
fn loaded() {
    let rows = [(0, Some(260.83), 352764.7), (2, Some(90.944), 2870.0), (20000, None, 1562.5)];
    let report = Build::new().curve(&rows).0;
    let table = "Inject→Latency→Bandwidth\nDelay→(ns)→MB/sec\n==========================\n \
                 00000→260.83→ 352764.7\n 00002→ 90.94→   2870.0\n 20000→  0.00→   1562.5\n";
    assert_eq!(
        shown(&mlc::loaded(&report, &style("--loaded_latency", "3.11b"))),
        format!(
            "Using buffer size of 100.000MiB/thread for reads and an additional 100.000MiB/thread for writes\n\n\
             Measuring Loaded Latencies for the system\n\
             Using all the threads from each core if Hyper-threading is enabled\n\
             Using Read-only traffic type\n{table}"
        )
    );
    // A mode with one dash is no option, and a file's name no mode.
    let with = |args: &str| mlc::loaded(&report, &style(args, "3.11b"));
    assert!(
        with("-loaded_latency").contains("Using all the threads")
            && !with("--loaded_latency -oper_thread.txt").contains("Using all")
    );
    // As published of -c0 -k1-15 -j0 -R.
    assert_eq!(
        shown(&mlc::loaded(&report, &style("--loaded_latency -c0 -k1-15 -j0 -R", "3.10"))),
        format!("Using buffer size of 100.000MiB/thread for reads\nMeasuring Loaded Latencies for the system\n{table}")
    );
}

#[test]
fn idle() {
    let mut report = Build::new().idle(55.5).0;
    assert_eq!(
        shown(&mlc::idle(&report, &style("--idle_latency -b5900", "3.11b"))),
        "Using buffer size of 5.762MiB\nEach iteration took 111.0 base frequency clocks (→55.5→ns)\n"
    );
    assert!(mlc::idle(&report, &style("--idle_latency", "3.9a")).ends_with("took 111.0 core clocks (\t55.5\tns)\n"));
    let bin = |from: u64, count| HistogramBin { from, to: from + 8, count };
    report.histograms.push(Histogram {
        name: "access_latency".into(),
        labels: Default::default(),
        clock_hz: 1.999_9e9,
        width: 8,
        cost_ns: 12.0,
        rounds: 6,
        bins: vec![bin(0, 451_799), bin(160, 35639), bin(4080, 14)],
        end: 4096,
        beyond: 2135,
    });
    assert_eq!(
        shown(&mlc::idle(&report, &style("--idle_latency -f3", "3.11b"))).split_once("ns)\n").unwrap().1,
        "\nHistogram of latencies in base frequency cycles (@ base freq of 2000 MHz)\nbase_freq_range Occurrence_count\n\
         [000-007]→451799\n[160-167]→35639\n[4080-4087]→14\n[>4096]→2135\n"
    );
}

#[test]
fn core_to_core() {
    let local = Build::new().transfer(0, 0, 0, "hit", 60.1).transfer(0, 0, 0, "hitm", 64.3);
    let text = "Measuring cache-to-cache transfer latency (in ns)...\n\
                Local Socket L2->L2 HIT  latency→60.1\nLocal Socket L2->L2 HITM latency→64.3\n";
    assert_eq!(shown(&mlc::c2c(&local.0, &style("--c2c_latency", "3.11b"))), text);
    let two = local.transfer(0, 1, 0, "hitm", 127.2).transfer(1, 0, 1, "hitm", 127.1).transfer(0, 1, 1, "hitm", 227.4);
    assert_eq!(
        shown(&mlc::c2c(&two.0, &style("", "3.11b"))),
        format!(
            "{text}Remote Socket L2->L2 HITM latency (data address homed in writer socket)\n\
             →→→Reader Numa Node\nWriter Numa Node     0→     1→\n            0→     -→ 127.2→\n            1→ 127.1→     -→\n\
             Remote Socket L2->L2 HITM latency (data address homed in reader socket)\n\
             →→→Reader Numa Node\nWriter Numa Node     0→     1→\n            0→     -→ 227.4→\n            1→     -→     -→\n"
        )
    );
    assert!(mlc::c2c(&two.0, &style("", "3.1a")).contains("Remote Socket LLC->LLC HITM latency (data"));
    let pair = mlc::c2c_pair(&two.0, &style("--c2c_latency -c0 -w1", "3.11b"));
    assert!(pair.ends_with("\nLatency = 120.2 base frequency clocks (60.1 ns)\n"), "{pair}");
}

#[test]
fn scan() {
    const GIB: u64 = 1 << 30;
    let mut build = Build::new();
    let regions = [(Some(0x37c0000000), "1g", 90087.4), (None, "thp", 84999.9), (Some(0x3840000000), "1g", 88503.0)];
    let ids = regions.map(|(_, pages, mega)| {
        let labels = [("threads", "2"), ("cpus", "0-1"), ("node", "0"), ("pages", pages)];
        build.add("scan_bandwidth", "B/s", mega * 1e6, &labels)
    });
    let mut report = build.0;
    report.scans.push(Scan {
        node: 0,
        mix: "read".into(),
        region_bytes: GIB,
        regions: ids.into(),
        addresses: regions.map(|(at, ..)| at).into(),
        scanned_bytes: 3 * GIB,
        available_bytes: 4 * GIB,
        memory_bytes: 5 * GIB,
        pages: Default::default(),
        median: None,
        slowest: None,
        fastest: None,
        histogram: Vec::new(),
        fences: Vec::new(),
        slow: Vec::new(),
        guest_physical: false,
    });
    assert_eq!(
        shown(&mlc::scan(&report, &style("--memory_bandwidth_scan", "3.11b"))),
        "Running memory scan using 2 threads on numa node 0 accessing memory on node 0\n\
         Reserved 2 1GB pages\nNow allocating 2 1GB pages. This may take several minutes..\n1GB page allocation completed\n\
         Allocating remaining 1048576 KB memory in 4KB pages\n\
         Totally 3 GB memory allocated in 4KB+1GB pages on NUMA node 0\n\
         Measuring memory bandwidth for each of those 1GB memory regions..\n\n\
         Histogram report of BW in MB/sec across each 1GB region on NUMA node 0\n\
         BW_range(MB/sec)→#_of_1GB_regions\n----------------→----------------\n\
         [80000-84999]→1\n[85000-89999]→1\n[90000-94999]→1\n\n\
         Detailed BW report for each 1GB region allocated as contiguous 1GB page on NUMA node 0\n\
         phys_addr→GBaligned_page#→MB/sec\n---------→---------------→------\n\
         0x3840000000→225→88503\n0x37c0000000→223→90087\n\n\
         Detailed BW report for each 1GB region allocated as 4KB page on NUMA node 0\n\
         phys_addr→MB/sec\n---------→------\n-→84999\n"
    );
    let narrow = mlc::scan(&report, &Style { scan_bucket: 100, ..Style::default() });
    assert!(narrow.contains("[84900-84999]\t1\n[88500-88599]\t1\n"), "{narrow}");
}

#[test]
fn a_whole_run_is_sections_with_an_empty_line_between() {
    let report = Build::new()
        .latencies("window-random", &[&[88.9]])
        .five("peak_bandwidth", [1e5; 5])
        .bandwidths(&[&[1e5]])
        .curve(&[(0, Some(200.0), 1e5)])
        .transfer(0, 0, 0, "hit", 60.1)
        .0;
    let style = Style::default();
    let sections = [mlc::latency_matrix, mlc::peak, mlc::bandwidth_matrix, mlc::loaded, mlc::c2c];
    let text = sections.iter().map(|section| section(&report, &style)).collect::<String>();
    assert_eq!(text.split("\n\n").count(), 5, "{text}");
    assert!(!text.contains("\n\n\n") && !text.ends_with("\n\n") && !text.contains("Using buffer size"), "{text}");
    assert_eq!(style.version, Version::DEFAULT);
}
