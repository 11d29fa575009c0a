//! Memory modules from SMBIOS type 17, and what they could do together.

use crate::files::{Files, Miss};
use crate::smbios::{self, Structure};
use memgauge_model::{Avail, Dimm, Dimms, Reason};
use std::collections::BTreeMap;

const TABLE: &str = "sys/firmware/dmi/tables/DMI";
const ENTRIES: &str = "sys/firmware/dmi/entries";

/// The largest table of a real server is about 100 KiB.
const TABLE_CAP: u64 = 1 << 20;

/// No machine has more modules.
const MOST_MODULES: usize = 4096;

const REMEDY: &str = "state it with --theoretical";

/// Reads the modules that hold memory, from the whole table, else from the kernel's single entries.
pub(crate) fn read(files: &Files<'_>) -> Dimms {
    let modules = match files.bytes(TABLE, TABLE_CAP) {
        Ok(table) => Ok(smbios::structures(&table).filter_map(module).take(MOST_MODULES).collect()),
        Err(miss) => from_entries(files).ok_or(miss),
    };
    match modules {
        Ok(modules) if modules.is_empty() => none(Reason::NotPresent, &format!("SMBIOS names no memory module; {REMEDY}")),
        Ok(modules) => {
            let channels = channels(&modules);
            let count = channels.as_ref().map(|channels| u32::try_from(channels.len()).unwrap_or(u32::MAX));
            Dimms {
                theoretical_bandwidth: available(channels.as_ref().map_err(Clone::clone).and_then(theoretical)),
                channels: available(count.map_err(Clone::clone)),
                modules: Avail::Known(modules),
            }
        }
        Err(miss) => {
            let (reason, why) = match miss {
                Miss::Denied => (Reason::NoPermission, format!("/{TABLE} takes root")),
                _ => (Reason::NotPresent, format!("/{TABLE}: no SMBIOS table")),
            };
            none(reason, &format!("{why}; {REMEDY}"))
        }
    }
}

fn none(reason: Reason, why: &str) -> Dimms {
    Dimms {
        modules: Avail::missing(reason, why),
        channels: Avail::missing(reason, why),
        theoretical_bandwidth: Avail::missing(reason, why),
    }
}

fn available<T>(value: Result<T, String>) -> Avail<T> {
    match value {
        Ok(value) => Avail::Known(value),
        Err(why) => Avail::missing(Reason::NotPresent, format!("{why}; {REMEDY}")),
    }
}

fn from_entries(files: &Files<'_>) -> Option<Vec<Dimm>> {
    let mut names: Vec<String> = files.names(ENTRIES).into_iter().filter(|name| name.starts_with("17-")).collect();
    names.sort_by_key(|name| name[3..].parse::<u32>().unwrap_or(u32::MAX));
    let read = |name: &String| files.bytes(&format!("{ENTRIES}/{name}/raw"), 1 << 16).ok();
    let raws: Vec<Vec<u8>> = names.iter().take(MOST_MODULES).filter_map(read).collect();
    (!raws.is_empty()).then(|| raws.iter().filter_map(|raw| module(Structure::take(raw)?.0)).collect())
}

/// A module that holds memory. Offsets are those of the SMBIOS specification, 7.18.
fn module(of: Structure<'_>) -> Option<Dimm> {
    if of.kind() != 17 {
        return None;
    }
    let size = match of.word(0x0c)? {
        // Empty slot; unknown.
        0 | 0xffff => return None,
        0x7fff => u64::from(of.dword(0x1c)? & 0x7fff_ffff) << 20,
        kib if kib & 0x8000 != 0 => u64::from(kib & 0x7fff) << 10,
        mib => u64::from(mib) << 20,
    };
    let speed = |short: usize, long: usize| match of.word(short) {
        None | Some(0) => None,
        // Both bytes set: the speed is beyond 16 bits and stands in a longer field.
        Some(0xffff) => of.dword(long).map(|speed| speed & 0x7fff_ffff).filter(|speed| *speed > 0),
        Some(speed) => Some(u32::from(speed)),
    };
    Some(Dimm {
        locator: of.string(0x10),
        bank: of.string(0x11),
        size,
        kind: kind(of.byte(0x12).unwrap_or(0), of.byte(0x28).unwrap_or(0)),
        rated_mts: speed(0x15, 0x54),
        configured_mts: speed(0x20, 0x58),
        data_bits: of.word(0x0a).filter(|bits| !matches!(bits, 0 | 0xffff)).map(u32::from),
        ranks: of.byte(0x1b).map(|attributes| u32::from(attributes & 0xf)).filter(|ranks| *ranks > 0),
        part: of.string(0x1a),
    })
}

/// Memory type; persistent modules (by technology) are no DRAM whatever their type says.
fn kind(code: u8, technology: u8) -> String {
    let name = match (code, technology) {
        (_, 4..=7) => "NVDIMM",
        (0x0f, _) => "SDRAM",
        (0x12, _) => "DDR",
        (0x13, _) => "DDR2",
        (0x14, _) => "DDR2 FB-DIMM",
        (0x18, _) => "DDR3",
        (0x1a, _) => "DDR4",
        (0x1b, _) => "LPDDR",
        (0x1c, _) => "LPDDR2",
        (0x1d, _) => "LPDDR3",
        (0x1e, _) => "LPDDR4",
        (0x1f, _) => "NVDIMM",
        (0x20, _) => "HBM",
        (0x21, _) => "HBM2",
        (0x22, _) => "DDR5",
        (0x23, _) => "LPDDR5",
        (0x24, _) => "HBM3",
        (0x07, _) => "RAM",
        (0x03, _) => "DRAM",
        _ => "unknown",
    };
    name.to_owned()
}

/// The DRAM modules of each channel, by the channel's name. Only locators that say "channel" are believed: a bare `A1` or `DIMM_A1`
/// names the channel on one maker's boards and the socket on another's.
fn channels(modules: &[Dimm]) -> Result<BTreeMap<String, Vec<&Dimm>>, String> {
    let mut channels: BTreeMap<String, Vec<&Dimm>> = BTreeMap::new();
    for module in modules.iter().filter(|module| module.kind != "NVDIMM") {
        let untold = || format!("the locators (`{}`, bank `{}`) don't tell the memory channels", module.locator, module.bank);
        let name = channel(&module.bank, &module.locator).ok_or_else(untold)?;
        let mates = channels.entry(name).or_default();
        // Mates differ by their slot's number only; otherwise two sockets' channels have one name here.
        if mates.first().is_some_and(|mate| stem(mate) != stem(module)) {
            return Err(untold());
        }
        mates.push(module);
    }
    if channels.is_empty() { Err("SMBIOS names no DRAM module".to_owned()) } else { Ok(channels) }
}

/// Both locators without the numbers that they end in.
fn stem(module: &Dimm) -> (&str, &str) {
    let stem = |text: &'_ str| text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    (&module.bank[..stem(&module.bank)], &module.locator[..stem(&module.locator)])
}

/// The channel's name: whichever of the two strings says "channel", up to the end of the channel's number or letter, behind what the
/// other one says before "DIMM" or "SLOT" (some firmware puts the socket into one and the channel into the other).
fn channel(bank: &str, locator: &str) -> Option<String> {
    let (with, other) = if channel_end(bank).is_some() { (bank, locator) } else { (locator, bank) };
    let end = channel_end(with)?;
    let with = with.to_ascii_uppercase();
    let other = other.to_ascii_uppercase();
    let socket = ["DIMM", "SLOT", "BANK"].iter().filter_map(|word| other.find(word)).min().map_or("", |at| &other[..at]);
    Some(format!("{} {}", socket.trim(), &with[..end]))
}

/// Where the channel's number or letter ends in a locator such as `P0_Node0_Channel2_Dimm0`, `P0 CHANNEL A`, `ChannelA-DIMM0`.
fn channel_end(text: &str) -> Option<usize> {
    let upper = text.to_ascii_uppercase();
    let start = upper.find("CHANNEL")? + "CHANNEL".len();
    let after = &upper[start..];
    let gap = after.len() - after.trim_start_matches([' ', '_', '-', ':']).len();
    let id = &after[gap..];
    let digits = id.bytes().take_while(u8::is_ascii_digit).count();
    let letter = usize::from(digits == 0 && id.bytes().next().is_some_and(|b| b.is_ascii_uppercase()));
    // One letter only, and no plural: `CHANNEL DIMM` and `CHANNELS` name none.
    let plural = gap == 0 && id.starts_with('S');
    let lone = letter == 1 && !plural && !id.as_bytes().get(1).is_some_and(u8::is_ascii_uppercase);
    let length = if lone { 1 } else { digits };
    (length > 0).then_some(start + gap + length)
}

/// Σ over channels of the speed that the channel is run at × its width. Modules of one channel take turns, so one counts; the
/// slowest, which sets the clock.
fn theoretical(channels: &BTreeMap<String, Vec<&Dimm>>) -> Result<f64, String> {
    let one = |modules: &Vec<&Dimm>| {
        let speed = modules.iter().map(|module| module.configured_mts).min().flatten();
        let speed = speed.ok_or_else(|| format!("module `{}` states no configured speed", modules[0].locator))?;
        let width = modules.iter().filter_map(|module| module.data_bits).min();
        let width = width.ok_or_else(|| format!("module `{}` states no data width", modules[0].locator))?;
        Ok(f64::from(speed) * 1e6 * f64::from(width) / 8.0)
    };
    channels.values().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(bank: &str, locator: &str, mts: Option<u32>) -> Dimm {
        Dimm {
            locator: locator.to_owned(),
            bank: bank.to_owned(),
            size: 1 << 34,
            kind: "DDR5".to_owned(),
            rated_mts: Some(5600),
            configured_mts: mts,
            data_bits: Some(64),
            ranks: None,
            part: String::new(),
        }
    }

    #[test]
    fn channels_of_several_makers() {
        let amd =
            [("P0 CHANNEL A", "DIMM 0"), ("P0 CHANNEL A", "DIMM 1"), ("P0 CHANNEL B", "DIMM 0"), ("P1 CHANNEL A", "DIMM 0")];
        let intel = [("NODE 1", "CPU0_Channel0_Dimm0"), ("NODE 2", "CPU0_Channel1_Dimm0"), ("NODE 1", "CPU1_Channel0_Dimm0")];
        let laptop = [("BANK 0", "Controller0-ChannelA-DIMM0"), ("BANK 0", "Controller1-ChannelA-DIMM0")];
        // Which socket a channel belongs to may stand in the other string.
        let split = [("CHANNEL A", "PROC 1 DIMM 1"), ("CHANNEL A", "PROC 2 DIMM 1")];
        for (locators, want) in [(&amd[..], 3), (&intel[..], 3), (&laptop[..], 2), (&split[..], 2)] {
            let modules: Vec<Dimm> = locators.iter().map(|(bank, locator)| module(bank, locator, Some(4800))).collect();
            assert_eq!(channels(&modules).map(|channels| channels.len()), Ok(want), "{locators:?}");
        }
        // Two sockets' channels of one name are two, but nothing here says which modules are mates.
        let merged = [module("CHANNEL A", "P1_A1", None), module("CHANNEL A", "P2_A1", None)];
        assert!(channels(&merged).is_err());
    }

    #[test]
    fn the_slowest_module_sets_a_channels_clock() {
        let modules = [module("CHANNEL 0", "DIMM 0", Some(4800)), module("CHANNEL 0", "DIMM 1", Some(4400))];
        assert_eq!(channels(&modules).and_then(|channels| theoretical(&channels)), Ok(4400e6 * 8.0));
        let silent = [module("CHANNEL 0", "DIMM 0", Some(4800)), module("CHANNEL 0", "DIMM 1", None)];
        assert!(channels(&silent).and_then(|channels| theoretical(&channels)).is_err(), "a rated speed is no configured one");
    }

    proptest::proptest! {
        #[test]
        fn any_table_is_read_to_its_end(table in proptest::collection::vec(0_u8..20, 0..400)) {
            proptest::prop_assert!(smbios::structures(&table).filter_map(super::module).count() <= table.len() / 6);
        }
    }
}
