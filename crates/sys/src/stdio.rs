//! Was stdout open when the program began? Rust's start opens `/dev/null` in the place of a closed descriptor, and what is
//! written there is lost in silence: only what runs before it can tell.

use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the section is a list of functions of this kind, which the C library calls once each before `main`; this one needs
// nothing that Rust's start prepares.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: asks for a descriptor's flags and changes nothing.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    STDOUT_CLOSED.store(flags < 0, Ordering::Relaxed);
}

/// Was stdout closed (`>&-`) when the program was started? What is printed then is lost.
#[must_use]
pub fn stdout_was_closed() -> bool {
    STDOUT_CLOSED.load(Ordering::Relaxed)
}
