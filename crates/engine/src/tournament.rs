//! Rounds of disjoint pairs in which everyone meets everyone once.

/// Two players, by number.
pub type Pair = (usize, usize);

/// The rounds of a tournament of `players`: each pair of two in one of them, nobody twice in any. By the circle method: one stays, the
/// others go round; with an odd number one sits out each round. (T. P. Kirkman, 1847, is the first to give it.)
pub fn rounds(players: usize) -> impl Iterator<Item = Vec<Pair>> {
    let seats = players + players % 2;
    let turning = seats.saturating_sub(1);
    (0..turning).map(move |round| {
        let seat = move |at: usize| if at == 0 { turning } else { (round + at - 1) % turning };
        let tables = (0..seats / 2).map(move |at| (seat(at), seat(seats - 1 - at)));
        // With an odd number the one who stays is nobody.
        tables
            .filter(move |(one, other)| *one.max(other) < players)
            .map(|(one, other)| (one.min(other), one.max(other)))
            .collect()
    })
}

/// Takes disjoint pairs out of `left`, in their order, as many as there are.
pub fn disjoint(left: &mut Vec<Pair>, players: usize) -> Vec<Pair> {
    let mut busy = vec![false; players];
    let mut taken = Vec::new();
    left.retain(|&(one, other)| {
        let free = !busy[one] && !busy[other];
        if free {
            (busy[one], busy[other]) = (true, true);
            taken.push((one, other));
        }
        !free
    });
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn everyone_meets_everyone_once_and_nobody_is_in_two_places(players in 0_usize..70) {
            let mut met = BTreeSet::new();
            for round in rounds(players) {
                let mut here = BTreeSet::new();
                for (one, other) in round {
                    prop_assert!(one < other && other < players && here.insert(one) && here.insert(other));
                    prop_assert!(met.insert((one, other)));
                }
            }
            prop_assert_eq!(met.len(), players * players.saturating_sub(1) / 2);
        }

        #[test]
        fn pairs_are_taken_out_until_none_is_left(mut left in proptest::collection::vec((0_usize..12, 0_usize..12), 0..60)) {
            left.retain(|(one, other)| one != other);
            let mut all = left.clone();
            let mut taken = Vec::new();
            while !left.is_empty() {
                let round = disjoint(&mut left, 12);
                let mut here = BTreeSet::new();
                prop_assert!(!round.is_empty() && round.iter().all(|(one, other)| here.insert(*one) && here.insert(*other)));
                taken.extend(round);
            }
            all.sort_unstable();
            taken.sort_unstable();
            prop_assert_eq!(taken, all);
        }
    }
}
