//! Machines of well-known shapes. Their figures are near published ones; no two real machines are alike, and these are none.

use crate::simulated::description::Description;

/// By name, the texts that a description of one's own may begin from.
pub(super) const TEXTS: [(&str, &str); 6] = [
    ("icelake-2s", include_str!("presets/icelake-2s.toml")),
    ("epyc-nps4", include_str!("presets/epyc-nps4.toml")),
    ("spr-snc4", include_str!("presets/spr-snc4.toml")),
    ("graviton", include_str!("presets/graviton.toml")),
    ("hybrid-desktop", include_str!("presets/hybrid-desktop.toml")),
    ("cxl-2s", include_str!("presets/cxl-2s.toml")),
];

/// The names of all presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, _)| *name)
}

/// The preset of this name.
#[must_use]
pub fn preset(name: &str) -> Option<Description> {
    let (_, text) = TEXTS.iter().find(|(known, _)| *known == name)?;
    Description::read(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_makes_sense() {
        for (name, text) in TEXTS {
            let read = Description::read(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(preset(name), Some(read));
        }
        assert_eq!(preset("pdp-11"), None);
    }
}
