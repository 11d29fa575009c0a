//! `docs/peers.md`: the last comparison, each part with its own date.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::peers::part::Part;
use crate::peers::{Machine, Section, summary};
use crate::{say, sh};

const PAGE: &str = "docs/peers.md";
/// The mark of what is found from the other sections.
const SUMMARY: &str = "summary";
const TEMPLATE: &str = include_str!("page.md");

/// Puts the sections into the page; a part that was not measured now keeps what it has.
pub fn write(sections: &[Section], machine: &Machine) -> Result<()> {
    let today = line(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let commit = line(Command::new("git").args(["rev-parse", "--short", "HEAD"])).unwrap_or_else(|_| "unknown".to_owned());
    let old = std::fs::read_to_string(Path::new(PAGE)).unwrap_or_default();
    let mut page = TEMPLATE.to_owned();
    for part in Part::ALL {
        let now = sections.iter().find(|section| section.part == part);
        let body = now.map(|section| format!("{today}, commit {commit}, {}.\n\n{}", machine.about, section.text()));
        if let Some(body) = body.or_else(|| within(&old, part.name()).map(str::to_owned)) {
            page = replaced(&page, part.name(), &body).with_context(|| format!("no place for {}", part.name()))?;
        }
    }
    let whole = page.clone();
    if let Some(text) = summary::of(Part::ALL.into_iter().filter_map(|part| Some((part, within(&whole, part.name())?)))) {
        page = replaced(&page, SUMMARY, &text).context("no place for the summary")?;
    }
    std::fs::write(PAGE, page).with_context(|| format!("cannot write {PAGE}"))?;
    say::stage(&format!("wrote {PAGE}"));
    Ok(())
}

fn line(command: &mut Command) -> Result<String> {
    Ok(String::from_utf8_lossy(&sh::output(command)?).trim().to_owned())
}

/// What stands between the marks of that name.
fn within<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("<!-- {name} -->\n"))?;
    Some(rest.split_once(&format!("<!-- /{name} -->"))?.0)
}

fn replaced(page: &str, name: &str, body: &str) -> Option<String> {
    let (before, rest) = page.split_once(&format!("<!-- {name} -->\n"))?;
    let (_, after) = rest.split_once(&format!("<!-- /{name} -->"))?;
    Some(format!("{before}<!-- {name} -->\n{}\n<!-- /{name} -->{after}", body.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_and_the_other_kept() {
        let once = replaced(TEMPLATE, "read", "new figures\n").expect("has marks");
        assert_eq!(within(&once, "read"), Some("new figures\n"));
        assert_eq!(within(&once, "idle"), within(TEMPLATE, "idle"));
        let twice = replaced(&once, "read", "new figures").expect("has marks");
        assert_eq!(once, twice);
        assert_eq!(replaced("no marks", "idle", "x"), None);
    }

    #[test]
    fn every_part_has_its_place() {
        for name in Part::ALL.map(Part::name).into_iter().chain([SUMMARY]) {
            assert!(within(TEMPLATE, name).is_some(), "{name}");
        }
    }
}
