//! One line between two CPUs by compare-and-swap, against core-to-core-latency.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::peers::child;
use crate::peers::part::Part;
use crate::peers::ratios::Quantity;
use crate::peers::rivals::named;
use crate::peers::slots::{Sides, cell};
use crate::peers::{Body, Section, Setting};

const NAME: &str = "core-to-core-latency";
/// 300 samples of 2000 round trips: a fifth of a second at 150 ns each way.
const ROUND_TRIPS: &str = "2000";
const SAMPLES: &str = "300";

/// One cell, or what is missing.
pub fn measure(setting: &Setting<'_>) -> Result<Result<Section, String>> {
    let origin = "github.com/nviennot/core-to-core-latency, built by cargo build --release";
    let binary = match named(NAME, "MEMGAUGE_CORE_TO_CORE_LATENCY", origin) {
        Ok(binary) => binary,
        Err(absent) => return Ok(Err(absent)),
    };
    let [first, second, ..] = setting.machine.cpus[..] else {
        return Ok(Err("a second CPU, for what lies between two".to_owned()));
    };
    let about = format!(
        "{} (`c2c --method pingpong`, kind cas) against {} (`--bench 1`, mean of {SAMPLES} samples): CPUs {first} and {second}, half a round trip, one placement class before and after",
        setting.ours.version()?,
        version(&binary),
    );
    let ours = || setting.ours.compare_and_swap(first, second);
    let theirs = || theirs(&binary, first, second);
    let sides = Sides { quantity: Quantity::Handover, bytes: None, ours: &ours, theirs: &theirs };
    let cells = vec![cell(setting, format!("compare-and-swap, CPUs {first} and {second}"), &sides)];
    Ok(Ok(Section { part: Part::C2c, about, body: Body::Cells(cells) }))
}

fn version(binary: &Path) -> String {
    // It has no option for it; its manifest lies above where cargo built it.
    let manifest = binary.ancestors().nth(3).and_then(|folder| std::fs::read_to_string(folder.join("Cargo.toml")).ok());
    let number = manifest.as_deref().and_then(|text| text.split_once("\nversion = \"")?.1.split('"').next());
    number.map_or_else(|| NAME.to_owned(), |number| format!("{NAME} {number}"))
}

fn theirs(binary: &Path, first: u64, second: u64) -> Result<f64> {
    let cores = format!("{first},{second}");
    let said = child::run(Command::new(binary).args([ROUND_TRIPS, SAMPLES, "--bench", "1", "--cores", &cores, "--csv"]))?;
    parse(&said).with_context(|| format!("{NAME} wrote no latency: {}", child::last_lines(&said)))
}

/// The lower left of a matrix: `,` and `240.4,`.
fn parse(said: &str) -> Option<f64> {
    let row = said.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    row.split(',').next()?.parse().ok().filter(|ns: &f64| ns.is_finite() && *ns > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_is_the_one_below_the_diagonal() {
        assert_eq!(parse(",\n240.40569666666659,\n"), Some(240.405_696_666_666_59));
        for bad in ["", ",\n,\n", ",\nnan,", "thread panicked"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
