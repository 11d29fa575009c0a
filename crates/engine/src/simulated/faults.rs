//! What goes wrong on a simulated machine.

use serde::Deserialize;

/// Something that goes wrong. Spans of time are virtual seconds since the run began; without one it is always so.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// One of a node's channels is slower than the others; lines go over all of them in turn, so that all wait for it.
    SlowChannel {
        /// The node.
        node: u32,
        /// Its speed over that of the others.
        speed: f64,
    },
    /// Some of a node's memory is slow: an allocation falls into it with this probability.
    SlowRegion {
        /// The node.
        node: u32,
        /// The share of its memory.
        share: f64,
        /// Its latency over that of the rest.
        latency: f64,
    },
    /// A thread on this CPU does not come on.
    Stalled {
        /// The CPU.
        cpu: u32,
        /// From when to when, s.
        #[serde(default)]
        during_s: Option<(f64, f64)>,
    },
    /// Some windows are disturbed, are slower for it, and show it.
    Disturbed {
        /// The share of windows.
        share: f64,
        /// What shows it.
        sign: Sign,
        /// The time that things take in such a window, over that in others.
        time: f64,
        /// From when to when, s.
        #[serde(default)]
        during_s: Option<(f64, f64)>,
    },
    /// The cores run slower.
    SlowClock {
        /// Their clock over the usual one.
        speed: f64,
        /// From when to when, s.
        #[serde(default)]
        during_s: Option<(f64, f64)>,
    },
    /// Some pages that were asked for on one node are on another.
    Misplaced {
        /// Where they were asked for.
        node: u32,
        /// Where they are.
        on: u32,
        /// The share of the pages.
        share: f64,
    },
    /// Huge pages that were asked for on a node are base pages.
    SmallPages {
        /// The node.
        node: u32,
    },
}

/// What shows that a window was disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sign {
    /// A thread waited for its CPU.
    Wait,
    /// A thread stood still.
    Gap,
    /// The core clock moved.
    Spin,
    /// The reference chase was slow: somebody else used the memory.
    Neighbour,
    /// Nothing.
    None,
}

/// Is it so at this time?
pub fn is_on(during_s: Option<(f64, f64)>, now_ns: u64) -> bool {
    let now_s = now_ns as f64 / 1e9;
    during_s.is_none_or(|(from, to)| from <= now_s && now_s < to)
}
