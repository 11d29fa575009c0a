//! Where a latency over working-set sizes leaves one level for the next: change points of a curve that rises in steps or ramps.
//!
//! A cache does not end like a table. One that replaces the oldest line first misses always as soon as a cyclic walk exceeds it:
//! a step. One that replaces at random, or that is shared with strangers, hits with the share of the working set that it holds:
//! a ramp that takes octaves. Both begin where the cache is full, so an edge is told by where the rise begins, not by its middle.

use crate::isotonic::isotonic;
use crate::rank;
use crate::rng::Rng;

/// A rise of less than this, as a slope of ln(latency) an octave, is a plateau's own: more TLB misses, a longer way in a mesh.
const STEEP: f64 = 0.2;
/// Two rises with no more than so many octaves of plateau between them are one: caches differ by more, and one whose sets fill
/// unevenly leaks a few lines, twenty times slower each, long before it is full.
const PLATEAU: f64 = 1.0;
/// More than so many octaves of plateau between them are enough where the first rise is no mere leak before the second: a guest's share
/// of a last-level cache may be little more than its second level.
const SHORT_PLATEAU: f64 = 0.6;
/// Latency above a rise over that below it, at least.
const FACTOR: f64 = 1.25;
/// An edge is the largest size at which the rise has made no more than this share of its way.
const BEGUN: f64 = 0.15;
/// An edge of a resample is the same one within so many octaves.
const SAME: f64 = 1.0;
const RESAMPLES: usize = 400;
/// Rounds that an interval needs.
const ROUNDS: usize = 6;

/// The end of a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Index of the largest size that still is of the lower level.
    pub last: usize,
    /// 95 % ends of that index, by resampling rounds; none with fewer than six rounds.
    pub ends: Option<[usize; 2]>,
    /// Share of the resamples that have this edge, too.
    pub stable: f64,
    /// Latency where the rise begins and where it ends.
    pub levels: [f64; 2],
}

/// The edges of a curve, from the smallest size on: `sizes` rise, `rounds` hold a latency or none for each of them.
///
/// Rounds become medians, medians a non-decreasing fit; steep stretches of that are rises. An edge that fewer than half of the
/// resamples have is none. Sizes without any value are passed over. The same input and seed give the same edges.
///
/// `None` where the lengths differ, a size is 0 or not above the one before, or a value is not finite and above 0.
pub fn edges(sizes: &[u64], rounds: &[Vec<Option<f64>>], seed: u64) -> Option<Vec<Edge>> {
    let rising = sizes.first().is_none_or(|first| *first > 0) && sizes.is_sorted_by(|a, b| a < b);
    let positive = |value: &f64| value.is_finite() && *value > 0.0;
    let usable = rounds.iter().all(|round| round.len() == sizes.len() && round.iter().flatten().all(positive));
    if !rising || !usable {
        return None;
    }
    let octaves: Vec<f64> = sizes.iter().map(|size| libm::log2(*size as f64)).collect();
    let once = vec![1; rounds.len()];
    let mut edges = find(&octaves, rounds, &once);
    let mut seen: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    let mut rng = Rng::new(seed);
    let mut times = vec![0_usize; rounds.len()];
    for _ in 0..RESAMPLES {
        times.fill(0);
        rounds.iter().for_each(|_| times[rng.below(rounds.len() as u64) as usize] += 1);
        let again = find(&octaves, rounds, &times);
        for (edge, seen) in edges.iter().zip(&mut seen) {
            let away = |other: &&Edge| (octaves[other.last] - octaves[edge.last]).abs();
            let nearest = again.iter().min_by(|a, b| away(a).total_cmp(&away(b)));
            seen.extend(nearest.filter(|nearest| away(nearest) <= SAME).map(|nearest| nearest.last));
        }
    }
    for (edge, mut seen) in edges.iter_mut().zip(seen) {
        seen.sort_unstable();
        edge.stable = seen.len() as f64 / RESAMPLES as f64;
        let outside = seen.len() / 40;
        let ends = seen.get(outside).zip(seen.len().checked_sub(1 + outside).and_then(|at| seen.get(at)));
        let ends = ends.filter(|_| rounds.len() >= ROUNDS);
        edge.ends = ends.map(|(lo, hi)| [edge.last.min(*lo), edge.last.max(*hi)]);
    }
    edges.retain(|edge| edge.stable >= 0.5);
    Some(edges)
}

/// The edges when round r counts `times[r]` times, without intervals.
fn find(octaves: &[f64], rounds: &[Vec<Option<f64>>], times: &[usize]) -> Vec<Edge> {
    let mut places = Vec::new();
    let mut logs = Vec::new();
    for at in 0..octaves.len() {
        let counted = rounds.iter().zip(times);
        let values = counted.filter_map(|(round, times)| Some(std::iter::repeat_n(round[at]?, *times))).flatten();
        if let Some(median) = rank::median(&values.collect::<Vec<_>>()) {
            places.push(at);
            logs.push(libm::log(median));
        }
    }
    let Some(fit) = isotonic(&logs, &vec![1.0; logs.len()]) else { return Vec::new() };
    let x = |k: usize| octaves[places[k]];
    let steep = |k: &usize| fit[k + 1] - fit[*k] >= STEEP * (x(k + 1) - x(*k));
    let mut rises: Vec<[usize; 2]> = Vec::new();
    for k in (0..fit.len().saturating_sub(1)).filter(steep) {
        match rises.last_mut().filter(|rise| x(k) - x(rise[1]) <= SHORT_PLATEAU) {
            Some(rise) => rise[1] = k + 1,
            None => rises.push([k, k + 1]),
        }
    }
    let height = |[from, to]: [usize; 2]| libm::exp(fit[to]) - libm::exp(fit[from]);
    // What leaks before a level is full is none of its own; neither is the end of its ramp.
    let one = |pair: &[[usize; 2]]| {
        let &[first, second] = pair else { return false };
        let both = height([first[0], second[1]]);
        x(second[0]) - x(first[1]) <= PLATEAU && height(first).min(height(second)) <= BEGUN * both
    };
    while let Some(at) = rises.windows(2).position(one) {
        rises[at][1] = rises.remove(at + 1)[1];
    }
    rises.into_iter().filter_map(|rise| edge(&fit, &places, rise)).collect()
}

fn edge(fit: &[f64], places: &[usize], [from, to]: [usize; 2]) -> Option<Edge> {
    let levels = [libm::exp(fit[from]), libm::exp(fit[to])];
    let begun = levels[0] + BEGUN * (levels[1] - levels[0]);
    let last = (from..to).take_while(|k| libm::exp(fit[*k]) <= begun * (1.0 + 1e-12)).last()?;
    (levels[1] >= FACTOR * levels[0]).then_some(Edge { last: places[last], ends: None, stable: 1.0, levels })
}

#[cfg(test)]
mod tests {
    use super::edges;
    use crate::rng::Rng;
    use proptest::prelude::*;

    /// Four sizes an octave from 4 KiB to 1 GiB.
    fn sizes() -> Vec<u64> {
        (12..30).flat_map(|octave| (4..8).map(move |quarter| quarter << (octave - 2))).collect()
    }

    fn rounds(curve: impl Fn(f64) -> f64, noise: f64, seed: u64) -> Vec<Vec<Option<f64>>> {
        let mut rng = Rng::new(seed);
        let mut value = |size: &u64| Some(curve(*size as f64) * (1.0 + noise * (rng.unit() - 0.5)));
        (0..6).map(|_| sizes().iter().map(&mut value).collect()).collect()
    }

    fn found(curve: impl Fn(f64) -> f64, noise: f64, seed: u64) -> Vec<(u64, Option<[u64; 2]>)> {
        let (all, rounds) = (sizes(), rounds(curve, noise, seed));
        let edges = edges(&all, &rounds, seed).unwrap();
        edges.iter().map(|edge| (all[edge.last], edge.ends.map(|ends| ends.map(|at| all[at])))).collect()
    }

    const KIB: f64 = 1024.0;
    const MIB: f64 = 1024.0 * KIB;

    /// Steps at 48 KiB, 2 MiB and 32 MiB.
    fn stairs(size: f64) -> f64 {
        if size <= 48.0 * KIB {
            1.7
        } else if size <= 2.0 * MIB {
            5.0
        } else if size <= 32.0 * MIB {
            60.0
        } else {
            130.0
        }
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let edges = found(stairs, 0.02, 1);
        let wanted = [48 << 10, 2 << 20, 32 << 20];
        assert_eq!(edges, wanted.map(|size| (size, Some([size, size]))));
    }

    /// What a shared cache does in a guest: hits with the share that it holds, behind an inner one that loses lines to conflicts
    /// before it is full, under a plateau that rises by itself.
    #[test]
    fn ramps_are_found_where_they_begin() {
        let inside = |size: f64, cache: f64| (cache / size).min(1.0);
        let curve = |size: f64| {
            let l1 = inside(size, 48.0 * KIB);
            let l2 = inside(size, 2.0 * MIB);
            let l3 = inside(size, 24.0 * MIB);
            let drift = 1.0 + 0.04 * (size / (4.0 * KIB)).log2();
            let beyond = 60.0 * l3 + 130.0 * (1.0 - l3);
            (1.7 * l1 + 5.0 * (1.0 - l1)) * l2 + beyond * (1.0 - l2) * drift
        };
        let all = sizes();
        let edges = found(curve, 0.03, 2);
        assert_eq!(edges.len(), 3, "{edges:?}");
        for ((size, ends), wanted) in edges.iter().zip([48.0 * KIB, 2.0 * MIB, 24.0 * MIB]) {
            let place = |bytes: u64| all.iter().position(|size| *size == bytes).unwrap();
            let (at, wanted) = (place(*size), place(wanted as u64));
            assert!(at.abs_diff(wanted) <= 2, "{edges:?}");
            let ends = ends.unwrap().map(place);
            assert!(ends[0] <= at && at <= ends[1], "{edges:?}");
        }
    }

    /// Pages that lie anywhere overfill some sets early: 1 % of misses to a level twenty times slower is a step of its own.
    #[test]
    fn a_leak_before_the_end_is_no_edge() {
        let curve = |size: f64| {
            if size <= 384.0 * KIB {
                6.0
            } else if size <= 768.0 * KIB {
                8.5
            } else if size <= 1.5 * MIB {
                15.0
            } else {
                130.0
            }
        };
        assert_eq!(found(curve, 0.02, 6).iter().map(|edge| edge.0).collect::<Vec<_>>(), [3 << 19]);
    }

    /// What a guest with a twentieth of its host's last level shows: that level is hardly larger than the second.
    #[test]
    fn a_last_level_little_larger_than_the_second_is_one() {
        let curve = |size: f64| {
            let (kib, mib) = (size / KIB, size / MIB);
            match size {
                _ if kib <= 48.0 => 1.9,
                _ if mib <= 2.0 => 6.5,
                _ if mib <= 3.0 => 33.0,
                _ if mib <= 6.0 => 40.0,
                _ if mib <= 10.0 => 104.0,
                _ => 125.0,
            }
        };
        let wanted = [48 << 10, 2 << 20, 6 << 20];
        assert_eq!(found(curve, 0.02, 8).iter().map(|edge| edge.0).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn an_unsteady_edge_has_a_wide_interval() {
        // In two rounds of six a stranger has half of the cache.
        let size = |round: usize| if round.is_multiple_of(3) { 8.0 } else { 16.0 };
        let value = |round: usize, bytes: u64| if bytes as f64 <= size(round) * MIB { 20.0 } else { 100.0 };
        let rounds: Vec<Vec<_>> = (0..6).map(|round| sizes().iter().map(|bytes| Some(value(round, *bytes))).collect()).collect();
        let edges = edges(&sizes(), &rounds, 3).unwrap();
        let [edge] = edges[..] else { panic!("{edges:?}") };
        assert_eq!(sizes()[edge.last], 16 << 20);
        let [lo, hi] = edge.ends.unwrap().map(|at| sizes()[at]);
        assert!(lo == 8 << 20 && hi == 16 << 20, "{lo} {hi}");
    }

    #[test]
    fn holes_are_passed_over_and_nonsense_is_refused() {
        let mut seen = rounds(stairs, 0.02, 4);
        for round in &mut seen {
            round[3] = None;
            round[40] = None;
        }
        assert_eq!(edges(&sizes(), &seen, 4).unwrap().len(), 3);
        assert_eq!(edges(&[], &[], 4), Some(Vec::new()));
        assert_eq!(edges(&[1, 2], &[vec![Some(1.0)]], 4), None);
        assert_eq!(edges(&[2, 2], &[vec![Some(1.0); 2]], 4), None);
        assert_eq!(edges(&[0, 2], &[vec![Some(1.0); 2]], 4), None);
        assert_eq!(edges(&[1, 2], &[vec![Some(1.0), Some(f64::NAN)]], 4), None);
        let few = edges(&sizes(), &seen[..5], 4).unwrap();
        assert!(few.len() == 3 && few.iter().all(|edge| edge.ends.is_none()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn a_flat_curve_has_no_levels(seed: u64, noise in 0.0..0.2, slope in 0.0..0.1) {
            // A slope of a tenth an octave is a plateau's own.
            let edges = found(|size| 100.0 * (1.0 + slope * (size / 4096.0).log2() * 0.5), noise, seed);
            prop_assert!(edges.is_empty(), "{:?}", edges);
        }

        #[test]
        fn a_step_is_found_within_one_size_through_noise(seed: u64, at in 4_usize..66, factor in 1.5..20.0) {
            let all = sizes();
            let edge = all[at] as f64;
            let edges = found(|size| if size <= edge { 10.0 } else { 10.0 * factor }, 0.1, seed);
            prop_assert_eq!(edges.len(), 1);
            let found = all.iter().position(|size| *size == edges[0].0).unwrap();
            prop_assert!(found.abs_diff(at) <= 1, "{:?} for {}", edges, edge);
        }
    }
}
