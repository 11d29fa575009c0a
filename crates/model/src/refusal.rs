//! A request that can't be met, said in one line.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Which flag, which value, what is wrong, what to do instead.
/// Prints as `--buffer 900TiB: more than node 0 has free (22.7 GiB); use 5GiB or less`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The flag as the user typed it, `--buffer`; empty where no flag is at fault.
    pub flag: String,
    /// The value as the user typed it.
    pub value: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to do instead.
    pub remedy: String,
}

impl Refusal {
    /// A refusal of `flag`'s `value`.
    pub fn new(flag: &str, value: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { flag: flag.to_owned(), value: value.into(), problem: problem.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = [self.flag.as_str(), self.value.as_str()].into_iter().filter(|part| !part.is_empty());
        let subject = subject.collect::<Vec<_>>().join(" ");
        // One line always: a value may hold a line break or a terminal escape.
        let clean = |text: &str| text.chars().map(|c| if c.is_control() { '?' } else { c }).collect::<String>();
        if !subject.is_empty() {
            write!(f, "{}: ", clean(&subject))?;
        }
        write!(f, "{}; {}", clean(&self.problem), clean(&self.remedy))
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_whatever_was_typed() {
        let refusal = Refusal::new("--cpu", "1\n\u{1b}[31m", "not a CPU", "use 0-1");
        assert_eq!(refusal.to_string(), "--cpu 1??[31m: not a CPU; use 0-1");
    }
}
