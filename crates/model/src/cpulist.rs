//! Lists of CPUs or nodes, as the kernel writes them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A sorted list without repeats. Text form: `0-3,8`, and `0-31:2/4` (of every 4, the first 2).
/// In JSON it is an array of numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Vec<u32>", into = "Vec<u32>")]
pub struct CpuList(Vec<u32>);

/// Why a list could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListError {
    /// Nothing between two commas, or nothing at all.
    Empty,
    /// This part is not a number, a range or a strided range.
    Malformed(String),
    /// This range runs backwards.
    Backwards(String),
    /// A number above what any kernel has; a typing slip would otherwise ask for gigabytes.
    TooLarge(String),
}

/// Larger than any kernel's limit (NR_CPUS is 8192 at most today), small enough to expand.
const LARGEST: u32 = 1 << 20;

impl CpuList {
    /// Members in rising order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + '_ {
        self.0.iter().copied()
    }

    /// Is `id` in the list?
    #[must_use]
    pub fn contains(&self, id: u32) -> bool {
        self.0.binary_search(&id).is_ok()
    }

    /// The number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// No members?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lowest member.
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        self.0.first().copied()
    }

    /// Members of both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.iter().filter(|id| other.contains(*id)).collect()
    }

    /// Members of either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).collect()
    }

    /// Members of this one only.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        self.iter().filter(|id| !other.contains(*id)).collect()
    }

    /// Is there a common member?
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.iter().any(|id| other.contains(id))
    }
}

impl FromIterator<u32> for CpuList {
    fn from_iter<I: IntoIterator<Item = u32>>(ids: I) -> Self {
        ids.into_iter().collect::<Vec<_>>().into()
    }
}

impl From<Vec<u32>> for CpuList {
    fn from(mut ids: Vec<u32>) -> Self {
        ids.sort_unstable();
        ids.dedup();
        Self(ids)
    }
}

impl From<CpuList> for Vec<u32> {
    fn from(list: CpuList) -> Self {
        list.0
    }
}

impl FromStr for CpuList {
    type Err = ListError;

    fn from_str(text: &str) -> Result<Self, ListError> {
        let mut ids = Vec::new();
        for part in text.trim().split(',') {
            expand(part.trim(), &mut ids)?;
        }
        Ok(ids.into())
    }
}

/// One part: `N`, `A-B` or `A-B:USED/GROUP`.
fn expand(part: &str, ids: &mut Vec<u32>) -> Result<(), ListError> {
    if part.is_empty() {
        return Err(ListError::Empty);
    }
    let malformed = || ListError::Malformed(part.to_owned());
    let (range, stride) = match part.split_once(':') {
        Some((range, stride)) => (range, Some(stride.split_once('/').ok_or_else(malformed)?)),
        None => (part, None),
    };
    let (from, to) = match range.split_once('-') {
        Some((from, to)) => (number(from, part)?, number(to, part)?),
        None if stride.is_some() => return Err(malformed()),
        None => (number(range, part)?, number(range, part)?),
    };
    let (used, group) = match stride {
        Some((used, group)) => (number(used, part)?, number(group, part)?),
        None => (1, 1),
    };
    if from > to {
        return Err(ListError::Backwards(part.to_owned()));
    }
    if used == 0 || used > group {
        return Err(malformed());
    }
    ids.extend((from..=to).filter(|id| (id - from) % group < used));
    Ok(())
}

/// Digits only: `+1`, `0x1` and ` 1` are slips, not numbers.
fn number(text: &str, part: &str) -> Result<u32, ListError> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(ListError::Malformed(part.to_owned()));
    }
    match text.parse() {
        Ok(id) if id < LARGEST => Ok(id),
        _ => Err(ListError::TooLarge(part.to_owned())),
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        let mut comma = "";
        while let [from, ..] = rest {
            let run = rest.iter().zip(*from..).take_while(|(id, want)| **id == *want).count();
            match run {
                1 => write!(f, "{comma}{from}")?,
                _ => write!(f, "{comma}{from}-{}", rest[run - 1])?,
            }
            rest = &rest[run..];
            comma = ",";
        }
        Ok(())
    }
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "an empty part in the list"),
            Self::Malformed(part) => write!(f, "'{part}' is not a number or a range"),
            Self::Backwards(part) => write!(f, "'{part}' runs backwards"),
            Self::TooLarge(part) => write!(f, "'{part}' is beyond any machine's numbers"),
        }
    }
}

impl std::error::Error for ListError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(text: &str) -> Vec<u32> {
        text.parse::<CpuList>().unwrap().into()
    }

    #[test]
    fn kernel_forms() {
        assert_eq!(list("0-3,8"), [0, 1, 2, 3, 8]);
        assert_eq!(list("0-7:2/4"), [0, 1, 4, 5]);
        assert_eq!(list("16-17,80-81\n"), [16, 17, 80, 81]);
    }

    #[test]
    fn slips_are_refused() {
        for text in
            ["", ",", "1,", "a", "3-1", "1-", "-1", "+1", "0x3", "1:2/4", "0-7:0/4", "0-7:5/4", "0-7:2", "1-2-3", "99999999999"]
        {
            assert!(text.parse::<CpuList>().is_err(), "{text:?} was taken");
        }
    }

    proptest! {
        #[test]
        fn text_form_round_trips(ids in proptest::collection::vec(0_u32..5000, 1..60)) {
            let wanted = CpuList::from(ids);
            prop_assert_eq!(wanted.to_string().parse::<CpuList>().unwrap(), wanted);
        }

        #[test]
        fn any_text_is_answered(text in "\\PC{0,40}") {
            let _ = text.parse::<CpuList>();
        }
    }
}
