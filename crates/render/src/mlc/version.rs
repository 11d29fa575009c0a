//! Whose wording is spoken: it drifted from version to version, and readers of old outputs expect the old one.

use std::fmt;
use std::str::FromStr;

/// A version such as `3.9a`. `3.11` is older than `3.11a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u16,
    minor: u16,
    letter: Option<char>,
}

impl Version {
    /// What is spoken unless another one is asked for.
    pub const DEFAULT: Self = Self::new(3, 11, Some('b'));
    /// The last whose clocks are called core clocks, and which doesn't name the order of a latency.
    const LAST_OF_CORE_CLOCKS: Self = Self::new(3, 9, Some('z'));
    /// The last that says peak for peak injection, and calls transfers between sockets by the last-level cache.
    const LAST_OF_PLAIN_PEAK: Self = Self::new(3, 1, Some('z'));
    /// The first with wider cells in the bandwidth matrix.
    const FIRST_WIDE: Self = Self::new(3, 11, Some('c'));

    const fn new(major: u16, minor: u16, letter: Option<char>) -> Self {
        Self { major, minor, letter }
    }

    /// The word before `clocks`.
    pub(super) fn clocks(self) -> &'static str {
        if self <= Self::LAST_OF_CORE_CLOCKS { "core clocks" } else { "base frequency clocks" }
    }

    /// Is the order of a chase named in the heading of the latency matrix?
    pub(super) fn names_order(self) -> bool {
        self > Self::LAST_OF_CORE_CLOCKS
    }

    /// `Peak Injection`, or what it was called before.
    pub(super) fn peak(self) -> &'static str {
        if self <= Self::LAST_OF_PLAIN_PEAK { "Peak" } else { "Peak Injection" }
    }

    /// Between what lines go from socket to socket.
    pub(super) fn remote(self) -> &'static str {
        if self <= Self::LAST_OF_PLAIN_PEAK { "LLC->LLC" } else { "L2->L2" }
    }

    /// Width of a cell of the bandwidth matrix.
    pub(super) fn bandwidth_width(self) -> usize {
        if self >= Self::FIRST_WIDE { 8 } else { 7 }
    }
}

impl Default for Version {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        self.letter.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}

impl FromStr for Version {
    type Err = ();

    /// `3.11b` or `v3.11b`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (major, rest) = text.strip_prefix('v').unwrap_or(text).split_once('.').ok_or(())?;
        let (minor, letter) = match rest.char_indices().next_back() {
            Some((at, letter)) if letter.is_ascii_lowercase() => (&rest[..at], Some(letter)),
            _ => (rest, None),
        };
        let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse().map_err(|_| ()),
            false => Err(()),
        };
        Ok(Self::new(number(major)?, number(minor)?, letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_written_and_ordered() {
        let read = |text: &str| text.parse::<Version>();
        for text in ["3.1a", "3.5", "3.9a", "3.10", "3.11", "3.11a", "3.11b", "3.11c"] {
            assert_eq!(read(text).unwrap().to_string(), text);
            assert_eq!(read(&format!("v{text}")), read(text));
        }
        let inorder = ["3.1a", "3.5", "3.9", "3.9a", "3.10", "3.11", "3.11a", "3.11b", "3.11c"].map(|text| read(text).unwrap());
        assert!(inorder.is_sorted_by(|a, b| a < b), "{inorder:?}");
        for text in ["", "3", "3.", ".1", "3.x1", "3.1aa", "+3.1", "3.1A", "99999.1"] {
            assert_eq!(read(text), Err(()), "{text}");
        }
    }
}
