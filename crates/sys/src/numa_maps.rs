//! Where pages lie, from the text of `/proc/self/numa_maps`.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader},
    ops::Range,
};

/// Pages by node in the mappings that begin in `arena`, an address range; empty if none does.
pub(crate) fn pages_by_node(arena: &Range<usize>) -> io::Result<BTreeMap<i32, u64>> {
    parse(BufReader::new(File::open("/proc/self/numa_maps")?), arena)
}

/// `7f2c00000000 bind:1 anon=512 dirty=512 active=0 N0=2 N1=510 kernelpagesize_kB=4`. The file
/// gives no ends; mappings stand in the order of their addresses.
fn parse(text: impl BufRead, arena: &Range<usize>) -> io::Result<BTreeMap<i32, u64>> {
    let mut by_node = BTreeMap::new();
    for line in text.lines() {
        let line = line?;
        let mut fields = line.split_ascii_whitespace();
        let start = fields.next().and_then(|start| usize::from_str_radix(start, 16).ok());
        match start {
            Some(start) if start >= arena.end => break,
            Some(start) if arena.contains(&start) => {}
            _ => continue,
        }
        for (node, pages) in fields.filter_map(node_count) {
            *by_node.entry(node).or_insert(0) += pages;
        }
    }
    Ok(by_node)
}

/// `N1=510`.
fn node_count(field: &str) -> Option<(i32, u64)> {
    let (node, pages) = field.strip_prefix('N')?.split_once('=')?;
    Some((node.parse().ok()?, pages.parse().ok()?))
}
