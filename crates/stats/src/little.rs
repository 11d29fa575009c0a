//! Little's law.

/// Bytes of a cache line in all of memgauge's accounting.
const LINE_BYTES: f64 = 64.0;

/// Effective cache lines in flight: latency × bandwidth / 64 (Little's law).
///
/// `latency_ns` in nanoseconds, `bandwidth` in bytes a second. "Effective"
/// because prefetched lines count too.
pub fn lines_in_flight(latency_ns: f64, bandwidth: f64) -> f64 {
    latency_ns * 1e-9 * bandwidth / LINE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eighty_nanoseconds_at_eight_gigabytes_is_ten_lines() {
        assert!((lines_in_flight(80.0, 8e9) - 10.0).abs() < 1e-12);
    }
}
