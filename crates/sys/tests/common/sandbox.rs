//! A real sandbox for the tests, of this crate and of the binary.

#![expect(clippy::unwrap_used, reason = "a test's helper")]

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use std::collections::BTreeMap;

/// Refuses system calls, by number and with an error number each, to the calling thread and what it
/// starts, for good: what a container's seccomp profile does. Not available under emulation.
pub fn refuse(calls: &[(libc::c_long, i32)]) -> Result<(), seccompiler::Error> {
    let mut by_errno: BTreeMap<i32, BTreeMap<i64, Vec<_>>> = BTreeMap::new();
    for (number, errno) in calls {
        by_errno.entry(*errno).or_default().insert(*number, Vec::new());
    }
    for (errno, rules) in by_errno {
        // A filter has one answer; of several filters the strictest answer counts.
        let answer = SeccompAction::Errno(errno.cast_unsigned());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, std::env::consts::ARCH.try_into().unwrap()).unwrap();
        let program: BpfProgram = filter.try_into().unwrap();
        apply_filter(&program)?;
    }
    Ok(())
}
