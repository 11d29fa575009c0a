//! What memgauge must say in a guest. Times are not looked at.

pub mod faults;
mod figures;
mod read;
mod roles;
mod topology;
mod transfers;

use serde_json::Value;

use super::guests::Guest;
use super::transcript::Ran;

/// A command and what is asked of what it says.
pub struct Check {
    pub name: &'static str,
    pub command: &'static str,
    expect: Expect,
}

enum Expect {
    /// It ends well with a JSON document on stdout; what is wrong with that, one line each.
    Document(fn(&Guest, &Value) -> Vec<String>),
    /// The same, and every figure's memory is in place and of this kind of pages.
    Pages(&'static str),
    /// It ends well, and stdout holds all of these.
    Said(&'static [&'static str]),
    /// It ends with 2, and one line on stderr, which holds all of these.
    Refusal(&'static [&'static str]),
}

pub const TOPOLOGY: Check = document("topology", "memgauge topology --format json", topology::faults);

pub const MATRIX_LATENCY: Check = document(
    "matrix latency",
    "memgauge matrix latency --time 20ms --buffer 2MiB --format json --no-bundle",
    |guest, document| figures::matrix(guest, document, "matrix_latency"),
);

pub const MATRIX_BANDWIDTH: Check = document(
    "matrix bandwidth",
    "memgauge matrix bandwidth --time 20ms --buffer 2MiB --format json --no-bundle",
    |guest, document| figures::matrix(guest, document, "matrix_bandwidth"),
);

/// The default run.
pub const ALL_FIGURES: Check =
    document("default run", "memgauge --time 20ms --buffer 2MiB --format json --no-bundle", |guest, document| {
        let mut faults = figures::everything(guest, document);
        faults.extend(roles::faults(guest, &document["plan"]));
        faults
    });

pub const LOADED: Check = document(
    "loaded",
    "memgauge loaded --time 20ms --buffer 2MiB --delays 0,1000 --format json --no-bundle",
    |guest, document| {
        let mut faults = figures::in_place(document, &["loaded_latency"]);
        faults.extend(roles::faults(guest, &document["plan"]));
        faults
    },
);

/// Where there are too many CPUs to measure with.
pub const DRY_RUN: Check = document("plan", "memgauge --dry-run --buffer 2MiB --format json", |guest, plan| {
    let mut faults = roles::faults(guest, plan);
    faults.extend(roles::matrices(guest, plan));
    faults
});

/// In the place of the Memory Latency Checker, by its own command line: its table, TABs and all.
pub const MLC: Check = Check {
    name: "mlc",
    command: "memgauge mlc --latency_matrix -b2m -x0",
    expect: Expect::Said(&["\t\tNuma node\nNuma node\t     0\t     1\t\n       0\t", "\n       1\t"]),
};

/// Command lines of a tutorial of the Memory Latency Checker, as they stand there: sixteen CPUs or more, two sockets.
pub const TUTORIAL: Check = Check {
    name: "a tutorial's command lines",
    command: "printf '0\\n200\\n' > delay.txt
set -e
for line in '--idle_latency -c0 -j0 -b200m -t5' '--idle_latency -e -r -c0 -j0 -b200m -t5' '--idle_latency -c0 -j1 -b200m -t10' \
  '--loaded_latency -c0 -k1-15 -j0 -R -b100m -t10' '--loaded_latency -c0 -k1-15 -j0 -R -b100m -d1000 -t20' \
  '--loaded_latency -c0 -k1-15 -j0 -R -b100m -g delay.txt -t10' '--loaded_latency -T -k0-15 -j0 -R -b100m -d0 -t20'; do
  memgauge mlc $line --dry-run
done
echo all of them",
    expect: Expect::Said(&["memory of node 0", "memory of node 1", "loads CPUs 1-15", "200 MiB", "all of them"]),
};

pub const THIRD_CORE: Check = document(
    "a third core in between",
    "memgauge c2c --via third --time 20ms --format json --no-bundle",
    transfers::by_a_third_core,
);

const STREAMS: &str = "memgauge peak --mix read,copy --load-cpus none --time 20ms --buffer 2MiB --format json --no-bundle";

/// AArch64's own loops and clock.
pub const ARM: Check = document("NEON and CNTVCT", STREAMS, |_, document| {
    let mut faults = streams_by(document, "neon");
    faults.extend(others(document, "clock_hz", "source", "cntvct"));
    faults
});

/// What is left where the kernel does not save wider registers, whatever the CPU has.
pub const MASKED: Check = document("registers that are masked", STREAMS, |_, document| streams_by(document, "sse2"));

fn streams_by(document: &Value, isa: &str) -> Vec<String> {
    let mut faults = figures::in_place(document, &["peak_bandwidth"]);
    faults.extend(others(document, "peak_bandwidth", "isa", isa));
    faults
}

/// A fault for each figure of this name whose label says something else.
fn others(document: &Value, name: &str, label: &str, wanted: &str) -> Vec<String> {
    let others = read::metrics(document, name).filter(|metric| metric["labels"][label] != wanted);
    others.map(|metric| format!("{name} is not by {wanted}: {}", metric["labels"])).collect()
}

/// The emulator takes every write to a prefetcher register and forgets it: reading back must notice.
pub const FORGETFUL: Check = document(
    "registers that forget",
    "memgauge idle --cpu 0 --time 20ms --buffer 2MiB --format json --no-bundle",
    |_, document| {
        let control = &document["prefetch"]["control"];
        let noticed = control["reason"].as_str().is_some_and(|why| why.contains("does not keep what is written"));
        let well = control["state"] == "left" && noticed;
        if well { Vec::new() } else { vec![format!("prefetchers were controlled so: {control}")] }
    },
);

const fn document(name: &'static str, command: &'static str, faults: fn(&Guest, &Value) -> Vec<String>) -> Check {
    Check { name, command, expect: Expect::Document(faults) }
}

/// Figures whose memory is of this kind of pages.
pub const fn of_pages(name: &'static str, command: &'static str, kind: &'static str) -> Check {
    Check { name, command, expect: Expect::Pages(kind) }
}

/// Something that can't be had.
pub const fn refusal(name: &'static str, command: &'static str, words: &'static [&'static str]) -> Check {
    Check { name, command, expect: Expect::Refusal(words) }
}

impl Check {
    /// Everything that is wrong with what the command did; nothing when all is well.
    pub fn faults(&self, guest: &Guest, ran: &Ran) -> Vec<String> {
        if let Expect::Refusal(words) = self.expect {
            return refused(words, ran);
        }
        if ran.code != 0 {
            return vec![format!("exit code {}: {}", ran.code, ran.stderr.trim())];
        }
        if let Expect::Said(words) = self.expect {
            let lacking = words.iter().filter(|word| !ran.stdout.contains(**word));
            return lacking.map(|word| format!("stdout lacks {word:?}: {}", ran.stdout.trim())).collect();
        }
        match (serde_json::from_str(&ran.stdout), &self.expect) {
            (Ok(document), Expect::Document(faults)) => faults(guest, &document),
            (Ok(document), Expect::Pages(kind)) => figures::on_pages(&document, kind),
            (Ok(_), Expect::Refusal(_) | Expect::Said(_)) => Vec::new(),
            (Err(error), _) => vec![format!("stdout is no JSON: {error}")],
        }
    }
}

fn refused(words: &[&str], ran: &Ran) -> Vec<String> {
    let line = ran.stderr.trim_end();
    let well = ran.code == 2
        && ran.stdout.is_empty()
        && !line.contains('\n')
        && line.starts_with("memgauge: ")
        && words.iter().all(|word| line.contains(word));
    if well { Vec::new() } else { vec![format!("not refused with {words:?} but: exit code {}: {line}", ran.code)] }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::guests;
    use super::*;

    fn faults(check: &Check, code: i32, stdout: &str, stderr: &str) -> usize {
        let ran = Ran { code, seconds: 0, stdout: stdout.to_owned(), stderr: stderr.to_owned() };
        check.faults(&guests::ALL[0], &ran).len()
    }

    #[test]
    fn a_register_that_forgets_must_have_been_noticed() {
        let faults = |control: Value| faults(&FORGETFUL, 0, &json!({"prefetch": {"control": control}}).to_string(), "");
        let noticed = "CPU 0: MSR 0x1a4 does not keep what is written";
        assert_eq!(faults(json!({"state": "left", "reason": noticed})), 0);
        let bad = [json!({"state": "off", "reason": noticed}), json!({"state": "left", "reason": "no msr device"}), json!({})];
        assert_eq!(bad.map(faults), [1; 3]);
    }

    #[test]
    fn a_failing_command_is_a_fault() {
        assert_eq!(faults(&TOPOLOGY, 2, "{}", ""), 1);
        assert_eq!(faults(&TOPOLOGY, 0, "text", ""), 1);
    }

    #[test]
    fn what_is_to_be_said_must_all_be_there() {
        assert_eq!(faults(&TUTORIAL, 0, "memory of node 0, memory of node 1, loads CPUs 1-15, 200 MiB\nall of them\n", ""), 0);
        assert_eq!(faults(&TUTORIAL, 0, "memory of node 0, loads CPUs 1-15, 200 MiB\n", ""), 2);
        assert_eq!(faults(&TUTORIAL, 22, "all of them", ""), 1);
    }

    #[test]
    fn a_refusal_is_one_line_that_names_what_is_wrong() {
        let check = refusal("", "", &["--node 2", "no memory"]);
        let line = "memgauge: --node 2: the node has no memory; use one of 0-1\n";
        assert_eq!(faults(&check, 2, "", line), 0);
        assert_eq!(faults(&check, 1, "", line), 1);
        assert_eq!(faults(&check, 2, "{}", line), 1);
        assert_eq!(faults(&check, 2, "", &format!("{line}usage: …\n")), 1);
        assert_eq!(faults(&check, 2, "", "memgauge: --node 2: no such node; use node 0\n"), 1);
    }
}
