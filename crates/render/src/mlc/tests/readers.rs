//! What the programs that read this text rely on, one test each.

use super::build::Build;
use crate::mlc::{self, Style};
use memgauge_model::{MLC_DELAYS, Report};

fn report() -> Report {
    let rows = MLC_DELAYS.map(|delay| (delay, Some(200.0 - f64::from(delay) / 1e3), 1e5 / f64::from(delay + 1)));
    Build::new()
        .idle(98.7)
        .latencies("window-random", &[&[88.9, 143.2], &[142.8, 88.9]])
        .five("peak_bandwidth", [352479.5, 313648.6, 296356.8, 293306.4, 320760.6])
        .five("max_bandwidth", [352479.5, 313648.6, 296356.8, 293306.4, 320760.6])
        .bandwidths(&[&[176193.2, 55673.9], &[55699.1, 176306.7]])
        .curve(&rows)
        .transfer(0, 0, 0, "hit", 60.1)
        .transfer(0, 0, 0, "hitm", 64.3)
        .transfer(0, 1, 0, "hitm", 127.2)
        .transfer(1, 0, 1, "hitm", 127.1)
        .0
}

fn whole() -> String {
    let (report, style) = (report(), Style { prefetch_warning: true, ..Style::default() });
    let all = [mlc::latency_matrix, mlc::peak, mlc::bandwidth_matrix, mlc::loaded, mlc::c2c];
    mlc::banner(&style) + &all.iter().map(|section| section(&report, &style)).collect::<String>()
}

/// Two decimals with nothing but blanks between, as `\d+\.\d+\s+\d+\.\d+` finds them.
fn adjacent_decimals(line: &str) -> bool {
    let decimal = |word: &str| word.split_once('.').is_some_and(|(a, b)| [a, b].iter().all(|part| part.parse::<u64>().is_ok()));
    let words = line.split_whitespace().map(decimal).collect::<Vec<_>>();
    words.windows(2).any(|pair| pair == [true, true])
}

#[test]
fn the_banner_matches_the_pattern_that_is_searched_for() {
    // Intel\(R\) Memory Latency Checker.*(v\d.\d.*)
    let text = whole();
    let behind = text.lines().next().unwrap().split_once("Intel(R) Memory Latency Checker").unwrap().1;
    let version = &behind[behind.find('v').unwrap()..];
    assert_eq!(version, "v3.11b");
}

#[test]
fn loaded_rows_alone_have_two_decimals_side_by_side_and_follow_the_line_of_equals_signs() {
    let text = whole();
    let (before, behind) = text.split_once(&format!("\n{}\n", "=".repeat(26))).unwrap();
    let rows = behind.lines().take_while(|line| adjacent_decimals(line)).collect::<Vec<_>>();
    assert_eq!(rows.len(), 19);
    for (row, delay) in rows.iter().zip(MLC_DELAYS) {
        assert!(row.starts_with(&format!(" {delay:05}\t")), "{row}");
        assert_eq!(row.split('\t').count(), 3, "{row}");
    }
    // But for matrices, whose rows are found by their headings.
    let elsewhere = before.lines().chain(behind.lines().skip(19)).filter(|line| adjacent_decimals(line));
    let matrices = elsewhere.map(|line| line.trim_start().split('\t').next().unwrap()).collect::<Vec<_>>();
    assert_eq!(matrices, ["0", "1", "0", "1"]);
}

#[test]
fn no_line_starts_with_a_digit_but_rows_of_ratios() {
    let text = whole();
    let digits = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    assert_eq!(digits.map(|line| &line[..3]).collect::<Vec<_>>(), ["3:1", "2:1", "1:1"]);
}

#[test]
fn in_the_peak_section_what_has_a_colon_ends_in_a_number() {
    for section in [mlc::peak, mlc::max] {
        let text = section(&report(), &Style::default());
        let behind = |line: &str| line.char_indices().skip(4).find(|(_, c)| *c == ':').map(|(at, _)| line[at + 1..].to_owned());
        let values = text.lines().filter_map(behind).map(|value| value.trim().parse::<f64>()).collect::<Vec<_>>();
        assert_eq!(values.len(), 5);
        assert!(values.iter().all(Result::is_ok), "{text}");
    }
}

#[test]
fn the_five_rows_stand_in_order_and_end_the_maximum_with_one_empty_line() {
    let text = mlc::max(&report(), &Style::default());
    let lines = text.split('\n').collect::<Vec<_>>();
    let [rows @ .., "", ""] = &lines[lines.len() - 7..] else { panic!("{text}") };
    let names = rows.iter().map(|row| row[..17].trim_end()).collect::<Vec<_>>();
    assert_eq!(names, ["ALL Reads", "3:1 Reads-Writes", "2:1 Reads-Writes", "1:1 Reads-Writes", "Stream-triad like"]);
}

#[test]
fn matrix_rows_split_at_tabs_into_as_many_values_as_the_line_behind_the_heading_has() {
    let text = whole();
    let lines = text.lines().collect::<Vec<_>>();
    let headings = (0..lines.len()).filter(|at| lines[*at].trim() == "Numa node").collect::<Vec<_>>();
    assert_eq!(headings.len(), 2);
    for at in headings {
        let cells = |line: &str| line.trim_end_matches('\t').split('\t').count();
        assert!(lines[at + 1].starts_with("Numa node\t"));
        for row in &lines[at + 2..at + 4] {
            assert_eq!(cells(row), cells(lines[at + 1]), "{row}");
        }
        assert_eq!(lines[at + 4], "", "one empty line, and nothing else, behind a table");
    }
}

#[test]
fn hits_have_two_blanks_and_a_node_to_itself_a_dash() {
    let text = whole();
    assert!(text.contains("L2->L2 HIT  latency\t60.1\n") && text.contains("L2->L2 HITM latency\t64.3\n"));
    let writer = text.lines().find(|line| line.starts_with("            0\t")).unwrap();
    let values = writer.split('\t').skip(1).map(str::trim).filter(|cell| !cell.is_empty() && *cell != "-").collect::<Vec<_>>();
    assert_eq!(values, ["127.2"]);
}

#[test]
fn the_idle_line_has_ns_in_parentheses_and_clocks_as_its_fourth_word() {
    let text = mlc::idle(&report(), &Style { args: vec!["--idle_latency".into()], ..Style::default() });
    let line = text.lines().last().unwrap();
    let within = line.split_once('(').unwrap().1.split_once(')').unwrap().0;
    assert_eq!(within.split_whitespace().collect::<Vec<_>>(), ["98.7", "ns"]);
    assert_eq!(line.split_whitespace().nth(3), Some("197.4"));
}
