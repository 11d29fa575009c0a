//! Splitting huge pages under a program's feet, for tests of this crate and of others.

#![expect(clippy::unwrap_used, reason = "a test's helper")]

use std::ops::Range;

/// Huge pages' mappings of this process in ranges of at least so many bytes: where they are, and bytes in huge pages.
pub fn huge(least: usize) -> Vec<(Range<usize>, u64)> {
    let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mut found = Vec::new();
    let mut range = 0..0;
    for line in smaps.lines() {
        let number = |text: &str| usize::from_str_radix(text, 16).ok();
        let words = line.split_once(' ').and_then(|(head, _)| head.split_once('-'));
        if let Some((start, end)) = words.and_then(|(start, end)| number(start).zip(number(end))) {
            range = start..end;
        }
        let kib = line.strip_prefix("AnonHugePages:").and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        if let Some(kib) = kib.filter(|kib| *kib > 0 && range.len() >= least) {
            found.push((range.clone(), kib * 1024));
        }
    }
    found
}

/// Has the kernel split all huge pages in the range: other advice for one base page in each cuts the mapping there. What is in
/// memory stays as it is.
pub fn split(range: &Range<usize>, huge_page: usize, base_page: usize) {
    for start in range.clone().step_by(huge_page) {
        let middle = std::ptr::without_provenance_mut(start + huge_page / 2);
        // SAFETY: whether memory goes into a core dump changes nothing for who uses it.
        let returned = unsafe { libc::madvise(middle, base_page, libc::MADV_DODUMP) };
        assert_eq!(returned, 0);
    }
}
