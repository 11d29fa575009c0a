//! A terminal of one's own, for tests of the binary.

use std::fs::File;
use std::os::fd::FromRawFd;

/// A terminal: what one writes to the second is read from the first.
pub fn open() -> (File, File) {
    let (mut screen, mut line) = (-1, -1);
    let none = std::ptr::null_mut();
    // SAFETY: libc writes the two descriptors; name, settings and size are not asked for.
    let returned = unsafe { libc::openpty(&raw mut screen, &raw mut line, none, std::ptr::null(), std::ptr::null()) };
    assert_eq!(returned, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: just opened, and nobody else's.
    let screen = unsafe { File::from_raw_fd(screen) };
    // SAFETY: just opened, and nobody else's.
    let line = unsafe { File::from_raw_fd(line) };
    (screen, line)
}
