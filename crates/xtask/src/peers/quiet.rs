//! Whether anything else ran beside the compared programs.
//!
//! memgauge leaves disturbed windows out and its peers don't, so pairs are
//! judged by a sign that is the same for both: CPU time that was neither
//! ours nor our children's.

use std::fs;

/// Share of the machine's CPU time that others may take. The kernel samples what it
/// counts for the whole machine, so the difference is good to about a hundredth.
const ALLOWED: f64 = 0.04;

/// What had been used up when a pair began.
pub struct Watch {
    then: Option<Used>,
}

/// Clock ticks since boot, and since this process began.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Used {
    /// Of all CPUs, idle or not.
    all: f64,
    busy: f64,
    /// By this process and by the children that it has waited for.
    ours: f64,
}

impl Watch {
    pub fn start() -> Self {
        Self { then: Used::now() }
    }

    /// Why the pair does not count, if others ran. Where the kernel doesn't say, it counts.
    pub fn disturbance(&self) -> Option<String> {
        let share = self.then?.share_of_others(&Used::now()?);
        (share > ALLOWED).then(|| format!("other programs ran: {:.0} % of the machine's time", share * 100.0))
    }
}

impl Used {
    fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?, &fs::read_to_string("/proc/self/stat").ok()?)
    }

    fn parse(machine: &str, process: &str) -> Option<Self> {
        let cpu = machine.lines().find_map(|line| line.strip_prefix("cpu "))?;
        // user nice system idle iowait irq softirq steal; guests are in user already.
        let cpu: Vec<f64> = cpu.split_whitespace().map_while(|word| word.parse().ok()).take(8).collect();
        let [user, nice, system, _, _, irq, softirq, _] = cpu[..] else { return None };
        // The name may hold anything; after it comes the third field. Own and children's times are the 14th to 17th.
        let (_, fields) = process.rsplit_once(')')?;
        let own: Vec<f64> = fields.split_whitespace().skip(11).take(4).map_while(|word| word.parse().ok()).collect();
        (own.len() == 4).then(|| Self {
            all: cpu.iter().sum(),
            busy: user + nice + system + irq + softirq,
            ours: own.iter().sum(),
        })
    }

    fn share_of_others(&self, later: &Self) -> f64 {
        let all = (later.all - self.all).max(1.0);
        ((later.busy - self.busy) - (later.ours - self.ours)) / all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: &str = "77 (a) b) S 1 1 1 0 -1 4194560 100 200 0 0 10 20 300 400 20 0 1 0 5 6 7";

    #[test]
    fn what_others_used_is_what_is_left() {
        let then = Used::parse("cpu  100 0 50 1000 0 0 0 7 0 0\ncpu0 1 1 1", PROCESS).expect("complete");
        assert_eq!(then, Used { all: 1157.0, busy: 150.0, ours: 730.0 });
        let later = Used { all: then.all + 200.0, busy: then.busy + 110.0, ours: then.ours + 100.0 };
        assert!((then.share_of_others(&later) - 0.05).abs() < 1e-12);
        assert_eq!(Used::parse("cpu  1 2 3", PROCESS), None);
        assert_eq!(Used::parse("cpu  100 0 50 1000 0 0 0 7", "77 (a"), None);
    }

    #[test]
    fn a_watch_without_figures_disturbs_nothing() {
        assert_eq!(Watch { then: None }.disturbance(), None);
        let long_ago = Used { all: 0.0, busy: -1e12, ours: 0.0 };
        assert!(Watch { then: Some(long_ago) }.disturbance().is_some());
    }
}
