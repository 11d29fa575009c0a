//! What the scheduler did to the calling thread: waiting, switches, faults.

use std::{fs::File, marker::PhantomData, os::unix::fs::FileExt};

use crate::proc::{Who, rusage};

/// Counters of one thread since it began. Differences of two samples count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadSample {
    /// Time on a CPU, ns. `None` where the kernel has no schedstat.
    pub run_ns: Option<u64>,
    /// Time spent runnable but waiting for a CPU, ns. `None` where the kernel has no schedstat.
    pub wait_ns: Option<u64>,
    /// Times the thread was taken off its CPU while it wanted to run.
    pub invol_switches: u64,
    /// Times the thread gave its CPU up.
    pub vol_switches: u64,
    /// Page faults that needed no IO.
    pub minor_faults: u64,
    /// Page faults that needed IO.
    pub major_faults: u64,
}

/// Reads the counters of the thread that opened it, and of no other: it can't leave its thread.
#[derive(Debug)]
pub struct ThreadStats {
    schedstat: Option<File>,
    /// `getrusage` answers for the calling thread, so the file must be that thread's too.
    not_send: PhantomData<*const ()>,
}

impl ThreadStats {
    /// Opens the calling thread's counters. Never fails: what is missing reads as `None`.
    #[must_use]
    pub fn open() -> Self {
        // `thread-self` is resolved now, so the file stays this thread's.
        let schedstat = File::open("/proc/thread-self/schedstat").ok();
        Self { schedstat, not_send: PhantomData }
    }

    /// Reads the counters: two system calls (about a microsecond), no allocation.
    #[must_use]
    pub fn read(&self) -> ThreadSample {
        let times = self.schedstat.as_ref().and_then(read_schedstat);
        let counts = rusage(Who::Thread);
        let count = |field: fn(&libc::rusage) -> libc::c_long| {
            counts.as_ref().map_or(0, |usage| u64::try_from(field(usage)).unwrap_or(0))
        };
        ThreadSample {
            run_ns: times.map(|(run, _)| run),
            wait_ns: times.map(|(_, wait)| wait),
            invol_switches: count(|usage| usage.ru_nivcsw),
            vol_switches: count(|usage| usage.ru_nvcsw),
            minor_faults: count(|usage| usage.ru_minflt),
            major_faults: count(|usage| usage.ru_majflt),
        }
    }
}

fn read_schedstat(file: &File) -> Option<(u64, u64)> {
    // Three numbers of at most 20 digits.
    let mut buffer = [0; 80];
    let length = file.read_at(&mut buffer, 0).ok()?;
    parse_schedstat(&buffer[..length])
}

/// `run wait slices`. A thread that reads this has run, so three zeroes mean that the kernel was
/// built or told not to count.
fn parse_schedstat(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut numbers = std::str::from_utf8(bytes).ok()?.split_ascii_whitespace();
    let mut next = || numbers.next()?.parse::<u64>().ok();
    let (run, wait, slices) = (next()?, next()?, next()?);
    (run != 0 || slices != 0).then_some((run, wait))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arena, ArenaSpec, Pages};

    #[test]
    fn schedstat_parses_or_is_nothing() {
        assert_eq!(parse_schedstat(b"4711 815 3\n"), Some((4711, 815)));
        assert_eq!(parse_schedstat(b"18446744073709551615 0 1\n"), Some((u64::MAX, 0)));
        for bad in [&b"0 0 0\n"[..], b"", b"1 2", b"1 x 3", b"\xff"] {
            assert_eq!(parse_schedstat(bad), None);
        }
    }

    /// Faults for each of 16 MiB of base pages: 256 times at least.
    fn fault() {
        let spec = ArenaSpec { bytes: 16 << 20, pages: Pages::Base, node: None, guard: false };
        Arena::map(&spec).unwrap().as_mut_slice().fill(1);
    }

    #[test]
    fn counters_belong_to_the_thread() {
        let stats = ThreadStats::open();
        let before = stats.read();
        std::thread::scope(|scope| {
            scope.spawn(fault);
        });
        let other = stats.read();
        fault();
        let own = stats.read();
        let faults = |a: ThreadSample, b: ThreadSample| b.minor_faults - a.minor_faults;
        // (An emulator adds some of its own.)
        assert!(faults(before, other) < 200, "{before:?} {other:?}");
        assert!(faults(other, own) >= 256, "{other:?} {own:?}");
        if let (Some(a), Some(b)) = (before.run_ns, own.run_ns) {
            assert!(b > a);
        }
    }

    #[test]
    fn a_missing_file_degrades() {
        let stats = ThreadStats { schedstat: None, not_send: PhantomData };
        fault();
        let sample = stats.read();
        assert_eq!((sample.run_ns, sample.wait_ns), (None, None));
        assert!(sample.minor_faults >= 256, "{sample:?}");
    }
}
