//! How much of a working set caches and TLBs hold.

use crate::simulated::description::Pages;
use memgauge_model::{Order, RingPlan};

/// The share of accesses that a cache holds when a working set of `over` times its size is gone through again and again.
///
/// A line comes back after all others; meanwhile each miss takes the place of a line at random, so that it is still there with
/// h = exp(−(1 − h)·over). Caches that replace the oldest line would hold nothing beyond their size, ones that keep a
/// part for good would hold 1/over; real ones lie between, as this does.
pub fn held(over: f64) -> f64 {
    if over <= 1.0 {
        return 1.0;
    }
    // 1 − m = exp(−m·over) for the misses m has one root above 0.
    let above = |misses: f64| 1.0 - misses > libm::exp(-misses * over);
    let (mut low, mut high) = (1e-9, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if above(middle) { low = middle } else { high = middle }
    }
    1.0 - high
}

/// The shares of accesses that each level answers, the memory last. Sizes are what a working set of `bytes` has of each level,
/// 0 where there is none.
pub fn shares(bytes: f64, sizes: [f64; 3]) -> [f64; 4] {
    let mut shares = [0.0; 4];
    let mut so_far: f64 = 0.0;
    for (share, size) in shares.iter_mut().zip(sizes) {
        // An outer level holds what the inner ones do.
        let holds = if size > 0.0 { held(bytes / size).max(so_far) } else { so_far };
        *share = holds - so_far;
        so_far = holds;
    }
    shares[3] = 1.0 - so_far;
    shares
}

/// What translating addresses adds to each hop of a chase over `bytes` on pages of `page` bytes, ns.
pub fn translation_ns(pages: &Pages, ring: &RingPlan, bytes: f64, page: f64) -> f64 {
    // References to pages in random order find what fits, be it long ago or not.
    let random = |bytes: f64| {
        let touched = (bytes / page).max(1.0);
        let found = |entries: u32| (f64::from(entries) / touched).min(1.0);
        let (first, second) = (found(pages.l1_entries), found(pages.l2_entries));
        (1.0 - first) * pages.l2_ns + (1.0 - second) * pages.walk_ns
    };
    let stride = ring.stride as f64;
    // A page that is entered for the first time in a pass has been thrown out since the last one, or not.
    let entering = |hops: f64| {
        let walks = 1.0 - held(bytes / page / f64::from(pages.l2_entries));
        walks * pages.walk_ns / hops.max(1.0)
    };
    match (ring.order, ring.window()) {
        (Order::Sequential, _) => entering(page / stride),
        (_, Some(window)) => {
            let window = (window as f64).min(bytes);
            // Of the split order's window every other node, so that it is entered twice in a pass.
            let step = if ring.order == Order::SplitRandom { 2.0 * stride } else { stride };
            random(window) + entering(window / step / (window / page).max(1.0))
        }
        (_, None) => random(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_holds_all_up_to_its_size_and_ever_less_beyond() {
        assert_eq!((held(0.5), held(1.0)), (1.0, 1.0));
        // h = exp(-2(1-h)) at 0.2032.
        assert!((held(2.0) - 0.2032).abs() < 1e-4, "{}", held(2.0));
        let falling: Vec<f64> = (4..40).map(|quarter| held(f64::from(quarter) / 4.0)).collect();
        assert!(falling.is_sorted_by(|a, b| a >= b) && held(16.0) < 1e-6, "{falling:?}");
        assert!(held(1.0 + 1e-6) > 0.999);
    }

    #[test]
    fn shares_add_up_and_go_outwards() {
        let sizes = [48e3, 1e6, 32e6];
        for bytes in [4e3, 60e3, 2e6, 30e6, 1e9] {
            let shares = shares(bytes, sizes);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && shares.iter().all(|share| *share >= 0.0), "{shares:?}");
        }
        assert!(shares(1e9, sizes)[3] > 0.999 && shares(16e6, sizes)[2] > 0.99 && shares(4e3, sizes)[0] == 1.0);
        assert_eq!(shares(1e9, [48e3, 1e6, 0.0])[2], 0.0);
    }

    #[test]
    fn base_pages_cost_a_walk_at_random_and_next_to_nothing_in_windows() {
        let pages = Pages::default();
        let ring = |order| RingPlan { order, stride: 128, grows: false, bytes: None, block: None };
        let cost = |order, page: f64| translation_ns(&pages, &ring(order), 1e9, page);
        let whole = pages.l2_ns + pages.walk_ns;
        assert!((cost(Order::FullRandom, 4096.0) / whole - 1.0).abs() < 0.01);
        assert!(cost(Order::FullRandom, 2097152.0) < 0.1 * whole);
        let window = cost(Order::WindowRandom, 4096.0);
        assert!(window < 0.1 * whole && window > cost(Order::WindowRandom, 2097152.0), "{window}");
        assert_eq!(translation_ns(&pages, &ring(Order::FullRandom), 65536.0, 4096.0), 0.0);
    }
}
