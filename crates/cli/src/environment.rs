//! Every environment variable that memgauge looks at. They change wording, colour and places, never a figure.

use std::collections::BTreeMap;
use std::env;

/// Name, and what it does. The documentation prints this table.
pub const VARIABLES: &[(&str, &str)] = &[
    ("NO_COLOR", "not empty: no colours (https://no-color.org)"),
    ("TERM", "`dumb`: no colours and no progress line"),
    ("TMPDIR", "where the lock file stands when /run/lock can't be had"),
];

/// Those that are set, as they stand.
pub fn recorded() -> BTreeMap<String, String> {
    let set = VARIABLES.iter().filter_map(|(name, _)| Some(((*name).to_owned(), env::var_os(name)?)));
    set.map(|(name, value)| (name, value.to_string_lossy().into_owned())).collect()
}

/// May a terminal be given escapes?
pub fn plain_terminal() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Are colours wanted on a terminal?
pub fn colours() -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && !plain_terminal()
}
