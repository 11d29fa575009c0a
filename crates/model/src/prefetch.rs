//! Hardware prefetchers: what can be switched, what a plan switches, what a run did, what a probe says.

use crate::{Cpu, CpuList, MetricId, Plan, Point};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A register that switches prefetchers off, on each CPU of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrefetchRegister {
    /// The register's number.
    pub msr: u32,
    /// Its prefetcher bits; 1 is off.
    pub mask: u64,
}

/// What a plan does about prefetchers. They are off while a chase runs and on again for everything else: bandwidth without
/// them is no bandwidth that a program meets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrefetchPlan {
    /// Registers that are set; none where prefetchers are left as they are.
    pub registers: Vec<PrefetchRegister>,
    /// The CPUs that chase, each with all hardware threads of its core.
    pub cores: BTreeMap<Cpu, CpuList>,
    /// Why they are left as they are, where they are.
    pub left: Option<String>,
}

/// What a run did about prefetchers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PrefetchState {
    /// They were as they are.
    Left {
        /// Why.
        reason: String,
    },
    /// They were off while a chase ran, each time read back.
    Off {
        /// What was done to which register.
        changes: Vec<RegisterChange>,
    },
}

/// A register's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegisterChange {
    /// The CPU.
    pub cpu: Cpu,
    /// The register.
    pub msr: u32,
    /// Before and after the run.
    pub old: u64,
    /// While a chase ran.
    pub new: u64,
}

/// What the probe says of one kind of prefetching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Prefetching {
    /// It acts: the whole interval is below the limit.
    On,
    /// It doesn't: the whole interval is above it.
    Off,
    /// The interval holds the limit, or nothing was measured.
    Unknown,
}

/// The probe's verdict, under the conditions of the run's chases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrefetchVerdict {
    /// What was done about prefetchers.
    pub control: PrefetchState,
    /// Fetching ahead along rising addresses.
    pub streaming: ProbeVerdict,
    /// Fetching the other line of a pair.
    pub spatial: ProbeVerdict,
}

/// One kind's verdict and the figure that it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeVerdict {
    /// The verdict.
    pub verdict: Prefetching,
    /// Its `prefetch_ratio`, where one was measured.
    pub metric: Option<MetricId>,
}

impl Default for PrefetchState {
    fn default() -> Self {
        Self::Left { reason: String::new() }
    }
}

impl Prefetching {
    /// `on`, `off` or `unknown`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Unknown => "unknown",
        }
    }
}

impl Plan {
    /// The CPUs whose prefetchers are off while this point runs; none where they are left alone. Only a point that a chase
    /// leads is watched so closely.
    #[must_use]
    pub fn prefetch_off_for(&self, point: &Point) -> Option<&CpuList> {
        let first = point.threads.first().filter(|thread| thread.job.chases())?;
        self.prefetch.cores.get(&first.cpu).filter(|_| !self.prefetch.registers.is_empty())
    }
}
