//! What the echoed arguments say of the conditions.

use memgauge_model::{CpuList, Mix};

/// The arguments of one output.
#[derive(Debug, Clone, Default)]
pub(super) struct Call(pub Vec<String>);

impl Call {
    /// What stands behind an option's letter, attached or as the next word; empty where nothing does.
    pub fn option(&self, letter: char) -> Option<&str> {
        // Modes are written with one dash, too: `-loaded_latency` is no `-l`.
        let mode = |arg: &str| ["_latency", "_matrix", "_bandwidth", "_scan"].iter().any(|end| arg.ends_with(end));
        let of = |arg: &String| arg.strip_prefix('-').is_some_and(|rest| rest.starts_with(letter)) && !mode(arg);
        let at = self.0.iter().position(of)?;
        let attached = &self.0[at][1 + letter.len_utf8()..];
        let next = self.0.get(at + 1).map(String::as_str).filter(|next| !next.starts_with('-'));
        Some(if attached.is_empty() { next.unwrap_or_default() } else { attached })
    }

    /// Its value as a whole number.
    pub fn number(&self, letter: char) -> Option<u32> {
        self.option(letter)?.parse().ok()
    }

    /// The traffic that was asked for; reads where nothing was.
    pub fn mix(&self) -> &'static str {
        let asked = self.option('W').and_then(|code| Mix::by_name(&format!("W{code}")));
        match (asked, self.option('o')) {
            (Some(mix), _) => mix.name(),
            // One for each thread, in a file that nobody has.
            (None, Some(_)) => "mixed",
            (None, None) => Mix::Read.name(),
        }
    }

    /// The load CPUs, where they were named.
    pub fn loads(&self) -> Option<CpuList> {
        self.option('k')?.parse().ok().filter(|list: &CpuList| !list.is_empty())
    }
}
