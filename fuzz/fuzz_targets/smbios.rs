//! Firmware tables: a machine whose SMBIOS table is these bytes is read, whatever they are.
#![no_main]
#![allow(dead_code, reason = "of a module that is taken whole, parts are used")]

#[path = "../../crates/machine/tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let tree = support::Tree::empty();
    tree.file("proc/meminfo", "MemTotal: 1 kB\n").file("sys/firmware/dmi/tables/DMI", bytes);
    let _machine = tree.read();
});
