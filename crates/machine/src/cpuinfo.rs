//! /proc/cpuinfo, whose form differs by architecture: blocks of `key : value` lines, a block for each CPU (x86, Arm), or one
//! block and a line for each CPU (s390, old Arm).

use crate::files::Files;
use crate::list;
use std::collections::BTreeMap;

/// 10,000 CPUs at 1.5 KiB each.
const WHOLE: u64 = 16 << 20;

/// The first CPUs' blocks. The live kernel makes the text as it is read, and on x86 asks each CPU for its clock.
const FIRST: u64 = 16 << 10;

/// A CPU's place, where the text tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Processor {
    pub(crate) id: u32,
    /// `physical id`.
    pub(crate) package: Option<u32>,
    /// `core id`.
    pub(crate) core: Option<u32>,
}

/// All CPUs of the file.
pub(crate) fn processors(files: &Files<'_>) -> Vec<Processor> {
    let text = files.head("proc/cpuinfo", WHOLE).unwrap_or_default();
    let mut found: Vec<Processor> = Vec::new();
    for (key, value) in text.lines().filter_map(pair) {
        // s390: `processor 0: version = 00, …`
        let id =
            if key == "processor" { value.parse().ok() } else { key.strip_prefix("processor ").and_then(|n| n.parse().ok()) };
        if let Some(id) = id.filter(|id| *id < list::LARGEST) {
            found.push(Processor { id, package: None, core: None });
        } else if let Some(last) = found.last_mut() {
            match key {
                "physical id" => last.package = value.parse().ok(),
                "core id" => last.core = value.parse().ok(),
                _ => {}
            }
        }
    }
    found
}

/// The first value of each key, and every distinct `CPU part` (hybrid Arm).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CpuInfo {
    keys: BTreeMap<String, String>,
    /// Distinct implementer and part numbers, in the order of the CPUs.
    pub(crate) parts: Vec<(u64, u64)>,
}

impl CpuInfo {
    /// Reads the first CPUs' blocks of the live machine, all of a tree's.
    pub(crate) fn read(files: &Files<'_>) -> Self {
        let text = files.head("proc/cpuinfo", if files.live() { FIRST } else { WHOLE }).unwrap_or_default();
        let mut info = Self::default();
        let mut implementer = 0;
        for (key, value) in text.lines().filter_map(pair) {
            match key {
                "CPU implementer" => implementer = number(value).unwrap_or(0),
                "CPU part" => {
                    let part = (implementer, number(value).unwrap_or(0));
                    if !info.parts.contains(&part) && info.parts.len() < 16 {
                        info.parts.push(part);
                    }
                }
                _ => {}
            }
            if !info.keys.contains_key(key) && info.keys.len() < 256 {
                info.keys.insert(key.to_owned(), value.to_owned());
            }
        }
        info
    }

    /// The first value of a key, if it is not empty.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.keys.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A value as a number, decimal or `0x` hex.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(number)
    }

    /// Is the word among the flags (`flags` on x86, `Features` on Arm)?
    pub(crate) fn has_flag(&self, flag: &str) -> bool {
        let lists = ["flags", "Features", "features"];
        lists.iter().filter_map(|key| self.get(key)).any(|list| list.split_ascii_whitespace().any(|word| word == flag))
    }

    /// Does the text tell flags at all?
    pub(crate) fn has_flags(&self) -> bool {
        ["flags", "Features", "features"].iter().any(|key| self.get(key).is_some())
    }
}

fn pair(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    Some((key.trim(), value.trim()))
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
