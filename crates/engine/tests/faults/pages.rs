//! Memory changes under the measurement.

use crate::scene::{WARM, harmed, observer_alone, two_cpus};
use crate::split::{huge, split};
use memgauge_model::Pages;
use memgauge_sys::{limits::page_size, pages::thp_size};

/// As large as the scene's ring.
const RING: usize = 64 << 20;

#[test]
fn real_huge_pages_that_are_split_are_seen() {
    let Some(cpus) = two_cpus() else { return };
    let Some(huge_page) = thp_size().and_then(|bytes| usize::try_from(bytes).ok()) else { return };
    let mut had = 0;
    let done = harmed(observer_alone(cpus, Pages::Thp), || {
        std::thread::sleep(WARM);
        for (range, bytes) in huge(RING) {
            had += bytes;
            split(&range, huge_page, page_size());
        }
    });
    // A machine whose memory is fragmented, or that has none: nothing to split.
    if had == 0 {
        return;
    }
    done.is_rejected_for("asked thp, got");
    let kinds = |pair: &memgauge_model::PlacementPair| (pair.before.kind.clone(), pair.after.as_ref().unwrap().kind.clone());
    let placements: Vec<_> = done.blocks().flat_map(|block| &block.placements).map(kinds).collect();
    assert!(placements.iter().any(|(before, after)| before != after), "{placements:?}");
    assert!(huge(RING).is_empty(), "nothing of it is left");
}
