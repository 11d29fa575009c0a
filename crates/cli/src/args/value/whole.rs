//! Whole numbers: CPUs, nodes, delays, seeds.

use super::BadValue;
use std::str::FromStr;

/// Digits only: no sign, no space, no other base.
pub fn whole<T: FromStr>(text: &str) -> Result<T, BadValue> {
    let bad = |problem| Err(BadValue::new(problem, "write a whole number, such as 0"));
    match text {
        "" => bad("an empty value"),
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().or_else(|_| bad("too large a number")),
        _ => bad("not a whole number"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_only() {
        assert_eq!(whole::<u32>("17"), Ok(17));
        for text in ["", "-1", "+1", "1.0", "0x1", " 1", "4294967296", "one"] {
            assert!(whole::<u32>(text).is_err(), "{text:?} was taken");
        }
    }
}
