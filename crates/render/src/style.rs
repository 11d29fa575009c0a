//! What may be coloured. The caller decides whether anything is.

use anstyle::{AnsiColor, Style as Ansi};

/// One style a role. [`Style::plain`] writes no escape at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// Names of sections.
    pub heading: Ansi,
    /// The figures that the eye should find.
    pub figure: Ansi,
    /// Conditions and small print.
    pub dim: Ansi,
    /// Nothing against it.
    pub good: Ansi,
    /// Read this first.
    pub warn: Ansi,
    /// Not to be relied on.
    pub bad: Ansi,
}

impl Style {
    /// No colours.
    #[must_use]
    pub fn plain() -> Self {
        Self::default()
    }

    /// Colours of the terminal's own palette, so that they suit its background.
    #[must_use]
    pub fn colour() -> Self {
        Self {
            heading: Ansi::new().bold(),
            figure: AnsiColor::Cyan.on_default().bold(),
            dim: Ansi::new().dimmed(),
            good: AnsiColor::Green.on_default(),
            warn: AnsiColor::Yellow.on_default().bold(),
            bad: AnsiColor::Red.on_default().bold(),
        }
    }
}

/// `text` in `style`.
pub fn paint(style: Ansi, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

/// Columns that a painted text takes on a terminal.
pub fn width(text: &str) -> usize {
    let escapes = text.split('\u{1b}').skip(1).filter_map(|rest| rest.find('m')).map(|end| end + 2).sum::<usize>();
    text.chars().count() - escapes
}

/// Text from files and command lines, made harmless to terminals and to line-based readers.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
