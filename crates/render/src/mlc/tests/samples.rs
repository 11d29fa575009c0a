//! Published outputs, read and written again: the byte-exact ones must come out to the byte.
//!
//! They lie beside the repository, or where MEMGAUGE_SAMPLES says.

use super::build::Build;
use crate::mlc::{self, Style};
use std::path::{Path, PathBuf};

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
fn whole_runs_come_out_to_the_byte() {
    let Some(folder) = samples() else { return };
    for name in ["haswell_mlc.txt", "skylake_mlc.txt", "icelake_mlc.txt"] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let (banner, sections) = text.split_once('\n').unwrap();
        let version = banner.rsplit_once(" - v").unwrap().1.parse().unwrap();
        let style = Style { version, prefetch_warning: text.contains("***"), ..Style::default() };
        let report = whole(sections).0;
        let (_, warning) = mlc::banner(&style).split_once('\n').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let all = [mlc::latency_matrix, mlc::peak, mlc::bandwidth_matrix, mlc::loaded, mlc::c2c];
        let written = warning + &all.iter().map(|section| section(&report, &style)).collect::<String>();
        assert_eq!(written, sections, "{name}");
    }
}

#[test]
fn sections_of_other_outputs_come_out_too() {
    let Some(folder) = samples() else { return };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();

    let text = read("loaded-latency-v3.10.restored.txt");
    let args = "--loaded_latency -c0 -k1-15 -j0 -R -b100m -t10".split(' ').map(str::to_owned).collect();
    let style = Style { version: "3.10".parse().unwrap(), args, ..Style::default() };
    let report = whole(&text).0;
    assert!(text.ends_with(&mlc::loaded(&report, &style)));

    // Their TABs were put back by hand, but for those at the ends of rows.
    let text = read("snc-4node-c2c-v3.9.restored.txt");
    let style = Style { version: "3.9".parse().unwrap(), ..Style::default() };
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert!(trimmed(&text).ends_with(&trimmed(&mlc::c2c(&whole(&text).0, &style))));

    // Lost their TABs: word by word.
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for (name, part, args) in [
        ("cxl-3node-v3.9a.expanded.txt", 0, "--latency_matrix -r"),
        ("cxl-3node-v3.9a.expanded.txt", 2, "--bandwidth_matrix"),
        ("sapphire-rapids-v3.11.expanded.txt", 0, "--bandwidth_matrix"),
        ("sapphire-rapids-v3.11.expanded.txt", 1, "--latency_matrix"),
        ("sapphire-rapids-v3.11.expanded.txt", 2, "--max_bandwidth"),
    ] {
        let text = read(name);
        let text = text.split("---\nIntel").nth(part).unwrap().trim_end_matches("---\n");
        let version = if name.starts_with("cxl") { "3.9a" } else { "3.11" }.parse().unwrap();
        let style = Style { version, args: words(args), ..Style::default() };
        let section = match args.split(' ').next().unwrap() {
            "--latency_matrix" => mlc::latency_matrix,
            "--bandwidth_matrix" => mlc::bandwidth_matrix,
            _ => mlc::max,
        };
        let written = section(&whole(text).0, &style);
        let from = text.find("Measuring").unwrap();
        let measured = &written[written.find("Measuring").unwrap()..];
        assert_eq!(words(measured), words(&text[from..]), "{name} {part}");
    }
}

/// The figures of an output, section by section.
fn whole(text: &str) -> Build {
    let mut build = Build::new();
    for part in text.split("Measuring ").skip(1) {
        let (heading, rest) = part.split_once('\n').unwrap();
        let taken = build;
        build = match heading {
            _ if heading.starts_with("idle") => {
                let order = if heading.contains("sequential") { "sequential" } else { "window-random" };
                taken.latencies(order, &slices(&matrix(rest)))
            }
            _ if heading.contains("between nodes") => taken.bandwidths(&slices(&matrix(rest))),
            _ if heading.starts_with("Peak") => taken.five("peak_bandwidth", five(rest)),
            _ if heading.starts_with("Maximum") => taken.five("max_bandwidth", five(rest)),
            _ if heading.starts_with("Loaded") => taken.curve(&curve(rest)),
            _ if heading.starts_with("cache") => transfers(taken, rest),
            _ => panic!("{heading}"),
        };
    }
    build
}

fn slices(rows: &[Vec<f64>]) -> Vec<&[f64]> {
    rows.iter().map(Vec::as_slice).collect()
}

/// Rows of nothing but numbers, without the row's own.
fn matrix(text: &str) -> Vec<Vec<f64>> {
    let numbers = |line: &str| line.split_whitespace().map(|word| word.parse::<f64>().ok()).collect::<Option<Vec<_>>>();
    let behind = text.lines().skip_while(|line| !line.starts_with("Numa node")).skip(1);
    behind.map_while(|line| Some(numbers(line).filter(|row| row.len() > 1)?[1..].to_vec())).collect()
}

/// Numbers behind the last colon of a line.
fn five(text: &str) -> [f64; 5] {
    let value = |line: &str| line.rsplit_once(':').and_then(|(_, value)| value.trim().parse::<f64>().ok());
    text.lines().filter_map(value).collect::<Vec<_>>().try_into().unwrap()
}

fn curve(text: &str) -> Vec<(u32, Option<f64>, f64)> {
    let row = |line: &str| {
        let words = line.split_whitespace().collect::<Vec<_>>();
        let [delay, ns, mega] = words[..] else { return None };
        Some((delay.parse().ok()?, Some(ns.parse().ok()?), mega.parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

fn transfers(mut build: Build, text: &str) -> Build {
    let mut home = None;
    for line in text.lines() {
        let words = line.split_whitespace().collect::<Vec<_>>();
        if line.starts_with("Local") {
            let kind = if words.contains(&"HIT") { "hit" } else { "hitm" };
            build = build.transfer(0, 0, 0, kind, words[words.len() - 1].parse().unwrap());
        } else if line.starts_with("Remote") {
            home = Some(line.contains("homed in writer"));
        } else if let Ok(writer) = words.first().map_or(Ok(u32::MAX), |word| word.parse::<u32>()) {
            for (reader, value) in (0..).zip(words.iter().skip(1)) {
                if let Ok(value) = value.parse() {
                    build = build.transfer(writer, reader, if home == Some(true) { writer } else { reader }, "hitm", value);
                }
            }
        }
    }
    build
}
