//! About how long it takes to fill an arena: plans add it up, and the engine shares the work out by it.

use crate::{Arena, Holds, Order, Pages, RingPlan};

/// ns to link a node of one cycle through the whole buffer, a miss each; on base pages with a page walk.
const LINK_FULL_NS: u64 = 28;
const LINK_FULL_BASE_NS: u64 = 34;
/// ns to link a node inside a window, whose targets are found in L2.
const LINK_WINDOW_NS: u64 = 13;
const LINK_SEQUENTIAL_NS: u64 = 5;
/// ns to fill a MiB of a stream.
const FILL_NS: u64 = 90_000;

impl RingPlan {
    /// Linking a ring over `bytes` on such pages by one thread, ns.
    #[must_use]
    pub fn link_ns(&self, bytes: u64, pages: Pages) -> u64 {
        let node = match self.order {
            Order::FullRandom if pages == Pages::Base => LINK_FULL_BASE_NS,
            Order::FullRandom => LINK_FULL_NS,
            Order::WindowRandom | Order::SplitRandom => LINK_WINDOW_NS,
            Order::Sequential => LINK_SEQUENTIAL_NS,
        };
        bytes / self.stride.max(1) * node
    }
}

impl Arena {
    /// Linking its rings or filling its arrays by one thread once its pages exist, ns. Rings that grow are linked later, by
    /// the points that they grow for.
    #[must_use]
    pub fn fill_ns(&self) -> u64 {
        match &self.holds {
            Holds::Chase { bytes, rings } => {
                let whole = rings.iter().filter(|ring| !ring.grows);
                whole.map(|ring| ring.link_ns(ring.spans(*bytes), self.pages)).sum()
            }
            // The last array is written, not read: it needs no content, unless it is the only one.
            Holds::Streams { streams, bytes } => u64::from(streams.saturating_sub(1).max(1)) * (bytes >> 20) * FILL_NS,
            Holds::Region { bytes, .. } => (bytes >> 20) * FILL_NS,
            Holds::C2c { .. } => 0,
        }
    }
}
