//! What happens to a thread from outside, for tests of this crate and of others.

#![expect(clippy::unwrap_used, reason = "a test's helper")]

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A thread of this process that may run on this CPU alone; waited for as long as a busy machine may take to start one.
pub fn pinned_to(cpu: u32) -> Option<i32> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(3) {
        let found = fs::read_dir("/proc/self/task").unwrap().filter_map(|entry| {
            let thread = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let status = fs::read_to_string(format!("/proc/self/task/{thread}/status")).ok()?;
            let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
            (allowed.trim() == cpu.to_string()).then_some(thread)
        });
        if let Some(thread) = found.into_iter().next() {
            return Some(thread);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    None
}

/// Lets a thread run on this CPU only, as a cpuset that shrinks does: the kernel moves it at once. False: it has ended.
pub fn move_to(thread: i32, cpu: u32) -> bool {
    let mut mask = [0_u64; 128];
    mask[cpu as usize / 64] = 1 << (cpu % 64);
    // SAFETY: the kernel reads `size_of_val(&mask)` bytes, all of `mask`.
    let returned = unsafe { libc::syscall(libc::SYS_sched_setaffinity, thread, size_of_val(&mask), mask.as_ptr()) };
    returned == 0
}

/// The calling thread runs before all others of its CPU, as interrupt threads do. False where that takes rights.
pub fn outrank_all() -> bool {
    let parameter = libc::sched_param { sched_priority: 1 };
    // SAFETY: the kernel reads the one parameter; 0 is the calling thread.
    let returned = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) };
    returned == 0
}

static STALL_MS: AtomicU64 = AtomicU64::new(0);

/// Has a thread of this process sleep wherever it is: it stands still without waiting for a CPU, as one does whose virtual CPU
/// the host has taken away.
pub fn stall(thread: i32, time: Duration) {
    STALL_MS.store(u64::try_from(time.as_millis()).unwrap(), Ordering::Release);
    let handler = sleep_here as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler has the right type and does only async-signal-safe things.
    unsafe { libc::signal(libc::SIGUSR1, handler) };
    // SAFETY: sends a signal that is handled.
    unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), thread, libc::SIGUSR1) };
}

extern "C" fn sleep_here(_: libc::c_int) {
    let ms = STALL_MS.load(Ordering::Acquire);
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(ms / 1000).unwrap_or(0),
        tv_nsec: libc::c_long::try_from(ms % 1000 * 1_000_000).unwrap_or(0),
    };
    // SAFETY: async-signal-safe; reads one timespec.
    unsafe { libc::nanosleep(&raw const time, std::ptr::null_mut()) };
}
