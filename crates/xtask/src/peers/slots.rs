//! Slots of ours, the peer, and the peer again, in turns, until enough of them count.

use anyhow::Result;

use crate::peers::ours::{Figure, Placement, Void};
use crate::peers::quiet::Watch;
use crate::peers::ratios::{Comparison, Quantity, Slot};
use crate::peers::{Cell, Setting};
use crate::say;

/// Placement classes of a pair of CPUs differ by more.
const SAME_CLASS: f64 = 1.8;

/// Both sides of a cell.
pub struct Sides<'a> {
    pub quantity: Quantity,
    /// That ours must have used; None where there is no buffer.
    pub bytes: Option<u64>,
    pub ours: &'a dyn Fn() -> Result<Result<Figure, Void>>,
    pub theirs: &'a dyn Fn() -> Result<f64>,
}

/// The cell, as far as it came: a call that is refused once is refused always, and what was measured before stays.
pub fn cell(setting: &Setting<'_>, name: String, sides: &Sides<'_>) -> Cell {
    say::stage(&format!("{name}: {} slots", setting.pairs));
    let mut slots = Vec::new();
    let mut cell = Cell { name, ..Cell::default() };
    if let Err(error) = fill(setting, sides, &mut slots, &mut cell) {
        cell.ended = Some(format!("{error:#}"));
    }
    cell.comparison = Comparison::of(sides.quantity, slots);
    cell
}

fn fill(setting: &Setting<'_>, sides: &Sides<'_>, slots: &mut Vec<Slot>, cell: &mut Cell) -> Result<()> {
    let mut watch = Watch::start();
    let mut before = (sides.ours)()?;
    for _ in 0..setting.tries() {
        if slots.len() >= setting.pairs || !setting.in_time() {
            break;
        }
        let figure = match before {
            Ok(figure) => figure,
            Err(why) => {
                cell.void(why);
                watch = Watch::start();
                before = (sides.ours)()?;
                continue;
            }
        };
        let (peer, again) = ((sides.theirs)()?, (sides.theirs)()?);
        let disturbance = watch.disturbance();
        // Ours of the next slot, and the witness that the host left the CPUs where they were.
        watch = Watch::start();
        let after = (sides.ours)()?;
        match disturbance.map_or_else(|| usable(&figure, &after, sides.bytes), Err) {
            Ok(ours) => {
                let [a, b, c] = [ours, peer, again].map(|value| sides.quantity.said(value));
                say::stage(&format!("  {}: {a}, peer {b}, again {c}", slots.len() + 1));
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
fn usable(ours: &Figure, after: &Result<Figure, Void>, bytes: Option<u64>) -> Result<f64, Void> {
    if ours.bytes != bytes {
        return Err(format!("used {:?} bytes a stream, not {bytes:?}", ours.bytes));
    }
    let Placement::Apart(a) = ours.placement else {
        // One thread has no place relative to another.
        let indifferent = ours.placement == Placement::Indifferent;
        return if indifferent { Ok(ours.value) } else { Err(unknown()) };
    };
    match after.as_ref().map_err(|why| format!("next, {why}"))?.placement {
        Placement::Apart(b) if alike(a, b) => Ok(ours.value),
        Placement::Apart(b) => Err(format!("the host moved the CPUs: {a} ns apart, then {b} ns")),
        Placement::Unknown | Placement::Indifferent => Err(unknown()),
    }
}

/// One class, by ping-pong in ns.
pub fn alike(a: f64, b: f64) -> bool {
    a.max(b) < a.min(b) * SAME_CLASS
}

fn unknown() -> Void {
    "placement class unknown".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(placement: Placement) -> Figure {
        Figure { value: 5.0, interval: None, bytes: Some(4096), placement, rejected: false }
    }

    #[test]
    fn slots_count_only_between_equal_placements() {
        let apart = |ns| at(Placement::Apart(ns));
        let bytes = Some(4096);
        assert_eq!(usable(&apart(40.0), &Ok(apart(60.0)), bytes), Ok(5.0));
        assert_eq!(usable(&at(Placement::Indifferent), &Err("disturbed".to_owned()), bytes), Ok(5.0));
        for (before, after) in [
            (apart(41.0), Ok(apart(184.0))),
            (apart(184.0), Ok(apart(41.0))),
            (apart(41.0), Ok(at(Placement::Unknown))),
            (at(Placement::Unknown), Ok(apart(41.0))),
            (apart(41.0), Ok(at(Placement::Indifferent))),
            (apart(41.0), Err("disturbed".to_owned())),
        ] {
            assert!(usable(&before, &after, bytes).is_err(), "{before:?} {after:?}");
        }
        assert!(usable(&apart(40.0), &Ok(apart(40.0)), Some(8192)).is_err());
    }
}
