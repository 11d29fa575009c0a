//! Hardware prefetchers, as the CPU's registers say. A hypervisor may answer 0 for a register that it only tolerates: whether
//! prefetching really acts is for a probe to measure.

use crate::files::Files;
use memgauge_model::{Avail, CpuList, CpuModel, Reason};
use memgauge_sys::msr::{self, MsrError};
use std::path::Path;

/// Intel `MISC_FEATURE_CONTROL`; a set bit is off.
const INTEL: u32 = 0x1a4;

/// AMD `PREFETCH_CONTROL`, where CPUID 8000_0021 EAX bit 13 has it; a set bit is off.
const AMD: u32 = 0xc000_0108;

/// A prefetcher's bit and name.
type Bits = &'static [(u32, &'static str)];

const MAINSTREAM: Bits = &[(0, "L2 streamer"), (1, "L2 adjacent line"), (2, "L1 streamer"), (3, "L1 IP")];
const SAPPHIRE_RAPIDS: Bits =
    &[(0, "L2 streamer"), (1, "L2 adjacent line"), (2, "L1 streamer"), (3, "L1 IP"), (4, "L1 next page"), (5, "L2 AMP")];
const GRANITE_RAPIDS: Bits = &[
    (0, "L2 streamer"),
    (1, "L2 adjacent line"),
    (2, "L1 streamer"),
    (3, "L1 IP"),
    (4, "L1 next page"),
    (5, "L2 AMP"),
    (6, "LLC page"),
    (7, "array of pointers"),
];
const SILVERMONT: Bits = &[(0, "L2 streamer"), (2, "L1 streamer")];
const XEON_PHI: Bits = &[(0, "L1 streamer"), (1, "L2 streamer")];
const ZEN: Bits = &[(0, "L1 stream"), (1, "L1 stride"), (2, "L1 region"), (3, "L2 stream"), (5, "L2 up/down")];

/// Reads the state on the first allowed CPU.
pub(crate) fn read(files: &Files<'_>, cpu: &CpuModel, allowed: &CpuList) -> Avail<String> {
    if !files.live() {
        return Avail::missing(Reason::NotApplicable, "a captured tree has no registers");
    }
    let Some(first) = allowed.first() else { return Avail::missing(Reason::NotPresent, "no CPU to ask") };
    let (register, bits) = match registers(cpu) {
        Ok(known) => known,
        Err(why) => return Avail::missing(Reason::NotSupported, why),
    };
    match msr::read(Path::new("/"), first, register) {
        Ok(value) => Avail::Known(describe(value, bits)),
        Err(error @ MsrError::NotPresent { .. }) => Avail::missing(Reason::NotPresent, error.to_string()),
        Err(error) => Avail::missing(Reason::NoPermission, error.to_string()),
    }
}

/// The register and its bits for this CPU.
fn registers(cpu: &CpuModel) -> Result<(u32, Bits), String> {
    let number = |key: &str| cpu.numbers.get(key).copied().unwrap_or(0);
    match (cpu.vendor.known().map(String::as_str), number("family")) {
        (Some("GenuineIntel"), 6) => Ok((INTEL, intel(number("model")))),
        (Some("GenuineIntel"), family) => Err(format!("no known prefetcher register on Intel family {family}")),
        (Some("AuthenticAMD"), _) if amd_has_control() => Ok((AMD, ZEN)),
        (Some("AuthenticAMD"), _) => Err("this AMD CPU has no prefetch control (CPUID 8000_0021 EAX bit 13)".to_owned()),
        _ => Err("no known prefetcher register on this CPU".to_owned()),
    }
}

fn intel(model: u64) -> Bits {
    match model {
        // Silvermont, Airmont, Goldmont, Tremont.
        0x37 | 0x4a | 0x4c | 0x4d | 0x5a | 0x5c | 0x5d | 0x5f | 0x75 | 0x7a | 0x86 | 0x96 | 0x9c => SILVERMONT,
        // Knights Landing, Knights Mill: the other way round.
        0x57 | 0x85 => XEON_PHI,
        // Sapphire Rapids, Emerald Rapids.
        0x8f | 0xcf => SAPPHIRE_RAPIDS,
        // Granite Rapids.
        0xad | 0xae => GRANITE_RAPIDS,
        _ => MAINSTREAM,
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn amd_has_control() -> bool {
    use raw_cpuid::{CpuIdReader, CpuIdReaderNative};
    let reader = CpuIdReaderNative;
    reader.cpuid1(0x8000_0000).eax >= 0x8000_0021 && reader.cpuid1(0x8000_0021).eax >> 13 & 1 == 1
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn amd_has_control() -> bool {
    false
}

/// `on`, `off`, or what is off.
fn describe(value: u64, bits: Bits) -> String {
    let off: Vec<&str> = bits.iter().filter(|(bit, _)| value >> bit & 1 == 1).map(|(_, name)| *name).collect();
    match off.len() {
        0 => "on".to_owned(),
        all if all == bits.len() => "off".to_owned(),
        _ => format!("off: {}; others on", off.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_bit_is_off() {
        assert_eq!(describe(0, MAINSTREAM), "on");
        assert_eq!(describe(0xf, MAINSTREAM), "off");
        assert_eq!(describe(0xf, SAPPHIRE_RAPIDS), "off: L2 streamer, L2 adjacent line, L1 streamer, L1 IP; others on");
        // Bits that a CPU does not have say nothing.
        assert_eq!(describe(0xffff_fff0, MAINSTREAM), "on");
        assert_eq!(describe(5, intel(0x5c)), "off");
        assert_eq!(describe(1, intel(0x57)), "off: L1 streamer; others on");
    }
}
