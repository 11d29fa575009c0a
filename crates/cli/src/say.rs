//! The only place that writes to stdout and stderr.

use crate::environment;
use memgauge_render::Style;
use std::io::{self, IsTerminal, Write};

/// A result to stdout. A reader that has gone away (`| head`) has what it wanted: that is no error.
///
/// # Errors
///
/// What the system says otherwise: a full disk behind a redirection, or no stdout at all (`>&-`).
pub fn result(text: &str) -> io::Result<()> {
    if closed() {
        return Err(io::Error::other("closed"));
    }
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Is there no stdout? Whatever is printed would be lost.
pub fn closed() -> bool {
    memgauge_sys::stdio::stdout_was_closed()
}

/// One line to stderr. Where nobody can hear it there is nothing to be done about that.
pub fn line(text: &str) {
    let clean = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect::<String>();
    let _ = writeln!(io::stderr().lock(), "memgauge: {clean}");
}

/// Bytes to stderr as they are, for the progress line.
pub fn draw(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Colours for stdout, where it is a terminal that wants them.
pub fn style() -> Style {
    if io::stdout().is_terminal() && environment::colours() { Style::colour() } else { Style::plain() }
}

/// Can stderr show a line that redraws itself?
pub fn can_draw() -> bool {
    io::stderr().is_terminal() && !environment::plain_terminal()
}
