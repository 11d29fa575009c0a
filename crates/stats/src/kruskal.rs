//! Do several groups of values differ, by their ranks alone? W. H. Kruskal, W. A. Wallis, "Use of Ranks in One-Criterion Variance
//! Analysis", Journal of the American Statistical Association 47, 1952.

/// The statistic H over groups of values, corrected for ties, and its degrees of freedom; `None` for fewer than two groups of two
/// values or more, or when a value is not finite. About chi-square where all groups are alike.
#[must_use]
pub fn kruskal_wallis(groups: &[Vec<f64>]) -> Option<(f64, usize)> {
    let groups: Vec<&Vec<f64>> = groups.iter().filter(|group| group.len() >= 2).collect();
    let mut all: Vec<(f64, usize)> =
        groups.iter().enumerate().flat_map(|(at, group)| group.iter().map(move |value| (*value, at))).collect();
    if groups.len() < 2 || all.iter().any(|(value, _)| !value.is_finite()) {
        return None;
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let n = all.len() as f64;
    let mut sums = vec![0.0; groups.len()];
    let mut ties = 0.0;
    for equal in all.chunk_by(|a, b| a.0 == b.0) {
        let before = sums_before(&all, equal);
        let (count, rank) = (equal.len() as f64, before + (equal.len() as f64 + 1.0) / 2.0);
        equal.iter().for_each(|(_, group)| sums[*group] += rank);
        ties += count * count * count - count;
    }
    let mean = (n + 1.0) / 2.0;
    let between: f64 = groups
        .iter()
        .zip(&sums)
        .map(|(group, sum)| {
            let count = group.len() as f64;
            let off = sum / count - mean;
            count * off * off
        })
        .sum();
    let correction = 1.0 - ties / (n * n * n - n);
    if correction <= 0.0 {
        return Some((0.0, groups.len() - 1));
    }
    Some((12.0 / (n * (n + 1.0)) * between / correction, groups.len() - 1))
}

/// Values before those of `equal`, a part of `all`.
fn sums_before(all: &[(f64, usize)], equal: &[(f64, usize)]) -> f64 {
    equal.first().map_or(0, |first| all.partition_point(|value| value.0 < first.0)) as f64
}

/// The quantile of chi-square with so many degrees of freedom at the level whose standard normal quantile is `z`: 2.326 for 0.99. Within
/// 1 % from two degrees of freedom on. E. B. Wilson, M. M. Hilferty, "The Distribution of Chi-Square", Proceedings of the National Academy
/// of Sciences 17, 1931.
#[must_use]
pub fn chi_square_quantile(freedom: usize, z: f64) -> f64 {
    let k = freedom.max(1) as f64;
    let step = 2.0 / (9.0 * k);
    let root = 1.0 - step + z * libm::sqrt(step);
    k * root * root * root
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first example of the article's tables, by hand: ranks 1–3, 4–6 of two groups of three.
    #[test]
    fn ranks_apart_and_ranks_mixed() {
        let (apart, freedom) = kruskal_wallis(&[vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]]).unwrap();
        assert!((apart - 27.0 / 7.0).abs() < 1e-12 && freedom == 1, "{apart}");
        let (mixed, _) = kruskal_wallis(&[vec![1.0, 6.0], vec![2.0, 5.0], vec![3.0, 4.0]]).unwrap();
        assert!(mixed.abs() < 1e-12, "{mixed}");
        // With ties: ranks 1.5, 1.5, 3.5, 3.5; uncorrected 2.4, over 1 − 12/60.
        let (ties, _) = kruskal_wallis(&[vec![7.0, 7.0], vec![9.0, 9.0]]).unwrap();
        assert!((ties - 3.0).abs() < 1e-12, "{ties}");
        assert_eq!(kruskal_wallis(&[vec![1.0, 1.0], vec![1.0, 1.0]]), Some((0.0, 1)));
        assert_eq!(kruskal_wallis(&[vec![1.0, 2.0], vec![3.0]]), None);
        assert_eq!(kruskal_wallis(&[vec![1.0, f64::NAN], vec![3.0, 1.0]]), None);
    }

    /// Against printed tables of the 0.99 quantile.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, table) in [(2, 9.210), (5, 15.086), (11, 24.725), (30, 50.892)] {
            let mine = chi_square_quantile(freedom, 2.326_348);
            assert!((mine / table - 1.0).abs() < 0.01, "{freedom}: {mine}");
        }
    }

    #[test]
    fn like_groups_pass_in_99_of_100() {
        let mut rng = crate::Rng::new(11);
        let far = |rng: &mut crate::Rng| {
            let groups: Vec<Vec<f64>> = (0..12).map(|_| (0..6).map(|_| rng.unit()).collect()).collect();
            let (h, freedom) = kruskal_wallis(&groups).unwrap();
            h > chi_square_quantile(freedom, 2.326_348)
        };
        let far = (0..2000).filter(|_| far(&mut rng)).count();
        assert!(far <= 40, "{far} of 2000");
    }
}
