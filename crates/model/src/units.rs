//! Numbers for people: always the same text, whatever the locale.

/// Bytes with a binary unit: `22.7 GiB`, `512 KiB`, `64 B`. Exact multiples carry no decimals.
#[must_use]
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    while unit + 1 < UNITS.len() && count >> (10 * (unit + 1)) > 0 {
        unit += 1;
    }
    let size = 1_u64 << (10 * unit);
    if count.is_multiple_of(size) {
        format!("{} {}", count / size, UNITS[unit])
    } else {
        // A display figure of three digits: the loss of precision is meant.
        #[expect(clippy::cast_precision_loss, reason = "display only")]
        let value = count as f64 / size as f64;
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// Bandwidth in GB/s (10^9 bytes a second), one decimal: `84.1`.
#[must_use]
pub fn gb_per_s(bytes_per_s: f64) -> String {
    format!("{:.1}", bytes_per_s / 1e9)
}

/// A time span for people: `27 s`, `1.5 s`, `350 ms`, `4 min 10 s`.
#[must_use]
pub fn span(ns: u64) -> String {
    let (s, ms) = (ns / 1_000_000_000, ns / 1_000_000);
    match s {
        0 => format!("{ms} ms"),
        1..10 => format!("{}.{} s", s, ms % 1000 / 100),
        10..120 => format!("{s} s"),
        _ => format!("{} min {} s", s / 60, s % 60),
    }
}

/// A number of things: `1 node`, `2 nodes`, `3 processes`.
#[must_use]
pub fn count(number: u64, what: &str) -> String {
    let end = match (number, what.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{number} {what}{end}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_thing_is_no_several() {
        assert_eq!([0, 1, 2].map(|number| super::count(number, "window")), ["0 windows", "1 window", "2 windows"]);
        assert_eq!(super::count(2, "process"), "2 processes");
    }

    #[test]
    fn bytes_read_well() {
        let cases =
            [(0, "0 B"), (64, "64 B"), (524_288, "512 KiB"), (1536, "1.5 KiB"), (5 << 30, "5 GiB"), (900 << 40, "900 TiB")];
        for (count, text) in cases {
            assert_eq!(super::bytes(count), text);
        }
    }

    #[test]
    fn spans_read_well() {
        let cases =
            [(350_000_000, "350 ms"), (1_540_000_000, "1.5 s"), (27_000_000_000, "27 s"), (250_000_000_000, "4 min 10 s")];
        for (ns, text) in cases {
            assert_eq!(super::span(ns), text);
        }
    }
}
