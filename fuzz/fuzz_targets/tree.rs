//! Trees of sysfs and procfs of which some files are bent: a kind of machine, then file after file, what becomes of it and, for a
//! content, its length and bytes.
#![no_main]
#![allow(dead_code, unused_imports, reason = "of modules that are taken whole, parts are used")]

#[path = "../../crates/cli/src/args/mod.rs"]
mod args;
#[path = "../../crates/machine/tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use memgauge_model::CpuList;

const LINKS: [&str; 6] = ["/", "..", ".", "self", "/etc/passwd", "../../../../../../../../etc/passwd"];

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, mut rest)) = bytes.split_first() else { return };
    let tree = [support::two_sockets, support::with_cxl, support::hybrid][usize::from(*kind) % 3]();
    let files = tree.files();
    while let [file, how, length, behind @ ..] = rest {
        let file = &files[usize::from(*file) % files.len()];
        let (content, behind) = behind.split_at(usize::from(*length).min(behind.len()));
        match how % 8 {
            0 => tree.remove(file),
            1 => tree.folder(file),
            2 => tree.link(file, LINKS[content.len() % LINKS.len()]),
            _ => tree.file(file, content),
        };
        rest = behind;
    }
    let Ok(machine) = memgauge_machine::read(&tree.root()) else { return };
    let _counters = memgauge_machine::snapshot(&tree.root());
    let cores: Vec<u32> = machine.cores.iter().flat_map(CpuList::iter).collect();
    assert_eq!(cores.len(), machine.online_cpus.len(), "each CPU is in one core");
    let json = serde_json::to_string(&machine).expect("a machine can be written");
    assert!(!json.contains("root:x:"), "a file outside the tree was read");
    let machine: memgauge_model::Machine = serde_json::from_str(&json).expect("and read back");
    for words in ["", "matrix latency", "loaded", "c2c --all-pairs", "sweep", "idle --buffer 1GiB"] {
        let argv = std::iter::once("memgauge").chain(words.split_whitespace()).map(Into::into).collect();
        let Ok(call) = args::read(argv) else { panic!("{words}: a call that can't be read") };
        let _plan = memgauge_plan::build(&call.request, &machine);
    }
});
