//! Values of flags: one small parser a kind of value, its tests beside it. They look at the text alone.

pub mod assign;
pub mod delays;
pub mod list;
pub mod mix;
pub mod percent;
pub mod rate;
pub mod size;
pub mod span;
pub mod whole;
pub mod word;

use std::fmt;

/// What is wrong with a value, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadValue {
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

impl BadValue {
    /// Both in words.
    pub fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

impl std::error::Error for BadValue {}

/// A decimal number as typed, exact: digits over a power of ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    digits: u128,
    tens: u128,
}

impl Decimal {
    /// Splits `1.5GiB` into the number and what follows it. `None` without digits, with two points, or with more digits than
    /// any figure needs.
    pub fn split(text: &str) -> Option<(Self, &str)> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, rest) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let point_alone = number.contains('.') && (whole.is_empty() || fraction.is_empty());
        if number.is_empty() || point_alone || fraction.contains('.') || whole.len() + fraction.len() > 30 {
            return None;
        }
        let tens = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some((Self { digits, tens }, rest))
    }

    /// The number times `unit`, if that is whole and fits.
    pub fn times(self, unit: u64) -> Result<u64, Misfit> {
        let product = self.digits.checked_mul(u128::from(unit)).ok_or(Misfit::TooLarge)?;
        if product % self.tens != 0 {
            return Err(Misfit::NotWhole);
        }
        u64::try_from(product / self.tens).map_err(|_| Misfit::TooLarge)
    }
}

/// Why a product is no whole number of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// Something is left over.
    NotWhole,
    /// Beyond 2^64.
    TooLarge,
}

/// The parts of `a,b,c`, each of them once.
fn list_parts<T: PartialEq>(text: &str, like: &str, part: impl Fn(&str) -> Result<T, BadValue>) -> Result<Vec<T>, BadValue> {
    let mut all = Vec::new();
    for word in text.split(',') {
        if word.is_empty() {
            let problem = if text.is_empty() { "an empty list" } else { "an empty part in the list" };
            return Err(BadValue::new(problem, format!("write {like}")));
        }
        // In a list the part at fault must be named; alone it is the value.
        let one = part(word).map_err(|bad| match word == text {
            true => bad,
            false => BadValue::new(format!("'{word}': {}", bad.problem), bad.remedy),
        })?;
        if all.contains(&one) {
            return Err(BadValue::new(format!("'{word}' stands there twice"), "name each once"));
        }
        all.push(one);
    }
    Ok(all)
}
