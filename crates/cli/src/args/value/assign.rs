//! A load thread's own line: `0-3:2:1:seq:64MiB:0:200`, `4:read:random:64MiB:0+1:25`.

use super::BadValue;
use super::list::cpu_list;
use super::mix::mix;
use super::size::size;
use super::whole::whole;
use memgauge_model::{Assignment, CpuList, Elsewhere, Mix, NodeId};

const FORM: &str =
    "write CPUS:MIX:seq|random:SIZE:NODE[:DELAY], or with a second stream CPUS:MIX:seq|random:SIZE:NODE+NODE:PERCENT";

/// `--assign`.
pub fn assignment(text: &str) -> Result<Assignment, BadValue> {
    let words: Vec<&str> = text.split(':').collect();
    // Lists and ratios have colons of their own: the order, which has none, tells where they end.
    let Some(at) = words.iter().position(|word| matches!(*word, "seq" | "random")) else {
        return Err(BadValue::new("says neither seq nor random", FORM));
    };
    let (cpus, mix) = cpus_and_mix(&words[..at])?;
    let (bytes, place, last) = match words[at + 1..] {
        [bytes, place] => (bytes, place, None),
        [bytes, place, last] => (bytes, place, Some(last)),
        _ => return Err(BadValue::new("too few or too many words", FORM)),
    };
    let one = Assignment { cpus, mix, random: words[at] == "random", bytes: size(bytes)?, node: None, delay: None, second: None };
    match (place.split_once('+'), last) {
        (Some((first, second)), Some(percent)) => {
            let second = Elsewhere { node: whole::<NodeId>(second)?, percent: whole::<u32>(percent.trim_end_matches('%'))? };
            Ok(Assignment { node: node(first)?, second: Some(second), ..one })
        }
        (Some(_), None) => Err(BadValue::new("how much goes to the second node?", FORM)),
        (None, delay) => Ok(Assignment { node: node(place)?, delay: delay.map(whole::<u32>).transpose()?, ..one }),
    }
}

/// The first place at which what stands before it is a list, and what stands behind it a mix.
fn cpus_and_mix(words: &[&str]) -> Result<(CpuList, Mix), BadValue> {
    let cut = |at: usize| Some((cpu_list(&words[..at].join(":")).ok()?, mix(&words[at..].join(":")).ok()?));
    if let Some(found) = (1..words.len()).find_map(cut) {
        return Ok(found);
    }
    match words {
        [] | [_] => Err(BadValue::new("names no CPUs or no mix", FORM)),
        [cpus, rest @ ..] => cpu_list(cpus).and_then(|_| mix(&rest.join(":"))).and(Err(BadValue::new("not a line", FORM))),
    }
}

fn node(text: &str) -> Result<Option<NodeId>, BadValue> {
    if text == "local" { Ok(None) } else { whole::<NodeId>(text).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ratios_keep_their_colons() {
        let plain = assignment("0-31:2/4:2:1-nt:seq:64MiB:local").unwrap();
        assert_eq!(
            (plain.cpus.to_string().as_str(), plain.mix, plain.random),
            ("0-1,4-5,8-9,12-13,16-17,20-21,24-25,28-29", Mix::R2W1Nt, false)
        );
        assert_eq!((plain.bytes, plain.node, plain.delay, plain.second), (64 << 20, None, None, None));
        let delayed = assignment("3:W2:random:4096:1:200").unwrap();
        assert_eq!((delayed.mix, delayed.random, delayed.node, delayed.delay), (Mix::R2W1, true, Some(1), Some(200)));
        let two = assignment("0-7:R:seq:400000k:0+2:25").unwrap();
        assert_eq!((two.node, two.second), (Some(0), Some(Elsewhere { node: 2, percent: 25 })));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for text in [
            "",
            "0",
            "0:read",
            "0:read:seq",
            "0:read:seq:1m",
            "0:read:seq:1m:0:1:2",
            "0:reed:seq:1m:0",
            "x:read:seq:1m:0",
            "seq:1m:0",
        ] {
            assert!(assignment(text).is_err(), "{text:?} was taken");
        }
        assert!(assignment("0:read:seq:1m:0+1").is_err(), "no percentage");
        assert!(assignment("0:read:seq:1MB:0").is_err(), "a decimal unit");
    }
}
