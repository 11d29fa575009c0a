//! The vocabulary of memgauge: every type that flows from argv to bytes, units, and the schema version.
//!
//! ```text
//! argv ─► Request ─► Plan ─► Record ─► Report ─► bytes
//!            ▲ Machine
//! ```
//!
//! Nothing here reads, writes or measures. Times are nanoseconds (`_ns`), sizes are bytes, bandwidths
//! are bytes per second, unless a name says otherwise.
#![forbid(unsafe_code)]

mod avail;
mod counters;
mod cpulist;
mod filling;
mod histogram;
mod machine;
mod mix;
mod pairs;
mod plan;
mod prefetch;
mod record;
mod refusal;
mod report;
mod request;
mod scan;
#[cfg(feature = "schema")]
pub mod schema;
mod traffic;
pub mod units;

pub use avail::{Avail, Reason};
pub use counters::*;
pub use cpulist::{CpuList, ListError};
pub use histogram::{AccessBins, Histogram, HistogramBin};
pub use machine::*;
pub use mix::{Mix, MixShape};
pub use pairs::*;
pub use plan::*;
pub use prefetch::*;
pub use record::*;
pub use refusal::Refusal;
pub use report::*;
pub use request::*;
pub use scan::*;
pub use traffic::*;

/// A logical CPU's number, as the kernel gives it.
pub type Cpu = u32;

/// A NUMA node's number, as the kernel gives it. Numbers may have gaps and need not begin at 0.
pub type NodeId = u32;

/// Schema of the result document. The number rises when a reader of the older one would misread.
pub const RESULT_SCHEMA: &str = "memgauge-result/1";
