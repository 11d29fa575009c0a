//! The only place in xtask that prints.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer tool talks to its terminal; everything goes through here"
)]

/// One line of result.
pub fn line(text: &str) {
    println!("{text}");
}

/// What is being done now; to stderr, where cargo's own progress goes.
pub fn stage(text: &str) {
    eprintln!("── {text}");
}

/// Why a command failed.
pub fn error(text: &str) {
    eprintln!("{text}");
}
