//! Traffic mixes: names, ratios, MLC's codes.

use super::{BadValue, list_parts};
use memgauge_model::Mix;

/// Mixes, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mixes(pub Vec<Mix>);

/// `read,2:1,W7`.
pub fn mixes(text: &str) -> Result<Mixes, BadValue> {
    Ok(Mixes(list_parts(text, "mixes such as read,copy-nt,2:1", mix)?))
}

/// A single one.
pub fn mix(text: &str) -> Result<Mix, BadValue> {
    // The probe measures for others; its own figure would mean nothing.
    let found = Mix::by_name(text).filter(|mix| *mix != Mix::WritePartial);
    found.ok_or_else(|| {
        let names = Mix::all().filter(|mix| *mix != Mix::WritePartial).map(Mix::name).collect::<Vec<_>>().join(" ");
        BadValue::new("no such mix", format!("use one of {names}, or MLC's codes"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ratios_and_codes() {
        assert_eq!(mixes("read,2:1,W7"), Ok(Mixes(vec![Mix::Read, Mix::R2W1, Mix::R2W1Nt])));
        for text in ["", "read,", "read,read", "2:1,W2", "W4", "5:1", "write-partial", "READ"] {
            assert!(mixes(text).is_err(), "{text:?} was taken");
        }
    }
}
