//! The commands.

use clap::{Subcommand, ValueEnum};
use memgauge_model::What;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Measure and print.
    Measure(What),
    /// Print the machine.
    Topology,
}

/// Commands as they are typed.
#[derive(Debug, Clone, Subcommand)]
pub enum Typed {
    /// Latency of memory that nothing else uses, in each order and page kind
    Idle,
    /// Bandwidth of each mix, by one thread and by all
    Peak,
    /// The highest bandwidth that can be found, over thread counts and delays
    Max,
    /// From the CPUs of each node to the memory of each node
    Matrix {
        /// latency or bandwidth
        #[arg(value_name = "latency|bandwidth")]
        what: MatrixOf,
    },
    /// Latency while other CPUs load the memory, and where it breaks
    Loaded,
    /// What handing a line from one core to another costs
    C2c,
    /// Latency and bandwidth against the size of the working set, and the caches that show in it
    Sweep,
    /// The machine as it says it is; measures nothing
    Topology,
}

/// What a matrix is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MatrixOf {
    /// Idle latency.
    Latency,
    /// Bandwidth.
    Bandwidth,
}

impl Command {
    /// The command that was typed; none is the default run.
    pub fn from_typed(typed: Option<&Typed>) -> Self {
        match typed {
            None => Self::Measure(What::All),
            Some(Typed::Idle) => Self::Measure(What::Idle),
            Some(Typed::Peak) => Self::Measure(What::Peak),
            Some(Typed::Max) => Self::Measure(What::Max),
            Some(Typed::Matrix { what: MatrixOf::Latency }) => Self::Measure(What::MatrixLatency),
            Some(Typed::Matrix { what: MatrixOf::Bandwidth }) => Self::Measure(What::MatrixBandwidth),
            Some(Typed::Loaded) => Self::Measure(What::Loaded),
            Some(Typed::C2c) => Self::Measure(What::C2c),
            Some(Typed::Sweep) => Self::Measure(What::Sweep),
            Some(Typed::Topology) => Self::Topology,
        }
    }

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measure(What::All) => "the default run",
            Self::Measure(What::Idle) => "idle",
            Self::Measure(What::Peak) => "peak",
            Self::Measure(What::Max) => "max",
            Self::Measure(What::MatrixLatency) => "matrix latency",
            Self::Measure(What::MatrixBandwidth) => "matrix bandwidth",
            Self::Measure(What::Loaded) => "loaded",
            Self::Measure(What::C2c) => "c2c",
            Self::Measure(What::Sweep) => "sweep",
            Self::Topology => "topology",
        }
    }

    /// The command that a call seems to be about, for its help text: the first argument that names one.
    pub fn guess(argv: &[String]) -> Option<Self> {
        argv.iter().find_map(|word| match word.as_str() {
            "idle" => Some(Self::Measure(What::Idle)),
            "peak" => Some(Self::Measure(What::Peak)),
            "max" => Some(Self::Measure(What::Max)),
            "matrix" if argv.iter().any(|word| word == "bandwidth") => Some(Self::Measure(What::MatrixBandwidth)),
            "matrix" => Some(Self::Measure(What::MatrixLatency)),
            "loaded" => Some(Self::Measure(What::Loaded)),
            "c2c" => Some(Self::Measure(What::C2c)),
            "sweep" => Some(Self::Measure(What::Sweep)),
            "topology" => Some(Self::Topology),
            _ => None,
        })
    }
}
