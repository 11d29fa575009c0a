//! The kind of pages behind a range, from the text of `/proc/self/smaps`.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    ops::Range,
};

use crate::placement::GotKind;

/// What one mapping says of itself, in bytes.
#[derive(Clone, Default, Debug)]
struct Vma {
    range: Range<usize>,
    rss: u64,
    huge: u64,
    kernel_page: u64,
}

/// The kinds of pages of `arenas`, address ranges, by the kernel's account. The file is read once for all of them: the kernel
/// walks every mapping's page tables for it, which takes it tens of milliseconds a GiB of base pages.
pub(crate) fn page_kinds(arenas: &[Range<usize>], base_page: u64) -> io::Result<Vec<GotKind>> {
    let file = BufReader::new(File::open("/proc/self/smaps")?);
    parse(file, arenas, base_page)
}

/// Reads as far as the last arena reaches: mappings stand in the order of their addresses.
fn parse(text: impl BufRead, arenas: &[Range<usize>], base_page: u64) -> io::Result<Vec<GotKind>> {
    let end = arenas.iter().map(|arena| arena.end).max().unwrap_or(0);
    let mut vmas: Vec<Vma> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let line = line?;
        if let Some(range) = header(&line) {
            if range.start >= end {
                break;
            }
            inside = arenas.iter().any(|arena| range.end > arena.start && range.start < arena.end);
            if inside {
                vmas.push(Vma { range, ..Vma::default() });
            }
        } else if inside && let Some(vma) = vmas.last_mut() {
            field(&line, vma);
        }
    }
    Ok(arenas.iter().map(|arena| sum(&vmas, arena, base_page)).collect())
}

/// `5564c07e7000-5564c07e9000 r--p 00000000 fe:00 247282   /usr/bin/head`.
fn header(line: &str) -> Option<Range<usize>> {
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some(address(start)?..address(end)?)
}

/// `Rss:                  24 kB`.
fn field(line: &str, vma: &mut Vma) {
    let Some((name, value)) = line.split_once(':') else { return };
    let place = match name {
        "Rss" => &mut vma.rss,
        // One of them, by what the mapping is of.
        "AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped" => &mut vma.huge,
        "KernelPageSize" => &mut vma.kernel_page,
        _ => return,
    };
    let kib = value.trim().strip_suffix("kB").and_then(|kib| kib.trim().parse::<u64>().ok());
    *place = place.saturating_add(kib.unwrap_or(0).saturating_mul(1024));
}

fn sum(vmas: &[Vma], arena: &Range<usize>, base_page: u64) -> GotKind {
    let mine = || vmas.iter().filter(|vma| vma.range.end > arena.start && vma.range.start < arena.end);
    let Some(first) = mine().next() else { return GotKind::Unknown };
    // Mappings of a pool's pages never merge with others. They don't count in Rss.
    if first.kernel_page > base_page {
        return GotKind::Hugetlb(first.kernel_page);
    }
    // A mapping that merged with a neighbour counts that one's pages too. All or none is still
    // certain then; anything between is scaled down to the arena's share of the mapping.
    let (mut huge, mut total) = (0u64, 0u64);
    for vma in mine() {
        let own = vma.range.end.min(arena.end).saturating_sub(vma.range.start.max(arena.start));
        huge = scale(vma.huge, own, vma.range.len()).saturating_add(huge);
        total = scale(vma.rss, own, vma.range.len()).saturating_add(total);
    }
    match (huge, total) {
        (_, 0) => GotKind::Unknown,
        (0, _) => GotKind::Base,
        (huge, total) if huge >= total => GotKind::Thp,
        (huge_bytes, total_bytes) => GotKind::Mixed { huge_bytes, total_bytes },
    }
}

fn scale(bytes: u64, part: usize, whole: usize) -> u64 {
    let scaled = u128::from(bytes) * part as u128 / whole.max(1) as u128;
    u64::try_from(scaled).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vma(range: &str, rss: u64, huge: u64, page: u64) -> String {
        format!(
            "{range} rw-p 00000000 00:00 0 \n\
             Size:              65536 kB\n\
             KernelPageSize:     {page:4} kB\n\
             MMUPageSize:        {page:4} kB\n\
             Rss:            {rss:8} kB\n\
             Pss:            {rss:8} kB\n\
             AnonHugePages:  {huge:8} kB\n\
             ShmemPmdMapped:        0 kB\n\
             FilePmdMapped:         0 kB\n\
             Private_Hugetlb:       0 kB\n\
             THPeligible:           1\n\
             VmFlags: rd wr mr mw me dc dd hg \n"
        )
    }

    fn kind(text: &str, arena: Range<usize>, page: u64) -> GotKind {
        parse(text.as_bytes(), &[arena], page).unwrap().remove(0)
    }

    const ARENA: Range<usize> = 0x7f00_0000_0000..0x7f00_0400_0000;
    const OWN: &str = "7f0000000000-7f0004000000";

    #[test]
    fn each_kind_is_told_from_the_others() {
        let around = |own: &str| vma("7effffff0000-7f0000000000", 0, 0, 4) + own + &vma("7f0004000000-7f0004001000", 0, 0, 4);
        let cases = [
            (65536, 65536, GotKind::Thp),
            (65536, 0, GotKind::Base),
            (0, 0, GotKind::Unknown),
            (65536, 2048, GotKind::Mixed { huge_bytes: 2 << 20, total_bytes: 64 << 20 }),
        ];
        for (rss, huge, want) in cases {
            assert_eq!(kind(&around(&vma(OWN, rss, huge, 4)), ARENA, 4096), want);
        }
    }

    #[test]
    fn larger_base_pages_are_no_huge_pages() {
        for kib in [16, 64] {
            let own = vma(OWN, 65536, 0, kib);
            assert_eq!(kind(&own, ARENA, kib * 1024), GotKind::Base);
        }
        let own = vma(OWN, 65536, 65536, 16);
        assert_eq!(kind(&own, ARENA, 16384), GotKind::Thp);
    }

    #[test]
    fn pool_pages_have_their_size() {
        // As the kernel prints a pool's mapping: nothing in Rss.
        for (kib, base) in [(2048, 4096), (1 << 20, 4096), (512 << 10, 65536), (2048, 65536)] {
            assert_eq!(kind(&vma(OWN, 0, 0, kib), ARENA, base), GotKind::Hugetlb(kib * 1024));
        }
    }

    #[test]
    fn split_mappings_add_up() {
        let text = vma("7f0000000000-7f0002000000", 32768, 32768, 4) + &vma("7f0002000000-7f0004000000", 32768, 0, 4);
        let want = GotKind::Mixed { huge_bytes: 32 << 20, total_bytes: 64 << 20 };
        assert_eq!(kind(&text, ARENA, 4096), want);
    }

    #[test]
    fn a_merged_mapping_counts_by_share() {
        // Twice the arena's size: 128 MiB, of which the arena is the second half.
        let merged = "7efffc000000-7f0004000000";
        assert_eq!(kind(&vma(merged, 131_072, 131_072, 4), ARENA, 4096), GotKind::Thp);
        assert_eq!(kind(&vma(merged, 131_072, 0, 4), ARENA, 4096), GotKind::Base);
        let want = GotKind::Mixed { huge_bytes: 16 << 20, total_bytes: 64 << 20 };
        assert_eq!(kind(&vma(merged, 131_072, 32_768, 4), ARENA, 4096), want);
    }

    #[test]
    fn other_mappings_do_not_count() {
        let text = vma("555500000000-555500021000", 132, 0, 4) + &vma("7f0004000000-7f0008000000", 65536, 65536, 4);
        assert_eq!(kind(&text, ARENA, 4096), GotKind::Unknown);
        assert_eq!(kind("", ARENA, 4096), GotKind::Unknown);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "([0-9a-f]{1,17}-[0-9a-f]{1,17} rw|Rss: +[0-9]{1,22} kB|[ -~]{0,20}|\n){0,30}") {
            let _ = parse(text.as_bytes(), &[ARENA], 4096);
        }
    }
}
