//! The parts of the comparison: each can be run alone, in a quarter of an hour, and has its place on the page.

use anyhow::Result;

use crate::peers::{Section, Setting, c2c, coverage, idle, levels, repeat};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Idle,
    Read,
    Write,
    Copy,
    Triad,
    L2,
    L1,
    C2c,
    Repeat,
    Coverage,
}

impl Part {
    /// In the order of the page.
    pub const ALL: [Self; 10] = [
        Self::Idle,
        Self::Read,
        Self::Write,
        Self::Copy,
        Self::Triad,
        Self::L2,
        Self::L1,
        Self::C2c,
        Self::Repeat,
        Self::Coverage,
    ];

    /// On the command line and in the page's marks.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
            Self::Triad => "triad",
            Self::L2 => "l2",
            Self::L1 => "l1",
            Self::C2c => "c2c",
            Self::Repeat => "repeat",
            Self::Coverage => "coverage",
        }
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// Pairs in each cell (runs, of the last two), meant to keep the part within a quarter of an hour.
    pub fn pairs(self) -> usize {
        match self {
            Self::Idle | Self::C2c => 15,
            Self::Read | Self::Write | Self::Copy | Self::Triad => 11,
            Self::L2 | Self::L1 => 9,
            Self::Repeat => 20,
            Self::Coverage => 40,
        }
    }

    /// Seconds that a pair takes, all cells together: reckoned for two CPUs with 1.2 GiB in each cell, every peer found.
    pub fn seconds_a_pair(self) -> u64 {
        match self {
            Self::Idle => 60,
            Self::Read => 45,
            Self::Write => 70,
            Self::Copy => 65,
            Self::Triad => 75,
            Self::L2 | Self::L1 => 80,
            Self::C2c => 10,
            Self::Repeat => 25,
            Self::Coverage => 12,
        }
    }

    /// The part, or which peer it lacks.
    pub fn measure(self, setting: &Setting<'_>) -> Result<Result<Section, String>> {
        match self {
            Self::Idle => idle::measure(setting),
            Self::Read | Self::Write | Self::Copy | Self::Triad | Self::L2 | Self::L1 => levels::measure(self, setting),
            Self::C2c => c2c::measure(setting),
            Self::Repeat => repeat::measure(setting),
            Self::Coverage => coverage::measure(setting),
        }
    }
}
