//! Bandwidth of every region of a node's memory: one node after the other, each read by the CPUs near it.

use crate::checks::value;
use crate::choices;
use crate::draft::Draft;
use crate::regions::{self, Reader};
use memgauge_model::{ArenaId, Cpu, CpuList, DelayRef, Job, Measure, NodeId, Refusal, Request, ScanPlan, Smt, Thread, units};

pub(super) fn draw(draft: &mut Draft) -> Result<(), Refusal> {
    let nodes = draft.request.node.map_or_else(|| draft.site.nodes.clone(), |node| CpuList::from(vec![node]));
    let readers = nodes.iter().map(|node| reader(draft, node)).collect::<Result<Vec<Reader>, _>>()?;
    let mixes = choices::mixes(draft.request, draft.request.what);
    for (phase, (reader, cut)) in readers.iter().zip(regions::cut(draft, &readers, mixes.len())?).enumerate() {
        let regions = (0_u32..).zip(&cut.pages);
        let arenas: Vec<ArenaId> =
            regions.map(|(region, pages)| draft.region(reader.node, region, *pages, cut.region_bytes, &reader.cpus)).collect();
        for &mix in &mixes {
            for (region, &arena) in (0..).zip(&arenas) {
                let (isa, delay) = (draft.choices.isa, DelayRef::Fixed(0));
                let job = |part: u32| Job::Stream {
                    arena,
                    part: Some(part),
                    mix,
                    isa,
                    block_lines: None,
                    delay,
                    manner: memgauge_model::Manner::default(),
                };
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
fn reader(draft: &mut Draft, node: NodeId) -> Result<Reader, Refusal> {
    let (site, request) = (draft.site, draft.request);
    let near = site.local_cpus(request.readers.unwrap_or(node));
    if let (Some(from), true) = (request.readers, request.load_cpus.is_some()) {
        let typed = value(request, "--from", from);
        return Err(Refusal::new("--from", typed, "--load-cpus already names those that read", "leave one of the two out"));
    }
    if let (Some(from), true) = (request.readers, near.is_empty()) {
        let with_cpus: CpuList = site.cpu_nodes().into_iter().collect();
        let problem = "no CPU that may be used is near this node";
        return Err(Refusal::new("--from", value(request, "--from", from), problem, format!("name one of {with_cpus}")));
    }
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
    let cpus = first(request, cpus)?;
    let cache_bytes = site.machine.llc_bytes(&cpus, Some(node));
    // The first one leads.
    let lead = request.cpu.filter(|cpu| cpus.contains(*cpu));
    let cpus: Vec<Cpu> = lead.into_iter().chain(cpus.iter().filter(|cpu| Some(*cpu) != lead)).collect();
    Ok(Reader { node, cpus, cache_bytes })
}

/// As many of them as were asked for, `--cpu` among them: the first ones, by number.
fn first(request: &Request, cpus: CpuList) -> Result<CpuList, Refusal> {
    let Some(threads) = request.threads else { return Ok(cpus) };
    if threads == 0 || threads as usize > cpus.len() {
        let problem = if threads == 0 {
            "nobody would read".to_owned()
        } else {
            format!("{} can read", units::count(cpus.len() as u64, "CPU"))
        };
        let remedy = format!("use 1 to {}", cpus.len());
        return Err(Refusal::new("--threads", value(request, "--threads", threads), problem, remedy));
    }
    let lead = request.cpu.filter(|cpu| cpus.contains(*cpu));
    let others = cpus.iter().filter(|cpu| Some(*cpu) != lead);
    Ok(lead.into_iter().chain(others).take(threads as usize).collect())
}
