//! A Linux error number as a plain value.

use std::{fmt, io};

/// A Linux error number, such as `EPERM`. Unlike [`io::Error`] it can be copied and compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// The calling thread's last error.
    pub(crate) fn last() -> Self {
        io::Error::last_os_error().into()
    }

    /// Whether the kernel or a sandbox forbids the call, or does not know it: the cases in which a
    /// fallback is due. `EPERM` is what container runtimes' seccomp profiles answer, `ENOSYS` what
    /// emulators and kernels without NUMA do.
    #[must_use]
    pub fn is_refusal(self) -> bool {
        matches!(self.0, libc::EPERM | libc::ENOSYS | libc::EACCES)
    }
}

impl From<io::Error> for Errno {
    fn from(error: io::Error) -> Self {
        // An error that std made up itself carries no number; EIO is the least specific one.
        Self(error.raw_os_error().unwrap_or(libc::EIO))
    }
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> Self {
        Self::from_raw_os_error(errno.0)
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        io::Error::from_raw_os_error(self.0).fmt(f)
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Errno({}: {self})", self.0)
    }
}

impl std::error::Error for Errno {}
