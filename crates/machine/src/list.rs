//! Lists and masks as the kernel writes them, read without trusting them.
//!
//! Unlike [`memgauge_model::CpuList`]'s own parser, which reads what a person typed and names the fault, this one reads files:
//! it never expands a range beyond what the machine can have.

use memgauge_model::CpuList;

/// Above any kernel's number of CPUs or nodes.
pub(crate) const LARGEST: u32 = 1 << 20;

/// Disjoint ranges, rising, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    /// The members that `all` has too. Costs what the smaller of the two costs.
    pub(crate) fn within(&self, all: &CpuList) -> CpuList {
        if self.count() < all.len() as u64 {
            self.members().filter(|id| all.contains(*id)).collect()
        } else {
            all.iter().filter(|id| self.contains(*id)).collect()
        }
    }

    /// How many members.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|(from, to)| u64::from(to - from) + 1).sum()
    }

    /// The members, rising.
    pub(crate) fn members(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|(from, to)| *from..=*to)
    }

    fn contains(&self, id: u32) -> bool {
        let after = self.0.partition_point(|(from, _)| *from <= id);
        after > 0 && id <= self.0[after - 1].1
    }

    fn from_pairs(mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(pairs.len());
        for (from, to) in pairs {
            match merged.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        Self(merged)
    }
}

/// A list such as `0-3,8`. Empty text is the empty list; `None` where a part is no number or range, or out of bounds.
pub(crate) fn ranges(text: &str) -> Option<Ranges> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Ranges(Vec::new()));
    }
    let pair = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (id(from)?, id(to)?);
        (from <= to).then_some((from, to))
    };
    text.split(',').map(|part| pair(part.trim())).collect::<Option<Vec<_>>>().map(Ranges::from_pairs)
}

fn id(text: &str) -> Option<u32> {
    text.parse().ok().filter(|id| *id < LARGEST)
}

/// A mask of 32-bit words in hex, the highest first, such as `00000000,0000ffff`; a lone word may be longer or begin with `0x`.
pub(crate) fn mask(text: &str) -> Option<Ranges> {
    let digits = text.trim().trim_start_matches("0x").as_bytes();
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    // The first bit of the word, and of the digit. Masks of large machines are kilobytes of `0`, and one is read for each CPU.
    let (mut word, mut bit) = (0_u32, 0_u32);
    for byte in digits.iter().rev() {
        match byte {
            b'0' => bit += 4,
            b',' if bit == word => return None,
            b',' => {
                word = bit.max(word + 32);
                bit = word;
            }
            _ => {
                let nibble = char::from(*byte).to_digit(16)?;
                pairs.extend((0..4).filter(|i| nibble >> i & 1 == 1).map(|i| (bit + i, bit + i)));
                bit += 4;
            }
        }
        if bit > LARGEST {
            return None;
        }
    }
    (bit > word).then(|| Ranges::from_pairs(pairs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(text: &str) -> Option<String> {
        ranges(text).map(|r| r.members().collect::<CpuList>().to_string())
    }

    #[test]
    fn lists_as_kernels_write_them() {
        for (text, want) in [("0-3,8\n", Some("0-3,8")), ("", Some("")), ("5", Some("5")), ("3,1,2", Some("1-3"))] {
            assert_eq!(list(text), want.map(str::to_owned), "{text:?}");
        }
        for text in ["a", "3-1", "-1", "0-", ",", "1,,2", "99999999999", "0-4294967295", "0x3"] {
            assert_eq!(list(text), None, "{text:?}");
        }
    }

    #[test]
    fn masks_as_kernels_write_them() {
        let bits = |text| mask(text).map(|r| r.members().collect::<Vec<_>>());
        assert_eq!(bits("ff"), Some((0..8).collect()));
        assert_eq!(bits("00000001,00000000,80000000\n"), Some(vec![31, 64]));
        assert_eq!(bits("0x00fff000"), Some((12..24).collect()));
        assert_eq!(bits("8000000000000001"), Some(vec![0, 63]));
        assert_eq!(bits("1,0"), Some(vec![32]));
        assert_eq!(bits("00"), Some(vec![]));
        for text in ["", "xyz", "1,,1", "-1", ",1", "1,", "0x"] {
            assert_eq!(bits(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_hostile_list_costs_little() {
        let text = "0-1048575,".repeat(50_000) + "7";
        let all: CpuList = (0..4).collect();
        assert_eq!(ranges(&text).map(|r| r.within(&all)), Some(all));
    }

    proptest! {
        #[test]
        fn a_list_gives_its_members(ids in proptest::collection::btree_set(0_u32..300, 0..60), all in 1_u32..300) {
            let members: CpuList = ids.iter().copied().collect();
            let all: CpuList = (0..all).collect();
            let read = ranges(&members.to_string());
            prop_assert_eq!(read.map(|r| r.within(&all)), Some(members.intersection(&all)));
        }
    }
}
