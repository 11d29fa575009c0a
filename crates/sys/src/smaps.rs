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
    anon_huge: u64,
    kernel_page: u64,
    hugetlb: u64,
}

/// The kind of pages of `arena`, an address range, by the kernel's account.
pub(crate) fn page_kind(arena: &Range<usize>, base_page: u64) -> io::Result<GotKind> {
    let file = BufReader::new(File::open("/proc/self/smaps")?);
    parse(file, arena, base_page)
}

/// Reads as far as the arena reaches: mappings stand in the order of their addresses.
fn parse(text: impl BufRead, arena: &Range<usize>, base_page: u64) -> io::Result<GotKind> {
    let mut vmas: Vec<Vma> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let line = line?;
        if let Some(range) = header(&line) {
            if range.start >= arena.end {
                break;
            }
            inside = range.end > arena.start;
            if inside {
                vmas.push(Vma { range, ..Vma::default() });
            }
        } else if inside && let Some(vma) = vmas.last_mut() {
            field(&line, vma);
        }
    }
    Ok(sum(&vmas, arena, base_page))
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
        "AnonHugePages" => &mut vma.anon_huge,
        "KernelPageSize" => &mut vma.kernel_page,
        // Resident huge pages, which Rss leaves out.
        "Private_Hugetlb" => &mut vma.hugetlb,
        _ => return,
    };
    let kib = value.trim().strip_suffix("kB").and_then(|kib| kib.trim().parse::<u64>().ok());
    *place = kib.unwrap_or(0) * 1024;
}

fn sum(vmas: &[Vma], arena: &Range<usize>, base_page: u64) -> GotKind {
    let Some(first) = vmas.first() else { return GotKind::Unknown };
    if vmas.iter().all(|vma| vma.kernel_page == first.kernel_page) && first.kernel_page > base_page {
        return GotKind::Hugetlb(first.kernel_page);
    }
    // A mapping that merged with a neighbour counts that one's pages too. All or none is still
    // certain then; a share is the whole mapping's, scaled down to what is the arena's.
    let (mut huge, mut total) = (0, 0);
    for vma in vmas {
        let own = vma.range.end.min(arena.end) - vma.range.start.max(arena.start);
        let whole = vma.range.len();
        let scale = |bytes: u64| scale(bytes, own, whole);
        let big = if vma.kernel_page > base_page { vma.hugetlb } else { vma.anon_huge };
        huge += scale(big);
        total += scale(vma.rss + vma.hugetlb);
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
