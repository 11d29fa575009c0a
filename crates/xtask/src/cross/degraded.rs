//! The program where the kernel lacks calls: qemu-user knows neither mbind nor move_pages nor perf_event_open. It must measure
//! all the same, by the loops and the clock of AArch64, and say what it could not have.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::emulated;
use crate::{say, sh};

const SHORT: [&str; 7] = ["--time", "20ms", "--buffer", "1MiB", "--format", "json", "--no-bundle"];

/// Runs the program; an error names what is wrong.
pub fn check(program: &Path) -> Result<()> {
    say::stage("the program under qemu-user");
    let mut faults = Vec::new();
    for command in ["idle", "peak"] {
        let said = sh::output(emulated(program).arg(command).args(SHORT))?;
        let document = serde_json::from_slice(&said).with_context(|| format!("{command}: stdout is no JSON"))?;
        faults.extend(faults_of(&document).into_iter().map(|fault| format!("{command}: {fault}")));
    }
    let foreign = emulated(program).args(["peak", "--isa", "avx2"]).output().context("cannot run the emulator")?;
    if foreign.status.code() != Some(2) || !String::from_utf8_lossy(&foreign.stderr).starts_with("memgauge: --isa avx2: ") {
        faults.push(format!("peak --isa avx2 is not refused: {}", String::from_utf8_lossy(&foreign.stderr).trim()));
    }
    match faults.is_empty() {
        true => Ok(()),
        false => bail!("under qemu-user: {}", faults.join("; ")),
    }
}

fn faults_of(document: &Value) -> Vec<String> {
    let list = |key: &str| document[key].as_array().map_or(&[][..], Vec::as_slice);
    let mut faults = Vec::new();
    let mut claim = |holds: bool, what: &str| {
        if !holds {
            faults.push(what.to_owned());
        }
    };
    let placed: Vec<&Value> = list("metrics").iter().filter(|metric| metric["placement"].is_object()).collect();
    claim(!placed.is_empty(), "no figure with its placement");
    let unverified = placed.iter().any(|metric| metric["placement"]["verified"] == "none");
    let told = list("notes").iter().filter_map(Value::as_str).any(|note| note.contains("does not say where pages are"));
    claim(!unverified || told, "placement was not verified, and no note says so");
    let clock = list("metrics").iter().find(|metric| metric["name"] == "clock_hz");
    claim(clock.is_some_and(|clock| clock["labels"]["source"] == "cntvct"), "the clock is not CNTVCT");
    let streams = list("metrics").iter().filter(|metric| metric["name"] == "peak_bandwidth");
    claim(streams.clone().all(|stream| stream["labels"]["isa"] == "neon"), "streams are not NEON's");
    claim(document["machine"]["cpu"]["architecture"] == "aarch64", "the architecture is not aarch64");
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_could_not_be_had_must_be_said() {
        let good = json!({
            "machine": {"cpu": {"architecture": "aarch64"}},
            "metrics": [
                {"name": "clock_hz", "labels": {"source": "cntvct"}},
                {"name": "peak_bandwidth", "labels": {"isa": "neon"}, "placement": {"verified": "none"}},
            ],
            "notes": ["the kernel does not say where pages are: placement is as asked, not verified"],
        });
        assert_eq!(faults_of(&good), Vec::<String>::new());
        for (path, wrong) in [
            ("/notes", json!([])),
            ("/metrics/0/labels/source", json!("function")),
            ("/metrics/1/labels/isa", json!("portable")),
            ("/metrics/1/placement", Value::Null),
            ("/machine/cpu/architecture", json!("x86_64")),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(path).expect("the path") = wrong;
            assert_eq!(faults_of(&bad).len(), 1, "{path}");
        }
    }
}
