//! The text behind `Invalid Argument:--help`. That of the Memory Latency Checker is its own; this one is ours.

use super::modes::Mode;
use super::options::ROWS;

/// Modes, options, and what is ours.
pub fn usage() -> String {
    let mut text = "Usage: mlc [mode] [options]\n\nModes (none: five of them, one after the other)\n".to_owned();
    Mode::ALL.iter().for_each(|mode| text.push_str(&format!("  --{:26} {}\n", mode.name(), mode.doc())));
    text.push_str("\nOptions\n");
    ROWS.iter().for_each(|row| text.push_str(&format!("  -{:27} {}\n", format!("{}{}", row.letter, row.value), row.doc)));
    text.push_str(
        "\nOf memgauge\n  --json FILE   the result with its uncertainty, as JSON\n  --out DIR     results and records\n  \
         --simulate M  a machine that is only described\n  --seed N      of every random choice\n  \
         --dry-run     say what would be done\n  --quiet       nothing on stderr but errors\n",
    );
    text
}
