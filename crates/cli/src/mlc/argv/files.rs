//! Files that options name: delays (`-g`), per-thread loads (`-o`), patterns that buffers are filled with (`-M`).

use super::values::{cpus, size, small};
use memgauge_model::{CpuList, Mix, NodeId, fill_patterns};

/// More lines than any such file has.
const MOST_LINES: usize = 65_536;

/// Traffic over two address streams.
const TWO_STREAMS: [(&str, Mix); 3] = [("W21", Mix::Read), ("W23", Mix::R3W1), ("W27", Mix::R2W1Nt)];

/// What is wrong, and in which line of the file, from 1 on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// From 1 on.
    pub line: usize,
    /// With what was expected.
    pub problem: String,
}

/// Loads as one line gives them to CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    /// Who.
    pub cpus: CpuList,
    /// Traffic, of each address stream.
    pub mix: Mix,
    /// In random order?
    pub random: bool,
    /// Bytes of each thread's buffer.
    pub bytes: u64,
    /// Where the memory is; none is local.
    pub place: Place,
    /// The second stream, and the percentage of accesses that go to it.
    pub second: Option<(Place, u32)>,
    /// Delay of these threads alone.
    pub delay: Option<u32>,
}

/// Where memory comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The CPU's own node.
    Local,
    /// This node.
    Node(NodeId),
    /// A file in this folder.
    Folder(String),
}

/// Delays, one decimal a line, in the order of the file.
pub fn delays(text: &str) -> Result<Vec<u32>, BadLine> {
    let mut delays = Vec::new();
    for (line, content) in lines(text)? {
        delays.push(small(content).map_err(|problem| bad(line, &format!("{problem}: a delay in core cycles is expected")))?);
    }
    if delays.is_empty() { Err(bad(1, "no delay: one decimal number a line is expected")) } else { Ok(delays) }
}

/// Patterns of 64 bytes, one a line.
pub fn patterns(text: &str) -> Result<Vec<String>, BadLine> {
    fill_patterns(text).map_err(|(line, problem)| bad(line, &problem))
}

/// Loads, one line for each group of CPUs.
pub fn loads(text: &str) -> Result<Vec<Load>, BadLine> {
    let mut loads: Vec<Load> = Vec::new();
    for (line, content) in lines(text)? {
        let fields: Vec<&str> = content.split_whitespace().collect();
        let load = load(&fields).map_err(|problem| bad(line, &problem))?;
        if let Some(twice) = load.cpus.iter().find(|cpu| loads.iter().any(|other| other.cpus.contains(*cpu))) {
            return Err(bad(line, &format!("CPU {twice} stands in a line before; each CPU is expected once")));
        }
        loads.push(load);
    }
    if loads.is_empty() {
        Err(bad(1, "no load: <cpus> <R|Wn> <seq|rand> <buffer> dram [<node> [<delay>]] is expected"))
    } else {
        Ok(loads)
    }
}

fn load(fields: &[&str]) -> Result<Load, String> {
    let [who, what, order, buffer, rest @ ..] = fields else {
        return Err("<cpus> <R|Wn> <seq|rand> <buffer> <dram|pmem> is expected".to_owned());
    };
    let cpus = cpus(who).map_err(|problem| format!("{}: {problem}; CPUs such as 0-3,8 are expected", word(who)))?;
    let random = match *order {
        "seq" => false,
        "rand" => true,
        other => return Err(format!("{}: seq or rand is expected", word(other))),
    };
    let bytes = size(buffer).map_err(|problem| format!("{}: {problem}", word(buffer)))?;
    let both = TWO_STREAMS.iter().find(|(code, _)| code == what).map(|(_, mix)| *mix);
    let (two, mix) = (both.is_some(), both.map_or_else(|| one_stream(what), Ok)?);
    let (place, second, delay) = match (two, rest) {
        (false, [kind]) => (place(kind, None)?, None, None),
        (false, [kind, at]) => (place(kind, Some(at))?, None, None),
        (false, [kind, at, delay]) => {
            let delay = small(delay).map_err(|problem| format!("{}: {problem}; a delay is expected", word(delay)))?;
            (place(kind, Some(at))?, None, Some(delay))
        }
        (false, _) => return Err("<dram|pmem> [<node|dir> [<delay>]] is expected behind the buffer".to_owned()),
        (true, [kind, at, kind2, at2, share]) => {
            (place(kind, Some(at))?, Some((place(kind2, Some(at2))?, percent(what, share)?)), None)
        }
        (true, _) => {
            return Err(format!(
                "{what}: <dram|pmem> <node|dir> <dram|pmem> <node|dir> <10|25|50> is expected behind the buffer"
            ));
        }
    };
    Ok(Load { cpus, mix, random, bytes, place, second, delay })
}

fn one_stream(code: &str) -> Result<Mix, String> {
    let coded = code == "R" || code.strip_prefix('W').is_some_and(|number| small(number).is_ok());
    Mix::by_name(code).filter(|_| coded).ok_or_else(|| format!("{}: R or W2, 3, 5 to 12, 19, 21, 23, 27 is expected", word(code)))
}

fn percent(code: &str, text: &str) -> Result<u32, String> {
    match small(text) {
        Ok(share @ (10 | 25)) => Ok(share),
        Ok(50) if code == "W21" => Ok(50),
        _ => Err(format!("{}: 10 or 25 percent is expected, or 50 with W21", word(text))),
    }
}

fn place(kind: &str, at: Option<&&str>) -> Result<Place, String> {
    match (kind, at) {
        ("dram", None) => Ok(Place::Local),
        ("dram", Some(node)) => small(node).map(Place::Node).map_err(|_| format!("{}: a node's number is expected", word(node))),
        ("pmem", Some(folder)) => Ok(Place::Folder((*folder).to_owned())),
        ("pmem", None) => Err("pmem: a folder is expected behind it".to_owned()),
        (other, _) => Err(format!("{}: dram or pmem is expected", word(other))),
    }
}

/// Lines that hold something, by number.
fn lines(text: &str) -> Result<impl Iterator<Item = (usize, &str)>, BadLine> {
    if text.lines().nth(MOST_LINES).is_some() {
        return Err(bad(MOST_LINES + 1, "too many lines"));
    }
    let numbered = text.lines().enumerate().map(|(at, content)| (at + 1, content.trim()));
    Ok(numbered.filter(|(_, content)| !content.is_empty() && !content.starts_with('#')))
}

fn bad(line: usize, problem: &str) -> BadLine {
    BadLine { line, problem: problem.to_owned() }
}

/// A field as one short word of a line.
fn word(text: &str) -> String {
    text.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_read_and_a_bad_line_is_named() {
        assert_eq!(delays("# some\n0\n\n 200 \r\n20000"), Ok(vec![0, 200, 20000]));
        assert_eq!(delays("0\n-3\n").unwrap_err().line, 2);
        assert!(delays("").is_err() && delays("#\n").is_err());
    }

    #[test]
    fn loads_are_read_in_both_forms() {
        let all =
            loads("# comment\n1-3 W5 rand 100m dram\n4 R seq 100000 dram 1 300\n0,5 W21 seq 400000 dram 0 dram 2 50\n").unwrap();
        assert_eq!((all[0].mix, all[0].random, all[0].bytes), (Mix::R1W1, true, 100 << 20));
        assert_eq!((&all[1].place, all[1].delay), (&Place::Node(1), Some(300)));
        assert_eq!((all[2].mix, all[2].second.clone()), (Mix::Read, Some((Place::Node(2), 50))));
        let pmem = loads("1 R seq 1g pmem /mnt/pmem0").unwrap();
        assert_eq!(pmem[0].place, Place::Folder("/mnt/pmem0".to_owned()));
    }

    #[test]
    fn each_slip_in_a_load_names_what_was_expected() {
        for (text, expected) in [
            ("1 R", "<cpus>"),
            ("x R seq 1m dram", "CPUs such as"),
            ("1 W4 seq 1m dram", "R or W2"),
            ("1 copy seq 1m dram", "R or W2"),
            ("1 R sequential 1m dram", "seq or rand"),
            ("1 R seq 1x dram", "not a size"),
            ("1 R seq 1m sram", "dram or pmem"),
            ("1 R seq 1m dram x", "a node's number"),
            ("1 R seq 1m pmem", "a folder"),
            ("1 R seq 1m dram 0 x", "a delay"),
            ("1 R seq 1m dram 0 1 2", "[<delay>]"),
            ("1 W21 seq 1m dram 0", "<10|25|50>"),
            ("1 W23 seq 1m dram 0 dram 1 50", "50 with W21"),
            ("1 R seq 1m dram\n1 R seq 1m dram", "once"),
            ("", "<cpus>"),
        ] {
            let slip = loads(text).unwrap_err();
            assert!(slip.problem.contains(expected), "{text}: {slip:?}");
            assert_eq!(slip.line, text.lines().count().max(1), "{text}");
        }
    }
}
