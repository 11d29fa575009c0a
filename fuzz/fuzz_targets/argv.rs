//! Command lines, words ended by NUL: each is a call, a text, or one line that names what is wrong; and each call that can be read
//! is a plan or a refusal, for whatever machine.
#![no_main]
#![allow(dead_code, unused_imports, reason = "of modules that are taken whole, parts are used")]

#[path = "../../crates/cli/src/args/mod.rs"]
mod args;
#[path = "../../crates/machine/tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use memgauge_model::Machine;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::sync::LazyLock;

static MACHINES: LazyLock<[Machine; 3]> =
    LazyLock::new(|| [support::two_sockets(), support::with_cxl(), support::hybrid()].map(|tree| tree.read()));

fuzz_target!(|bytes: &[u8]| {
    let words = bytes.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec()));
    let argv: Vec<OsString> = std::iter::once("memgauge".into()).chain(words).collect();
    match args::read(argv) {
        Ok(call) => {
            for machine in &*MACHINES {
                if let Err(refusal) = memgauge_plan::build(&call.request, machine) {
                    one_line(&refusal.to_string());
                }
            }
        }
        Err(args::Stop::Refused(refusal)) => one_line(&refusal.to_string()),
        Err(args::Stop::Text(text)) => assert!(!text.is_empty()),
    }
});

fn one_line(text: &str) {
    assert!(!text.is_empty() && !text.contains(['\n', '\r', '\u{1b}']), "{text:?}");
}
