//! Peak read against likwid-bench: the same CPUs, bytes and pages, by one thread and by all.

use anyhow::{Result, bail};

use crate::peers::likwid::Likwid;
use crate::peers::options::Part;
use crate::peers::ours::{Figure, Placement, Void};
use crate::peers::quiet::Watch;
use crate::peers::ratios::{Comparison, Quantity, Slot};
use crate::peers::{Cell, Section, Setting};
use crate::say;

/// Placement classes of a pair of CPUs differ by more.
const SAME_CLASS: f64 = 1.8;

/// Both, or what is missing.
pub fn measure(setting: &Setting<'_>) -> Result<Result<Section, String>> {
    let peer = match Likwid::find(setting.machine) {
        Ok(peer) => peer,
        Err(absent) => return Ok(Err(absent)),
    };
    let all = peer.threads()?;
    let bytes = setting.machine.read_buffer(setting.buffer, all);
    // Asking for nothing, likwid-bench gets what the machine gives.
    let pages = setting.machine.default_pages();
    let about = format!(
        "{} against {}: {} MB a thread, {pages} pages; slots of ours, peer, peer again, less than a second of reading each",
        setting.ours.version()?,
        peer.version()?,
        bytes / 1_000_000
    );
    let mut counts = vec![1, all];
    counts.dedup();
    let cells = counts.into_iter().map(|threads| cell(setting, &peer, threads, bytes, pages)).collect();
    Ok(Ok(Section { part: Part::Read, about, cells }))
}

fn cell(setting: &Setting<'_>, peer: &Likwid, threads: u64, bytes: u64, pages: &str) -> Cell {
    let name = if threads == 1 { "read, 1 thread".to_owned() } else { format!("read, {threads} threads") };
    say::stage(&format!("{name}: {} slots", setting.pairs));
    let mut slots = Vec::new();
    let mut cell = Cell { name, ..Cell::default() };
    // A call that is refused once is refused always; what was measured before stays.
    if let Err(error) = fill(&Against { setting, peer, threads, bytes, pages }, &mut slots, &mut cell) {
        cell.ended = Some(format!("{error:#}"));
    }
    cell.comparison = Comparison::of(Quantity::Bandwidth, slots);
    cell
}

/// Who reads what.
struct Against<'a> {
    setting: &'a Setting<'a>,
    peer: &'a Likwid,
    threads: u64,
    bytes: u64,
    pages: &'a str,
}

fn fill(against: &Against<'_>, slots: &mut Vec<Slot>, cell: &mut Cell) -> Result<()> {
    let Against { setting, peer, threads, bytes, pages } = *against;
    let (passes, probe) = peer.probe(threads, bytes)?;
    let theirs = || -> Result<f64> {
        let run = peer.run(threads, bytes, passes)?;
        if run.cpus != probe.cpus {
            bail!("likwid-bench ran on CPUs {:?}, before on {:?}", run.cpus, probe.cpus);
        }
        Ok(run.bandwidth)
    };
    let ours = || setting.ours.read(&probe.cpus, pages, bytes);
    let mut watch = Watch::start();
    let mut before = ours()?;
    for _ in 0..setting.tries() {
        if slots.len() >= setting.pairs || !setting.in_time() {
            break;
        }
        let figure = match before {
            Ok(figure) => figure,
            Err(why) => {
                cell.void(why);
                watch = Watch::start();
                before = ours()?;
                continue;
            }
        };
        let (peer, again) = (theirs()?, theirs()?);
        let disturbance = watch.disturbance();
        // Ours of the next slot, and the witness that the host left the CPUs where they were.
        watch = Watch::start();
        let after = ours()?;
        match disturbance.map_or_else(|| usable(&figure, &after, bytes), Err) {
            Ok(ours) => {
                let [a, b, c] = [ours, peer, again].map(|value| value / 1e9);
                say::stage(&format!("  {}: {a:.2} GB/s, peer {b:.2}, again {c:.2}", slots.len() + 1));
                slots.push(Slot { ours, peer, again: Some(again) });
                cell.rejected += usize::from(figure.rejected);
            }
            Err(why) => cell.void(why),
        }
        before = after;
    }
    Ok(())
}

/// Ours of a slot, where the CPUs lay alike before and after the peer's runs.
fn usable(ours: &Figure, after: &Result<Figure, Void>, bytes: u64) -> Result<f64, Void> {
    if ours.bytes != bytes {
        return Err(format!("read {} bytes a thread, not {bytes}", ours.bytes));
    }
    let Placement::Apart(a) = ours.placement else {
        // One thread has no place relative to another.
        let indifferent = ours.placement == Placement::Indifferent;
        return if indifferent { Ok(ours.value) } else { Err(unknown()) };
    };
    match after.as_ref().map_err(|why| format!("next, {why}"))?.placement {
        Placement::Apart(b) if a.max(b) < a.min(b) * SAME_CLASS => Ok(ours.value),
        Placement::Apart(b) => Err(format!("the host moved the CPUs: {a} ns apart, then {b} ns")),
        Placement::Unknown | Placement::Indifferent => Err(unknown()),
    }
}

fn unknown() -> Void {
    "placement class unknown".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(placement: Placement) -> Figure {
        Figure { value: 5.0, bytes: 4096, placement, rejected: false }
    }

    #[test]
    fn slots_count_only_between_equal_placements() {
        let apart = |ns| at(Placement::Apart(ns));
        assert_eq!(usable(&apart(40.0), &Ok(apart(60.0)), 4096), Ok(5.0));
        assert_eq!(usable(&at(Placement::Indifferent), &Err("disturbed".to_owned()), 4096), Ok(5.0));
        for (before, after) in [
            (apart(41.0), Ok(apart(184.0))),
            (apart(184.0), Ok(apart(41.0))),
            (apart(41.0), Ok(at(Placement::Unknown))),
            (at(Placement::Unknown), Ok(apart(41.0))),
            (apart(41.0), Ok(at(Placement::Indifferent))),
            (apart(41.0), Err("disturbed".to_owned())),
        ] {
            assert!(usable(&before, &after, 4096).is_err(), "{before:?} {after:?}");
        }
        assert!(usable(&apart(40.0), &Ok(apart(40.0)), 8192).is_err());
    }
}
