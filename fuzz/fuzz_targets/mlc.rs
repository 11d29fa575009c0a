//! Words of the Memory Latency Checker's command line, ended by NUL; behind the first empty one stands what every file holds that is
//! named. Each is a call or one line; each call is plans or refusals, for whatever machine.
#![no_main]
#![allow(dead_code, unused_imports, reason = "of modules that are taken whole, parts are used")]

#[path = "../../crates/cli/src/mlc/argv/mod.rs"]
mod argv;
#[path = "../../crates/machine/tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use memgauge_model::Machine;
use std::sync::LazyLock;

static MACHINES: LazyLock<[Machine; 3]> =
    LazyLock::new(|| [support::two_sockets(), support::with_cxl(), support::hybrid()].map(|tree| tree.read()));

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (words, file) = text.split_once("\0\0").unwrap_or((&text, ""));
    let words: Vec<String> = words.split('\0').map(str::to_owned).collect();
    match argv::read(&words, &|_| Ok(file.to_owned())) {
        Ok(asked) => {
            for machine in &*MACHINES {
                for (_, request) in asked.sections(machine) {
                    if let Err(refusal) = memgauge_plan::build(&request, machine) {
                        one_line(&refusal.to_string());
                    }
                }
            }
        }
        Err(argv::Wrong::Refused(refusal)) => one_line(&refusal.to_string()),
        Err(argv::Wrong::Invalid { word, .. }) => assert!(!word.contains(['\n', '\r', '\u{1b}'])),
    }
});

fn one_line(text: &str) {
    assert!(!text.is_empty() && !text.contains(['\n', '\r', '\u{1b}']), "{text:?}");
}
