//! Small facts about this process and the kernel it runs on.

use std::ffi::CStr;

use libc::c_char;

/// What `uname` tells.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Uname {
    /// The host's name, without a domain where the administrator set none.
    pub host: String,
    /// The kernel's release, such as `6.12.9-amd64`.
    pub release: String,
    /// The kernel's build, with its date.
    pub version: String,
    /// The machine's architecture, such as `x86_64`.
    pub machine: String,
}

/// Asks `uname`; empty strings if that fails, which no Linux does.
#[must_use]
pub fn uname() -> Uname {
    let empty = [0; 65];
    let mut name =
        libc::utsname { sysname: empty, nodename: empty, release: empty, version: empty, machine: empty, domainname: empty };
    // SAFETY: the pointer is to a live utsname that libc may write.
    let returned = unsafe { libc::uname(&raw mut name) };
    if returned != 0 {
        return Uname::default();
    }
    Uname { host: text(&name.nodename), release: text(&name.release), version: text(&name.version), machine: text(&name.machine) }
}

/// The host's name.
#[must_use]
pub fn hostname() -> String {
    uname().host
}

/// The effective user id; 0 is root.
#[must_use]
pub fn geteuid() -> u32 {
    // SAFETY: takes nothing, returns a number, cannot fail.
    unsafe { libc::geteuid() }
}

/// The largest resident memory of this process so far, in bytes.
#[must_use]
pub fn peak_rss_bytes() -> Option<u64> {
    let usage = rusage(Who::Process)?;
    u64::try_from(usage.ru_maxrss).ok().map(|kib| kib * 1024)
}

/// Whose resources are asked for.
#[derive(Clone, Copy)]
pub(crate) enum Who {
    Process,
    Thread,
}

pub(crate) fn rusage(who: Who) -> Option<libc::rusage> {
    let who = match who {
        Who::Process => libc::RUSAGE_SELF,
        Who::Thread => libc::RUSAGE_THREAD,
    };
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to memory of a rusage's size that libc may write.
    let returned = unsafe { libc::getrusage(who, usage.as_mut_ptr()) };
    // SAFETY: a rusage is integers only, for which the zeroes put there are valid.
    let usage = unsafe { usage.assume_init() };
    (returned == 0).then_some(usage)
}

fn text(field: &[c_char]) -> String {
    let bytes: Vec<u8> = field.iter().map(|&c| c.cast_unsigned_byte()).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map_or_else(|_| String::from_utf8_lossy(&bytes).into_owned(), |text| text.to_string_lossy().into_owned())
}

/// `c_char` is signed on some architectures and not on others.
trait ToByte {
    fn cast_unsigned_byte(self) -> u8;
}

impl ToByte for i8 {
    fn cast_unsigned_byte(self) -> u8 {
        self.cast_unsigned()
    }
}

impl ToByte for u8 {
    fn cast_unsigned_byte(self) -> u8 {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uname_is_what_proc_says() {
        let proc = |name| std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap();
        let got = uname();
        assert_eq!(got.host, proc("hostname").trim_end());
        assert!(!got.machine.is_empty());
        // An emulator may claim another release than the kernel underneath.
        assert!(got.release.starts_with(|c: char| c.is_ascii_digit()), "{got:?}");
    }

    #[test]
    fn peak_memory_grows_with_use() {
        let before = peak_rss_bytes().unwrap();
        let held = vec![1u8; 64 << 20];
        let after = peak_rss_bytes().unwrap();
        assert_eq!(std::hint::black_box(&held)[1 << 20], 1);
        assert!(after >= 64 << 20 && after >= before, "{before} then {after}");
    }
}
