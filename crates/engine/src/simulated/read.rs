//! From a text to a description that makes sense, or the one thing that is wrong with it.

use crate::simulated::description::{Cache, CoreKind, Description, Memory};
use crate::simulated::faults::Fault;
use memgauge_model::CpuList;
use std::fmt::Display;

/// More than any machine of our days.
const MOST_CPUS: u64 = 1 << 16;
const MOST_NODES: u64 = 1024;

/// What is wrong with a description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", .line.map_or_else(String::new, |line| format!("line {line}: ")))]
pub struct DescriptionError {
    /// The line, where it is one line's fault.
    pub line: Option<usize>,
    /// What is wrong.
    pub problem: String,
}

impl Description {
    /// Reads a description from TOML.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with it.
    pub fn read(text: &str) -> Result<Self, DescriptionError> {
        let read: Self = toml::from_str(text).map_err(|error| DescriptionError {
            line: error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1),
            problem: error.message().lines().collect::<Vec<_>>().join(" "),
        })?;
        read.check().map_err(|problem| DescriptionError { line: None, problem })?;
        Ok(read)
    }

    fn check(&self) -> Result<(), String> {
        if self.name.trim().is_empty() {
            return Err("name: is empty".to_owned());
        }
        self.counts()?;
        self.cores.iter().try_for_each(core)?;
        if let Some(l3) = self.l3 {
            at_least("l3.mib", l3.mib as f64, 1.0)?;
            at_least("l3.cores", f64::from(l3.cores), 1.0)?;
            positive("l3.ns", l3.ns)?;
            positive("l3.gb_per_s", l3.gb_per_s)?;
        }
        self.nodes.iter().filter_map(|group| group.memory.as_ref()).try_for_each(memory)?;
        self.paths()?;
        let t = self.transfer;
        let transfers =
            [t.core_ns, t.l2_ns, t.l3_ns, t.package_ns, t.far_ns, t.hit, t.store, t.cas].map(|value| ("transfer", value));
        transfers.into_iter().try_for_each(|(key, value)| positive(key, value))?;
        within("transfer.step_ns", t.step_ns, 0.0, 1e6)?;
        within("transfer.crowd", t.crowd, 0.0, 100.0)?;
        let p = &self.pages;
        at_least("pages.base_kib", p.base_kib as f64, 1.0)?;
        at_least("pages.thp_kib", p.thp_kib as f64, p.base_kib as f64)?;
        at_least("pages.l1_entries", f64::from(p.l1_entries), 1.0)?;
        at_least("pages.l2_entries", f64::from(p.l2_entries), f64::from(p.l1_entries))?;
        within("pages.l2_ns", p.l2_ns, 0.0, 1e6)?;
        within("pages.walk_ns", p.walk_ns, 0.0, 1e6)?;
        within("sleep_ns", self.sleep_ns, 0.0, 1e6)?;
        within("stores_without_read", self.stores_without_read, 0.0, 1.0)?;
        within("prefetch.streaming", self.prefetch.streaming, 0.001, 1.0)?;
        within("prefetch.spatial", self.prefetch.spatial, 0.001, 1.0)?;
        within("clock.quantum_ns", self.clock.quantum_ns, 0.01, 1e6)?;
        within("clock.cost_ns", self.clock.cost_ns, 0.0, 1e6)?;
        self.scatter()?;
        self.faults.iter().try_for_each(|fault| self.fault(fault))
    }

    fn counts(&self) -> Result<(), String> {
        let nodes: u64 = self.nodes.iter().map(|group| u64::from(group.count)).sum();
        within("nodes", nodes as f64, 1.0, MOST_NODES as f64)?;
        let mut cpus = 0_u64;
        for group in &self.nodes {
            at_least("nodes.per_package", f64::from(group.per_package), 1.0)?;
            for (kind, count) in &group.cores {
                let core = self.cores.iter().find(|core| core.kind == *kind);
                let core = core.ok_or_else(|| format!("nodes.cores: no [[cores]] is of the kind {kind:?}"))?;
                cpus = cpus.saturating_add(u64::from(group.count) * u64::from(*count) * u64::from(core.threads));
            }
        }
        within("CPUs in all", cpus as f64, 1.0, MOST_CPUS as f64)?;
        if self.nodes.iter().all(|group| group.memory.is_none()) {
            return Err("nodes.memory: no node has any".to_owned());
        }
        let ids = self.node_ids();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() == ids.len() { Ok(()) } else { Err("nodes.id: two nodes have the same number".to_owned()) }
    }

    /// Numbers of all nodes, in the order of the description.
    pub(super) fn node_ids(&self) -> Vec<u32> {
        let mut ids = Vec::new();
        let mut next = 0;
        for group in &self.nodes {
            next = group.id.unwrap_or(next);
            for _ in 0..group.count {
                ids.push(next);
                next = next.saturating_add(1);
            }
        }
        ids
    }

    /// Every CPU must come to every memory.
    fn paths(&self) -> Result<(), String> {
        let mut sides = Vec::new();
        for link in &self.links {
            positive("links.gb_per_s", link.gb_per_s)?;
            within("links.ns", link.ns, 0.0, 1e6)?;
            within("links.queue_ns", link.queue_ns, 0.0, 1e6)?;
            sides.push((nodes("links.from", &link.from)?, nodes("links.to", &link.to)?));
        }
        let groups = self.nodes.iter().flat_map(|group| std::iter::repeat_n(group, group.count as usize));
        let all: Vec<_> = self.node_ids().into_iter().zip(groups).collect();
        for (from, _) in all.iter().filter(|(_, group)| !group.cores.is_empty()) {
            for (to, _) in all.iter().filter(|(to, group)| group.memory.is_some() && to != from) {
                let crosses = |(one, other): &(CpuList, CpuList)| {
                    one.contains(*from) && other.contains(*to) || one.contains(*to) && other.contains(*from)
                };
                if !sides.iter().any(crosses) {
                    return Err(format!("links: none leads from node {from} to node {to}"));
                }
            }
        }
        Ok(())
    }

    fn scatter(&self) -> Result<(), String> {
        let noise = self.noise;
        within("noise.window", noise.window, 0.0, 0.5)?;
        within("noise.correlation", noise.correlation, 0.0, 0.999)?;
        within("noise.allocation", noise.allocation, 0.0, 0.5)?;
        let Some(states) = noise.placement else { return Ok(()) };
        if self.hypervisor.is_none() {
            return Err("noise.placement: only a hypervisor moves CPUs, and none is named".to_owned());
        }
        positive("noise.placement.dwell_s", states.dwell_s)?;
        at_least("noise.placement.transfer", states.transfer, 1.0)?;
        positive("noise.placement.bandwidth", states.bandwidth)
    }

    fn fault(&self, fault: &Fault) -> Result<(), String> {
        let ids = self.node_ids();
        let there = |node: u32| if ids.contains(&node) { Ok(()) } else { Err(format!("faults.node: there is no node {node}")) };
        match *fault {
            Fault::SlowChannel { node, speed } => there(node).and(within("faults.speed", speed, 0.01, 1.0)),
            Fault::SlowRegion { node, share, latency } => {
                there(node).and(within("faults.share", share, 0.0, 1.0)).and(within("faults.latency", latency, 1.0, 1000.0))
            }
            Fault::Stalled { .. } => Ok(()),
            Fault::Disturbed { share, time, .. } => {
                within("faults.share", share, 0.0, 1.0).and(within("faults.time", time, 1.0, 1000.0))
            }
            Fault::SlowClock { speed, .. } => within("faults.speed", speed, 0.01, 1.0),
            Fault::Misplaced { node, on, share } => {
                let groups = self.nodes.iter().flat_map(|group| std::iter::repeat_n(group, group.count as usize));
                let holds = ids.iter().zip(groups).any(|(id, group)| *id == on && group.memory.is_some());
                let held = if holds { Ok(()) } else { Err(format!("faults.on: node {on} has no memory")) };
                there(node).and(held).and(within("faults.share", share, 0.0, 1.0))
            }
            Fault::SmallPages { node } => there(node),
        }
    }
}

fn core(core: &CoreKind) -> Result<(), String> {
    positive("cores.ghz", core.ghz)?;
    positive("cores.lines", core.lines)?;
    within("cores.threads", f64::from(core.threads), 1.0, 8.0)?;
    within("cores.burst_cycles", core.burst_cycles, 0.1, 1e6)?;
    cache("cores.l1", core.l1)?;
    cache("cores.l2", core.l2)
}

fn cache(key: &str, cache: Cache) -> Result<(), String> {
    at_least(&format!("{key}.kib"), cache.kib as f64, 1.0)?;
    at_least(&format!("{key}.cores"), f64::from(cache.cores), 1.0)?;
    positive(&format!("{key}.ns"), cache.ns)?;
    positive(&format!("{key}.gb_per_s"), cache.gb_per_s)
}

fn memory(memory: &Memory) -> Result<(), String> {
    within("nodes.memory.gib", memory.gib as f64, 1.0, 1e6)?;
    positive("nodes.memory.ns", memory.ns)?;
    at_least("nodes.memory.channels", f64::from(memory.channels), 1.0)?;
    positive("nodes.memory.gb_per_s", memory.gb_per_s)?;
    within("nodes.memory.efficiency", memory.efficiency, 0.01, 1.0)?;
    within("nodes.memory.turnaround", memory.turnaround, 0.0, 0.9)?;
    within("nodes.memory.queue_ns", memory.queue_ns, 0.0, 1e6)
}

fn nodes(key: &str, list: &str) -> Result<CpuList, String> {
    list.parse().map_err(|_| format!("{key}: {list:?} is no list of nodes such as 0-3,8"))
}

fn positive(key: &str, value: f64) -> Result<(), String> {
    within(key, value, 1e-6, 1e9)
}

fn at_least(key: &str, value: f64, least: f64) -> Result<(), String> {
    within(key, value, least, 1e15)
}

/// NaN is within nothing.
fn within(key: &str, value: f64, least: f64, most: f64) -> Result<(), String> {
    let say = |bound: &dyn Display| format!("{key}: {value} is not {bound}");
    match value {
        value if (least..=most).contains(&value) => Ok(()),
        value if value < least => Err(say(&format!("at least {least}"))),
        _ => Err(say(&format!("at most {most}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::presets;

    fn problem(from: &str, to: &str) -> String {
        let text = presets::TEXTS[0].1;
        assert!(text.contains(from), "{from}");
        Description::read(&text.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_or_key() {
        let unknown = problem("name =", "nome =");
        assert!(unknown.starts_with("line ") && unknown.contains("nome"), "{unknown}");
        assert!(!unknown.contains('\n'));
        assert_eq!(problem("ghz = 2.6", "ghz = 0"), "cores.ghz: 0 is not at least 0.000001");
        assert_eq!(problem("ghz = 2.6", "ghz = nan"), "cores.ghz: NaN is not at most 1000000000");
        assert_eq!(problem("to = \"1\"", "to = \"0\""), "links: none leads from node 0 to node 1");
        assert_eq!(problem("[[\"uniform\", 40]]", "[[\"fast\", 40]]"), "nodes.cores: no [[cores]] is of the kind \"fast\"");
        assert_eq!(problem("count = 2", "count = 0"), "nodes: 0 is not at least 1");
        let missing = problem("[noise]", "[[faults]]\nwhat = \"slow_channel\"\nnode = 7\nspeed = 0.5\n[noise]");
        assert_eq!(missing, "faults.node: there is no node 7");
    }
}
