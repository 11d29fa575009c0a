//! Placement classes of virtual CPUs, from ping-pong times.

use crate::rank;

/// Successive sorted times whose ratio is at least this belong to two classes.
pub const CLASS_RATIO: f64 = 1.8;

/// Ping-pong times split into placement classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Classes {
    /// Class of each input time, in input order: 0 near, 1 far. All 0 when
    /// there is one class.
    pub assignment: Vec<usize>,
    /// Median time of each class, ascending; one or two, in the input's unit.
    pub centers: Vec<f64>,
    /// Times between the classes: empty, or one value, the geometric mean of
    /// the two times beside the gap.
    pub boundaries: Vec<f64>,
}

impl Classes {
    /// The class that a further time falls into.
    pub fn classify(&self, time: f64) -> usize {
        self.boundaries.iter().filter(|&&b| time >= b).count()
    }
}

/// Splits times at the largest gap of at least 1.8× between successive sorted
/// values: near and far, or a single class when there is no such gap.
///
/// One split only, so at most two classes: a host moves a pair of vCPUs
/// between two states, and a second split would be made of noise. Of equal
/// gaps the lowest is taken. `None` when empty or when a time is not finite
/// and above 0.
pub fn split_classes(times: &[f64]) -> Option<Classes> {
    let ascending = rank::sorted(times)?;
    if ascending[0] <= 0.0 {
        return None;
    }
    let Some(cut) = largest_gap(&ascending) else {
        return Some(Classes {
            assignment: vec![0; times.len()],
            centers: vec![rank::median(&ascending)?],
            boundaries: Vec::new(),
        });
    };
    let (near, far) = ascending.split_at(cut);
    let boundary = libm::sqrt(near[cut - 1]) * libm::sqrt(far[0]);
    Some(Classes {
        assignment: times.iter().map(|&t| usize::from(t >= far[0])).collect(),
        centers: vec![rank::median(near)?, rank::median(far)?],
        boundaries: vec![boundary],
    })
}

/// Whether the placement class changed between the ping-pong before a block
/// and that after it: the times differ by 1.8× or more, either way.
///
/// A time that is not finite and above 0 counts as changed: what cannot be
/// checked is not vouched for.
pub fn flipped(before: f64, after: f64) -> bool {
    let usable = |t: f64| t.is_finite() && t > 0.0;
    if !usable(before) || !usable(after) {
        return true;
    }
    before.max(after) / before.min(after) >= CLASS_RATIO
}

/// Index of the first value above the largest gap of at least [`CLASS_RATIO`].
fn largest_gap(ascending: &[f64]) -> Option<usize> {
    let mut best = None;
    let mut widest = CLASS_RATIO;
    for (i, pair) in ascending.windows(2).enumerate() {
        let ratio = pair[1] / pair[0];
        if ratio > widest || (best.is_none() && ratio == widest) {
            best = Some(i + 1);
            widest = ratio;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far_pairs_are_told_apart() {
        let classes = split_classes(&[184.0, 41.0, 40.0, 190.0, 43.0]).unwrap();
        assert_eq!(classes.assignment, [1, 0, 0, 1, 0]);
        assert_eq!(classes.centers, [41.0, 187.0]);
        assert!((classes.boundaries[0] - 88.949).abs() < 0.001);
        assert_eq!(classes.classify(60.0), 0);
        assert_eq!(classes.classify(120.0), 1);
    }

    #[test]
    fn a_smaller_gap_is_one_class() {
        let classes = split_classes(&[41.0, 73.0, 41.0]).unwrap();
        assert_eq!(classes.assignment, [0, 0, 0]);
        assert_eq!(classes.centers, [41.0]);
        assert!(classes.boundaries.is_empty());
        assert_eq!(split_classes(&[10.0, 18.0]).unwrap().centers.len(), 2);
    }

    #[test]
    fn only_the_largest_gap_splits() {
        let classes = split_classes(&[10.0, 20.0, 100.0]).unwrap();
        assert_eq!(classes.assignment, [0, 0, 1]);
    }

    #[test]
    fn times_that_cannot_be_are_refused() {
        assert_eq!(split_classes(&[]), None);
        assert_eq!(split_classes(&[0.0, 1.0]), None);
        assert_eq!(split_classes(&[f64::NAN]), None);
    }

    #[test]
    fn a_flip_is_seen_either_way() {
        assert!(flipped(41.0, 184.0));
        assert!(flipped(184.0, 41.0));
        assert!(!flipped(41.0, 55.0));
        assert!(flipped(10.0, 18.0));
        assert!(flipped(0.0, 41.0));
        assert!(flipped(41.0, f64::NAN));
    }
}
