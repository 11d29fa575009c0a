//! Results in the words of Intel's Memory Latency Checker, byte for byte, one small file a section.
//!
//! Programs read this text with regular expressions and fixed offsets, so nothing else stands in it: what is uncertain,
//! rejected or missing is the caller's to say elsewhere. A cell that could not be had is `-`; a row of which nothing could be
//! had is left out. The formats were taken from published outputs; bandwidths are those that the memory controller is estimated
//! to see (`…_dram`), in units of 10^6 bytes a second.

mod c2c;
mod figures;
mod head;
mod idle;
mod loaded;
mod matrix;
mod peak;
mod scan;
mod version;

#[cfg(test)]
pub(crate) mod tests;

pub use c2c::{c2c, c2c_pair};
pub use head::banner;
pub use idle::idle;
pub use loaded::loaded;
pub use matrix::{bandwidth_matrix, latency_matrix};
pub use peak::{max, peak};
pub use scan::scan;
pub use version::Version;

pub(crate) use figures::{LABELLED_MIXES, curve, hops, remote, widest};

/// The modes, as they are written behind one or two dashes.
const MODES: [&str; 8] = [
    "latency_matrix",
    "bandwidth_matrix",
    "peak_injection_bandwidth",
    "max_bandwidth",
    "idle_latency",
    "loaded_latency",
    "c2c_latency",
    "memory_bandwidth_scan",
];

/// How a call wants its sections.
#[derive(Debug, Clone, Default)]
pub struct Style {
    /// Whose wording.
    pub version: Version,
    /// The arguments to echo. Empty for a run without a mode, whose sections follow each other and name no buffer.
    pub args: Vec<String>,
    /// Say that prefetchers could not be switched off, and that latencies are of random access for that.
    pub prefetch_warning: bool,
    /// Is all of it of a machine that is only described?
    pub simulated: bool,
    /// Width of a bucket in a scan's histogram, 10^6 B/s; 0 is 5000.
    pub scan_bucket: u32,
}

impl Style {
    /// Is this one of the sections of a run without a mode?
    fn whole_run(&self) -> bool {
        self.args.is_empty()
    }

    /// Was an option with this letter given (its value behind it or not)?
    fn has(&self, letter: char) -> bool {
        let mut dash = self.args.iter().filter_map(|arg| arg.strip_prefix('-'));
        // Modes are written with one dash, too: `-max_bandwidth` is no `-m`.
        dash.any(|rest| rest.starts_with(letter) && !MODES.contains(&rest))
    }
}
