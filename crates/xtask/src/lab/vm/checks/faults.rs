//! What goes wrong while memgauge measures in a guest: done to it by shell, as soon as it is at work.

use serde_json::Value;

use super::super::guests::Guest;
use super::read::items;
use super::{Check, document};

/// Runs memgauge in the background, waits until one of its threads has been pinned to the CPU for a while, which is a block that is
/// measured; does the harm; waits for the end; mends it, and prints the document. Whoever takes longer than some minutes hangs. That nothing
/// could be measured (1) is an answer.
macro_rules! harmed {
    ($call:literal, $cpu:literal, $harm:literal, $mend:literal) => {
        concat!(
            "timeout 150 memgauge ",
            $call,
            " --time 6s --buffer 2MiB --pages base --format json --no-bundle > /tmp/document & p=$!\n",
            "seen=0; looks=0\n",
            "while [ $seen -lt 5 ]; do\n",
            "  looks=$((looks + 1)); [ $looks -lt 600 ] || exit 99\n",
            "  if cat /proc/$p/task/*/status | grep -qx 'Cpus_allowed_list:.",
            $cpu,
            "'; then seen=$((seen + 1)); else seen=0; fi\n",
            "  sleep 0.1\n",
            "done\n",
            $harm,
            "\nwait $p; code=$?\n",
            $mend,
            "\ncat /tmp/document\n",
            "[ $code -le 1 ] || exit $code",
        )
    };
}

/// The observer's CPU goes offline: what it had until then is marked, the rest is not there.
pub const OBSERVER_OFFLINE: Check = document(
    "the observer's CPU goes offline",
    harmed!(
        "idle --cpu 3 --keepalive off",
        "3",
        "echo 0 > /sys/devices/system/cpu/cpu3/online",
        "echo 1 > /sys/devices/system/cpu/cpu3/online"
    ),
    |guest, document| said(guest, document, &["CPU 3"]),
);

/// A load's CPU goes offline.
pub const LOAD_OFFLINE: Check = document(
    "a load's CPU goes offline",
    harmed!(
        "loaded --cpu 0 --load-cpus 1 --delays 0",
        "1",
        "echo 0 > /sys/devices/system/cpu/cpu1/online",
        "echo 1 > /sys/devices/system/cpu/cpu1/online"
    ),
    |guest, document| said(guest, document, &["CPU 1"]),
);

/// The cgroup's memory is taken to another node, and the pages with it.
pub const PAGES_MOVED: Check = document(
    "pages are moved to another node",
    harmed!(
        "idle --cpu 4 --node 1 --keepalive off",
        "4",
        "cd /sys/fs/cgroup && mkdir elsewhere && echo 4-5 > elsewhere/cpuset.cpus && echo 0 > elsewhere/cpuset.mems \
         && echo $p > elsewhere/cgroup.procs || exit 98",
        "rmdir elsewhere"
    ),
    |guest, document| said(guest, document, &["not on node 1"]),
);

/// The result is not passed off as a whole one, and these words stand where a reader looks for the reason.
fn said(_: &Guest, document: &Value, words: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    let state = &document["status"]["state"];
    let details = items(&document["unavailable"]).map(|gap| &gap["detail"]);
    let lines = items(&document["status"]["reasons"]).chain(items(&document["notes"])).chain(details);
    let text: Vec<&str> = lines.filter_map(Value::as_str).collect();
    if state != "rejected" && state != "partial" {
        faults.push(format!("the state is {state}"));
    }
    let missing = words.iter().filter(|word| !text.iter().any(|line| line.contains(**word)));
    faults.extend(missing.map(|word| format!("nobody says `{word}`: {text:?}")));
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::guests;
    use super::*;

    #[test]
    fn a_fault_must_be_named_and_the_result_not_be_whole() {
        let faults = |state: &str, reason: &str, note: &str| {
            let document = json!({
                "status": {"state": state, "reasons": [reason]},
                "notes": [note],
                "unavailable": [{"detail": "something else"}],
            });
            said(&guests::ALL[0], &document, &["CPU 1"]).len()
        };
        assert_eq!(faults("rejected", "CPU 1: gone", ""), 0);
        assert_eq!(faults("partial", "", "a round failed: CPU 1: gone"), 0);
        assert_eq!(faults("complete", "CPU 1: gone", ""), 1);
        assert_eq!(faults("rejected", "CPU 2: gone", ""), 1);
    }
}
