//! A child as a person at a terminal would start it, for tests of the binary.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Signals have their default action in what the command starts, whatever this process was started with: a background job
/// of a script ignores SIGINT, and what it starts would, too.
pub fn with_default_signals(command: &mut Command) -> &mut Command {
    let reset = || {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: async-signal-safe; the default action is no function of ours.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec it does only async-signal-safe things, and allocates nothing.
    unsafe { command.pre_exec(reset) }
}

/// Sends a signal to a child that has not been waited for.
pub fn send(child: &std::process::Child, signal: i32) {
    // SAFETY: sends a signal; the number is the child's as long as nobody waited for it.
    let returned = unsafe { libc::kill(child.id().cast_signed(), signal) };
    assert_eq!(returned, 0, "{}", std::io::Error::last_os_error());
}
