//! Bandwidths: `204.8GB/s`.

use super::{BadValue, Decimal};

/// Bytes a second, above 0.
pub fn rate(text: &str) -> Result<f64, BadValue> {
    let bad = || BadValue::new("not a bandwidth", "write a number and a unit, such as 204.8GB/s");
    let (number, unit) = Decimal::split(text).ok_or_else(bad)?;
    let unit: u64 = match unit.trim_start() {
        "B/s" => 1,
        "MB/s" => 1_000_000,
        "GB/s" => 1_000_000_000,
        "TB/s" => 1_000_000_000_000,
        "MiB/s" => 1 << 20,
        "GiB/s" => 1 << 30,
        "TiB/s" => 1 << 40,
        // Not "write 0GB/s": a remedy must not be refused in its turn.
        "" if text.trim_matches(['0', '.']).is_empty() => return Err(nothing()),
        "" => return Err(BadValue::new("no unit", format!("write {text}GB/s"))),
        _ => return Err(BadValue::new("not a unit of bandwidth", "use MB/s, GB/s or TB/s (10^6, 10^9, 10^12), or MiB/s, GiB/s")),
    };
    // A rate need not be a whole number of bytes, so the digits are taken as they stand.
    let digits = &text[..text.trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.').len()];
    let value: f64 = digits.trim().parse().map_err(|_| bad())?;
    let _ = number;
    if value == 0.0 {
        return Err(nothing());
    }
    #[expect(clippy::cast_precision_loss, reason = "a unit is a power of ten or two")]
    Ok(value * unit as f64)
}

fn nothing() -> BadValue {
    BadValue::new("no bandwidth at all", "use what the memory modules could do, such as 204.8GB/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit() {
        for (text, bytes) in [
            ("204.8GB/s", 204.8e9),
            ("25600MB/s", 25.6e9),
            ("1GiB/s", 1_073_741_824.0),
            ("204.8 GB/s", 204.8e9),
            ("0.3GiB/s", 322_122_547.2),
        ] {
            assert_eq!(rate(text), Ok(bytes), "{text}");
        }
        for text in ["", "204.8", "-1GB/s", "0GB/s", "1Gb/s", "1GBps", "infGB/s", "1e9B/s"] {
            assert!(rate(text).is_err(), "{text:?} was taken");
        }
        for text in ["0", "0.0", "0GB/s"] {
            assert!(rate(text).unwrap_err().to_string().starts_with("no bandwidth at all; use "), "{text}");
        }
    }
}
