//! Work of which two pieces go on at a time: CI has two CPUs, and few pieces keep both busy.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

const LANES: usize = 2;

/// Does `work` for each item, begun in their order; what came of it, as each lane ended.
pub fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let lane = || {
        let take = || items.get(next.fetch_add(1, Ordering::Relaxed));
        std::iter::from_fn(take).map(&work).collect::<Vec<R>>()
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().flat_map(|lane| lane.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::each;
    use std::sync::Barrier;

    #[test]
    fn every_item_is_worked_on_once_and_two_at_a_time() {
        // Neither lane gets past it alone.
        let both = Barrier::new(2);
        let mut done = each(&[1, 2, 3, 4], |item| {
            both.wait();
            item * 10
        });
        done.sort_unstable();
        assert_eq!(done, [10, 20, 30, 40]);
        assert!(each(&[] as &[u8], |item| *item).is_empty());
    }
}
