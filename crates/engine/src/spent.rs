//! Where the time of a run goes.

use std::collections::BTreeMap;

/// Nanoseconds by kind.
#[derive(Debug, Clone, Default)]
pub struct Spent(BTreeMap<String, u64>);

impl Spent {
    /// Adds to a kind.
    pub fn add(&mut self, kind: &str, ns: u64) {
        *self.0.entry(kind.to_owned()).or_default() += ns;
    }

    /// Adds all of another's.
    pub fn merge(&mut self, other: &BTreeMap<String, u64>) {
        other.iter().for_each(|(kind, ns)| self.add(kind, *ns));
    }

    /// By kind.
    pub fn into_map(self) -> BTreeMap<String, u64> {
        self.0
    }
}
