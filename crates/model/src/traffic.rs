//! How streams go where it is not the usual way: what a thread is told by itself, a second place, lines used in part.

use crate::{CpuList, Mix, MixShape, NodeId};
use serde::{Deserialize, Serialize};

/// Lines of a block that streams visit in random order, where nobody says how many: 512 KiB, as a chase's window.
pub const LOAD_BLOCK_LINES: u32 = 8192;

/// What some load threads do, told by itself, `--assign`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assignment {
    /// The threads' CPUs; where the observer's is among them, its buffer and place are meant.
    pub cpus: CpuList,
    /// The mix.
    pub mix: Mix,
    /// Lines in random order inside blocks, not in sequence?
    pub random: bool,
    /// Bytes of each stream of each thread.
    pub bytes: u64,
    /// Whose memory; none: the nearest of each CPU.
    pub node: Option<NodeId>,
    /// Core cycles between bursts, whatever the curve's delay is.
    #[serde(default)]
    pub delay: Option<u32>,
    /// A second set of streams, in other memory.
    #[serde(default)]
    pub second: Option<Elsewhere>,
}

/// Where a part of a thread's bursts goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Elsewhere {
    /// Whose memory.
    pub node: NodeId,
    /// Of all bursts, in percent.
    pub percent: u32,
}

/// Lines of a file of patterns, at most.
const PATTERNS: usize = 256;
/// Hexadecimal digits of a pattern: 64 bytes.
const DIGITS: usize = 128;

/// Patterns that fill buffers, from a text: 128 hexadecimal digits a line, in the order in which they lie in memory. Empty lines and those that
/// begin with `#` are skipped.
///
/// # Errors
///
/// The number of the bad line, from 1 on, and what was expected there.
pub fn fill_patterns(text: &str) -> Result<Vec<String>, (usize, String)> {
    let mut patterns = Vec::new();
    let lines = text.lines().zip(1..).map(|(line, number)| (line.trim(), number));
    for (line, number) in lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
        if line.len() != DIGITS || !line.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err((number, "exactly 128 hexadecimal digits are expected".to_owned()));
        }
        if patterns.len() == PATTERNS {
            return Err((number, "too many: up to 256 patterns are expected".to_owned()));
        }
        patterns.push(line.to_ascii_lowercase());
    }
    if patterns.is_empty() {
        return Err((1, "no pattern: 128 hexadecimal digits a line are expected".to_owned()));
    }
    Ok(patterns)
}

/// The bytes of such patterns, one behind the other; what is no digit counts 0.
#[must_use]
pub fn fill_bytes(patterns: &[String]) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()).unwrap_or(0);
    let bytes =
        |pattern: &String| pattern.as_bytes().chunks(2).map(|pair| pair.iter().fold(0, |sum, d| sum << 4 | digit(d))).collect();
    patterns.iter().flat_map(|pattern| -> Vec<u8> { bytes(pattern) }).collect()
}

/// What is used of each line, `--partial`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Partial {
    /// All of it.
    #[default]
    None,
    /// 8 bytes of each line that mixes without loads store.
    Stores,
    /// 8 bytes of each line.
    Both,
}

/// The ways in which a thread's streams are not the usual ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Manner {
    /// A second set of streams in an arena of its own, and of all bursts the percent that goes there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<(usize, u32)>,
    /// Only 8 bytes of each line?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Is each stored line flushed from the caches?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flush: bool,
    /// Is what is read summed up, and held against what was written there?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checked: bool,
}

impl Manner {
    /// Is it the usual one?
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// What a mix does to each line when it goes this way.
    #[must_use]
    pub fn shape(&self, mix: Mix) -> MixShape {
        let shape = mix.shape();
        if self.partial { MixShape { bytes_per_line: 8, ..shape } } else { shape }
    }
}

#[cfg(test)]
mod tests {
    use super::{fill_bytes, fill_patterns};

    #[test]
    fn patterns_are_lines_of_128_digits() {
        let line = "0F".repeat(64);
        let patterns = fill_patterns(&format!("# dark\n{line}\n\n{}\n", "a5".repeat(64))).unwrap();
        assert_eq!(fill_bytes(&patterns), [[0x0f; 64], [0xa5; 64]].concat());
        assert_eq!(fill_patterns(&format!("{line}\n{}", &line[1..])).unwrap_err().0, 2);
        assert_eq!(fill_patterns(&"é".repeat(64)).unwrap_err().0, 1);
        assert_eq!(fill_patterns(&format!("{line}\n").repeat(257)).unwrap_err().0, 257);
        assert_eq!(fill_patterns("# nothing\n").unwrap_err().0, 1);
    }
}
