//! Hardware and software counters through `perf_event_open`.

use std::{
    fs::File,
    io::Read,
    os::fd::{FromRawFd, OwnedFd, RawFd},
};

use libc::{c_int, c_long, c_ulong};

use crate::{errno::Errno, raw};

/// The part of `perf_event_attr` that has been there since Linux 2.6.34 (`PERF_ATTR_SIZE_VER1`); libc has none of it.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    config1: u64,
    config2: u64,
}

/// `PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING`.
const WITH_TIMES: u64 = 3;
/// `exclude_kernel` and `exclude_hv`.
const USER_ONLY: u64 = 1 << 5 | 1 << 6;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: c_ulong = 8;

/// An event, as `perf_event_attr` has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The PMU's type number.
    pub kind: u32,
    /// `config`, `config1`, `config2`.
    pub config: [u64; 3],
}

/// A reading: counts since the counter was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    /// Counts.
    pub value: u64,
    /// Time enabled, ns.
    pub enabled_ns: u64,
    /// Time that the event had a hardware counter, ns.
    pub running_ns: u64,
}

/// Why a counter could not be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PerfError {
    /// `kernel.perf_event_paranoid`, a missing `CAP_PERFMON`, a sandbox, or too many open files.
    #[error("not allowed to count: {errno}")]
    NoPermission {
        /// The kernel's answer.
        errno: Errno,
    },
    /// This CPU or its hypervisor has no such event, or all hardware counters are taken.
    #[error("no such counter here: {errno}")]
    NotPresent {
        /// The kernel's answer.
        errno: Errno,
    },
    /// The kernel or this PMU can't count so.
    #[error("can't be counted so: {errno}")]
    NotSupported {
        /// The kernel's answer.
        errno: Errno,
    },
}

impl From<Errno> for PerfError {
    fn from(errno: Errno) -> Self {
        match errno.0 {
            libc::EPERM | libc::EACCES | libc::EMFILE | libc::ENFILE => Self::NoPermission { errno },
            libc::ENOENT | libc::ENODEV | libc::ENXIO | libc::EBUSY | libc::ENOSPC => Self::NotPresent { errno },
            _ => Self::NotSupported { errno },
        }
    }
}

/// A counter that counts from its opening to its end.
#[derive(Debug)]
pub struct Counter(File);

impl Counter {
    /// Counts the calling thread in user mode, on whatever CPU it runs. Takes `kernel.perf_event_paranoid` of 2 or less.
    ///
    /// # Errors
    ///
    /// A [`PerfError`].
    pub fn of_this_thread(event: Event) -> Result<Self, PerfError> {
        Self::open(event, USER_ONLY, 0, -1)
    }

    /// Counts all that a PMU sees which belongs to `cpu`'s package or die. Takes `CAP_PERFMON`, or
    /// `kernel.perf_event_paranoid` of 0 or less.
    ///
    /// # Errors
    ///
    /// A [`PerfError`].
    pub fn of_cpu(event: Event, cpu: u32) -> Result<Self, PerfError> {
        let cpu = c_int::try_from(cpu).map_err(|_| Errno(libc::ENODEV))?;
        // Such PMUs know no modes, so that none can be left out.
        Self::open(event, 0, -1, cpu)
    }

    /// Reads it: one system call, no allocation. The counter of another CPU takes an interrupt there.
    ///
    /// # Errors
    ///
    /// The kernel's; the counter of a CPU that went offline reads nothing (`EIO`).
    pub fn read(&self) -> Result<Reading, Errno> {
        let mut bytes = [0; 24];
        let mut file = &self.0;
        if file.read(&mut bytes).map_err(Errno::from)? != bytes.len() {
            return Err(Errno(libc::EIO));
        }
        let word = |at: usize| bytes[at..].first_chunk().map_or(0, |word| u64::from_ne_bytes(*word));
        Ok(Reading { value: word(0), enabled_ns: word(8), running_ns: word(16) })
    }

    fn open(event: Event, flags: u64, process: c_int, cpu: c_int) -> Result<Self, PerfError> {
        let [config, config1, config2] = event.config;
        let size = u32::try_from(size_of::<Attributes>()).unwrap_or(0);
        let attributes =
            Attributes { kind: event.kind, size, config, config1, config2, read_format: WITH_TIMES, flags, ..Default::default() };
        let (group, attributes) = (-1 as c_int, &raw const attributes);
        // SAFETY: the kernel reads `size` bytes of the live attributes and gives back a new file or an error.
        let opened = unsafe { libc::syscall(libc::SYS_perf_event_open, attributes, process, cpu, group, CLOSE_ON_EXEC) };
        let number = raw::check(opened as c_long)?;
        let number = RawFd::try_from(number).map_err(|_| PerfError::from(Errno(libc::EBADF)))?;
        // SAFETY: the kernel has just made this file for us, and nobody else knows its number.
        let file = unsafe { OwnedFd::from_raw_fd(number) };
        Ok(Self(file.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `PERF_TYPE_SOFTWARE`: present on every kernel that has perf events at all.
    fn software(config: u64) -> Event {
        Event { kind: 1, config: [config, 0, 0] }
    }

    const TASK_CLOCK: u64 = 1;
    const PAGE_FAULTS: u64 = 2;

    /// None where a sandbox or the kernel refuses.
    fn counter(event: Event) -> Option<Counter> {
        match Counter::of_this_thread(event) {
            Ok(counter) => Some(counter),
            // A sandbox's seccomp profile, or a kernel without perf events.
            Err(PerfError::NoPermission { .. } | PerfError::NotSupported { errno: Errno(libc::ENOSYS) }) => None,
            Err(error) => panic!("{error:?}"),
        }
    }

    #[test]
    fn page_faults_of_this_thread_are_counted() {
        let Some(counter) = counter(software(PAGE_FAULTS)) else { return };
        let before = counter.read().unwrap();
        let pages = 64;
        let mut touched = vec![0u8; pages << 16];
        (0..pages).for_each(|page| touched[page << 16] = std::hint::black_box(1));
        let after = counter.read().unwrap();
        assert!(after.value >= before.value + pages as u64 / 2, "{before:?} {after:?}");
        assert!(after.running_ns > before.running_ns && after.enabled_ns >= after.running_ns, "{before:?} {after:?}");
    }

    #[test]
    fn only_the_thread_that_opened_it_is_counted() {
        let Some(counter) = counter(software(TASK_CLOCK)) else { return };
        let before = counter.read().unwrap().value;
        let other = std::thread::spawn(|| (0..3_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
        other.join().unwrap();
        let idle = counter.read().unwrap().value - before;
        (0..30_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n));
        let busy = counter.read().unwrap().value - before - idle;
        assert!(busy > idle, "{busy} {idle}");
    }

    #[test]
    fn what_is_not_there_is_no_panic() {
        let event = Event { kind: u32::MAX - 1, config: [0; 3] };
        assert!(Counter::of_this_thread(event).is_err());
        assert!(Counter::of_cpu(software(TASK_CLOCK), 1 << 20).is_err());
        assert_eq!(Counter::of_cpu(event, u32::MAX).unwrap_err(), PerfError::NotPresent { errno: Errno(libc::ENODEV) });
    }

    #[test]
    fn refusals_have_kinds() {
        let kind = |errno| PerfError::from(Errno(errno));
        for errno in [libc::EPERM, libc::EACCES, libc::EMFILE] {
            assert_eq!(kind(errno), PerfError::NoPermission { errno: Errno(errno) });
        }
        for errno in [libc::ENOENT, libc::ENODEV, libc::EBUSY] {
            assert_eq!(kind(errno), PerfError::NotPresent { errno: Errno(errno) });
        }
        for errno in [libc::EINVAL, libc::EOPNOTSUPP, libc::ENOSYS] {
            assert_eq!(kind(errno), PerfError::NotSupported { errno: Errno(errno) });
        }
    }
}
