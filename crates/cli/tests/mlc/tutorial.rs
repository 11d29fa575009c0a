//! Command lines of a tutorial that people follow, as they stand there: sixteen CPUs, two sockets. And on one node.

use super::{behind, mlc, simulated};

/// Delays of the tutorial's own file.
const DELAYS: &str = "0\n10\n25\n50\n75\n100\n150\n200\n300\n500\n1000\n2000\n5000\n";

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn idle_ns(line: &str) -> f64 {
    let text = simulated(&words(line));
    let last = text.lines().last().unwrap();
    let (_, ns) = last.split_once("(\t").unwrap_or_else(|| panic!("{line}: {text}"));
    ns.split_whitespace().next().unwrap().parse().unwrap()
}

/// Delay, ns, 10^6 B/s.
fn rows(line: &str) -> Vec<(u32, f64, f64)> {
    let text = simulated(&words(line));
    assert!(text.contains(&format!("Command line parameters: {line} \n")), "{text}");
    let row = |row: &str| {
        let cells: Vec<&str> = row.split('\t').map(str::trim).collect();
        (cells[0].parse().unwrap(), cells[1].parse().unwrap(), cells[2].parse().unwrap())
    };
    behind(&text, "=====").into_iter().map(row).collect()
}

#[test]
fn idle_latencies_near_and_far() {
    let near = idle_ns("--idle_latency -c0 -j0 -b200m -t10");
    let far = idle_ns("--idle_latency -c0 -j1 -b200m -t10");
    assert!(far > near, "{near} ns, {far} ns");
    assert!(idle_ns("--idle_latency -c0 -j0 -b200m -t5") > 0.0);
    let text = simulated(&words("--idle_latency -e -r -c0 -j0 -b200m -t5"));
    assert!(text.contains("Using buffer size of 200.000MiB\n") && !text.contains("***"), "{text}");
}

#[test]
fn loaded_latencies_by_all_delays_by_one_and_by_those_of_a_file() {
    let all = rows("--loaded_latency -c0 -k1-15 -j0 -R -b100m -t10");
    assert_eq!(all.iter().map(|row| row.0).collect::<Vec<_>>(), memgauge_model::MLC_DELAYS);
    assert!(all[0].1 > all[18].1 && all[0].2 > 2.0 * all[18].2, "{all:?}");
    let one = rows("--loaded_latency -c0 -k1-15 -j0 -R -b100m -d1000 -t20");
    assert!(matches!(one[..], [(1000, ..)]), "{one:?}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("delay.txt");
    std::fs::write(&file, DELAYS).unwrap();
    // Attached, as it stands there, or not.
    for option in [format!("-g{}", file.display()), format!("-g {}", file.display())] {
        let named = rows(&format!("--loaded_latency -c0 -k1-15 -j0 -R -b100m {option} -t10"));
        assert_eq!(named.iter().map(|row| row.0.to_string()).collect::<Vec<_>>(), DELAYS.lines().collect::<Vec<_>>());
    }
}

/// CPU 0 loads, too, and the latency is none.
#[test]
fn the_most_that_all_reach_without_a_latency_thread() {
    let line = "--loaded_latency -T -k0-15 -j0 -R -b100m -d0 -t20";
    let alone = rows(line);
    assert!(matches!(alone[..], [(0, ns, rate)] if ns == 0.0 && rate > 0.0), "{alone:?}");
    let text = simulated(&words(line));
    assert!(behind(&text, "=====")[0].starts_with(" 00000\t  0.00\t") && !text.contains("***"), "{text}");
}

#[test]
fn every_traffic_that_it_names_runs() {
    for code in ["-W2", "-W3", "-W5", "-W6", "-W7", "-W8", "-W10", "-W11"] {
        let one = rows(&format!("--loaded_latency -c0 -k1-15 -j0 {code} -b100m -d0 -t1"));
        assert!(one.len() == 1 && one[0].2 > 0.0, "{code}: {one:?}");
    }
}

/// Node 1 is not there: refused in one line that names what is, before anything is measured.
#[test]
fn on_one_node_the_other_ones_are_refused() {
    for line in ["--idle_latency -c0 -j1 -b200m -t10", "--loaded_latency -c0 -k1-15 -j1 -R -b100m -t10"] {
        let output = mlc(&[words(line), vec!["--simulate", "graviton"]].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(22), 0), "{stderr}");
        assert_eq!(stderr, "memgauge: -j 1: no such node (there: 0); use node 0\n");
    }
    let near = mlc(&[words("--idle_latency -c0 -j0 -b200m -t1"), vec!["--simulate", "graviton", "--quiet"]].concat());
    assert_eq!(near.status.code(), Some(0), "{}", String::from_utf8_lossy(&near.stderr));
}
