//! Ratios of paired runs, and what they prove.

/// Below this many pairs nothing is said.
pub const ENOUGH: usize = 9;
/// The share by which ours may be off.
const ALLOWED: f64 = 0.03;
/// And for a line handed over, which depends on where it is homed.
const HANDOVER: f64 = 0.10;

/// What the figure is, and therefore what is proven of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// ns; equal within 3 %.
    Latency,
    /// ns; equal within 10 %.
    Handover,
    /// B/s; not below the peer by more than the peer is below itself + 3 %.
    Bandwidth,
}

impl Quantity {
    /// In its unit.
    pub fn said(self, value: f64) -> String {
        match self {
            Self::Latency | Self::Handover => format!("{value:.1} ns"),
            Self::Bandwidth => format!("{:.2} GB/s", value / 1e9),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    Fails,
    TooFewPairs,
}

/// One slot: ours, the peer, and the peer once more.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    pub ours: f64,
    pub peer: f64,
    /// None: the peer's next run is that of the next slot.
    pub again: Option<f64>,
}

/// All slots of a cell; at least one.
#[derive(Debug)]
pub struct Comparison {
    pub quantity: Quantity,
    slots: Vec<Slot>,
}

/// Median and quartiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Comparison {
    /// None of nothing.
    pub fn of(quantity: Quantity, slots: Vec<Slot>) -> Option<Self> {
        (!slots.is_empty()).then_some(Self { quantity, slots })
    }

    pub fn pairs(&self) -> usize {
        self.slots.len()
    }

    pub fn ours(&self) -> Spread {
        spread(self.slots.iter().map(|slot| slot.ours))
    }

    pub fn peer(&self) -> Spread {
        spread(self.slots.iter().map(|slot| slot.peer))
    }

    /// Ours over the peer, pair by pair.
    pub fn ratio(&self) -> Spread {
        spread(self.slots.iter().map(|slot| slot.ours / slot.peer))
    }

    /// Our best run over the peer's best run.
    pub fn bests(&self) -> f64 {
        let best = |values: &mut dyn Iterator<Item = f64>| match self.quantity {
            Quantity::Latency | Quantity::Handover => values.fold(f64::INFINITY, f64::min),
            Quantity::Bandwidth => values.fold(0.0, f64::max),
        };
        best(&mut self.slots.iter().map(|slot| slot.ours)) / best(&mut self.slots.iter().map(|slot| slot.peer))
    }

    /// The peer over itself, one run over the run before; None of a single run.
    pub fn itself(&self) -> Option<Spread> {
        let again = self.slots.iter().filter_map(|slot| Some(slot.again? / slot.peer));
        let next = self.slots.windows(2).filter_map(|two| match two {
            [first, second] if first.again.is_none() => Some(second.peer / first.peer),
            _ => None,
        });
        let ratios: Vec<f64> = again.chain(next).collect();
        (!ratios.is_empty()).then(|| spread(ratios.into_iter()))
    }

    pub fn verdict(&self) -> Verdict {
        let ratio = self.ratio().median;
        let holds = match self.quantity {
            Quantity::Latency => (ratio - 1.0).abs() <= ALLOWED,
            Quantity::Handover => (ratio - 1.0).abs() <= HANDOVER,
            Quantity::Bandwidth => {
                let peer_below_itself = self.itself().map_or(0.0, |itself| (1.0 - itself.median).max(0.0));
                1.0 - ratio <= peer_below_itself + ALLOWED
            }
        };
        match holds {
            _ if self.pairs() < ENOUGH => Verdict::TooFewPairs,
            true => Verdict::Holds,
            // A ratio that is no number lands here too.
            false => Verdict::Fails,
        }
    }
}

/// NaN of nothing.
pub fn median(values: Vec<f64>) -> f64 {
    spread(values.into_iter()).median
}

/// NaN of nothing.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value.ln();
        count += 1.0;
    }
    (sum / count).exp()
}

fn spread(values: impl Iterator<Item = f64>) -> Spread {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    Spread { median: quantile(&sorted, 2), low: quantile(&sorted, 1), high: quantile(&sorted, 3) }
}

/// The k-th quartile, between its two neighbours; NaN of nothing.
fn quantile(sorted: &[f64], quarters: usize) -> f64 {
    let at = sorted.len().saturating_sub(1) * quarters;
    let value = |index: usize| sorted.get(index).copied();
    let Some(below) = value(at / 4) else { return f64::NAN };
    let above = value(at / 4 + 1).unwrap_or(below);
    let share = [0.0, 0.25, 0.5, 0.75].get(at % 4).copied().unwrap_or_default();
    below + (above - below) * share
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(quantity: Quantity, all: &[(f64, f64, Option<f64>)]) -> Comparison {
        let slots = all.iter().map(|(ours, peer, again)| Slot { ours: *ours, peer: *peer, again: *again }).collect();
        Comparison::of(quantity, slots).expect("not empty")
    }

    fn same(quantity: Quantity, pairs: usize, slot: (f64, f64, Option<f64>)) -> Verdict {
        slots(quantity, &vec![slot; pairs]).verdict()
    }

    #[test]
    fn quartiles_lie_between_neighbours() {
        assert_eq!(spread([4.0, 1.0, 3.0, 2.0].into_iter()), Spread { median: 2.5, low: 1.75, high: 3.25 });
        assert_eq!(spread([7.0].into_iter()), Spread { median: 7.0, low: 7.0, high: 7.0 });
    }

    #[test]
    fn ratios_are_of_pairs_and_bests_of_runs() {
        let latency = slots(Quantity::Latency, &[(100.0, 50.0, None), (60.0, 60.0, None), (90.0, 100.0, None)]);
        assert_eq!((latency.ratio().median, latency.bests()), (1.0, 1.2));
        let bandwidth = slots(Quantity::Bandwidth, &[(100.0, 50.0, None), (60.0, 80.0, None)]);
        assert_eq!(bandwidth.bests(), 1.25);
    }

    #[test]
    fn the_peer_is_held_against_its_next_run() {
        assert_eq!(slots(Quantity::Latency, &[(1.0, 100.0, None), (1.0, 110.0, None)]).itself().map(|s| s.median), Some(1.1));
        assert_eq!(
            slots(Quantity::Bandwidth, &[(1.0, 100.0, Some(90.0)), (1.0, 50.0, Some(45.0))]).itself().map(|s| s.median),
            Some(0.9)
        );
        assert_eq!(slots(Quantity::Latency, &[(1.0, 1.0, None)]).itself(), None);
    }

    #[test]
    fn latency_is_judged_on_both_sides() {
        for (ours, verdict) in [
            (97.1, Verdict::Holds),
            (102.9, Verdict::Holds),
            (96.9, Verdict::Fails),
            (103.1, Verdict::Fails),
            (f64::NAN, Verdict::Fails),
        ] {
            assert_eq!(same(Quantity::Latency, ENOUGH, (ours, 100.0, None)), verdict, "{ours}");
        }
        assert_eq!(same(Quantity::Handover, ENOUGH, (109.9, 100.0, None)), Verdict::Holds);
        assert_eq!(same(Quantity::Handover, ENOUGH, (89.9, 100.0, None)), Verdict::Fails);
        assert_eq!(same(Quantity::Latency, ENOUGH - 1, (100.0, 100.0, None)), Verdict::TooFewPairs);
    }

    #[test]
    fn bandwidth_may_be_above_and_as_far_below_as_the_peer_is_below_itself() {
        for (ours, again, verdict) in [
            (140.0, 100.0, Verdict::Holds),
            (97.1, 120.0, Verdict::Holds),
            (96.9, 120.0, Verdict::Fails),
            (88.0, 90.0, Verdict::Holds),
            (86.0, 90.0, Verdict::Fails),
        ] {
            assert_eq!(same(Quantity::Bandwidth, ENOUGH, (ours, 100.0, Some(again))), verdict, "{ours} {again}");
        }
    }
}
