//! Bandwidth of every region of a node's memory: one node after the other, each read by the CPUs near it.

use crate::choices;
use crate::draft::Draft;
use crate::regions::{self, Reader};
use memgauge_model::{ArenaId, Cpu, CpuList, DelayRef, Job, Measure, NodeId, Refusal, ScanPlan, Smt, Thread};

pub(super) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    let nodes = draft.request.node.map_or_else(|| draft.site.nodes.clone(), |node| CpuList::from(vec![node]));
    let readers: Vec<Reader> = nodes.iter().map(|node| reader(draft, node)).collect();
    let mixes = choices::mixes(draft.request, draft.request.what);
    for (phase, (reader, cut)) in readers.iter().zip(regions::cut(draft, &readers, mixes.len())?).enumerate() {
        let regions = (0_u32..).zip(&cut.pages);
        let arenas: Vec<ArenaId> =
            regions.map(|(region, pages)| draft.region(reader.node, region, *pages, cut.region_bytes, &reader.cpus)).collect();
        for &mix in &mixes {
            for (region, &arena) in (0..).zip(&arenas) {
                let (isa, delay) = (draft.choices.isa, DelayRef::Fixed(0));
                let job = |part: u32| Job::Stream { arena, part: Some(part), mix, isa, block_lines: None, delay };
                let threads = (0..).zip(&reader.cpus).map(|(part, &cpu)| Thread { cpu, job: job(part) }).collect();
                draft.point(Measure::Scan { node: reader.node, region, mix }, threads, draft.timing.point_ns);
            }
        }
        draft.scans.push(ScanPlan {
            node: reader.node,
            phase,
            region_bytes: cut.region_bytes,
            arenas,
            available_bytes: cut.available_bytes,
            memory_bytes: draft.site.machine.node(reader.node).map_or(0, |node| node.memory_bytes),
            cache_bytes: reader.cache_bytes,
        });
        draft.notes.extend(cut.notes);
    }
    Ok(())
}

/// Those that were named, else the node's own CPUs, or the nearest of a node that has none; by `--smt`.
fn reader(draft: &mut Draft, node: NodeId) -> Reader {
    let (site, request) = (draft.site, draft.request);
    let near = site.local_cpus(node);
    let cpus = match &request.load_cpus {
        Some(list) if list.is_empty() => CpuList::from(vec![draft.roles.observer]),
        Some(list) => list.clone(),
        None => {
            if near.is_empty() {
                draft.notes.push(format!("no CPU that may be used is near node {node}: far ones read it"));
            }
            let all = if near.is_empty() { site.cpus.clone() } else { near };
            if request.smt == Smt::One { site.one_a_core(&all) } else { all }
        }
    };
    let cache_bytes = site.machine.llc_bytes(&cpus, Some(node));
    // The first one leads.
    let lead = request.cpu.filter(|cpu| cpus.contains(*cpu));
    let cpus: Vec<Cpu> = lead.into_iter().chain(cpus.iter().filter(|cpu| Some(*cpu) != lead)).collect();
    Reader { node, cpus, cache_bytes }
}
