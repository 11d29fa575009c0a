//! Spans of time: `500ms`, `2s`, `1m`. The unit is required.

use super::{BadValue, Decimal, Misfit};

/// Nanoseconds, at least one.
pub fn span(text: &str) -> Result<u64, BadValue> {
    let Some((number, unit)) = Decimal::split(text) else {
        return Err(BadValue::new("not a time", "write a number and a unit, such as 500ms, 2s or 1m"));
    };
    let unit_ns = match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        // Not "write 0s": a remedy must not be refused in its turn.
        "" if text.trim_matches(['0', '.']).is_empty() => return Err(BadValue::new("no time at all", "use 20ms or more")),
        "" => return Err(BadValue::new("no unit", format!("write {text}s or {text}ms"))),
        _ => return Err(BadValue::new("not a unit of time", "use us, ms, s, m or h")),
    };
    match number.times(unit_ns) {
        Ok(0) => Err(BadValue::new("no time at all", "use 20ms or more")),
        Ok(ns) => Ok(ns),
        Err(Misfit::NotWhole) => Err(BadValue::new("finer than a nanosecond", "write it in a smaller unit")),
        Err(Misfit::TooLarge) => Err(BadValue::new("beyond 500 years", "use a shorter time")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit() {
        let cases =
            [("500ms", 500_000_000), ("2s", 2_000_000_000), ("1m", 60_000_000_000), ("0.5s", 500_000_000), ("20us", 20_000)];
        for (text, ns) in cases {
            assert_eq!(span(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn slips_are_refused() {
        for text in ["", "5", "s", "-1s", "0s", "0ms", "1 s", "1S", "1sec", "0.1ns", "99999999999999h", "1.s"] {
            assert!(span(text).is_err(), "{text:?} was taken");
        }
        // The plan's own limit: a remedy must not be refused in its turn.
        for text in ["0s", "0"] {
            assert_eq!(span(text).unwrap_err().to_string(), "no time at all; use 20ms or more");
        }
        assert_eq!(span("60").unwrap_err().to_string(), "no unit; write 60s or 60ms");
    }
}
