//! What could not be had is said with a reason; it is never 0 and never left out in silence.

use serde::{Deserialize, Serialize};

/// Why a thing is not there. These words are part of the document's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The kernel or the host refuses this to us.
    NoPermission,
    /// The machine has no such thing, or doesn't say.
    NotPresent,
    /// The thing exists, but not on this architecture, kernel or build.
    NotSupported,
    /// The time ran out first.
    OutOfTime,
    /// It has no meaning in this run.
    NotApplicable,
    /// The load could not saturate the memory.
    NotSaturated,
}

impl Reason {
    /// The word as it stands in documents.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NoPermission => "no_permission",
            Self::NotPresent => "not_present",
            Self::NotSupported => "not_supported",
            Self::OutOfTime => "out_of_time",
            Self::NotApplicable => "not_applicable",
            Self::NotSaturated => "not_saturated",
        }
    }
}

/// A value, or the reason why there is none. In JSON: the bare value, or `{"unavailable": reason, "detail": text}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Avail_{T}"))]
#[serde(untagged)]
pub enum Avail<T> {
    /// There is none. (First, so that reading tries it before `T`.)
    Unavailable {
        /// The kind of reason.
        unavailable: Reason,
        /// What was looked for and what was seen.
        detail: String,
    },
    /// It is known.
    Known(T),
}

impl<T> Avail<T> {
    /// A missing value.
    pub fn missing(unavailable: Reason, detail: impl Into<String>) -> Self {
        Self::Unavailable { unavailable, detail: detail.into() }
    }

    /// `Known`, or missing with `detail` as not present.
    pub fn or_absent(value: Option<T>, detail: &str) -> Self {
        value.map_or_else(|| Self::missing(Reason::NotPresent, detail), Self::Known)
    }

    /// The value, if known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unavailable { .. } => None,
        }
    }

    /// Applies `f` to a known value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Avail<U> {
        match self {
            Self::Known(value) => Avail::Known(f(value)),
            Self::Unavailable { unavailable, detail } => Avail::Unavailable { unavailable, detail },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_survive_json() {
        for value in [Avail::Known(7_u64), Avail::missing(Reason::NoPermission, "dmi: EACCES")] {
            let text = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Avail<u64>>(&text).unwrap(), value, "{text}");
        }
        assert_eq!(serde_json::to_string(&Avail::Known(7_u64)).unwrap(), "7");
    }
}
