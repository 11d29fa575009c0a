//! Is this machine a guest, and whose? Live on x86: CPUID leaf 0x4000_0000. Everywhere: the files that guests have.

use crate::cpuinfo::CpuInfo;
use crate::files::Files;
use memgauge_model::{Avail, Reason};

/// The hypervisor's name, or `none`; missing where nothing can tell.
pub(crate) fn read(files: &Files<'_>, info: &CpuInfo, architecture: &str) -> Avail<String> {
    let name = from_cpuid(files).or_else(|| from_sys(files)).or_else(|| from_device_tree(files)).or_else(|| from_dmi(files));
    let x86 = architecture.starts_with("x86") || matches!(architecture, "i386" | "i586" | "i686");
    match name {
        Some(name) => Avail::Known(name),
        // On x86 the CPU itself says whether it is virtual.
        None if x86 && info.has_flag("hypervisor") => Avail::Known("unknown".to_owned()),
        None if x86 && info.has_flags() => Avail::Known("none".to_owned()),
        // Firmware that names a maker and no hypervisor.
        None if files.exists("sys/class/dmi/id/sys_vendor") => Avail::Known("none".to_owned()),
        None => Avail::missing(Reason::NotPresent, "neither CPUID, firmware nor device tree tells"),
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn from_cpuid(files: &Files<'_>) -> Option<String> {
    use raw_cpuid::Hypervisor;
    if !files.live() {
        return None;
    }
    let cpuid = raw_cpuid::CpuId::new();
    let name = match cpuid.get_hypervisor_info()?.identify() {
        Hypervisor::KVM => "KVM",
        Hypervisor::Xen => "Xen",
        Hypervisor::VMware => "VMware",
        Hypervisor::HyperV => "Hyper-V",
        Hypervisor::QEMU => "QEMU",
        Hypervisor::Bhyve => "bhyve",
        Hypervisor::QNX => "QNX",
        Hypervisor::ACRN => "ACRN",
        Hypervisor::Unknown(b, c, d) => return Some(signature([b, c, d])),
    };
    Some(name.to_owned())
}

/// An unlisted hypervisor's twelve letters.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn signature(registers: [u32; 3]) -> String {
    let bytes: Vec<u8> = registers.iter().flat_map(|register| register.to_le_bytes()).collect();
    let text: String = bytes.iter().filter(|b| b.is_ascii_graphic() || **b == b' ').map(|b| char::from(*b)).collect();
    if text.trim().is_empty() { "unknown".to_owned() } else { text.trim().to_owned() }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn from_cpuid(_files: &Files<'_>) -> Option<String> {
    None
}

fn from_sys(files: &Files<'_>) -> Option<String> {
    let kind = files.word("sys/hypervisor/type").known()?.clone();
    match kind.as_str() {
        // The control domain runs on Xen too, and its CPUs are virtual as well.
        "xen" => Some("Xen".to_owned()),
        _ => Some(kind),
    }
}

fn from_device_tree(files: &Files<'_>) -> Option<String> {
    let compatible = files.text("proc/device-tree/hypervisor/compatible").ok();
    let compatible = compatible.or_else(|| files.text("sys/firmware/devicetree/base/hypervisor/compatible").ok());
    let sysinfo = || files.text("proc/sysinfo").ok();
    match compatible {
        Some(text) if text.contains("kvm") => Some("KVM".to_owned()),
        Some(text) if text.contains("xen") => Some("Xen".to_owned()),
        Some(_) => Some("unknown".to_owned()),
        None if files.exists("proc/device-tree/ibm,partition-name") => Some("PowerVM".to_owned()),
        // s390: `VM00 Control Program: KVM/Linux`; a partition (LPAR) without it.
        None => sysinfo()?.lines().find(|line| line.contains("Control Program:")).map(|line| {
            let name = line.split_once(':').map_or("", |(_, name)| name.trim());
            if name.starts_with("KVM") { "KVM".to_owned() } else { name.to_owned() }
        }),
    }
}

/// What guests' firmware calls itself. Names that clouds also give to their metal machines (Amazon EC2) are not here.
fn from_dmi(files: &Files<'_>) -> Option<String> {
    let names = ["sys_vendor", "product_name", "board_vendor", "bios_vendor"];
    let text: Vec<String> =
        names.iter().filter_map(|name| files.word(&format!("sys/class/dmi/id/{name}")).known().cloned()).collect();
    let text = text.join("\n");
    let known = [
        ("VMware", "VMware"),
        ("VirtualBox", "VirtualBox"),
        ("innotek", "VirtualBox"),
        ("Virtual Machine", "Hyper-V"),
        ("KVM", "KVM"),
        ("QEMU", "QEMU"),
        ("Bochs", "QEMU"),
        ("Xen", "Xen"),
        ("HVM domU", "Xen"),
        ("Google Compute Engine", "KVM"),
        ("OpenStack", "KVM"),
        ("Parallels", "Parallels"),
        ("BHYVE", "bhyve"),
        ("Apple Virtualization", "Apple"),
        ("Firecracker", "KVM"),
    ];
    known.iter().find(|(mark, _)| text.contains(mark)).map(|(_, name)| (*name).to_owned())
}
