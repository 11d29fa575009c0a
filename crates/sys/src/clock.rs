//! The reference clock that cycle counters are calibrated against.

use libc::{clockid_t, timespec};

/// Nanoseconds of `CLOCK_MONOTONIC_RAW`: a counter that NTP does not slew. Falls back to
/// `CLOCK_MONOTONIC` where an emulator lacks it. Only differences mean anything.
#[must_use]
pub fn monotonic_raw_ns() -> u64 {
    read_ns(libc::CLOCK_MONOTONIC_RAW).or_else(|| read_ns(libc::CLOCK_MONOTONIC)).unwrap_or(0)
}

fn read_ns(clock: clockid_t) -> Option<u64> {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec that libc may write.
    let returned = unsafe { libc::clock_gettime(clock, &raw mut now) };
    let seconds = u64::try_from(now.tv_sec).ok()?;
    let nanos = u64::try_from(now.tv_nsec).ok()?;
    (returned == 0).then(|| seconds * 1_000_000_000 + nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_ticks_in_nanoseconds() {
        let (start, wall) = (monotonic_raw_ns(), std::time::Instant::now());
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (raw, wall) = (monotonic_raw_ns() - start, wall.elapsed().as_nanos() as f64);
        assert!((raw as f64 / wall - 1.0).abs() < 0.2, "{raw} ns against {wall} ns");
    }

    #[test]
    fn an_unknown_clock_is_no_answer() {
        assert_eq!(read_ns(9999), None);
    }
}
