//! Traffic mixes: what one thread's loop loads and stores.

use serde::{Deserialize, Serialize};

/// A mix by its name. `R…` names are ratios of reads to writes as the memory controller sees them
/// (a plain store reads its line first), which is how MLC counts; the others are application patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Mix {
    /// Loads only.
    #[serde(rename = "read")]
    Read,
    /// Plain stores only.
    #[serde(rename = "write")]
    Write,
    /// Non-temporal stores only.
    #[serde(rename = "write-nt")]
    WriteNt,
    /// a = b
    #[serde(rename = "copy")]
    Copy,
    /// a = b, non-temporal store.
    #[serde(rename = "copy-nt")]
    CopyNt,
    /// a = q·b
    #[serde(rename = "scale")]
    Scale,
    /// a = q·b, non-temporal store.
    #[serde(rename = "scale-nt")]
    ScaleNt,
    /// a = b + c
    #[serde(rename = "add")]
    Add,
    /// a = b + c, non-temporal store.
    #[serde(rename = "add-nt")]
    AddNt,
    /// a = b + q·c
    #[serde(rename = "triad")]
    Triad,
    /// a = b + q·c, non-temporal store.
    #[serde(rename = "triad-nt")]
    TriadNt,
    /// MLC W2: 1 load, 1 plain store.
    #[serde(rename = "2:1")]
    R2W1,
    /// MLC W3: 2 loads, 1 plain store.
    #[serde(rename = "3:1")]
    R3W1,
    /// MLC W5: plain stores only.
    #[serde(rename = "1:1")]
    R1W1,
    /// MLC W6: non-temporal stores only.
    #[serde(rename = "0:1-nt")]
    W1Nt,
    /// MLC W7: 2 loads, 1 non-temporal store.
    #[serde(rename = "2:1-nt")]
    R2W1Nt,
    /// MLC W8: 1 load, 1 non-temporal store.
    #[serde(rename = "1:1-nt")]
    R1W1Nt,
    /// MLC W9: 3 loads, 1 non-temporal store.
    #[serde(rename = "3:1-nt")]
    R3W1Nt,
    /// MLC W10: 2 loads from two buffers, 1 non-temporal store.
    #[serde(rename = "2:1-nt-two")]
    R2W1NtTwo,
    /// MLC W11: 2 loads from two buffers, 1 plain store.
    #[serde(rename = "3:1-two")]
    R3W1Two,
    /// MLC W12: 3 loads, 1 plain store.
    #[serde(rename = "4:1")]
    R4W1,
    /// MLC W19: nine reads to one write; taken as 8 loads, 1 plain store.
    #[serde(rename = "9:1")]
    R9W1,
    /// The RFO probe: 8 bytes stored in each line, so that the line must be read first.
    #[serde(rename = "write-partial")]
    WritePartial,
}

/// What a mix does to each line that it stores (or loads, where it stores none).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MixShape {
    /// Lines loaded for each step.
    pub loads: u32,
    /// Lines stored for each step: 0 or 1.
    pub stores: u32,
    /// Buffers that are read: 0, 1 or 2.
    pub read_streams: u32,
    /// Are the stores non-temporal?
    pub nt: bool,
    /// Bytes used of each line: 64, or 8 where only one word is touched.
    pub bytes_per_line: u32,
}

/// One row a mix: name, MLC's code, loads, stores, read streams, non-temporal.
const ROWS: [(Mix, &str, &str, u32, u32, u32, bool); 23] = [
    (Mix::Read, "read", "R", 1, 0, 1, false),
    (Mix::Write, "write", "", 0, 1, 0, false),
    (Mix::WriteNt, "write-nt", "", 0, 1, 0, true),
    (Mix::Copy, "copy", "", 1, 1, 1, false),
    (Mix::CopyNt, "copy-nt", "", 1, 1, 1, true),
    (Mix::Scale, "scale", "", 1, 1, 1, false),
    (Mix::ScaleNt, "scale-nt", "", 1, 1, 1, true),
    (Mix::Add, "add", "", 2, 1, 2, false),
    (Mix::AddNt, "add-nt", "", 2, 1, 2, true),
    (Mix::Triad, "triad", "", 2, 1, 2, false),
    (Mix::TriadNt, "triad-nt", "", 2, 1, 2, true),
    (Mix::R2W1, "2:1", "W2", 1, 1, 1, false),
    (Mix::R3W1, "3:1", "W3", 2, 1, 1, false),
    (Mix::R1W1, "1:1", "W5", 0, 1, 0, false),
    (Mix::W1Nt, "0:1-nt", "W6", 0, 1, 0, true),
    (Mix::R2W1Nt, "2:1-nt", "W7", 2, 1, 1, true),
    (Mix::R1W1Nt, "1:1-nt", "W8", 1, 1, 1, true),
    (Mix::R3W1Nt, "3:1-nt", "W9", 3, 1, 1, true),
    (Mix::R2W1NtTwo, "2:1-nt-two", "W10", 2, 1, 2, true),
    (Mix::R3W1Two, "3:1-two", "W11", 2, 1, 2, false),
    (Mix::R4W1, "4:1", "W12", 3, 1, 1, false),
    (Mix::R9W1, "9:1", "W19", 8, 1, 1, false),
    (Mix::WritePartial, "write-partial", "", 0, 1, 0, false),
];

impl Mix {
    /// Every mix, in the order of the table above.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.0)
    }

    /// The mix with this name, or with this MLC code (`R`, `W2` … `W19`; letters in either case).
    #[must_use]
    pub fn by_name(text: &str) -> Option<Self> {
        let code = |row: &&(Self, &str, &str, u32, u32, u32, bool)| !row.2.is_empty() && row.2.eq_ignore_ascii_case(text);
        ROWS.iter().find(|row| row.1 == text).or_else(|| ROWS.iter().find(code)).map(|row| row.0)
    }

    /// The name that labels carry.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// What the loop does.
    #[must_use]
    pub fn shape(self) -> MixShape {
        let (_, _, _, loads, stores, read_streams, nt) = *self.row();
        MixShape { loads, stores, read_streams, nt, bytes_per_line: if self == Self::WritePartial { 8 } else { 64 } }
    }

    fn row(self) -> &'static (Self, &'static str, &'static str, u32, u32, u32, bool) {
        // The table stands in the enum's order, which the test below proves.
        &ROWS[self as usize]
    }
}

impl MixShape {
    /// Buffers that a thread needs.
    #[must_use]
    pub fn streams(&self) -> u32 {
        self.read_streams + self.stores
    }

    /// Application bytes of each step: what the loop loads and stores.
    #[must_use]
    pub fn app_bytes(&self) -> u32 {
        (self.loads + self.stores) * self.bytes_per_line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_order_and_names_are_found() {
        for (at, mix) in Mix::all().enumerate() {
            assert_eq!(mix as usize, at);
            assert_eq!(Mix::by_name(mix.name()), Some(mix));
            assert_eq!(serde_json::to_string(&mix).unwrap(), format!("\"{}\"", mix.name()));
        }
        assert_eq!(Mix::by_name("w7"), Some(Mix::R2W1Nt));
        assert_eq!(Mix::by_name("W4"), None);
        assert_eq!(Mix::by_name(""), None);
    }

    /// A ratio's name says reads:writes at the memory controller; a plain store counts one of each.
    #[test]
    fn ratios_are_what_the_controller_sees() {
        for mix in Mix::all() {
            let name = mix.name();
            let Some((reads, rest)) = name.split_once(':') else { continue };
            let writes: u32 = rest.split('-').next().unwrap().parse().unwrap();
            let shape = mix.shape();
            let rfo = if shape.nt { 0 } else { shape.stores };
            assert_eq!(reads.parse::<u32>().unwrap() * shape.stores, (shape.loads + rfo) * writes, "{name}");
        }
    }
}
