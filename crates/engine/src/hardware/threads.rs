//! Threads that may be refused: a user's or a container's limit on them is no reason to panic.

use crate::backend::Failure;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starts a thread in `scope`.
///
/// # Errors
///
/// [`Failure::Fatal`] where the kernel gives none: the next one would be refused, too.
pub fn spawn<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    work: impl FnOnce() -> T + Send + 's,
) -> Result<ScopedJoinHandle<'s, T>, Failure> {
    Builder::new()
        .spawn_scoped(scope, work)
        .map_err(|error| Failure::Fatal(format!("can't start a thread ({error}); raise ulimit -u or the cgroup's pids.max")))
}
