//! What is measured: one row a mode.

use memgauge_model::What;

/// A mode; none of them is a run of five sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Idle latency from each node to each.
    LatencyMatrix,
    /// Bandwidth from each node to each.
    BandwidthMatrix,
    /// Bandwidth of five mixes, undelayed.
    Peak,
    /// The same, searched.
    Max,
    /// One dependent chase.
    Idle,
    /// Latency at each delay of the loads.
    Loaded,
    /// Cache to cache.
    C2c,
    /// Every gibibyte of a node.
    Scan,
}

/// Name, and what is asked of the native side.
const ROWS: [(Mode, &str, What, &str); 8] = [
    (Mode::LatencyMatrix, "latency_matrix", What::MatrixLatency, "idle latency from each node with CPUs to each with memory"),
    (Mode::BandwidthMatrix, "bandwidth_matrix", What::MatrixBandwidth, "bandwidth from each node with CPUs to each with memory"),
    (Mode::Peak, "peak_injection_bandwidth", What::Peak, "bandwidth of five mixes, without delays"),
    (Mode::Max, "max_bandwidth", What::Max, "bandwidth of five mixes at the best injection rate"),
    (Mode::Idle, "idle_latency", What::Idle, "latency of one dependent chase"),
    (Mode::Loaded, "loaded_latency", What::Loaded, "latency and bandwidth at 19 injection delays"),
    (Mode::C2c, "c2c_latency", What::C2c, "latency from cache to cache"),
    (Mode::Scan, "memory_bandwidth_scan", What::Scan, "bandwidth of each gibibyte of a node's memory"),
];

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 8] = {
        use Mode::{BandwidthMatrix, C2c, Idle, LatencyMatrix, Loaded, Max, Peak, Scan};
        [LatencyMatrix, BandwidthMatrix, Peak, Max, Idle, Loaded, C2c, Scan]
    };
    /// The sections of a run without a mode, in their order.
    pub const WHOLE_RUN: [Self; 5] = [Self::LatencyMatrix, Self::Peak, Self::BandwidthMatrix, Self::Loaded, Self::C2c];

    /// The mode that a word names, with one dash or two.
    pub fn read(word: &str) -> Option<Self> {
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
        ROWS.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Without its dashes.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// What it asks for.
    pub fn what(self) -> What {
        self.row().2
    }

    /// One line on it.
    pub fn doc(self) -> &'static str {
        self.row().3
    }

    fn row(self) -> &'static (Self, &'static str, What, &'static str) {
        // `ROWS` stands in the order of the variants; a test says so.
        &ROWS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_with_one_dash_or_two() {
        for mode in Mode::ALL {
            assert_eq!(ROWS[mode as usize].0, mode);
            for dash in ["-", "--"] {
                assert_eq!(Mode::read(&format!("{dash}{}", mode.name())), Some(mode));
            }
        }
        assert_eq!((Mode::read("idle_latency"), Mode::read("--idle"), Mode::read("-l64")), (None, None, None));
    }
}
