//! The seeded generator behind every resample and shuffle.

/// xoshiro256++ seeded through splitmix64: same seed, same numbers, everywhere.
///
/// Source: D. Blackman, S. Vigna, "Scrambled linear pseudorandom number
/// generators", ACM TOMS 47 (2021); both algorithms are in the public domain.
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// A generator for `seed`; any seed is good, 0 too.
    pub fn new(seed: u64) -> Self {
        let mut seeder = seed;
        Self { state: std::array::from_fn(|_| splitmix64(&mut seeder)) }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in 0..1 (1 excluded), with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform in 0..`bound`, without bias; 0 when `bound` is 0.
    ///
    /// Source: D. Lemire, "Fast random integer generation in an interval",
    /// ACM TOMACS 29 (2019).
    pub fn below(&mut self, bound: u64) -> u64 {
        let draw = |rng: &mut Self| u128::from(rng.next_u64()) * u128::from(bound);
        let mut product = draw(self);
        if (product as u64) < bound {
            let uneven = bound.wrapping_neg() % bound;
            while (product as u64) < uneven {
                product = draw(self);
            }
        }
        (product >> 64) as u64
    }

    /// Puts `items` in random order (Fisher and Yates), each order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{Rng, splitmix64};
    use proptest::prelude::*;

    #[test]
    fn numbers_equal_the_reference_vectors() {
        let mut seeder = 0;
        assert_eq!(splitmix64(&mut seeder), 0xe220_a839_7b1d_cdaf);
        assert_eq!(splitmix64(&mut seeder), 0x6e78_9e6a_a1b9_65f4);
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let first: [u64; 5] = std::array::from_fn(|_| rng.next_u64());
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386, 9_228_616_714_210_784_205]);
    }

    #[test]
    fn below_is_even_over_a_bound_that_does_not_divide() {
        let mut rng = Rng::new(7);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[rng.below(7) as usize] += 1;
        }
        // 6 standard deviations of a count of 10 000 expected.
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 560), "{counts:?}");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
    }

    #[test]
    fn every_order_of_three_comes_up_equally() {
        let mut rng = Rng::new(11);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut items = [1, 2, 3];
            rng.shuffle(&mut items);
            *counts.entry(items).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|c| c.abs_diff(1_000) < 180), "{counts:?}");
    }

    proptest! {
        #[test]
        fn a_shuffle_is_a_permutation(seed: u64, len in 0_usize..200) {
            let mut items: Vec<usize> = (0..len).collect();
            Rng::new(seed).shuffle(&mut items);
            items.sort_unstable();
            prop_assert!(items.into_iter().eq(0..len));
        }

        #[test]
        fn below_and_unit_stay_in_range(seed: u64, bound in 1_u64..) {
            let mut rng = Rng::new(seed);
            prop_assert!(rng.below(bound) < bound);
            prop_assert!((0.0..1.0).contains(&rng.unit()));
        }
    }
}
