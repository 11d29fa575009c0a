//! Data and unified caches, from each CPU's `cache/indexN` folders. Machines need not be symmetric, and guests and old kernels
//! leave files out.

use crate::cpus::CPU;
use crate::files::Files;
use memgauge_model::{Avail, Cache, Caches, CpuList, Reason};
use std::collections::{HashMap, HashSet};

/// Reads the caches of the online CPUs; each stands once, by its lowest CPU.
pub(crate) fn read(files: &Files<'_>, online: &CpuList, cores: &[CpuList], notes: &mut Vec<String>) -> Caches {
    let core_of = cores.iter().flat_map(|core| core.iter().map(move |cpu| (cpu, core))).collect();
    let mut found = Found { levels: Default::default(), served: Default::default(), core_of, untold: 0, beyond: 0 };
    for cpu in online.iter() {
        let folder = format!("{CPU}/cpu{cpu}/cache");
        for index in files.numbered(&folder, "index") {
            found.look(files, online, cpu, &format!("{folder}/index{index}"));
        }
    }
    if found.untold > 0 {
        notes.push(format!("caches: {} say nothing of who shares them; each is taken for its core's own", found.untold));
    }
    if found.beyond > 0 {
        notes.push(format!("caches: {} of a level that is not 1 to 4 are left out", found.beyond));
    }
    for level in &mut found.levels {
        level.sort_by(|a, b| a.cpus.cmp(&b.cpus));
    }
    let [l1, l2, l3, l4] = found.levels;
    Caches { l1, l2, l3, l4 }
}

struct Found<'c> {
    levels: [Vec<Cache>; 4],
    /// Per level, the CPUs that a cache is known for.
    served: [HashSet<u32>; 4],
    core_of: HashMap<u32, &'c CpuList>,
    untold: usize,
    beyond: usize,
}

impl Found<'_> {
    fn look(&mut self, files: &Files<'_>, online: &CpuList, cpu: u32, folder: &str) {
        let kind = files.text(&format!("{folder}/type")).unwrap_or_default();
        if !matches!(kind.as_str(), "Data" | "Unified" | "") {
            return;
        }
        // A folder without a level tells nothing.
        let Some(level) = files.number(&format!("{folder}/level")) else { return };
        let slot = match usize::try_from(level) {
            Ok(level @ 1..=4) => level - 1,
            _ => {
                self.beyond += 1;
                return;
            }
        };
        if self.served[slot].contains(&cpu) {
            return;
        }
        let shared = files
            .mask(&format!("{folder}/shared_cpu_map"), online)
            .or_else(|| files.list(&format!("{folder}/shared_cpu_list"), online))
            .filter(|cpus| cpus.contains(cpu));
        self.untold += usize::from(shared.is_none());
        let cpus = shared.or_else(|| self.core_of.get(&cpu).copied().cloned()).unwrap_or_else(|| vec![cpu].into());
        let cpus: CpuList = cpus.iter().filter(|member| self.served[slot].insert(*member)).collect();
        self.levels[slot].push(Cache { size: size(files, &format!("{folder}/size")), cpus });
    }
}

/// `32K`, `1024K`, `16M`; missing or 0 where the kernel doesn't know.
fn size(files: &Files<'_>, path: &str) -> Avail<u64> {
    match files.text(path) {
        Err(miss) => miss.avail(path),
        Ok(text) => match parse(&text) {
            Some(bytes) if bytes > 0 => Avail::Known(bytes),
            _ => Avail::missing(Reason::NotPresent, format!("/{path}: {}", if text.is_empty() { "empty" } else { "no size" })),
        },
    }
}

fn parse(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" | "KB" | "k" => 1 << 10,
        "M" | "MB" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes() {
        for (text, want) in [("32K", Some(32 << 10)), ("16M", Some(16 << 20)), ("0K", Some(0)), ("4096", Some(4096))] {
            assert_eq!(parse(text), want, "{text}");
        }
        for text in ["", "K", "-32K", "1.5M", "99999999999999999999K", "18446744073709551615K", "32KiB", "é"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
