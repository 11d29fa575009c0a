//! Hardware counters that the kernel lists under /sys/bus/event_source/devices. Nothing is opened here.

mod families;
mod format;

use crate::files::Files;
use families::{FAMILIES, Family, Row, unit_bytes};
use format::{Config, Field, encode, terms};
use memgauge_model::{Avail, Counted, CounterEvent, CounterScope, Counters, CpuList, CpuModel, Reason};

const DEVICES: &str = "sys/bus/event_source/devices";

/// More devices, and more events, than any machine has: eight sockets of twelve channels have some hundreds.
const MOST: usize = 4096;

/// `PERF_TYPE_HARDWARE` and `PERF_TYPE_HW_CACHE`.
const HARDWARE: u32 = 0;
const HW_CACHE: u32 = 3;

/// The kernel's own events of a core: what they count, their name in perf, type and config. The maker's event behind each is
/// the kernel's choice.
const CORE: [(Counted, &str, u32, u64); 3] = [
    (Counted::DtlbMisses, "dTLB-load-misses", HW_CACHE, 0x1_0003),
    (Counted::LlcMisses, "LLC-load-misses", HW_CACHE, 0x1_0002),
    // Where a core has no event for loads alone.
    (Counted::LlcMisses, "cache-misses", HARDWARE, 3),
];

/// Reads what there is.
pub(crate) fn read(files: &Files<'_>, online: &CpuList, cpu: &CpuModel, notes: &mut Vec<String>) -> Counters {
    let mut devices = files.names(DEVICES);
    devices.sort_by_key(|name| (name.len(), name.clone()));
    devices.truncate(MOST);
    Counters { paranoid: paranoid(files), dram: dram(files, &devices, online, cpu, notes), core: core(files, &devices, online) }
}

fn paranoid(files: &Files<'_>) -> Avail<i64> {
    const PATH: &str = "proc/sys/kernel/perf_event_paranoid";
    match files.word(PATH) {
        Avail::Known(text) => match text.parse() {
            Ok(level) => Avail::Known(level),
            Err(_) => Avail::missing(Reason::NotSupported, format!("/{PATH}: not a number")),
        },
        Avail::Unavailable { unavailable, detail } => Avail::missing(unavailable, detail),
    }
}

fn dram(
    files: &Files<'_>,
    devices: &[String],
    online: &CpuList,
    cpu: &CpuModel,
    notes: &mut Vec<String>,
) -> Avail<Vec<CounterEvent>> {
    for family in FAMILIES.iter().filter(|family| (family.on)(cpu)) {
        let of_family = devices.iter().filter(|name| family.has(name));
        let by_device: Vec<_> = of_family.map(|name| of_device(files, family, name, online)).collect();
        let silent = by_device.iter().filter(|events| events.is_empty()).count();
        if silent == by_device.len() {
            continue;
        }
        if silent > 0 {
            let (all, name) = (by_device.len(), family.device);
            notes.push(format!("{silent} of {all} counters {name} can't be read: counted DRAM bytes are without theirs"));
        }
        return Avail::Known(by_device.into_iter().flatten().take(MOST).collect());
    }
    Avail::missing(Reason::NotPresent, format!("no memory controller's counters {}", among(devices)))
}

fn among(devices: &[String]) -> String {
    const NAMED: usize = 8;
    let names = devices.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match devices.len() {
        0 => format!("in /{DEVICES}, which is empty or not there"),
        1..=NAMED => format!("among {names} of /{DEVICES}"),
        more => format!("among {names} and {} more of /{DEVICES}", more - NAMED),
    }
}

fn of_device(files: &Files<'_>, family: &Family, device: &str, online: &CpuList) -> Vec<CounterEvent> {
    let folder = format!("{DEVICES}/{device}");
    let kind = files.number(&format!("{folder}/type")).and_then(|kind| u32::try_from(kind).ok());
    let cpus = files.list(&format!("{folder}/cpumask"), online).filter(|cpus| !cpus.is_empty());
    let Some((kind, cpus)) = kind.zip(cpus) else { return Vec::new() };
    let field = |name: &str| Field::parse(&files.text(&format!("{folder}/format/{name}")).ok()?);
    let event = |row: &Row, name: &str, config: Config, bytes: f64| CounterEvent {
        pmu: device.to_owned(),
        event: name.to_owned(),
        counts: row.counts,
        kind,
        config,
        scope: CounterScope::System { cpus: cpus.clone() },
        bytes,
    };
    let mut events = Vec::new();
    let listed = files.names(&format!("{folder}/events"));
    for row in family.rows {
        if !row.terms.is_empty() {
            let config = terms(row.terms).and_then(|terms| encode(&terms, field));
            events.extend(config.map(|config| event(row, row.event, config, row.bytes)));
            continue;
        }
        let mut names: Vec<&String> = listed.iter().filter(|name| is_row(name, row.event)).collect();
        names.sort();
        for name in names {
            let text = files.text(&format!("{folder}/events/{name}")).unwrap_or_default();
            let config = terms(&text).and_then(|terms| encode(&terms, field));
            let bytes = scale(files, &format!("{folder}/events/{name}")).unwrap_or(row.bytes);
            events.extend(config.map(|config| event(row, name, config, bytes)));
        }
    }
    events
}

/// The event itself, or one of its subchannels.
fn is_row(name: &str, event: &str) -> bool {
    let subchannel = |rest: &str| rest.strip_prefix("_sch").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    name.strip_prefix(event).is_some_and(|rest| rest.is_empty() || subchannel(rest))
}

/// Bytes of a count, where the kernel states scale and unit.
fn scale(files: &Files<'_>, event: &str) -> Option<f64> {
    let scale: f64 = files.text(&format!("{event}.scale")).ok()?.parse().ok()?;
    let bytes = scale * unit_bytes(&files.text(&format!("{event}.unit")).ok()?)?;
    // A line, a beat, a kilobyte: what is far from them is no scale of traffic.
    (bytes.is_finite() && (0.5..=1e6).contains(&bytes)).then_some(bytes)
}

/// Cores of one kind: the kernel's generic events. Of several kinds (big and little ones): the same, once for each kind, with
/// the kind's type number in the upper half, without which the kernel takes the first kind.
fn core(files: &Files<'_>, devices: &[String], online: &CpuList) -> Avail<Vec<CounterEvent>> {
    let of_cpus = |name: &&String| name.as_str() == "cpu" || files.exists(&format!("{DEVICES}/{name}/cpus"));
    let pmus: Vec<&String> = devices.iter().filter(of_cpus).collect();
    let mut events = Vec::new();
    for pmu in &pmus {
        let several = pmus.len() > 1;
        let kind = files.number(&format!("{DEVICES}/{pmu}/type")).filter(|kind| *kind <= u64::from(u32::MAX));
        let cpus = files.list(&format!("{DEVICES}/{pmu}/cpus"), online);
        let extended = match (several, kind) {
            (false, _) => 0,
            (true, Some(kind)) => kind << 32,
            (true, None) => continue,
        };
        events.extend(CORE.iter().map(|(counts, name, kind, config)| CounterEvent {
            pmu: (*pmu).clone(),
            event: (*name).to_owned(),
            counts: *counts,
            kind: *kind,
            config: [config | extended, 0, 0],
            scope: CounterScope::Thread { cpus: cpus.clone().filter(|_| several) },
            bytes: 0.0,
        }));
    }
    match events.is_empty() {
        true => Avail::missing(Reason::NotPresent, format!("no counters of CPUs {}", among(devices))),
        false => Avail::Known(events),
    }
}
