//! How streams go where it is not the usual way: what a thread is told by itself, a second place, lines used in part.

use crate::{CpuList, Mix, MixShape, NodeId};
use serde::{Deserialize, Serialize};

/// Lines of a block that streams visit in random order, where nobody says how many: 512 KiB, as a chase's window.
pub const LOAD_BLOCK_LINES: u32 = 8192;

/// What some load threads do, told by itself, `--assign`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assignment {
    /// The threads' CPUs; where the observer's is among them, its buffer and place are meant.
    pub cpus: CpuList,
    /// The mix.
    pub mix: Mix,
    /// Lines in random order inside blocks, not in sequence?
    pub random: bool,
    /// Bytes of each stream of each thread.
    pub bytes: u64,
    /// Whose memory; none: the nearest of each CPU.
    pub node: Option<NodeId>,
    /// Core cycles between bursts, whatever the curve's delay is.
    #[serde(default)]
    pub delay: Option<u32>,
    /// A second set of streams, in other memory.
    #[serde(default)]
    pub second: Option<Elsewhere>,
}

/// Where a part of a thread's bursts goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Elsewhere {
    /// Whose memory.
    pub node: NodeId,
    /// Of all bursts, in percent.
    pub percent: u32,
}

/// What is used of each line, `--partial`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Partial {
    /// All of it.
    #[default]
    None,
    /// 8 bytes of each line that mixes without loads store.
    Stores,
    /// 8 bytes of each line.
    Both,
}

/// The ways in which a thread's streams are not the usual ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Manner {
    /// A second set of streams in an arena of its own, and of all bursts the percent that goes there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<(usize, u32)>,
    /// Only 8 bytes of each line?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Is each stored line flushed from the caches?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flush: bool,
    /// Is what is read summed up, and held against what was written there?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checked: bool,
}

impl Manner {
    /// Is it the usual one?
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// What a mix does to each line when it goes this way.
    #[must_use]
    pub fn shape(&self, mix: Mix) -> MixShape {
        let shape = mix.shape();
        if self.partial { MixShape { bytes_per_line: 8, ..shape } } else { shape }
    }
}
