//! Lines of a `-o` file as assignments: each CPU does what its line says.

use super::Asked;
use super::files::{Load, Place};
use memgauge_model::{Assignment, Delays, Elsewhere, NodeId};

/// Gives the lines to the request.
pub fn assign(asked: &mut Asked, loads: &[Load]) -> Result<(), String> {
    let lines = loads.iter().map(assignment).collect::<Result<Vec<_>, _>>()?;
    // Where each has its own, the curve's delays change nothing: one row.
    if let Some(delay) = lines.first().and_then(|first| first.delay).filter(|_| lines.iter().all(|line| line.delay.is_some())) {
        asked.request.delays = Some(Delays::List(vec![delay]));
    }
    asked.request.assignments = lines;
    Ok(())
}

fn assignment(load: &Load) -> Result<Assignment, String> {
    let elsewhere = |(place, percent): &(Place, u32)| match node(place)? {
        Some(node) => Ok(Elsewhere { node, percent: *percent }),
        None => Err("the second stream has no node".to_owned()),
    };
    Ok(Assignment {
        cpus: load.cpus.clone(),
        mix: load.mix,
        random: load.random,
        bytes: load.bytes,
        node: node(&load.place)?,
        delay: load.delay,
        second: load.second.as_ref().map(elsewhere).transpose()?,
    })
}

fn node(place: &Place) -> Result<Option<NodeId>, String> {
    match place {
        Place::Local => Ok(None),
        Place::Node(node) => Ok(Some(*node)),
        Place::Folder(folder) => Err(format!("pmem {folder}: loads have no memory in files")),
    }
}
