//! Bandwidth against every peer that has the same loop: from memory, and from the first two levels of cache.

use anyhow::Result;

use crate::peers::part::Part;
use crate::peers::ratios::Quantity;
use crate::peers::rivals::{Duel, Rival, Want, find};
use crate::peers::slots::{Sides, cell};
use crate::peers::{Body, Cell, Section, Setting};

const ALL: [&str; 7] = ["read", "write", "write-nt", "copy", "copy-nt", "triad", "triad-nt"];

/// All that are found, or that none is.
pub fn measure(part: Part, setting: &Setting<'_>) -> Result<Result<Section, String>> {
    let (rivals, missing) = find();
    let machine = setting.machine;
    let mut counts = vec![1, machine.cpus.len()];
    counts.dedup();
    let (mut cells, mut against) = (Vec::new(), Vec::new());
    for rival in &rivals {
        for mix in mixes(part) {
            for count in &counts {
                let cpus = machine.cpus.get(..*count).unwrap_or_default();
                let working_set = working_set(part, setting, cpus.len() as u64);
                let want = Want { mix, cpus, working_set, machine };
                let Some(duel) = rival.duel(&want) else { continue };
                cells.push(measured(setting, rival.as_ref(), mix, duel));
                against.push(rival.about());
            }
        }
    }
    against.dedup();
    if cells.is_empty() {
        return Ok(Err(missing.join("; ")));
    }
    let about = format!(
        "{} against {}. {} of all streams of a thread ({} with all CPUs), {} pages. Slots of ours, peer, peer again. Ours measures 0.6 s in six \
         rounds, each with fresh memory, for which it takes some seconds besides; 0.7 s of likwid-bench{}",
        setting.ours.version()?,
        against.join(", "),
        said(working_set(part, setting, 1)),
        said(working_set(part, setting, machine.cpus.len() as u64)),
        machine.default_pages(),
        if missing.is_empty() { String::new() } else { format!(". Not found: {}", missing.join("; ")) },
    );
    Ok(Ok(Section { part, about, body: Body::Cells(cells) }))
}

fn mixes(part: Part) -> &'static [&'static str] {
    match part {
        Part::Read => &["read"],
        Part::Write => &["write", "write-nt"],
        Part::Copy => &["copy", "copy-nt"],
        Part::Triad => &["triad", "triad-nt"],
        _ => &ALL,
    }
}

/// Half of a private cache, so that nothing else has to leave it.
fn working_set(part: Part, setting: &Setting<'_>, threads: u64) -> u64 {
    let machine = setting.machine;
    match part {
        Part::L1 => machine.l1 / 2,
        Part::L2 => machine.l2 / 2,
        _ => machine.memory_set(setting.buffer, threads),
    }
}

fn measured(setting: &Setting<'_>, rival: &dyn Rival, mix: &str, duel: Result<Duel<'_>>) -> Cell {
    let duel = match duel {
        Ok(duel) => duel,
        Err(error) => {
            return Cell { name: format!("{mix}, {}", rival.about()), ended: Some(format!("{error:#}")), ..Cell::default() };
        }
    };
    let ours = || setting.ours.peak(duel.mixes, &duel.cpus, duel.pages, duel.bytes);
    let sides = Sides { quantity: Quantity::Bandwidth, bytes: Some(duel.bytes), ours: &ours, theirs: &duel.theirs };
    cell(setting, duel.name.clone(), &sides)
}

fn said(bytes: u64) -> String {
    if bytes < 4 << 20 { format!("{} KiB", bytes >> 10) } else { format!("{} MiB", bytes >> 20) }
}
