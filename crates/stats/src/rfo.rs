//! How many DRAM bytes a plain store costs, from the read-for-ownership probe.

/// Line rates that differ by at most this factor are the same.
const SAME_RATE: f64 = 1.08;

/// What a plain store of a full line costs in DRAM traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factor {
    /// Each stored line is read first: 2 × the stored bytes.
    Two,
    /// The read may be skipped: between 1 × and 2 × the stored bytes.
    Range,
}

impl Factor {
    /// Estimated DRAM bytes (lowest, highest) of a kernel that moves
    /// `application` bytes of which `stored` by plain stores.
    pub fn dram_bytes(self, application: f64, stored: f64) -> (f64, f64) {
        let with_reads = application + stored;
        match self {
            Self::Two => (with_reads, with_reads),
            Self::Range => (application, with_reads),
        }
    }
}

/// Judges the probe: full-line plain stores against stores of 8 bytes a line,
/// which must read the line first, both in *lines* a second and at the same
/// thread count.
///
/// Full lines at most 8 % faster: they are read first too, so factor 2. Else a
/// range, since the hardware skips the read only some of the time (near
/// saturation). `None` when a rate is not finite and above 0.
pub fn rfo_factor(full_line_rate: f64, partial_line_rate: f64) -> Option<Factor> {
    let usable = |rate: f64| rate.is_finite() && rate > 0.0;
    if !usable(full_line_rate) || !usable(partial_line_rate) {
        return None;
    }
    let faster = full_line_rate / partial_line_rate;
    Some(if faster <= SAME_RATE { Factor::Two } else { Factor::Range })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_line_rates_mean_a_read_first() {
        assert_eq!(rfo_factor(1.08e9, 1e9), Some(Factor::Two));
        assert_eq!(rfo_factor(0.9e9, 1e9), Some(Factor::Two));
        assert_eq!(rfo_factor(1.09e9, 1e9), Some(Factor::Range));
        assert_eq!(rfo_factor(0.0, 1e9), None);
        assert_eq!(rfo_factor(1e9, f64::NAN), None);
    }

    #[test]
    fn a_copy_costs_one_and_a_half_times_its_bytes() {
        assert_eq!(Factor::Two.dram_bytes(128.0, 64.0), (192.0, 192.0));
        assert_eq!(Factor::Range.dram_bytes(128.0, 64.0), (128.0, 192.0));
    }
}
