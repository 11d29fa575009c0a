//! Sizes: `64`, `16k`, `1.5GiB`.

use super::{BadValue, Decimal, Misfit};

/// Bytes. k, m, g, t and KiB, MiB, GiB, TiB are binary, in either case; KB, MB, GB, TB are refused, since people mean two
/// things by them.
pub fn size(text: &str) -> Result<u64, BadValue> {
    let Some((number, unit)) = Decimal::split(text) else {
        return Err(BadValue::new("not a size", "write bytes or a binary unit, such as 64MiB"));
    };
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        "kb" => return Err(decimal(text, unit, 3)),
        "mb" => return Err(decimal(text, unit, 6)),
        "gb" => return Err(decimal(text, unit, 9)),
        "tb" => return Err(decimal(text, unit, 12)),
        _ => return Err(BadValue::new("not a unit of size", "use k, m, g or t, or KiB, MiB, GiB or TiB (binary)")),
    };
    number.times(1 << shift).map_err(|misfit| match misfit {
        Misfit::NotWhole => BadValue::new("not a whole number of bytes", "write it in a smaller unit"),
        Misfit::TooLarge => BadValue::new("beyond 2^64 bytes", "use a smaller size"),
    })
}

/// `100MB`: binary or decimal?
fn decimal(text: &str, unit: &str, tens: u32) -> BadValue {
    let number = &text[..text.len() - unit.len()];
    let binary = format!("{number}{}iB", unit[..1].to_ascii_uppercase());
    let bytes = Decimal::split(number).and_then(|(number, _)| number.times(10_u64.pow(tens)).ok());
    let bytes = bytes.map_or_else(|| "the bytes".to_owned(), |bytes| bytes.to_string());
    let zeros = number.strip_prefix('1').filter(|rest| rest.bytes().all(|digit| digit == b'0')).map(str::len);
    let power = zeros.map_or_else(|| format!("{number} × 10^{tens}"), |zeros| format!("10^{}", tens as usize + zeros));
    let problem = format!("{unit} may mean 10^{tens} or 2^{} bytes", tens / 3 * 10);
    BadValue::new(problem, format!("write {binary}, or {bytes} for {power} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn binary_units_in_either_case() {
        let cases = [
            ("0", 0),
            ("4096", 4096),
            ("64B", 64),
            ("16k", 16 << 10),
            ("16K", 16 << 10),
            ("3MiB", 3 << 20),
            ("3mib", 3 << 20),
            ("1.5GiB", 3 << 29),
            ("0.5k", 512),
            ("900TiB", 900 << 40),
        ];
        for (text, bytes) in cases {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn slips_are_refused() {
        for text in
            ["", "-5", "+5", "k", ".5k", "5.", "1.2.3k", "5 k", "5kk", "5Ki", "0x10", "1e6", "5iB", "१k", "1.3", "0.0001k"]
        {
            assert!(size(text).is_err(), "{text:?} was taken");
        }
        assert_eq!(size("16777216TiB").unwrap_err().problem, "beyond 2^64 bytes");
        assert_eq!(size(&"9".repeat(30)).unwrap_err().problem, "beyond 2^64 bytes");
    }

    #[test]
    fn two_meanings_are_told_apart() {
        let refused = size("100MB").unwrap_err();
        assert_eq!(refused.remedy, "write 100MiB, or 100000000 for 10^8 bytes");
        assert_eq!(size("1.5gb").unwrap_err().remedy, "write 1.5GiB, or 1500000000 for 1.5 × 10^9 bytes");
    }

    proptest! {
        #[test]
        fn whole_units_are_exact(count in 0_u64..1 << 24, unit in 0_usize..5) {
            let (suffix, shift) = [("", 0), ("k", 10), ("MiB", 20), ("g", 30), ("TiB", 40)][unit];
            prop_assert_eq!(size(&format!("{count}{suffix}")), Ok(count << shift));
        }

        #[test]
        fn any_text_is_answered(text in "\\PC{0,40}") {
            let _ = size(&text);
        }
    }
}
