//! Hardware counters: what a machine has, what a run could open, what a block's counters said.

use crate::{Avail, Cpu, CpuList, Job, Point, Reason};
use serde::{Deserialize, Serialize};

/// The counters of a machine, as its kernel lists them. Whether they may be opened only trying tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counters {
    /// kernel.perf_event_paranoid.
    pub paranoid: Avail<i64>,
    /// Events of memory controllers (or of what stands before them).
    pub dram: Avail<Vec<CounterEvent>>,
    /// Events of the cores. Of several that count the same on the same CPUs the first that opens is meant.
    pub core: Avail<Vec<CounterEvent>>,
}

/// An event, encoded as the kernel wants it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterEvent {
    /// The PMU as the kernel names it: `uncore_imc_0`, `cpu`.
    pub pmu: String,
    /// The event as the kernel or its maker names it: `cas_count_read`.
    pub event: String,
    /// What it counts.
    pub counts: Counted,
    /// The PMU's type number.
    pub kind: u32,
    /// `config`, `config1`, `config2`.
    pub config: [u64; 3],
    /// Who is counted.
    pub scope: CounterScope,
    /// Bytes that a count stands for; 0 where counts are no bytes.
    pub bytes: f64,
}

/// Who is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "scope", rename_all = "snake_case")]
pub enum CounterScope {
    /// Everybody who uses this PMU, the whole system's other processes included.
    System {
        /// A CPU to open it on for each package or die that has one.
        cpus: CpuList,
    },
    /// One thread, in user mode.
    Thread {
        /// The CPUs that have this PMU, where cores are of several kinds.
        cpus: Option<CpuList>,
    },
}

/// What an event counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Bytes that memory controllers read.
    DramRead,
    /// Bytes that they write.
    DramWrite,
    /// Both, where they can't be told apart.
    DramTotal,
    /// Loads whose address no data TLB had.
    DtlbMisses,
    /// Loads that the last-level cache didn't have.
    LlcMisses,
}

impl Counted {
    /// The name of the figure made of it.
    #[must_use]
    pub fn figure(self) -> &'static str {
        match self {
            Self::DramRead => "counter_dram_read",
            Self::DramWrite => "counter_dram_write",
            Self::DramTotal => "counter_dram_total",
            Self::DtlbMisses => "counter_dtlb_misses",
            Self::LlcMisses => "counter_llc_misses",
        }
    }
}

/// Which of the plan's counters a run could use.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CounterState {
    /// Indices into [`crate::Plan::counters`] of those that counted.
    pub used: Vec<usize>,
    /// Those that could not be opened.
    pub refused: Vec<CounterRefusal>,
}

/// A counter that could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterRefusal {
    /// Index into [`crate::Plan::counters`].
    pub event: usize,
    /// The kind of reason.
    pub reason: Reason,
    /// The kernel's answer.
    pub detail: String,
}

/// What the counters of one block said: raw differences.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockCounters {
    /// Time over which `system` was counted, ns: from shortly before the first window to the end of the last.
    pub system_ns: f64,
    /// System-wide events, one for each CPU that they are opened on.
    pub system: Vec<Count>,
    /// By thread, in the plan's order.
    pub threads: Vec<ThreadCounts>,
}

/// What one thread's counters said, from its first window's mark to its last chunk's end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadCounts {
    /// Its CPU.
    pub cpu: Cpu,
    /// What it did in that time: hops of a chase, or lines that a stream loaded and stored.
    pub accesses: u64,
    /// Its events.
    pub counts: Vec<Count>,
}

/// The difference of two readings of a counter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Count {
    /// Index into [`crate::Plan::counters`].
    pub event: usize,
    /// The CPU that it is opened on, or that its thread is pinned to.
    pub cpu: Cpu,
    /// Counts.
    pub value: u64,
    /// Time that the event was enabled, ns.
    pub enabled_ns: u64,
    /// Of that, the time that it had a hardware counter: less where more events than counters are open.
    pub running_ns: u64,
}

impl Count {
    /// Counts of the whole time: those of the time that it ran, scaled. None where it never ran.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate of a count")]
    pub fn scaled(&self) -> Option<f64> {
        (self.running_ns > 0).then(|| self.value as f64 * (self.enabled_ns as f64 / self.running_ns as f64).max(1.0))
    }

    /// Did it share its hardware counter with other events? (The kernel's two clocks differ by rounding at most.)
    #[must_use]
    pub fn shared(&self) -> bool {
        self.running_ns < self.enabled_ns - self.enabled_ns / 100
    }
}

impl Point {
    /// Are counters read in its blocks? Single accesses and transfers have none.
    #[must_use]
    pub fn has_counters(&self) -> bool {
        let first = self.threads.first().map(|thread| &thread.job);
        matches!(first, Some(Job::Chase { .. } | Job::Stream { .. }))
    }
}

impl Default for Counters {
    fn default() -> Self {
        fn unread<T>() -> Avail<T> {
            Avail::missing(Reason::NotPresent, "not looked for")
        }
        Self { paranoid: unread(), dram: unread(), core: unread() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_counter_is_scaled_and_one_that_never_ran_says_nothing() {
        let count = |value, enabled_ns, running_ns| Count { value, enabled_ns, running_ns, ..Count::default() };
        assert_eq!(count(300, 1000, 250).scaled(), Some(1200.0));
        assert!(count(300, 1000, 250).shared() && !count(300, 1000, 995).shared());
        assert_eq!(count(300, 1000, 1000).scaled(), Some(300.0));
        assert_eq!(count(0, 1000, 0).scaled(), None);
    }
}
