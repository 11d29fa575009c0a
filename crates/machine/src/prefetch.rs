//! Hardware prefetchers, as the CPU's registers say. A hypervisor may answer 0 for a register that it only tolerates: whether
//! prefetching really acts is for a probe to measure.

use crate::files::Files;
use memgauge_model::{Avail, CpuList, CpuModel, PrefetchRegister, Reason};
use memgauge_sys::msr::{self, MsrError};
use std::path::Path;

/// Intel `MISC_FEATURE_CONTROL`; a set bit is off.
const INTEL: u32 = 0x1a4;

/// AMD `PREFETCH_CONTROL`, where CPUID 8000_0021 EAX bit 13 has it; a set bit is off.
const AMD: u32 = 0xc000_0108;

/// Intel's register of the prefetchers into the last-level cache of Sapphire, Emerald and Granite Rapids; a set bit is off.
const INTEL_LLC: PrefetchRegister = PrefetchRegister { msr: 0x6d, mask: 1 << 14 | 1 << 42 };

/// The same of Sierra Forest and Clearwater Forest.
const INTEL_LLC_E: PrefetchRegister = PrefetchRegister { msr: 0x1320, mask: 1 << 43 };

/// Every register and bit that is ever written.
pub const PREFETCH_REGISTERS: [PrefetchRegister; 4] =
    [PrefetchRegister { msr: INTEL, mask: 0xff }, PrefetchRegister { msr: AMD, mask: 0x2f }, INTEL_LLC, INTEL_LLC_E];

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

/// What the registers say, and which there are.
pub(crate) struct Prefetch {
    pub state: Avail<String>,
    pub control: Avail<Vec<PrefetchRegister>>,
}

/// Reads the state on the first allowed CPU.
pub(crate) fn read(files: &Files<'_>, cpu: &CpuModel, allowed: &CpuList) -> Prefetch {
    let missing =
        |reason, detail: &str| Prefetch { state: Avail::missing(reason, detail), control: Avail::missing(reason, detail) };
    if !files.live() {
        return missing(Reason::NotApplicable, "a captured tree has no registers");
    }
    let Some(first) = allowed.first() else { return missing(Reason::NotPresent, "no CPU to ask") };
    let (register, bits, more) = match registers(cpu, amd_has_control()) {
        Ok(known) => known,
        Err(why) => return missing(Reason::NotSupported, &why),
    };
    let mask = bits.iter().fold(0, |mask, (bit, _)| mask | 1 << bit);
    let control = std::iter::once(PrefetchRegister { msr: register, mask }).chain(more).collect();
    match msr::read(Path::new("/"), first, register) {
        Ok(value) => Prefetch { state: Avail::Known(describe(value, bits)), control: Avail::Known(control) },
        Err(error @ MsrError::NotPresent { .. }) => missing(Reason::NotPresent, &error.to_string()),
        Err(error) => missing(Reason::NoPermission, &error.to_string()),
    }
}

/// The register with its bits for this CPU, and what it has besides.
fn registers(cpu: &CpuModel, amd_has_control: bool) -> Result<(u32, Bits, Option<PrefetchRegister>), String> {
    let number = |key: &str| cpu.numbers.get(key).copied().unwrap_or(0);
    match (cpu.vendor.known().map(String::as_str), number("family")) {
        (Some("GenuineIntel"), 6) => {
            let model = number("model");
            let more = match model {
                0x8f | 0xcf | 0xad | 0xae => Some(INTEL_LLC),
                0xaf | 0xdd => Some(INTEL_LLC_E),
                _ => None,
            };
            Ok((INTEL, intel(model), more))
        }
        (Some("GenuineIntel"), family) => Err(format!("no known prefetcher register on Intel family {family}")),
        (Some("AuthenticAMD"), _) if amd_has_control => Ok((AMD, ZEN, None)),
        (Some("AuthenticAMD"), _) => Err("this AMD CPU has no prefetch control (CPUID 8000_0021 EAX bit 13)".to_owned()),
        _ if matches!(cpu.architecture.as_str(), "aarch64" | "arm") => {
            Err("Arm's prefetch control is a register of each implementer's own that user space can't reach".to_owned())
        }
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

    fn model(architecture: &str, vendor: &str, family: u64, model: u64) -> CpuModel {
        CpuModel {
            architecture: architecture.to_owned(),
            vendor: Avail::Known(vendor.to_owned()),
            name: Avail::missing(Reason::NotPresent, ""),
            numbers: [("family".to_owned(), family), ("model".to_owned(), model)].into(),
            microcode: Avail::missing(Reason::NotPresent, ""),
            flags: Vec::new(),
        }
    }

    #[test]
    fn each_model_has_its_registers_and_all_of_them_may_be_written() {
        let of = |vendor, family, number, amd| registers(&model("x86_64", vendor, family, number), amd);
        let more = |number| of("GenuineIntel", 6, number, false).map(|known| known.2.map(|register| register.msr));
        assert_eq!([0x55, 0xcf, 0xad, 0xaf].map(more), [Ok(None), Ok(Some(0x6d)), Ok(Some(0x6d)), Ok(Some(0x1320))]);
        assert_eq!(of("AuthenticAMD", 0x1a, 2, true).map(|known| known.0), Ok(AMD));
        for wrong in [of("AuthenticAMD", 0x17, 1, false), of("GenuineIntel", 15, 1, true), of("HygonGenuine", 0x18, 1, true)] {
            assert!(wrong.is_err(), "{wrong:?}");
        }
        let arm = registers(&model("aarch64", "ARM", 0, 0), false);
        assert!(arm.is_err_and(|why| why.contains("user space")));
        for bits in [MAINSTREAM, SAPPHIRE_RAPIDS, GRANITE_RAPIDS, SILVERMONT, XEON_PHI] {
            assert!(bits.iter().all(|(bit, _)| PREFETCH_REGISTERS[0].mask >> bit & 1 == 1));
        }
        // Only these: on family 1Ah the register's other bits are set from reset on.
        assert_eq!(ZEN.iter().fold(0, |mask, (bit, _)| mask | 1 << bit), PREFETCH_REGISTERS[1].mask);
    }

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
