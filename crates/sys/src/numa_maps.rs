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

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
555500000000 default file=/usr/bin/memgauge mapped=7 N0=7 kernelpagesize_kB=4
7f0000000000 bind:1 anon=512 dirty=512 active=0 N0=2 N1=510 kernelpagesize_kB=4
7f0000200000 bind:1 huge anon=1 dirty=1 N1=1 kernelpagesize_kB=2048
7f0000400000 default
7f0000600000 interleave:0-3 anon=4 dirty=4 swapcache=1 N0=1 N1=1 N2=1 N13=1 kernelpagesize_kB=64
7ffd00000000 default stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4
";

    fn nodes(arena: Range<usize>) -> Vec<(i32, u64)> {
        parse(TEXT.as_bytes(), &arena).unwrap().into_iter().collect()
    }

    #[test]
    fn pages_count_by_node_within_the_arena() {
        assert_eq!(nodes(0x7f00_0000_0000..0x7f00_0020_0000), [(0, 2), (1, 510)]);
        assert_eq!(nodes(0x7f00_0020_0000..0x7f00_0040_0000), [(1, 1)]);
        assert_eq!(nodes(0x7f00_0000_0000..0x7f00_0040_0000), [(0, 2), (1, 511)]);
        assert_eq!(nodes(0x7f00_0060_0000..0x7f00_0080_0000), [(0, 1), (1, 1), (2, 1), (13, 1)]);
    }

    #[test]
    fn what_is_not_there_is_nothing() {
        assert_eq!(nodes(0x7f00_0040_0000..0x7f00_0060_0000), []);
        // Begins before the arena: whose pages these are is unknown.
        assert_eq!(nodes(0x7f00_0000_1000..0x7f00_0010_0000), []);
    }
}
