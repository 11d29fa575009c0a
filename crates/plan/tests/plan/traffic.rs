//! What is asked of the streams beyond a mix: who goes how, where.

use crate::support::*;
use memgauge_model::*;

fn with(lab: &Lab, what: What, flags: &[(&str, &str)], change: impl FnOnce(&mut Request)) -> Result<Plan, String> {
    let mut request = ask(what, flags);
    change(&mut request);
    memgauge_plan::build(&request, &lab.0).map_err(|refusal| refusal.to_string())
}

/// A thread's stream: CPU, mix, block, delay, node and bytes of its arena, and its manner.
type Seen = (Cpu, Mix, Option<u32>, DelayRef, NodeId, u64, Manner);

fn streams(plan: &Plan, point: usize) -> Vec<Seen> {
    let seen = |thread: &Thread| match thread.job {
        Job::Stream { arena, mix, block_lines, delay, manner, .. } => {
            let Holds::Streams { bytes, .. } = plan.arenas[arena].holds else { panic!("no streams") };
            Some((thread.cpu, mix, block_lines, delay, plan.arenas[arena].node, bytes, manner))
        }
        _ => None,
    };
    plan.points[point].threads.iter().filter_map(seen).collect()
}

fn line(cpus: &str, mix: Mix, bytes: u64) -> Assignment {
    Assignment { cpus: list(cpus), mix, random: false, bytes, node: None, delay: None, second: None }
}

const LOADED: [(&str, &str); 2] = [("--delays", "0,100"), ("--mix", "2:1")];

#[test]
fn loads_go_in_random_order_when_told() {
    let plan = with(&two_sockets(), What::Loaded, &LOADED, |request| request.load_block = Some(4096)).unwrap();
    assert!(streams(&plan, 0).iter().all(|seen| seen.2 == Some(4096)));
    let odd = with(&two_sockets(), What::Loaded, &LOADED, |request| request.load_block = Some(5000)).unwrap_err();
    assert_eq!(odd, "--load-block 5000: lines of a block are a power of two from 4 to 16777216; use 8192");
}

#[test]
fn one_buffer_is_read_by_all_and_fits_their_cache() {
    let flags = [("--node", "0"), ("--load-cpus", "2,4,6")];
    let plan = with(&two_sockets(), What::Loaded, &flags, |request| request.shared_buffer = true).unwrap();
    let arenas: std::collections::BTreeSet<ArenaId> =
        plan.points[0].threads[1..].iter().flat_map(|thread| thread.job.arenas()).collect();
    assert_eq!((plan.points[0].threads.len(), arenas.len()), (4, 1));
    assert_eq!(streams(&plan, 0)[0].5, 16 * MIB, "half of 32 MiB");
    let asked = [("--node", "0"), ("--load-cpus", "2,4,6"), ("--buffer", "1MiB")];
    let plan = with(&two_sockets(), What::Loaded, &asked, |request| request.shared_buffer = true).unwrap();
    assert_eq!(streams(&plan, 0)[0].5, MIB);
    let written = with(&two_sockets(), What::Loaded, &LOADED, |request| request.shared_buffer = true).unwrap_err();
    assert!(written.starts_with("--shared-buffer: all threads share one buffer, which 2:1 would write"), "{written}");
}

#[test]
fn each_assigned_thread_does_what_its_line_says_and_nobody_else_loads() {
    let lines = vec![
        Assignment { node: Some(1), ..line("0", Mix::R3W1, 8 * MIB) },
        Assignment { random: true, delay: Some(200), ..line("2,3", Mix::R2W1, 4 * MIB) },
        Assignment { node: Some(0), second: Some(Elsewhere { node: 1, percent: 25 }), ..line("5", Mix::R2W1Nt, 2 * MIB) },
    ];
    let plan = with(&two_sockets(), What::Loaded, &[("--cpu", "0"), ("--delays", "0,100")], |request| {
        request.assignments = lines;
    })
    .unwrap();
    let seen = streams(&plan, 1);
    let plain = Manner::default();
    let own = DelayRef::Fixed(200);
    assert_eq!(
        seen[..2].to_vec(),
        [
            (2, Mix::R2W1, Some(LOAD_BLOCK_LINES), own, 0, 4 * MIB, plain),
            (3, Mix::R2W1, Some(LOAD_BLOCK_LINES), own, 1, 4 * MIB, plain),
        ]
    );
    let (second, percent) = seen[2].6.second.unwrap();
    assert_eq!((seen.len(), percent, plan.arenas[second].node), (3, 25, 1));
    assert_eq!((seen[2].0, seen[2].1, seen[2].3, seen[2].4), (5, Mix::R2W1Nt, DelayRef::Fixed(100), 0));
    // The observer's own line says where it chases, and through how much.
    let Job::Chase { arena, .. } = plan.points[1].threads[0].job else { panic!("no chase") };
    assert_eq!((plan.points[1].threads[0].cpu, plan.arenas[arena].node), (0, 1));
    assert!(matches!(plan.arenas[arena].holds, Holds::Chase { bytes, .. } if bytes == 8 * MIB));
    assert_eq!(plan.loads, list("2,3,5"));
    assert!(plan.points.iter().all(|point| !matches!(point.measure, Measure::RfoProbe)), "no probe goes these ways");
}

#[test]
fn lines_that_contradict_are_refused() {
    let refused = |flags: &[(&str, &str)], lines: Vec<Assignment>| {
        with(&two_sockets(), What::Loaded, flags, |request| request.assignments = lines).unwrap_err()
    };
    let one = || line("2", Mix::Read, MIB);
    assert!(refused(&LOADED, vec![one()]).contains("says what --mix would say"));
    assert!(refused(&[], vec![one(), one()]).contains("CPU 2 is told twice what to do"));
    assert!(refused(&[], vec![line("99", Mix::Read, MIB)]).contains("CPU 99 does not exist"));
    assert!(refused(&[], vec![Assignment { node: Some(7), ..one() }]).contains("no such node"));
    assert!(refused(&[], vec![line("2", Mix::Read, 900 << 40)]).contains("name smaller buffers"));
    assert!(refused(&[("--cpu", "10")], vec![one()]).starts_with("--assign 2: CPU 2 shares the core of the observer"));
    let all = Assignment { second: Some(Elsewhere { node: 1, percent: 100 }), ..one() };
    assert!(refused(&[], vec![all]).contains("1 to 99 %"));
}

#[test]
fn partial_lines_flushes_and_checks_reach_the_streams_that_they_mean() {
    let manners = |flags: &[(&str, &str)], change: fn(&mut Request)| {
        let lab = two_sockets().with(|machine| machine.cpu.flags.push("clflushopt".into()));
        with(&lab, What::Loaded, flags, change).map(|plan| streams(&plan, 0)[0].6)
    };
    let of = |mix: &'static str| [("--mix", mix), ("--delays", "0")];
    let usual = Manner::default();
    assert_eq!(manners(&of("read"), |r| r.partial = Partial::Stores), Ok(usual));
    assert_eq!(manners(&of("1:1"), |r| r.partial = Partial::Stores), Ok(Manner { partial: true, ..usual }));
    assert_eq!(manners(&of("read"), |r| r.partial = Partial::Both), Ok(Manner { partial: true, ..usual }));
    assert!(manners(&of("2:1"), |r| r.partial = Partial::Stores).unwrap_err().contains("use --partial both"));
    assert_eq!(manners(&of("2:1"), |r| r.flush = true), Ok(Manner { flush: true, ..usual }));
    assert!(manners(&of("read"), |r| r.flush = true).unwrap_err().contains("nothing is stored"));
    assert_eq!(manners(&of("read"), |r| r.integrity = true), Ok(Manner { checked: true, ..usual }));
    assert!(manners(&of("2:1"), |r| r.integrity = true).unwrap_err().contains("--mix read"));
    let lacks = with(&two_sockets(), What::Loaded, &of("2:1"), |request| request.flush = true).unwrap_err();
    assert_eq!(lacks, "--flush: this CPU or its kernel has no clflushopt; leave it out");
}

#[test]
fn patterns_that_loops_would_compute_with_are_numbers() {
    let filled = |mix: &'static str, word: &str| {
        let pattern = vec![word.repeat(8)];
        with(&two_sockets(), What::Loaded, &[("--mix", mix)], |request| request.fill = pattern)
            .map(|plan| plan.request.fill.len())
    };
    // Little-endian: the least positive number, and 1.0.
    let (tiny, one) = ("0100000000000000", "000000000000f03f");
    assert_eq!((filled("triad", one), filled("2:1", tiny)), (Ok(1), Ok(1)));
    for mix in ["triad", "W10", "W11"] {
        assert!(filled(mix, tiny).unwrap_err().contains("subnormal numbers"), "{mix}");
    }
}
