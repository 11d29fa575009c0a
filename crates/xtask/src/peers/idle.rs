//! Idle latency against multichase: the same order, stride, buffer, pages and CPU.

use anyhow::Result;

use crate::peers::multichase::{Chase, Multichase};
use crate::peers::ours::{SHORT, Void};
use crate::peers::part::Part;
use crate::peers::quiet::Watch;
use crate::peers::ratios::{Comparison, Quantity, Slot};
use crate::peers::{Body, Cell, Section, Setting};
use crate::say;

/// Prefetchers lose from here on.
pub const STRIDE: u64 = 128;
/// The window of window-random: 4096 lines.
pub const WINDOW: u64 = 512 << 10;

/// One kind of chase on one kind of page.
struct Kind {
    order: &'static str,
    pages: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind { order: "window-random", pages: "thp" },
    Kind { order: "window-random", pages: "base" },
    Kind { order: "full-random", pages: "thp" },
    Kind { order: "full-random", pages: "base" },
];

/// All four, or what is missing.
pub fn measure(setting: &Setting<'_>) -> Result<Result<Section, String>> {
    let peer = match Multichase::find() {
        Ok(peer) => peer,
        Err(absent) => return Ok(Err(absent)),
    };
    let bytes = setting.machine.chase_buffer(setting.buffer);
    let about = format!(
        "{} against {}: CPU {}, {} MiB, {STRIDE} B stride, nothing else running; median of 6 rounds against the median of 4 samples of 0.5 s",
        setting.ours.version()?,
        peer.version(),
        setting.machine.cpu,
        bytes >> 20
    );
    let cells = KINDS.iter().map(|kind| cell(setting, &peer, kind, bytes)).collect();
    Ok(Ok(Section { part: Part::Idle, about, body: Body::Cells(cells) }))
}

fn cell(setting: &Setting<'_>, peer: &Multichase, kind: &Kind, bytes: u64) -> Cell {
    let name = format!("{}, {} pages", kind.order, kind.pages);
    let huge = kind.pages == "thp";
    if let Some(refused) = setting.machine.thp_refused().filter(|_| huge) {
        return Cell { name, ended: Some(refused), ..Cell::default() };
    }
    say::stage(&format!("idle latency, {name}: {} pairs", setting.pairs));
    let window = if kind.order == "window-random" { WINDOW } else { bytes };
    let chase = Chase { cpu: setting.machine.cpu, bytes, stride: STRIDE, window, huge };
    let mut slots = Vec::new();
    let mut cell = Cell { name, ..Cell::default() };
    for turn in 0..setting.tries() {
        if slots.len() >= setting.pairs || !setting.in_time() {
            break;
        }
        match pair(setting, peer, kind, &chase, turn) {
            Ok(Ok((slot, rejected))) => {
                say::stage(&format!("  {}: {:.1} ns, peer {:.1} ns", slots.len() + 1, slot.ours, slot.peer));
                slots.push(slot);
                cell.rejected += usize::from(rejected);
            }
            Ok(Err(why)) => cell.void(why),
            // A call that is refused once is refused always.
            Err(error) => {
                cell.ended = Some(format!("{error:#}"));
                break;
            }
        }
    }
    cell.comparison = Comparison::of(Quantity::Latency, slots);
    cell
}

/// Who goes first alternates, so that a drift of the machine favours neither. With the slot: whether ours called itself rejected.
fn pair(setting: &Setting<'_>, peer: &Multichase, kind: &Kind, chase: &Chase, turn: usize) -> Result<Result<(Slot, bool), Void>> {
    let ours = || setting.ours.latency(chase, kind.order, SHORT);
    let watch = Watch::start();
    let (figure, peer) = if turn.is_multiple_of(2) {
        let figure = ours()?;
        (figure, peer.run(chase)?)
    } else {
        let peer = peer.run(chase)?;
        (ours()?, peer)
    };
    if let Some(why) = watch.disturbance() {
        return Ok(Err(why));
    }
    Ok(figure.and_then(|figure| {
        if figure.bytes == Some(chase.bytes) {
            Ok((Slot { ours: figure.value, peer, again: None }, figure.rejected))
        } else {
            Err(format!("chased {:?} bytes, not {}", figure.bytes, chase.bytes))
        }
    }))
}
