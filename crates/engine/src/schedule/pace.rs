//! Whether there is time to measure a block again in a run whose time is limited.

/// Blocks measured again may take a run so much beyond its time: one part in so many.
const BEYOND_ONE_IN: u64 = 14;

/// The part of a limited run's time that one round may take.
pub struct Pace {
    begun_ns: u64,
    allotted_ns: u64,
    points: u64,
}

impl Pace {
    /// For a round of `points` points that begins at `begun_ns`, `rounds_left` with it, of a run that may take `whole_ns`.
    pub fn new(whole_ns: u64, begun_ns: u64, rounds_left: u32, points: usize) -> Self {
        let left = (whole_ns + whole_ns / BEYOND_ONE_IN).saturating_sub(begun_ns);
        Self { begun_ns, allotted_ns: left / u64::from(rounds_left.max(1)), points: (points as u64).max(1) }
    }

    /// Is the round, with `done` of its points measured, not behind its time?
    pub fn has_time(&self, now_ns: u64, done: usize) -> bool {
        let spent = u128::from(now_ns.saturating_sub(self.begun_ns));
        spent * u128::from(self.points) <= u128::from(self.allotted_ns) * done as u128
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    #[test]
    fn only_what_keeps_pace_may_measure_again() {
        // 15 s in all with what may go beyond; 5 s are gone, and two rounds are left: 5 s each, half a second a point.
        let pace = Pace::new(14_000, 5_000, 2, 10);
        assert!(pace.has_time(5_400, 1) && !pace.has_time(5_600, 1));
        assert!(pace.has_time(10_000, 10) && !pace.has_time(10_001, 10));
        assert!(!Pace::new(14_000, 16_000, 1, 10).has_time(16_001, 10));
    }
}
