//! What goes wrong while the engine measures, done on purpose to the machine that runs the tests: by other threads and processes,
//! with what the system has for it. The engine knows nothing of it. Each time it must end soon, leave nothing behind, and the
//! record must name what happened.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod moved;
mod neighbour;
mod pages;
mod preempted;
mod scene;
mod stalled;
mod stopped;

#[path = "../../../sys/tests/common/part.rs"]
mod part;
#[path = "../../../sys/tests/common/split.rs"]
mod split;
#[path = "../support/streams.rs"]
mod streams;
#[path = "../support/mod.rs"]
mod support;
#[path = "../../../sys/tests/common/threads.rs"]
mod threads;
