//! A pair that was named: `--writer`, with `--cpu` as the reader.

use super::Pair;
use crate::checks::value;
use crate::draft::Draft;
use memgauge_model::{C2cKind, C2cMethod, C2cScope, C2cVia, Cpu, Refusal};

/// Every other line of a page at least, and whole pages.
const GRAIN: u64 = 4096;
/// Beyond this nothing is a cache's any more.
const LARGEST: u64 = 1 << 30;

/// The pair, where a writer is named; what can't be is refused.
pub(super) fn pair(draft: &Draft) -> Result<Option<Pair>, Refusal> {
    let request = draft.request;
    window(draft)?;
    third_is_read(draft)?;
    reads_beside(draft)?;
    let Some(writer) = request.writer else {
        return match request.third {
            None => Ok(None),
            Some(third) => {
                Err(refuse(draft, "--third", third, "reads between a writer and a reader, and none is named", "add --writer"))
            }
        };
    };
    if request.all_pairs {
        return Err(refuse(draft, "--writer", writer, "is one of all, by --all-pairs", "leave one of the two out"));
    }
    let apart = |cpu: &Cpu| !draft.site.same_core(*cpu, writer);
    let own = || Some(draft.roles.observer).filter(apart).or_else(|| draft.site.cpus.iter().find(apart));
    let Some(reader) = request.cpu.or_else(own) else {
        return Err(refuse(
            draft,
            "--writer",
            writer,
            "no other core is allowed, to read",
            "allow another core (taskset, cpuset)",
        ));
    };
    if reader == writer {
        return Err(refuse(draft, "--writer", writer, "is the reader, too, by --cpu", "name two CPUs"));
    }
    if let Some(third) = request.third.filter(|third| *third == writer || *third == reader) {
        let problem = "is one of the two between which it is to read";
        return Err(refuse(draft, "--third", third, problem, "name a CPU of another core"));
    }
    Ok(Some(Pair { scope: C2cScope::Cpu, from: writer, to: reader, writer, reader }))
}

/// The kinds that were asked for, by name or by method.
pub(super) fn kinds(draft: &Draft) -> Vec<C2cKind> {
    let request = draft.request;
    let asked = |kind: &C2cKind| request.kinds.is_empty() || request.kinds.contains(kind);
    let by_method = |kind: &C2cKind| request.method.is_none_or(|method| kind.method() == method);
    C2cKind::ALL.into_iter().filter(asked).filter(by_method).collect()
}

/// A window that was asked for, whole pages.
pub(super) fn window_bytes(draft: &Draft) -> Option<u64> {
    draft.request.window.map(whole_pages)
}

pub(super) fn whole_pages(bytes: u64) -> u64 {
    bytes.next_multiple_of(GRAIN)
}

fn window(draft: &Draft) -> Result<(), Refusal> {
    match draft.request.window {
        Some(bytes) if !(GRAIN..=LARGEST).contains(&bytes) => {
            Err(refuse(draft, "--window", bytes, "too small or too large for a window of lines", "use 4KiB to 1GiB"))
        }
        _ => Ok(()),
    }
}

/// What the two read beside the lines: only a chase has lines, and those that stay in an L2 are not pushed.
fn reads_beside(draft: &Draft) -> Result<(), Refusal> {
    for (flag, asked) in [("--push", draft.request.push), ("--extra-reads", draft.request.extra_reads)] {
        let Some(bytes) = asked else { continue };
        if !(1..=LARGEST).contains(&bytes) {
            return Err(refuse(draft, flag, bytes, "nothing, or more than any cache holds", "use 1KiB to 1GiB, or leave it out"));
        }
        if kinds(draft).iter().all(|kind| kind.method() == C2cMethod::Pingpong) {
            return Err(refuse(draft, flag, bytes, "a ping-pong is of one line, which stays", "ask for hit or hitm"));
        }
        if flag == "--push" && draft.request.via == Some(C2cVia::L2) {
            return Err(refuse(draft, flag, bytes, "lines that come from L2 (--via) are not pushed", "leave one of the two out"));
        }
    }
    Ok(())
}

/// A third core reads the lines of a chase: there are none in a ping-pong, and only one way is by it.
fn third_is_read(draft: &Draft) -> Result<(), Refusal> {
    if kinds(draft).is_empty() {
        let typed = draft.request.kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>().join(",");
        return Err(refuse(draft, "--kind", typed, "is of the other method", "leave --method out"));
    }
    let Some(third) = draft.request.third else { return Ok(()) };
    if draft.request.via.is_some_and(|via| via != C2cVia::Third) {
        return Err(refuse(draft, "--third", third, "has no part in that way (--via)", "use --via third, or leave it out"));
    }
    if kinds(draft).iter().all(|kind| kind.method() == C2cMethod::Pingpong) {
        return Err(refuse(draft, "--third", third, "a ping-pong is between two", "ask for hit or hitm"));
    }
    Ok(())
}

fn refuse(draft: &Draft, flag: &str, parsed: impl ToString, problem: &str, remedy: &str) -> Refusal {
    Refusal::new(flag, value(draft.request, flag, parsed), problem, remedy)
}
