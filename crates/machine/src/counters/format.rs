//! How a PMU's events are encoded: `format/umask` says where a term goes (`config:8-15,32-55`), `events/NAME` which terms an
//! event has (`event=0x04,umask=0x03`). Pure; what is no such text is `None`.

/// `config`, `config1`, `config2`.
pub(crate) type Config = [u64; 3];

/// More terms or ranges than any event has.
const MOST: usize = 64;

/// Where a term's bits go, lowest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    word: usize,
    /// First and last bit of each range.
    ranges: Vec<(u32, u32)>,
}

impl Field {
    /// A file of `format/`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (word, ranges) = text.trim().split_once(':')?;
        let word = word_of(word)?;
        let ranges = ranges.split(',').take(MOST).map(range).collect::<Option<Vec<_>>>()?;
        let mut seen = 0_u64;
        for &(first, last) in &ranges {
            let bits = mask(last - first + 1) << first;
            if seen & bits != 0 {
                return None;
            }
            seen |= bits;
        }
        Some(Self { word, ranges })
    }

    /// Puts a value there; `None` if it has more bits than there is room.
    pub(crate) fn put(&self, value: u64, config: &mut Config) -> Option<()> {
        let mut left = value;
        for &(first, last) in &self.ranges {
            let width = last - first + 1;
            config[self.word] |= (left & mask(width)) << first;
            left = left.checked_shr(width).unwrap_or(0);
        }
        (left == 0).then_some(())
    }
}

/// An event's terms: `event=0x04,umask=0x03,edge`. A term without a value is 1; one whose value the user must give (`?`) is
/// none that can be counted as it is.
pub(crate) fn terms(text: &str) -> Option<Vec<(&str, u64)>> {
    text.trim()
        .split(',')
        .take(MOST)
        .map(|term| match term.trim().split_once('=') {
            Some((name, value)) => Some((named(name)?, number(value.trim())?)),
            None => Some((named(term)?, 1)),
        })
        .collect()
}

/// The terms as words; `field` knows the PMU's formats. A whole word may be named, too.
pub(crate) fn encode(terms: &[(&str, u64)], field: impl Fn(&str) -> Option<Field>) -> Option<Config> {
    let mut config = [0; 3];
    for (name, value) in terms {
        match word_of(name) {
            Some(word) => config[word] |= value,
            None => field(name)?.put(*value, &mut config)?,
        }
    }
    Some(config)
}

fn word_of(name: &str) -> Option<usize> {
    ["config", "config1", "config2"].iter().position(|word| *word == name)
}

/// A term's name is a file's name too: it must not lead anywhere else.
fn named(name: &str) -> Option<&str> {
    let name = name.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

fn range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last && last < u64::BITS).then_some((first, last))
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        // `from_str_radix` would take a sign.
        Some(hex) if hex.bytes().all(|b| b.is_ascii_hexdigit()) => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None => text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?,
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - width.min(u64::BITS)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn config(event: &str, formats: &[(&str, &str)]) -> Option<Config> {
        let field = |name: &str| Field::parse(formats.iter().find(|(known, _)| *known == name)?.1);
        encode(&terms(event)?, field)
    }

    #[test]
    fn events_are_encoded_as_their_pmu_says() {
        let imc = [("event", "config:0-7"), ("umask", "config:8-15"), ("edge", "config:18")];
        assert_eq!(config("event=0x04,umask=0x0c\n", &imc), Some([0x0c04, 0, 0]));
        assert_eq!(config("event=4,edge", &imc), Some([0x4_0004, 0, 0]));
        // AMD's data fabric: an event's number has two places.
        let df = [("event", "config:0-7,32-35,59-60"), ("umask", "config:8-15")];
        assert_eq!(config("event=0x1c7,umask=0x38", &df), Some([0x1_0000_38c7, 0, 0]));
        assert_eq!(config("event=0x1000,umask=0", &df), Some([1 << 59, 0, 0]));
        let cmn = [("type", "config:0-15"), ("eventid", "config:16-26"), ("nodeid", "config1:0-15")];
        assert_eq!(config("type=0x5,eventid=0xd,nodeid=3", &cmn), Some([0x000d_0005, 3, 0]));
        assert_eq!(config("config=0x2c,config2=7", &[]), Some([0x2c, 0, 7]));
    }

    #[test]
    fn what_can_not_be_encoded_is_none() {
        let formats = [("event", "config:0-7"), ("odd", "config3:0-7"), ("wide", "config:0-63")];
        for event in
            ["event=0x100", "event=?", "event=-1", "event=0x+1", "other=1", "odd=1", "", "event=", "../x=1", "event=0x1 2"]
        {
            assert_eq!(config(event, &formats), None, "{event}");
        }
        assert_eq!(config("wide=0xffffffffffffffff", &formats), Some([u64::MAX, 0, 0]));
        for format in
            ["config:", "config:8-7", "config:0-64", "config:0-3,3-5", "config", ":0", "config:-1", "config: 0-99999999999"]
        {
            assert_eq!(Field::parse(format), None, "{format}");
        }
    }

    proptest! {
        /// What is put into a field is found there again, and nowhere else.
        #[test]
        fn a_value_goes_where_it_belongs(cuts in proptest::collection::btree_set(0_u32..64, 2..8), value: u64) {
            let cuts: Vec<u32> = cuts.into_iter().collect();
            let ranges: Vec<(u32, u32)> = cuts.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            let text: Vec<String> = ranges.iter().map(|(a, b)| format!("{a}-{b}")).collect();
            let field = Field::parse(&format!("config1:{}", text.join(","))).unwrap();
            let width: u32 = ranges.iter().map(|(a, b)| b - a + 1).sum();
            let value = value & mask(width);
            let mut config = [0; 3];
            prop_assert!(field.put(value, &mut config).is_some());
            prop_assert_eq!((config[0], config[2]), (0, 0));
            let (mut back, mut at) = (0, 0);
            for (a, b) in &ranges {
                back |= (config[1] >> a & mask(b - a + 1)) << at;
                at += b - a + 1;
            }
            prop_assert_eq!(back, value);
            prop_assert_eq!(config[1].count_ones(), value.count_ones());
            if width < 64 {
                prop_assert!(field.put(1 << width, &mut [0; 3]).is_none());
            }
        }

        /// No text makes it panic.
        #[test]
        fn any_text_is_taken(text in "\\PC*", format in "config[0-3]?:[0-9,-]{0,40}") {
            let _ = config(&text, &[("event", &format)]);
            let _ = config("event=0xffff", &[("event", &format)]);
            let _ = Field::parse(&text);
        }
    }
}
