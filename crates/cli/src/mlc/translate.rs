//! What the plan refuses it names by native flags; who typed letters shall read letters.

use crate::trouble::Trouble;
use memgauge_model::Refusal;
use std::collections::BTreeMap;

/// Flag, and the letters that set it.
const FLAGS: &[(&str, &str)] = &[
    ("--assign", "o"),
    ("--load-cpus", "km"),
    ("--cpu", "c"),
    ("--node", "j"),
    ("--buffer", "b"),
    ("--stride", "l"),
    ("--isa", "YZ"),
    ("--pages", "hL"),
    ("--time", "t"),
    ("--delays", "dg"),
    ("--delay", "dg"),
    ("--order", "r"),
    ("--mix", "WR"),
    ("--smt", "X"),
    ("--prefetch", "e"),
    ("--writer", "w"),
    ("--third", "S"),
    ("--window", "C"),
    ("--push", "E"),
    ("--extra-reads", "G"),
    ("--block", "D"),
    ("--histogram", "f"),
    ("--memory-dir", "J"),
    ("--touch-cpu", "i"),
    ("--keepalive-cpus", "p"),
    ("--from", "n"),
    ("--threads", "t"),
    ("--accesses", "x"),
    ("--passes", "q"),
    ("--load-block", "nU"),
    ("--load-order", "U"),
    ("--shared-buffer", "u"),
    ("--partial", "K"),
    ("--flush", "Q"),
    ("--integrity", "I"),
    ("--fill", "M"),
    ("--per-thread", "B"),
];

/// The same in letters, where one was typed that sets the flag.
pub fn refusal(mut refusal: Refusal, given: &BTreeMap<char, String>) -> Refusal {
    for (flag, letters) in FLAGS {
        let typed = letters.chars().find_map(|letter| Some((letter, given.get(&letter)?)));
        if let (true, Some((letter, value))) = (refusal.flag == *flag, typed) {
            refusal.flag = format!("-{letter}");
            refusal.value.clone_from(value);
        }
        // The first letter is the one to advise.
        let letter = typed.map(|(letter, _)| letter).or_else(|| letters.chars().next()).unwrap_or_default();
        if flags_of(&refusal.remedy).any(|word| word == *flag) {
            refusal.remedy = refusal.remedy.replace(flag, &format!("-{letter}"));
        }
    }
    refusal
}

/// The same of whatever went wrong.
pub fn trouble(trouble: Trouble, given: &BTreeMap<char, String>) -> Trouble {
    match trouble {
        Trouble::Refused(refused) => Trouble::Refused(refusal(refused, given)),
        other => other,
    }
}

fn flags_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphabetic() && c != '-').filter(|word| word.starts_with("--"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_the_letters_that_were_typed() {
        let given = BTreeMap::from([('k', "0-3".to_owned()), ('j', "1".to_owned())]);
        let of = |flag: &str| {
            refusal(Refusal::new(flag, "x", "p", "use --buffer 4MiB, or --load-cpus 1, or --smt one"), &given).to_string()
        };
        assert_eq!(of("--load-cpus"), "-k 0-3: p; use -b 4MiB, or -k 1, or -X one");
        assert!(of("--node").starts_with("-j 1: p"));
        assert!(of("--share-core").starts_with("--share-core x: p"));
    }
}
