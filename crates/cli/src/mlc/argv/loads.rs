//! Loads of a `-o` file, as far as one request says them: those that are alike.

use super::Asked;
use super::files::Place;
use memgauge_model::{Cpu, CpuList, Delays, Machine};

/// The latency thread's CPU where none is named.
const OBSERVER: Cpu = 0;

/// Takes from the lines what all of them agree on.
pub fn alike(asked: &mut Asked) -> Result<(), String> {
    let Some((first, rest)) = asked.loads.split_first() else { return Err("no load".to_owned()) };
    let (Some(mix), None, false) = (first.mix, &first.second, first.random) else {
        return Err("two address streams and random loads can't be had".to_owned());
    };
    let node = match &first.place {
        Place::Local => None,
        Place::Node(node) => Some(*node),
        Place::Folder(_) => return Err("pmem: files can't be loaded".to_owned()),
    };
    let same = |load: &&super::files::Load| {
        let rest = (&load.second, load.random, load.bytes, &load.place, load.delay);
        load.mix == first.mix && rest == (&first.second, first.random, first.bytes, &first.place, first.delay)
    };
    if !rest.iter().all(|load| same(&load)) {
        return Err("its lines differ in more than their CPUs".to_owned());
    }
    let request = &mut asked.request;
    request.mixes = vec![mix];
    request.buffer = Some(first.bytes);
    request.node = node.or(request.node);
    if let Some(delay) = first.delay {
        request.delays = Some(Delays::List(vec![delay]));
    }
    Ok(())
}

/// Gives the lines' CPUs their roles: the latency thread never loads. Local memory is that of one node, which must be all of theirs.
pub fn place(asked: &mut Asked, machine: &Machine) -> Result<(), String> {
    let cpus: CpuList = asked.loads.iter().flat_map(|load| load.cpus.iter()).collect();
    if cpus.is_empty() {
        return Ok(());
    }
    let observer = *asked.request.cpu.get_or_insert(OBSERVER);
    asked.request.load_cpus = Some(cpus.iter().filter(|cpu| *cpu != observer).collect());
    if asked.request.node.is_some() {
        return Ok(());
    }
    let home = |cpu: Cpu| machine.nodes.iter().find(|node| node.cpus.contains(cpu)).map(|node| node.node);
    let homes: std::collections::BTreeSet<_> = cpus.iter().map(home).collect();
    match homes.into_iter().collect::<Vec<_>>()[..] {
        [Some(node)] => {
            asked.request.node = Some(node);
            Ok(())
        }
        _ => Err("its CPUs are of several nodes, and their memory is local".to_owned()),
    }
}
