//! The PMUs that see memory traffic, by their makers' names, and what of them is counted.

use memgauge_model::Counted::{self, DramRead, DramTotal, DramWrite};
use memgauge_model::CpuModel;

/// PMUs of one kind.
pub(crate) struct Family {
    /// The device is named so, with `_N` behind it or not.
    pub device: &'static str,
    pub rows: &'static [Row],
    /// On which CPUs; an event that the kernel lists is right wherever it is listed.
    pub on: fn(&CpuModel) -> bool,
}

/// An event of a family.
pub(crate) struct Row {
    pub counts: Counted,
    /// The event's name.
    pub event: &'static str,
    /// Its terms, where the kernel lists no such event; empty where it does.
    pub terms: &'static str,
    /// Bytes of a count, where the kernel states no scale.
    pub bytes: f64,
}

const fn row(counts: Counted, event: &'static str, terms: &'static str, bytes: f64) -> Row {
    Row { counts, event, terms, bytes }
}

/// A column access moves a line.
const LINE: f64 = 64.0;

/// In order of preference: the first of which anything is there counts alone, for two of them may see the same traffic.
pub(crate) const FAMILIES: [Family; 7] = [
    // Intel's memory controllers. Servers: column accesses (Granite Rapids: of two subchannels, `_sch0` and `_sch1`).
    Family {
        device: "uncore_imc",
        rows: &[row(DramRead, "cas_count_read", "", LINE), row(DramWrite, "cas_count_write", "", LINE)],
        on: anywhere,
    },
    // Clients up to the tenth generation.
    Family {
        device: "uncore_imc",
        rows: &[row(DramRead, "data_reads", "", LINE), row(DramWrite, "data_writes", "", LINE)],
        on: anywhere,
    },
    // Counters that always run: later clients, then servers.
    Family {
        device: "uncore_imc_free_running",
        rows: &[
            row(DramRead, "data_read", "", LINE),
            row(DramRead, "read", "", LINE),
            row(DramWrite, "data_write", "", LINE),
            row(DramWrite, "write", "", LINE),
        ],
        on: anywhere,
    },
    // AMD's memory controllers since Zen 4; the kernel lists no events. `umc_cas_cmd.rd` and `.wr` of AMD's manuals.
    Family {
        device: "amd_umc",
        rows: &[
            row(DramRead, "umc_cas_cmd.rd", "event=0x0a,rdwrmask=1", LINE),
            row(DramWrite, "umc_cas_cmd.wr", "event=0x0a,rdwrmask=2", LINE),
        ],
        on: anywhere,
    },
    // AMD's data fabric, Zen to Zen 3: one event a channel, reads and writes together; four hardware counters for them.
    Family {
        device: "amd_df",
        rows: &[
            row(DramTotal, "dram_channel_data_controller_0", "event=0x07,umask=0x38", LINE),
            row(DramTotal, "dram_channel_data_controller_1", "event=0x47,umask=0x38", LINE),
            row(DramTotal, "dram_channel_data_controller_2", "event=0x87,umask=0x38", LINE),
            row(DramTotal, "dram_channel_data_controller_3", "event=0xc7,umask=0x38", LINE),
            row(DramTotal, "dram_channel_data_controller_4", "event=0x107,umask=0x38", LINE),
            row(DramTotal, "dram_channel_data_controller_5", "event=0x147,umask=0x38", LINE),
            row(DramTotal, "dram_channel_data_controller_6", "event=0x187,umask=0x38", LINE),
            row(DramTotal, "dram_channel_data_controller_7", "event=0x1c7,umask=0x38", LINE),
        ],
        on: zen_to_zen3,
    },
    // NVIDIA Grace: beats of 32 bytes read from the socket's own memory; bytes written to it.
    Family {
        device: "nvidia_scf_pmu",
        rows: &[row(DramRead, "cmem_rd_data", "", 32.0), row(DramWrite, "cmem_wr_total_bytes", "", 1.0)],
        on: anywhere,
    },
    // Arm's mesh: what home nodes ask of memory controllers, a line each, those asked again included.
    Family { device: "arm_cmn", rows: &[row(DramTotal, "hnf_mc_reqs", "", LINE)], on: anywhere },
];

impl Family {
    /// Is this a device of the family?
    pub(crate) fn has(&self, name: &str) -> bool {
        let number = |rest: &str| rest.strip_prefix('_').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        name.strip_prefix(self.device).is_some_and(|rest| rest.is_empty() || number(rest))
    }
}

fn anywhere(_: &CpuModel) -> bool {
    true
}

/// The codes above are those of families 17h and of 19h before Zen 4.
fn zen_to_zen3(cpu: &CpuModel) -> bool {
    let number = |key: &str| cpu.numbers.get(key).copied().unwrap_or(0);
    match number("family") {
        0x17 => true,
        0x19 => matches!(number("model"), 0..=0x0f | 0x20..=0x5f),
        _ => false,
    }
}

/// Bytes of a unit that the kernel states beside a scale.
pub(crate) fn unit_bytes(unit: &str) -> Option<f64> {
    Some(match unit {
        "MiB" => 1_048_576.0,
        "KiB" => 1024.0,
        "GiB" => 1_073_741_824.0,
        "MB" => 1e6,
        "B" | "Bytes" | "bytes" => 1.0,
        _ => return None,
    })
}
