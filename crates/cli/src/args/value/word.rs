//! Words of which one is to be chosen.

use super::BadValue;
use memgauge_model::{C2cKind, C2cMethod, C2cVia, Isa, Order, Pages, Partial, Prefetch, Smt};
use memgauge_render::Format;
use std::str::FromStr;

/// An instruction set, or none for `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsaChoice(pub Option<Isa>);

/// `--pages`.
pub fn pages(text: &str) -> Result<Pages, BadValue> {
    one_of(text, &words(Pages::ALL, |pages| pages.word()))
}

/// `--order`.
pub fn order(text: &str) -> Result<Order, BadValue> {
    one_of(text, &words(Order::ALL, |order| order.word()))
}

/// `--isa`.
pub fn isa(text: &str) -> Result<IsaChoice, BadValue> {
    let mut names = vec!["auto"];
    names.extend(words(Isa::ALL, |isa| isa.word()));
    if text == "auto" { Ok(IsaChoice(None)) } else { one_of(text, &names).map(|isa| IsaChoice(Some(isa))) }
}

/// `--prefetch`.
pub fn prefetch(text: &str) -> Result<Prefetch, BadValue> {
    one_of(text, &words(Prefetch::ALL, |prefetch| prefetch.word()))
}

/// `--smt`.
pub fn smt(text: &str) -> Result<Smt, BadValue> {
    one_of(text, &words(Smt::ALL, |smt| smt.word()))
}

/// `--method`.
pub fn method(text: &str) -> Result<C2cMethod, BadValue> {
    one_of(text, &words(C2cMethod::ALL, |method| method.word()))
}

/// `--via`.
pub fn via(text: &str) -> Result<C2cVia, BadValue> {
    one_of(text, &words(C2cVia::ALL, |via| via.word()))
}

/// Kinds of transfers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kinds(pub Vec<C2cKind>);

/// `--kind`.
pub fn kinds(text: &str) -> Result<Kinds, BadValue> {
    super::list_parts(text, "kinds such as hit,hitm", |word| one_of(word, &words(&C2cKind::ALL, |kind| kind.word()))).map(Kinds)
}

/// `--load-order`: random?
pub fn load_order(text: &str) -> Result<bool, BadValue> {
    match text {
        "random" => Ok(true),
        "sequential" => Ok(false),
        _ => Err(unknown(&["sequential", "random"])),
    }
}

/// `--partial`.
pub fn partial(text: &str) -> Result<Partial, BadValue> {
    match text {
        "stores" => Ok(Partial::Stores),
        "both" => Ok(Partial::Both),
        _ => Err(unknown(&["stores", "both"])),
    }
}

/// `--keepalive`.
pub fn on_off(text: &str) -> Result<bool, BadValue> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(unknown(&["on", "off"])),
    }
}

/// `--format`.
pub fn format(text: &str) -> Result<Format, BadValue> {
    match text {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        "csv" => Ok(Format::Csv),
        "vc-csv" => Ok(Format::VcCsv),
        "vc-json" => Ok(Format::VcJson),
        _ => Err(unknown(&["text", "json", "csv", "vc-csv", "vc-json"])),
    }
}

fn words<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|one| word(*one)).collect()
}

fn one_of<T: FromStr>(text: &str, names: &[&str]) -> Result<T, BadValue> {
    text.parse().map_err(|_| unknown(names))
}

fn unknown(names: &[&str]) -> BadValue {
    let names = match names {
        [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
        all => all.join(", "),
    };
    BadValue::new("no such choice", format!("use {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_nothing_else() {
        assert_eq!(pages("2m"), Ok(Pages::Huge2M));
        assert_eq!(isa("auto"), Ok(IsaChoice(None)));
        assert_eq!(isa("avx2"), Ok(IsaChoice(Some(Isa::Avx2))));
        assert_eq!(pages("4k").unwrap_err().remedy, "use base, thp, 2m or 1g");
        assert_eq!(on_off("yes").unwrap_err().remedy, "use on or off");
        assert_eq!(kinds("hitm,cas"), Ok(Kinds(vec![C2cKind::Hitm, C2cKind::Cas])));
        assert!(kinds("hit,hit").is_err() && kinds("hitme").is_err());
        assert!(order("").is_err() && format("JSON").is_err() && isa("").is_err());
    }
}
