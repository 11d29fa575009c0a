//! Sizes, phases and the budget.

use crate::support::*;
use memgauge_model::{Arena, Avail, Cache, Holds, MemorySideCache, Pages, Plan, What};

fn bytes(arena: &Arena) -> (char, u64) {
    match arena.holds {
        Holds::Chase { bytes, .. } => ('c', bytes),
        Holds::Streams { bytes, .. } => ('s', bytes),
        Holds::C2c { bytes, .. } => ('w', bytes),
        Holds::Region { bytes, .. } => ('r', bytes),
    }
}

fn sizes(plan: &Plan) -> Vec<(char, u64)> {
    let mut sizes: Vec<_> = plan.arenas.iter().map(bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[test]
fn automatic_sizes_follow_the_cache_in_reach() {
    let all = |lab: &Lab| sizes(&plan(lab, What::Loaded, &[]));
    assert_eq!(all(&two_cpus()), [('c', 2400 * MIB), ('s', 1200 * MIB)]);
    // The sum over a thread's own last level, not over everybody's.
    assert_eq!(all(&two_sockets()), [('c', 256 * MIB), ('s', 128 * MIB)]);
    assert_eq!(all(&snc4()), [('c', 480 * MIB), ('s', 240 * MIB)]);
    // Floors.
    assert_eq!(all(&gaps()), [('c', 256 * MIB), ('s', 64 * MIB)]);
    let cached = cxl().with(|m| m.nodes[2].memory_side_caches = vec![MemorySideCache { level: 1, size: 84 * MIB }]);
    assert_eq!(sizes(&plan(&cached, What::Loaded, &[("--node", "2")])), [('c', 800 * MIB), ('s', 400 * MIB)]);
    let unknown = two_cpus().with(|m| m.caches.l3[0].size = none());
    let guessed = plan(&unknown, What::Loaded, &[]);
    assert_eq!(sizes(&guessed), [('c', 256 * MIB), ('s', 128 * MIB)]);
    assert!(guessed.notes.iter().any(|note| note.contains("no cache size is known")), "{:?}", guessed.notes);
    // An L2 stands in for an L3 that isn't there.
    let l2 = unknown.with(|m| m.caches.l2 = vec![Cache { size: Avail::Known(40 * MIB), cpus: list("0-1") }]);
    assert_eq!(all(&l2), [('c', 320 * MIB), ('s', 160 * MIB)]);
}

#[test]
fn a_buffer_that_was_asked_for_is_kept() {
    let small = plan(&two_cpus(), What::All, &[("--buffer", "16KiB")]);
    assert_eq!(sizes(&small)[..2], [('c', 16 << 10), ('s', 16 << 10)]);
    let odd = plan(&two_cpus(), What::Idle, &[("--buffer", "5000")]);
    assert_eq!(sizes(&odd), [('c', 8192)]);
    assert_eq!(odd.notes, ["--buffer 5000 is rounded up to 8 KiB, whole multiples of 4 KiB"]);
}

#[test]
fn short_memory_shrinks_all_buffers_alike_and_says_so() {
    let roomy = plan(&two_cpus(), What::All, &[]);
    assert_eq!(roomy.phases.len(), 1);
    assert!(roomy.notes.is_empty(), "{:?}", roomy.notes);
    // All together don't fit, any one point does: phases, and full size.
    let some = plan(&with_memory(10 * GIB), What::All, &[]);
    assert_eq!(sizes(&some), sizes(&roomy));
    assert_eq!(some.phases.len(), 2);
    // The largest point doesn't fit at full size.
    let little = plan(&with_memory(5 * GIB), What::All, &[]);
    let [(_, chase), (_, stream), ..] = sizes(&little)[..] else { panic!("{:?}", sizes(&little)) };
    assert!((600 * MIB..1200 * MIB).contains(&stream), "{stream}");
    assert!(chase.abs_diff(2 * stream) <= 2 * MIB, "{chase} {stream}");
    assert!(little.notes.iter().any(|note| note.starts_with("memory is short: buffers are")), "{:?}", little.notes);
    // Below twice the cache: no plan.
    assert!(refusal(&with_memory(2560 * MIB), What::All, &[]).contains("twice the last-level cache"));
    // But what was asked for explicitly.
    plan(&with_memory(2560 * MIB), What::All, &[("--buffer", "2MiB")]);
}

fn with_memory(bytes: u64) -> Lab {
    two_cpus().with(|m| {
        m.nodes[0].available_bytes = bytes;
        m.memory.available_bytes = bytes;
    })
}

#[test]
fn tiny_machines_are_measured_with_tiny_buffers() {
    let tiny = with_memory(128 * MIB).with(|m| m.caches.l3[0].size = Avail::Known(8 * MIB));
    let plan = plan(&tiny, What::All, &[("--buffer", "2MiB"), ("--time", "20ms")]);
    assert!(plan.budget.nodes[0].needed <= 96 * MIB, "{:?}", plan.budget);
}

/// Boards and guests that tell neither caches nor free memory are planned for all the same.
#[test]
fn what_a_machine_does_not_say_is_no_reason_to_refuse() {
    let silent = with_memory(400 * MIB).with(|m| m.caches.l3[0].size = none());
    let plan_of = |lab: &Lab| plan(lab, What::All, &[]);
    assert!(plan_of(&silent).notes.iter().any(|note| note.starts_with("memory is short")));
    let captured = two_sockets().with(|m| {
        m.memory.available_bytes = 0;
        m.nodes.iter_mut().for_each(|node| node.available_bytes = 0);
    });
    assert_eq!(sizes(&plan_of(&captured)), sizes(&plan_of(&two_sockets())));
}

#[test]
fn threads_share_arenas_where_they_can() {
    // Four columns, each with a chase and a stream arena for each of its four CPUs; rows share them.
    let snc = plan(&snc4(), What::All, &[]);
    let streams = snc.arenas.iter().filter(|arena| bytes(arena).0 == 's').count();
    // Sixteen, and eleven more on the target for loads from elsewhere (one place is the observer's).
    assert_eq!(streams, 16 + 11);
    let chases: Vec<_> = snc.arenas.iter().filter(|arena| bytes(arena).0 == 'c').collect();
    assert_eq!(chases.len(), 5, "one a node, and the observer's on base pages");
    assert_eq!(chases.iter().filter(|arena| arena.pages == Pages::Base).count(), 1);
    for arena in &snc.arenas {
        assert!(snc4().0.node(arena.node).unwrap().local_cpus.contains(arena.toucher), "{arena:?}");
    }
}

#[test]
fn reserved_pages_come_out_of_their_pool() {
    let lab = two_cpus().pool(0, 2 * MIB, 2000);
    let pooled = plan(&lab, What::Idle, &[("--pages", "2m")]);
    assert_eq!(sizes(&pooled), [('c', 2400 * MIB)]);
    assert!(pooled.budget.nodes[0].needed < MIB, "{:?}", pooled.budget);
    // 64 KiB base pages: no 2 MiB pages, a PMD in their place.
    let arm = two_cpus().pool(0, 512 * MIB, 9).with(|m| {
        (m.memory.page_bytes, m.memory.thp_bytes) = (64 << 10, none());
        m.cpu.architecture = "aarch64".into();
    });
    let pooled = plan(&arm, What::Idle, &[("--pages", "2m")]);
    assert_eq!((pooled.arenas[0].page_bytes, pooled.arenas[0].bytes), (512 * MIB, 5 * 512 * MIB));
}

#[test]
fn what_limits_is_said() {
    let notes = |lab: &Lab, what| plan(lab, what, &[]).notes.join("\n");
    assert!(notes(&hybrid(), What::Peak).contains("mix intel_core and intel_atom cores"));
    let quota = two_sockets().with(|m| m.limits.cpu_quota = Avail::Known(1.5));
    assert!(notes(&quota, What::Peak).contains("quota of 1.5 CPUs will throttle points of up to 16 threads"));
    let bound = two_sockets().with(|m| m.limits.memory_policy = Avail::Known("bind:1".into()));
    assert!(notes(&bound, What::Idle).contains("only memory of node 1 is used"));
    assert_eq!(plan(&bound, What::Idle, &[]).target, 1);
    let never = two_cpus().with(|m| m.memory.thp = Avail::Known("never".into()));
    assert!(notes(&never, What::Idle).contains("transparent huge pages: never"));
    assert!(plan(&never, What::All, &[]).arenas.iter().all(|arena| arena.pages == Pages::Base));
}
