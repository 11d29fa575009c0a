//! What handing a line from core to core costs, by how far apart they are.

use crate::simulated::description::Description;
use crate::simulated::layout::{Layout, Place};
use memgauge_model::{C2cKind, C2cVia, Cpu, Measure, Point};

/// Half a round trip of a ping-pong by stores, ns: what tells the placement class of two CPUs.
pub fn ping_pong_ns(description: &Description, layout: &Layout, (one, other): (Cpu, Cpu)) -> Option<f64> {
    Some(modified_ns(description, layout.place(one)?, layout.place(other)?, layout) * description.transfer.store)
}

/// What the passes of a transfer's point take when nothing scatters, ns.
pub fn expected_ns(description: &Description, layout: &Layout, point: &Point) -> Option<f64> {
    let Measure::C2c { home, kind, via, .. } = point.measure else { return None };
    let [writer, reader, ..] = &point.threads[..] else { return None };
    let (writer, reader) = (layout.place(writer.cpu)?, layout.place(reader.cpu)?);
    let cores = modified_ns(description, writer, reader, layout);
    let factor = factor(description, kind);
    let shared = writer.l3 == reader.l3 && description.l3.is_some();
    let taken = match (via, description.l3) {
        // Pushed out, or read by a neighbour, a line is in the L3, which answers itself.
        (C2cVia::L3 | C2cVia::Third, Some(l3)) if shared => l3.ns,
        _ => cores,
    };
    Some(taken * factor + detour_ns(layout, writer, reader, home))
}

/// What a pair takes whose lines live with its writer, ns.
pub fn pair_ns(description: &Description, layout: &Layout, kind: C2cKind, writer: Cpu, reader: Cpu) -> Option<f64> {
    let (writer, reader) = (layout.place(writer)?, layout.place(reader)?);
    Some(modified_ns(description, writer, reader, layout) * factor(description, kind))
}

fn factor(description: &Description, kind: C2cKind) -> f64 {
    let transfer = description.transfer;
    match kind {
        C2cKind::Hitm => 1.0,
        C2cKind::Hit => transfer.hit,
        C2cKind::Store => transfer.store,
        C2cKind::Cas => transfer.cas,
    }
}

/// A line whose home is with neither of the two is asked for there.
fn detour_ns(layout: &Layout, writer: Place, reader: Place, home: u32) -> f64 {
    let Some(home) = layout.node(home).filter(|home| *home != writer.node && *home != reader.node) else { return 0.0 };
    layout.path(reader.node, home).ns
}

fn modified_ns(description: &Description, writer: Place, reader: Place, layout: &Layout) -> f64 {
    let transfer = description.transfer;
    let package = |place: Place| layout.nodes[place.node].package;
    if writer.core == reader.core {
        return transfer.core_ns;
    }
    if writer.l2 == reader.l2 {
        return transfer.l2_ns;
    }
    let way = if writer.l3 == reader.l3 && description.l3.is_some() {
        transfer.l3_ns
    } else if package(writer) == package(reader) {
        transfer.package_ns
    } else {
        transfer.far_ns
    };
    way + transfer.step_ns * layout.steps(writer, reader) as f64
}
