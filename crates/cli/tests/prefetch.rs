//! The whole program over fake registers: `/dev` and `/run` of a mount namespace of its own, so that the machine's are not touched.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::process::{Command, Output};

/// No namespace can be had, or this CPU has no register that is known: exit code of a script that could not begin.
const NOT_HERE: i32 = 77;

/// Every CPU gets a sparse file for its registers. `value` prints the first prefetcher register of CPU 0, `until_set` waits until it
/// is not 0.
const BEGIN: &str = r#"
T=$(mktemp -d) && mount -t tmpfs none "$T" && cd "$T" && mkdir dev && mount --rbind /dev dev || exit 77
mount -t tmpfs none /run && mkdir /run/lock && mount -t tmpfs none /dev || exit 77
for f in null zero full urandom; do : > /dev/$f; mount --bind dev/$f /dev/$f || exit 77; done
for c in /sys/devices/system/cpu/cpu[0-9]*; do
  mkdir -p /dev/cpu/${c##*/cpu} && truncate -s 4G /dev/cpu/${c##*/cpu}/msr || exit 77
done
M="$1"
R=$("$M" topology --format json | tr -d ' \n' | sed -n 's/.*"prefetch_control":\[{"msr":\([0-9]*\).*/\1/p')
[ "$R" ] || exit 77
value() { od -An -tx8 -j"$R" -N8 /dev/cpu/0/msr | tr -d ' '; }
until_set() { for i in $(seq 1000); do [ "$(value)" = 0000000000000000 ] || return 0; sleep 0.01; done; echo "never set"; exit 1; }
journals() { ls -A /run/memgauge | wc -l; }
"#;

/// Runs the script; none where that can't be done here.
fn script(text: &str) -> Option<(i32, String, String)> {
    let program = env!("CARGO_BIN_EXE_memgauge");
    let command = Command::new("unshare").args(["-r", "-m", "sh", "-c", &format!("{BEGIN}\n{text}"), "sh", program]).output();
    let Ok(Output { status, stdout, stderr }) = command else { return None };
    let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    let refused = stderr.starts_with("unshare:");
    (status.code() != Some(NOT_HERE) && !refused).then(|| (status.code().unwrap(), stdout, stderr))
}

#[test]
fn real_prefetchers_are_off_for_the_chase_and_on_again_after_it() {
    let Some((code, stdout, stderr)) = script(
        r#"
"$M" idle --cpu 0 --prefetch off --buffer 4MiB --time 60ms --quiet --no-bundle --format json | tr -d ' \n' | grep -o '"prefetch":{"control":{"state":"off"'
value; journals
"#,
    ) else {
        return;
    };
    assert_eq!((code, stdout.as_str()), (0, "\"prefetch\":{\"control\":{\"state\":\"off\"\n0000000000000000\n0\n"), "{stderr}");
}

#[test]
fn real_a_killed_run_is_mended_by_the_next_start_and_a_stopped_one_mends_itself() {
    let Some((code, stdout, stderr)) = script(
        r#"
"$M" idle --cpu 0 --buffer 4MiB --time 60s --quiet --no-bundle > out & p=$!
until_set; sleep 0.3; until_set; kill -KILL $p; wait $p; echo "killed $?"; journals
"$M" topology > out; value; journals
"$M" idle --cpu 0 --buffer 4MiB --time 60s --quiet --no-bundle > out & p=$!
until_set; kill -TERM $p; wait $p; echo "stopped $?"; value; journals
"#,
    ) else {
        return;
    };
    let wanted = "killed 137\n1\n0000000000000000\n0\nstopped 143\n0000000000000000\n0\n";
    assert_eq!((code, stdout.as_str()), (0, wanted), "{stderr}");
    let told = stderr.lines().filter(|line| line.starts_with("memgauge: put back the prefetchers of CPUs 0")).count();
    assert_eq!(told, 1, "{stderr}");
}

#[test]
fn real_registers_that_forget_are_refused_or_measured_around() {
    let Some((_, stdout, stderr)) = script(
        r#"
for m in /dev/cpu/*/msr; do rm $m; ln -s /dev/zero $m; done
"$M" idle --cpu 0 --prefetch off --buffer 4MiB --time 60ms --no-bundle; echo "exit $?"; journals
"$M" idle --cpu 0 --buffer 4MiB --time 60ms --quiet --no-bundle | grep -c 'left as they are (CPU 0: MSR .* does not keep what is written)'
"#,
    ) else {
        return;
    };
    assert_eq!(stdout, "exit 2\n0\n1\n", "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.contains("--prefetch off: ") && stderr.contains("; use --prefetch auto"), "{stderr}");
}
