//! The first Ctrl-C asks to stop; the second one kills.

use std::{
    io,
    sync::{
        Once,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    time::{Duration, Instant},
};

use libc::c_int;

/// A signal that asked the program to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// What `kill`, `timeout` and batch systems send.
    Terminate,
    /// The terminal went away.
    Hangup,
}

impl Signal {
    const ALL: [Self; 3] = [Self::Interrupt, Self::Terminate, Self::Hangup];

    /// The signal's number; a shell reports 128 + that as the exit code.
    #[must_use]
    pub fn number(self) -> i32 {
        match self {
            Self::Interrupt => libc::SIGINT,
            Self::Terminate => libc::SIGTERM,
            Self::Hangup => libc::SIGHUP,
        }
    }
}

/// The number of the first signal, 0 before.
static RECEIVED: AtomicI32 = AtomicI32::new(0);
/// Set with it: what loops poll.
static STOP: AtomicBool = AtomicBool::new(false);
/// An eventfd that becomes readable with it, so that a sleeper wakes whichever thread was hit.
static WAKE: AtomicI32 = AtomicI32::new(-1);
/// Whether the handler stands, for [`Signal::ALL`] in order.
static CAUGHT: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

/// Catches SIGINT, SIGTERM and SIGHUP from now on, except those that the caller had ignored
/// (`nohup`, background jobs). After the first one, all have their default action again: a second
/// one ends the program at once. Calling it again does nothing.
///
/// # Errors
///
/// What the kernel answers; what was caught by then stays caught.
pub fn install() -> io::Result<()> {
    static ONCE: Once = Once::new();
    let mut result = Ok(());
    ONCE.call_once(|| {
        // SAFETY: takes numbers, returns a file descriptor or −1.
        let wake = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        // SAFETY: ignoring is no function of ours. A file beyond ulimit -f is then an error of the write, not our end.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        // Without one, sleepers fall back to short naps.
        WAKE.store(wake, Ordering::Release);
        result = Signal::ALL.into_iter().zip(&CAUGHT).try_for_each(|(signal, caught)| {
            if !is_ignored(signal)? {
                // Before the handler can run, since it reads this.
                caught.store(true, Ordering::Release);
                catch(signal)?;
            }
            Ok(())
        });
    });
    result
}

/// The signal that asked to stop, if one did.
#[must_use]
pub fn stop_requested() -> Option<Signal> {
    let number = RECEIVED.load(Ordering::Acquire);
    Signal::ALL.into_iter().find(|signal| signal.number() == number)
}

/// The flag that is set when a signal asks to stop. Loops poll it (one relaxed load).
#[must_use]
pub fn stop_flag() -> &'static AtomicBool {
    &STOP
}

/// Sleeps for `duration`, or until a signal asks to stop; returns whether one did. Nothing runs in
/// between: no polling disturbs what is measured.
pub fn sleep_unless_stopped(duration: Duration) -> bool {
    let end = Instant::now() + duration;
    while !STOP.load(Ordering::Acquire) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        wait_for_wake(left);
    }
    true
}

/// Sends a signal to a process that we started and have not yet waited for.
///
/// # Errors
///
/// What the kernel answers; no such process once it has ended.
pub fn send(process: u32, signal: Signal) -> io::Result<()> {
    let process = libc::pid_t::try_from(process).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
    // SAFETY: takes numbers; it signals others only.
    let returned = unsafe { libc::kill(process, signal.number()) };
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Keeps the calling thread from being chosen to run the handlers: a measuring worker calls this,
/// so that a signal hits the main thread instead.
///
/// # Errors
///
/// What the kernel answers.
pub fn block_in_this_thread() -> io::Result<()> {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the pointer is to memory of a set's size that libc may write.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for signal in Signal::ALL {
        // SAFETY: the set was initialised by sigemptyset.
        unsafe { libc::sigaddset(set.as_mut_ptr(), signal.number()) };
    }
    // SAFETY: the set is initialised, the old one is not asked for.
    let error = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut()) };
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

/// Gives SIGPIPE its default action back, which Rust's start-up code takes away: a program whose
/// output goes to `head` should end quietly when that closes the pipe.
pub fn restore_default_sigpipe() {
    // SAFETY: the default action is no function of ours, so nothing of ours runs in it.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// The handler. Only atomics and calls that POSIX lists as async-signal-safe.
extern "C" fn on_signal(number: c_int) {
    // The interrupted code may be between a failed call and its look at errno.
    let errno = io::Error::last_os_error().raw_os_error().unwrap_or(0);
    let _ = RECEIVED.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
    STOP.store(true, Ordering::Release);
    for (signal, caught) in Signal::ALL.into_iter().zip(&CAUGHT) {
        if caught.load(Ordering::Acquire) {
            // SAFETY: async-signal-safe; only takes back a handler that this module set.
            unsafe { libc::signal(signal.number(), libc::SIG_DFL) };
        }
    }
    let one = 1u64;
    // SAFETY: async-signal-safe; reads the eight bytes of `one`, and −1 is a harmless descriptor.
    unsafe { libc::write(WAKE.load(Ordering::Acquire), (&raw const one).cast(), 8) };
    // SAFETY: returns the address of this thread's errno.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: that address is valid for this thread's life.
    unsafe { *place = errno };
}

fn is_ignored(signal: Signal) -> io::Result<bool> {
    let mut old = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: sets nothing; the pointer is to memory of a sigaction's size that libc may write.
    let returned = unsafe { libc::sigaction(signal.number(), std::ptr::null(), old.as_mut_ptr()) };
    if returned != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroes are a valid sigaction, and libc has filled it in.
    let old = unsafe { old.assume_init() };
    Ok(old.sa_sigaction == libc::SIG_IGN)
}

fn catch(signal: Signal) -> io::Result<()> {
    // SAFETY: zeroes are a valid sigaction: an empty mask and no flags.
    let mut action = unsafe { std::mem::zeroed::<libc::sigaction>() };
    action.sa_sigaction = on_signal as extern "C" fn(c_int) as libc::sighandler_t;
    // The kernel itself takes the handler away as it runs; interrupted reads go on by themselves,
    // since who must stop polls the flag.
    action.sa_flags = libc::SA_RESETHAND | libc::SA_RESTART;
    // SAFETY: the handler has the right type and does only async-signal-safe things.
    let returned = unsafe { libc::sigaction(signal.number(), &raw const action, std::ptr::null_mut()) };
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Waits until the eventfd is readable, at most `left` (or a nap, where there is none).
fn wait_for_wake(left: Duration) {
    let fd = WAKE.load(Ordering::Acquire);
    if fd < 0 {
        std::thread::sleep(left.min(Duration::from_millis(100)));
        return;
    }
    let mut wait = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // Rounded up, so that the last millisecond is slept and not spun.
    let millis = left.as_nanos().div_ceil(1_000_000);
    let millis = c_int::try_from(millis).unwrap_or(c_int::MAX);
    // SAFETY: the pointer is to one live pollfd. Time-outs and interruptions need no telling apart:
    // the caller looks at the flag and the clock.
    unsafe { libc::poll(&raw mut wait, 1, millis) };
}
