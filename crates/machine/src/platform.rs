//! Kernel, distribution, firmware, hypervisor, container; and the CPU's name.

use crate::cgroup::Cgroups;
use crate::cpuinfo::CpuInfo;
use crate::files::Files;
use crate::{hypervisor, prefetch};
use memgauge_model::{Avail, CpuList, CpuModel, Platform, Reason};
use std::collections::BTreeMap;

const DMI: &str = "sys/class/dmi/id";

/// Reads it.
pub(crate) fn read(files: &Files<'_>, info: &CpuInfo, cpu: &CpuModel, cgroups: &Cgroups, allowed: &CpuList) -> Platform {
    let prefetch = prefetch::read(files, cpu, allowed);
    Platform {
        host: or_captured(files, files.word("proc/sys/kernel/hostname"), "HostName"),
        kernel: kernel(files),
        cmdline: files.word("proc/cmdline"),
        boot_id: files.word("proc/sys/kernel/random/boot_id"),
        os: os(files),
        hypervisor: hypervisor::read(files, info, &cpu.architecture),
        container: container(files, cgroups),
        product: product(files),
        bios: joined(files, &["bios_vendor", "bios_version", "bios_date"]),
        clocksource: files.word("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        prefetchers: prefetch.state,
        prefetch_control: prefetch.control,
    }
}

/// A line of what hwloc's capture script wrote down of things that are no files.
pub(crate) fn captured(files: &Files<'_>, key: &str) -> Option<String> {
    if files.live() {
        return None;
    }
    let text = files.text("proc/hwloc-nofile-info").ok()?;
    text.lines().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(": ")?.trim().to_owned()))
}

fn or_captured(files: &Files<'_>, value: Avail<String>, key: &str) -> Avail<String> {
    match value {
        Avail::Known(_) => value,
        Avail::Unavailable { .. } => captured(files, key).map_or(value, Avail::Known),
    }
}

fn kernel(files: &Files<'_>) -> Avail<String> {
    let release = files.word("proc/sys/kernel/osrelease");
    if release.known().is_some() {
        return release;
    }
    // `Linux version 6.1.0-13-amd64 (…`
    let version = files.word("proc/version").map(|text| text.split(' ').nth(2).unwrap_or_default().to_owned());
    or_captured(files, if version.known().is_some() { version } else { release }, "OSRelease")
}

fn os(files: &Files<'_>) -> Avail<String> {
    let named = |path: &str| {
        let text = files.text(path).ok()?;
        let value =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(|value| value.trim_matches('"').to_owned());
        value("PRETTY_NAME=").or_else(|| value("NAME="))
    };
    Avail::or_absent(named("etc/os-release").or_else(|| named("usr/lib/os-release")), "no os-release")
}

/// Vendor and product by DMI, else the device tree's model.
fn product(files: &Files<'_>) -> Avail<String> {
    let dmi = joined(files, &["sys_vendor", "product_name"]);
    if dmi.known().is_some() {
        return dmi;
    }
    let models = ["proc/device-tree/model", "sys/firmware/devicetree/base/model"];
    models.iter().map(|path| files.word(path)).find(|model| model.known().is_some()).unwrap_or(dmi)
}

fn joined(files: &Files<'_>, names: &[&str]) -> Avail<String> {
    let known = names.iter().filter_map(|name| files.word(&format!("{DMI}/{name}")).known().cloned());
    let text = known.collect::<Vec<_>>().join(" ");
    if text.is_empty() { files.word(&format!("{DMI}/{}", names[0])) } else { Avail::Known(text) }
}

/// By the marks that engines leave, then by the cgroup's name.
fn container(files: &Files<'_>, cgroups: &Cgroups) -> Avail<String> {
    let marks = [
        ("kubernetes", "var/run/secrets/kubernetes.io"),
        ("docker", ".dockerenv"),
        ("podman", "run/.containerenv"),
        ("openvz", "proc/vz"),
    ];
    if let Some((name, _)) = marks.iter().find(|(_, path)| files.exists(path) && !(*path == "proc/vz" && files.exists("proc/bc")))
    {
        return Avail::Known((*name).to_owned());
    }
    if let Avail::Known(name) = files.word("run/systemd/container") {
        return Avail::Known(name);
    }
    let words =
        [("kubernetes", "kubepods"), ("docker", "/docker"), ("podman", "libpod"), ("lxc", "/lxc"), ("containerd", "containerd")];
    let path = cgroups.name();
    let named = words.iter().find(|(_, word)| path.contains(word)).map_or("none", |(name, _)| name);
    // A tree without any of /proc/self tells nothing either way.
    match cgroups.path() {
        Avail::Unavailable { .. } if !files.live() => Avail::missing(Reason::NotPresent, "the tree holds no /proc/self/cgroup"),
        _ => Avail::Known(named.to_owned()),
    }
}

/// Flags that bear on measuring memory: vector widths, streaming stores, huge pages, counters, encryption, bandwidth control.
const FLAGS: [&str; 46] = [
    "sse2",
    "avx",
    "avx2",
    "avx512f",
    "avx512vl",
    "amx_tile",
    "erms",
    "fsrm",
    "clflushopt",
    "clwb",
    "cldemote",
    "movdiri",
    "movdir64b",
    "prefetchw",
    "serialize",
    "rtm",
    "pdpe1gb",
    "la57",
    "pcid",
    "invpcid",
    "constant_tsc",
    "nonstop_tsc",
    "tsc_known_freq",
    "rdtscp",
    "tsc_adjust",
    "ht",
    "hypervisor",
    "sme",
    "sev",
    "sev_es",
    "sev_snp",
    "tme",
    "tdx_guest",
    "cat_l3",
    "mba",
    "cqm_mbm_total",
    "asimd",
    "sve",
    "sve2",
    "atomics",
    "lrcpc",
    "dcpop",
    "dcpodp",
    "mops",
    "ssbs",
    "ecv",
];

/// The CPU's name and numbers.
pub(crate) fn cpu_model(files: &Files<'_>, info: &CpuInfo) -> CpuModel {
    let architecture = architecture(files, info);
    let vendor = info.get("vendor_id").map(str::to_owned).or_else(|| info.number("CPU implementer").map(implementer));
    let arm = || (!info.parts.is_empty()).then(|| info.parts.iter().map(|part| arm_name(*part)).collect::<Vec<_>>().join(" + "));
    let name = ["model name", "cpu", "Processor", "uarch", "Model Name", "family"];
    let name = arm().or_else(|| name.iter().find_map(|key| info.get(key)).map(str::to_owned));
    let keys =
        ["cpu family", "model", "stepping", "CPU implementer", "CPU variant", "CPU part", "CPU revision", "CPU architecture"];
    let numbers = keys.iter().filter_map(|key| Some((numbered(key), info.number(key)?))).collect::<BTreeMap<_, _>>();
    let microcode = info
        .get("microcode")
        .map_or_else(|| files.word("sys/devices/system/cpu/cpu0/microcode/version"), |m| Avail::Known(m.to_owned()));
    CpuModel {
        vendor: Avail::or_absent(vendor, "/proc/cpuinfo tells no vendor"),
        name: Avail::or_absent(name, "/proc/cpuinfo tells no name"),
        numbers,
        microcode,
        flags: FLAGS.iter().filter(|flag| info.has_flag(flag)).map(|flag| (*flag).to_owned()).collect(),
        architecture,
    }
}

/// `cpu family` → `family`, `CPU part` → `part`.
fn numbered(key: &str) -> String {
    key.trim_start_matches("cpu ").trim_start_matches("CPU ").to_owned()
}

/// The live build's; in a tree what the kernel or the capture says, else what /proc/cpuinfo looks like.
fn architecture(files: &Files<'_>, info: &CpuInfo) -> String {
    if files.live() {
        return std::env::consts::ARCH.to_owned();
    }
    let said = files.word("proc/sys/kernel/arch").known().cloned().or_else(|| captured(files, "Architecture"));
    let vendor = info.get("vendor_id").unwrap_or_default();
    let looks = match vendor {
        "IBM/S390" => Some("s390x"),
        "GenuineIntel" if info.get("arch").is_some_and(|arch| arch.starts_with("IA-64")) => Some("ia64"),
        _ if info.has_flag("lm") => Some("x86_64"),
        _ if info.get("cpu family").is_some() && info.has_flags() => Some("x86"),
        _ => match info.get("CPU architecture") {
            Some("8" | "AArch64") => Some("aarch64"),
            Some(_) => Some("arm"),
            None if info.get("cpu").is_some_and(|cpu| cpu.starts_with("POWER") || cpu.starts_with("PPC")) => Some("ppc64"),
            None if info.get("isa").is_some_and(|isa| isa.starts_with("rv64")) => Some("riscv64"),
            None => None,
        },
    };
    said.or_else(|| looks.map(str::to_owned)).unwrap_or_else(|| "unknown".to_owned())
}

fn implementer(code: u64) -> String {
    let name = match code {
        0x41 => "ARM",
        0x42 => "Broadcom",
        0x43 => "Cavium",
        0x46 => "Fujitsu",
        0x48 => "HiSilicon",
        0x4e => "NVIDIA",
        0x50 => "APM",
        0x51 => "Qualcomm",
        0x61 => "Apple",
        0x6d => "Microsoft",
        0xc0 => "Ampere",
        _ => return format!("implementer {code:#x}"),
    };
    name.to_owned()
}

fn arm_name((maker, part): (u64, u64)) -> String {
    let name = match (maker, part) {
        (0x41, 0xd03) => "Cortex-A53",
        (0x41, 0xd05) => "Cortex-A55",
        (0x41, 0xd07) => "Cortex-A57",
        (0x41, 0xd08) => "Cortex-A72",
        (0x41, 0xd09) => "Cortex-A73",
        (0x41, 0xd0a) => "Cortex-A75",
        (0x41, 0xd0b) => "Cortex-A76",
        (0x41, 0xd0d) => "Cortex-A77",
        (0x41, 0xd41) => "Cortex-A78",
        (0x41, 0xd44) => "Cortex-X1",
        (0x41, 0xd46) => "Cortex-A510",
        (0x41, 0xd47) => "Cortex-A710",
        (0x41, 0xd48) => "Cortex-X2",
        (0x41, 0xd80) => "Cortex-A520",
        (0x41, 0xd81) => "Cortex-A720",
        (0x41, 0xd82) => "Cortex-X4",
        (0x41, 0xd85) => "Cortex-X925",
        (0x41, 0xd87) => "Cortex-A725",
        (0x41, 0xd0c) => "Neoverse-N1",
        (0x41, 0xd49) => "Neoverse-N2",
        (0x41, 0xd8e) => "Neoverse-N3",
        (0x41, 0xd40) => "Neoverse-V1",
        (0x41, 0xd4f) => "Neoverse-V2",
        (0x41, 0xd84) => "Neoverse-V3",
        (0x46, 0x001) => "A64FX",
        (0x48, 0xd01) => "Kunpeng-920",
        (0xc0, 0xac3) => "Ampere-1",
        (0xc0, 0xac4) => "Ampere-1a",
        _ => return format!("{} part {part:#x}", implementer(maker)),
    };
    name.to_owned()
}
