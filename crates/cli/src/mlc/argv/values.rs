//! Values as they stand behind a letter.

use memgauge_model::CpuList;

/// Longest bit mask that is taken: 8192 CPUs.
const MASK_DIGITS: usize = 2048;
const KIB: u64 = 1 << 10;

/// A plain decimal number.
pub fn number(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().ok_or_else(|| "not a decimal number".to_owned())
}

/// The same, as far as 32 bits hold it.
pub fn small(text: &str) -> Result<u32, String> {
    u32::try_from(number(text)?).map_err(|_| "too large a number".to_owned())
}

/// Bytes of `100`, `100k`, `100m` or `1g`; a plain number is of KiB. Letters in either case, `MiB` is as good as `m`.
pub fn size(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &lower[digits.len()..] {
        "" | "k" | "kib" => KIB,
        "m" | "mib" => KIB << 10,
        "g" | "gib" => KIB << 20,
        _ => return Err("not a size: write KiB, or a number with k, m or g".to_owned()),
    };
    let bytes = number(digits).map_err(|_| "not a size: write KiB, or a number with k, m or g".to_owned())?;
    bytes.checked_mul(unit).ok_or_else(|| "too large a size".to_owned())
}

/// CPUs such as `4-8,12-16,18`.
pub fn cpus(text: &str) -> Result<CpuList, String> {
    let list: CpuList = text.parse().map_err(|_| "not a list of CPUs such as 0-3,8".to_owned())?;
    if list.is_empty() { Err("an empty list".to_owned()) } else { Ok(list) }
}

/// CPUs of a mask in hexadecimal digits, with `0x` or without.
pub fn mask(text: &str) -> Result<CpuList, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    if digits.is_empty() || digits.len() > MASK_DIGITS {
        return Err("not a mask of hexadecimal digits".to_owned());
    }
    let mut cpus = Vec::new();
    for (base, digit) in (0..).step_by(4).zip(digits.chars().rev()) {
        let value = digit.to_digit(16).ok_or_else(|| "not a mask of hexadecimal digits".to_owned())?;
        cpus.extend((0..4).filter(|bit| value & (1 << bit) != 0).map(|bit| base + bit));
    }
    if cpus.is_empty() { Err("a mask of no CPU".to_owned()) } else { Ok(CpuList::from(cpus)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_kib_unless_they_say_otherwise() {
        for (text, bytes) in [("5900", 5900 << 10), ("100k", 100 << 10), ("200m", 200 << 20), ("1G", 1 << 30), ("4MiB", 4 << 20)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "m", "-1", "1.5m", "1t", "1 m", "99999999999999g", "1é"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn masks_and_lists_name_cpus() {
        assert_eq!(mask("0x1fE").unwrap().to_string(), "1-8");
        assert_eq!(mask(&format!("8{}", "0".repeat(32))).unwrap().to_string(), "131");
        assert_eq!(cpus("4-8,12-16,18").unwrap().to_string(), "4-8,12-16,18");
        for text in ["", "0x", "0", "g", "-1"] {
            assert!(mask(text).is_err(), "{text}");
        }
        assert!(cpus("").is_err() && cpus("1-").is_err());
        assert_eq!((small("0"), number("+1").is_err(), small("4294967296").is_err()), (Ok(0), true, true));
    }
}
