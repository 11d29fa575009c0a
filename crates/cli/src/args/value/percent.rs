//! Precision: `1%`.

use super::{BadValue, Decimal, Misfit};

/// A fraction from a percentage above 0 and up to 50; the sign is required, since 0.01 might mean 1 %.
pub fn percent(text: &str) -> Result<f64, BadValue> {
    let Some((number, rest)) = Decimal::split(text) else {
        return Err(BadValue::new("not a percentage", "write a half-width such as 1% or 0.5%"));
    };
    match rest {
        "%" => {}
        "" if text.parse() == Ok(0.0) => {
            return Err(BadValue::new("no percent sign", "write a half-width such as 1%".to_owned()));
        }
        "" => return Err(BadValue::new("no percent sign", format!("write {text}%"))),
        _ => return Err(BadValue::new("not a percentage", "write a half-width such as 1% or 0.5%")),
    }
    // In millionths of a percent: what is finer is no precision that anything here could reach.
    match number.times(1_000_000) {
        Ok(0) => Err(BadValue::new("no measurement is exact", "use more than 0%, such as 1%")),
        #[expect(clippy::cast_precision_loss, reason = "below 2^26")]
        Ok(millionths @ ..=50_000_000) => Ok(millionths as f64 / 1e8),
        Ok(_) | Err(Misfit::TooLarge) => Err(BadValue::new("more than half the value", "use 50% or less")),
        Err(Misfit::NotWhole) => Err(BadValue::new("finer than a millionth of a percent", "use 1% or 0.5%")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_zero_up_to_fifty() {
        for (text, fraction) in [("1%", 0.01), ("0.5%", 0.005), ("50%", 0.5)] {
            assert_eq!(percent(text), Ok(fraction), "{text}");
        }
        for text in ["", "1", "0%", "0.0%", "51%", "50.1%", "-1%", "%", "1%%", "1 %", "nan%", "1e1%"] {
            assert!(percent(text).is_err(), "{text:?} was taken");
        }
    }
}
