//! All bandwidths together, from the tables of the parts, so that parts measured on several days add up.

use crate::peers::part::Part;
use crate::peers::ratios::{ENOUGH, geometric_mean};
use crate::peers::table;

/// Of the peer's ratio to itself, over all cells.
const TOGETHER: f64 = 0.99;
/// Below min(1, the peer's ratio to itself), in each cell.
const EACH: f64 = 0.03;
/// Of likwid-bench, in each cell whose buffers fit in a cache.
const CACHED: f64 = 0.97;

/// One cell, against the best peer in it.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    part: Part,
    /// `copy, 2 threads`
    what: String,
    name: String,
    peer: f64,
    ratio: f64,
    itself: f64,
}

/// In words and sentences; None where no bandwidth was compared. `texts`: the tables of parts.
pub fn of<'a>(texts: impl Iterator<Item = (Part, &'a str)>) -> Option<String> {
    let mut best: Vec<Line> = Vec::new();
    for line in texts.flat_map(|(part, text)| lines(part, text)) {
        match best.iter_mut().find(|known| known.part == line.part && known.what == line.what) {
            Some(known) if known.peer < line.peer => *known = line,
            Some(_) => {}
            None => best.push(line),
        }
    }
    (!best.is_empty()).then(|| said(&best))
}

fn said(best: &[Line]) -> String {
    let ours = geometric_mean(best.iter().map(|line| line.ratio));
    let itself = geometric_mean(best.iter().map(|line| line.itself));
    let holds = |held: bool| if held { "holds" } else { "DOES NOT HOLD" };
    let cached = |line: &&Line| matches!(line.part, Part::L1 | Part::L2);
    let below = |line: &&Line| line.ratio < line.itself.min(1.0) - EACH;
    let mut text = format!(
        "{} cells, each against the fastest peer in it. Geometric mean of ours / peer: {ours:.3}, of peer / itself: {itself:.3}; at least {TOGETHER} \
         of the latter is asked for: {}.\n",
        best.len(),
        holds(ours >= TOGETHER * itself)
    );
    let names = |lines: Vec<&Line>| -> String {
        let all: Vec<String> =
            lines.iter().map(|line| format!("{} {} ({:.3})", line.part.name(), line.name, line.ratio)).collect();
        if all.is_empty() { "none".to_owned() } else { all.join("; ") }
    };
    text += &format!(
        "Cells more than {:.0} % below min(1, peer / itself), none being asked for: {}.\n",
        EACH * 100.0,
        names(best.iter().filter(|line| !cached(line)).filter(below).collect())
    );
    text += &format!(
        "Cells in a cache below {CACHED} of the peer, none being asked for: {}.\n",
        names(best.iter().filter(cached).filter(|line| line.ratio < CACHED).collect())
    );
    text
}

/// The rows of a table of bandwidths: name, peer, ours / peer, peer / itself.
fn lines(part: Part, text: &str) -> Vec<Line> {
    text.lines().filter_map(|row| line(part, row)).collect()
}

fn line(part: Part, row: &str) -> Option<Line> {
    let cells: Vec<&str> = row.strip_prefix('|')?.split('|').map(str::trim).collect();
    let cell = |column: usize| cells.get(column).copied();
    let name = cell(0)?;
    let number = |text: &str| text.split_whitespace().next()?.parse::<f64>().ok();
    cell(table::PAIRS).and_then(|pairs| pairs.parse().ok()).filter(|pairs: &usize| *pairs >= ENOUGH)?;
    let peer = cell(table::PEER).filter(|text| text.ends_with("GB/s")).and_then(number)?;
    let itself = cell(table::ITSELF).and_then(number).unwrap_or(1.0);
    Some(Line {
        part,
        what: name.splitn(3, ", ").take(2).collect::<Vec<_>>().join(", "),
        name: name.to_owned(),
        peer,
        ratio: cell(table::RATIO).and_then(number)?,
        itself,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: &str = "\
about: x\n
|                       | pairs | ours      | peer       | ours / peer | middle half | bests | peer / itself (middle half) | verdict |
|-----------------------|-------|-----------|------------|-------------|---|---|---|---|
| copy, 1 thread, slow  | 9     | 9.0 GB/s  | 4.00 GB/s  | 2.250       | a | 1 | 1.000 (1–1) | not below |
| copy, 1 thread, fast  | 9     | 9.0 GB/s  | 10.00 GB/s | 0.900       | a | 1 | 1.000 (1–1) | BELOW |
| copy, 2 threads, slow | 9     | 9.0 GB/s  | 4.00 GB/s  | 1.000       | a | 1 | 0.900 (1–1) | not below |
| y, 2 threads, slow    | 8     | 9.0 GB/s  | 4.00 GB/s  | 0.100       | a | 1 | 0.900 (1–1) | too few pairs |
| x, 2 threads, slow    | 0     | –         | –          | –           | – | – | – | not measured |
";

    #[test]
    fn the_fastest_peer_counts_and_what_falls_short_is_named() {
        let text = of([(Part::Copy, COPY), (Part::L1, COPY)].into_iter()).expect("two parts");
        for part in [
            "4 cells, ",
            "ours / peer: 0.949, of peer / itself: 0.949",
            "asked for: holds",
            "none being asked for: copy copy, 1 thread, fast (0.900).\n",
            "none being asked for: l1 copy, 1 thread, fast (0.900).\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        let worse = COPY.replace("1.000       |", "0.950       |");
        assert!(of([(Part::Copy, worse.as_str())].into_iter()).is_some_and(|text| text.contains("DOES NOT HOLD")));
        assert_eq!(of([(Part::Idle, "| a | 9 | 100.0 ns | 100.0 ns | 1.000 |")].into_iter()), None);
    }
}
