//! The commands. To add one: its variant of [`Typed`], its row in [`NAMES`].

use clap::{Subcommand, ValueEnum};
use memgauge_model::What;
use std::path::PathBuf;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Measure and print.
    Measure(What),
    /// Print the machine.
    Topology,
    /// Read what another program printed.
    Import,
    /// Measure several times.
    Repeat,
    /// Print what is written about memgauge itself.
    About(About),
}

/// What is written about memgauge, all of it from the definition of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The manual page.
    Man,
    /// What a shell completes.
    Completions(Shell),
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
    /// Bandwidth of every region of a node's memory, and the slow ones
    Scan,
    /// The machine as it says it is; measures nothing
    Topology,
    /// What another program printed, as a result: the Memory Latency Checker
    Import {
        /// mlc
        #[arg(value_name = "mlc")]
        what: ImportOf,
        /// Files that hold its output
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// A command so many times: least, most and average of each metric
    Repeat {
        /// The command and its flags, behind two hyphens
        #[arg(value_name = "COMMAND", last = true)]
        words: Vec<String>,
    },
    /// This manual as a page for man(1)
    Man,
    /// What a shell needs to complete commands and flags
    Completions {
        /// bash, zsh or fish
        #[arg(value_name = "bash|zsh|fish")]
        shell: Shell,
    },
}

/// Whose output is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportOf {
    /// The Memory Latency Checker.
    Mlc,
}

/// A shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// GNU bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
}

/// What a matrix is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MatrixOf {
    /// Idle latency.
    Latency,
    /// Bandwidth.
    Bandwidth,
}

/// Every command, by the words that it is typed as.
const NAMES: [(&str, Command); 16] = [
    ("idle", Command::Measure(What::Idle)),
    ("peak", Command::Measure(What::Peak)),
    ("max", Command::Measure(What::Max)),
    ("matrix latency", Command::Measure(What::MatrixLatency)),
    ("matrix bandwidth", Command::Measure(What::MatrixBandwidth)),
    ("loaded", Command::Measure(What::Loaded)),
    ("c2c", Command::Measure(What::C2c)),
    ("sweep", Command::Measure(What::Sweep)),
    ("scan", Command::Measure(What::Scan)),
    ("topology", Command::Topology),
    ("import mlc", Command::Import),
    ("repeat", Command::Repeat),
    ("man", Command::About(About::Man)),
    ("completions bash", Command::About(About::Completions(Shell::Bash))),
    ("completions zsh", Command::About(About::Completions(Shell::Zsh))),
    ("completions fish", Command::About(About::Completions(Shell::Fish))),
];

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
            Some(Typed::Scan) => Self::Measure(What::Scan),
            Some(Typed::Topology) => Self::Topology,
            Some(Typed::Import { what: ImportOf::Mlc, .. }) => Self::Import,
            Some(Typed::Repeat { .. }) => Self::Repeat,
            Some(Typed::Man) => Self::About(About::Man),
            Some(Typed::Completions { shell }) => Self::About(About::Completions(*shell)),
        }
    }

    /// As it is typed.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, command)| *command == self).map_or("the default run", |(name, _)| name)
    }

    /// Every command but the default run.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(_, command)| *command)
    }

    /// The first word that a command is typed as, and the one behind it, where it takes one.
    pub fn words(self) -> (&'static str, Option<&'static str>) {
        self.name().split_once(' ').map_or((self.name(), None), |(first, second)| (first, Some(second)))
    }

    /// The command that a call seems to be about, for its help text: the first argument that names one.
    pub fn guess(argv: &[String]) -> Option<Self> {
        let word = argv.iter().find(|word| Self::all().any(|command| command.words().0 == word.as_str()))?;
        let named = || Self::all().filter(|command| command.words().0 == word);
        let whole = named().find(|command| command.words().1.is_some_and(|second| argv.iter().any(|word| word == second)));
        whole.or_else(|| named().next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    #[test]
    fn each_command_that_can_be_typed_has_its_rows() {
        for typed in crate::args::Cli::command().get_subcommands() {
            let second = typed.get_positionals().next().map(|arg| arg.get_possible_values()).unwrap_or_default();
            let mut lines = vec![typed.get_name().to_owned()];
            if !second.is_empty() {
                lines = second.iter().map(|value| format!("{} {}", typed.get_name(), value.get_name())).collect();
            }
            let rows = NAMES.iter().map(|(name, _)| *name).filter(|name| name.split(' ').next() == Some(typed.get_name()));
            assert_eq!(rows.collect::<Vec<_>>(), lines);
            for line in lines {
                let argv = line.split(' ').map(str::to_owned).collect::<Vec<_>>();
                let cli = crate::args::Cli::try_parse_from(["memgauge".to_owned()].iter().chain(&argv)).unwrap();
                let command = Command::from_typed(cli.command.as_ref());
                assert_eq!((command.name(), Command::guess(&argv)), (line.as_str(), Some(command)));
            }
        }
    }
}
