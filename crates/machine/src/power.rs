//! Clock and idle control: cpufreq policies, boost, idle states.

use crate::cpus::CPU;
use crate::files::Files;
use memgauge_model::{Avail, CpuList, IdleState, Power, Reason};
use std::collections::BTreeMap;

/// A cpufreq policy: CPUs that share a clock setting.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    pub(crate) cpus: CpuList,
    /// The fastest clock that the hardware has, Hz.
    pub(crate) hardware_max_hz: Option<u64>,
    governor: Option<String>,
    driver: Option<String>,
    min_hz: Option<u64>,
    max_hz: Option<u64>,
}

/// Reads the policies: `cpufreq/policyN`, on older kernels `cpuN/cpufreq`.
pub(crate) fn policies(files: &Files<'_>, online: &CpuList) -> Vec<Policy> {
    let numbers = files.numbered(&format!("{CPU}/cpufreq"), "policy");
    if !numbers.is_empty() {
        return numbers.iter().map(|n| policy(files, &format!("{CPU}/cpufreq/policy{n}"), *n, online)).collect();
    }
    let folder = |cpu| format!("{CPU}/cpu{cpu}/cpufreq");
    online.iter().filter(|cpu| files.exists(&folder(*cpu))).map(|cpu| policy(files, &folder(cpu), cpu, online)).collect()
}

fn policy(files: &Files<'_>, folder: &str, first: u32, online: &CpuList) -> Policy {
    let listed = files.text(&format!("{folder}/affected_cpus")).ok();
    // Blanks between the numbers, unlike every other list.
    let ids = |text: String| text.split([' ', ',']).filter_map(|id| id.parse::<u32>().ok()).collect::<CpuList>();
    let cpus = listed.map(ids).filter(|cpus| !cpus.is_empty()).unwrap_or_else(|| vec![first].into());
    let hz = |name: &str| files.number(&format!("{folder}/{name}")).and_then(|khz| khz.checked_mul(1000));
    let word = |name: &str| files.word(&format!("{folder}/{name}")).known().cloned();
    Policy {
        cpus: cpus.intersection(online),
        hardware_max_hz: hz("cpuinfo_max_freq"),
        governor: word("scaling_governor"),
        driver: word("scaling_driver"),
        min_hz: hz("scaling_min_freq"),
        max_hz: hz("scaling_max_freq"),
    }
}

/// Sums them up, with boost and the first CPU's idle states.
pub(crate) fn read(files: &Files<'_>, policies: &[Policy], online: &CpuList) -> Power {
    let absent = "no cpufreq: the clock is the host's, the firmware's or fixed";
    let mut governors: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for policy in policies {
        if let Some(governor) = &policy.governor {
            governors.entry(governor.clone()).or_default().extend(policy.cpus.iter());
        }
    }
    let governors: BTreeMap<String, CpuList> = governors.into_iter().map(|(name, cpus)| (name, cpus.into())).collect();
    let lowest = policies.iter().filter_map(|policy| policy.min_hz).min();
    let highest = policies.iter().filter_map(|policy| policy.max_hz).max();
    Power {
        governors: Avail::or_absent((!governors.is_empty()).then_some(governors), absent),
        driver: Avail::or_absent(policies.iter().find_map(|policy| policy.driver.clone()), absent),
        limits_hz: Avail::or_absent(lowest.zip(highest), absent),
        boost: boost(files),
        idle_states: idle_states(files, online),
    }
}

fn boost(files: &Files<'_>) -> Avail<bool> {
    let boost = files.number(&format!("{CPU}/cpufreq/boost")).map(|on| on != 0);
    let turbo = || files.number(&format!("{CPU}/intel_pstate/no_turbo")).map(|off| off == 0);
    Avail::or_absent(boost.or_else(turbo), "neither cpufreq/boost nor intel_pstate/no_turbo")
}

fn idle_states(files: &Files<'_>, online: &CpuList) -> Avail<Vec<IdleState>> {
    let absent = || Avail::missing(Reason::NotPresent, "no cpuidle states");
    let Some(first) = online.first() else { return absent() };
    let folder = format!("{CPU}/cpu{first}/cpuidle");
    let state = |n: &u32| {
        let path = |name: &str| format!("{folder}/state{n}/{name}");
        let name = files.word(&path("name")).known()?.clone();
        let disabled = files.number(&path("disable")).is_some_and(|flags| flags != 0);
        Some(IdleState { name, exit_us: files.number(&path("latency"))?, disabled })
    };
    let states: Vec<IdleState> = files.numbered(&folder, "state").iter().filter_map(state).collect();
    if states.is_empty() { absent() } else { Avail::Known(states) }
}
