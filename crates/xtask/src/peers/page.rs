//! `docs/peers.md`: the last comparison, each part with its own date.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::peers::options::Part;
use crate::peers::{Machine, Section};
use crate::{say, sh};

const PAGE: &str = "docs/peers.md";
const TEMPLATE: &str = include_str!("page.md");

/// Puts the sections into the page; a part that was not measured now keeps what it has.
pub fn write(sections: &[Section], machine: &Machine) -> Result<()> {
    let today = line(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let commit = line(Command::new("git").args(["rev-parse", "--short", "HEAD"])).unwrap_or_else(|_| "unknown".to_owned());
    let old = std::fs::read_to_string(Path::new(PAGE)).unwrap_or_default();
    let mut page = TEMPLATE.to_owned();
    for part in [Part::Idle, Part::Read] {
        let now = sections.iter().find(|section| section.part == part);
        let body = now.map(|section| format!("{today}, commit {commit}, {}.\n\n{}", machine.about, section.text()));
        if let Some(body) = body.or_else(|| within(&old, part).map(str::to_owned)) {
            page = replaced(&page, part, &body).with_context(|| format!("no place for {}", name(part)))?;
        }
    }
    std::fs::write(PAGE, page).with_context(|| format!("cannot write {PAGE}"))?;
    say::stage(&format!("wrote {PAGE}"));
    Ok(())
}

fn line(command: &mut Command) -> Result<String> {
    Ok(String::from_utf8_lossy(&sh::output(command)?).trim().to_owned())
}

fn name(part: Part) -> &'static str {
    match part {
        Part::Idle => "idle",
        Part::Read => "read",
    }
}

/// What stands between the part's marks.
fn within(page: &str, part: Part) -> Option<&str> {
    let (_, rest) = page.split_once(&format!("<!-- {} -->\n", name(part)))?;
    Some(rest.split_once(&format!("<!-- /{} -->", name(part)))?.0)
}

fn replaced(page: &str, part: Part, body: &str) -> Option<String> {
    let name = name(part);
    let (before, rest) = page.split_once(&format!("<!-- {name} -->\n"))?;
    let (_, after) = rest.split_once(&format!("<!-- /{name} -->"))?;
    Some(format!("{before}<!-- {name} -->\n{}\n<!-- /{name} -->{after}", body.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_and_the_other_kept() {
        let once = replaced(TEMPLATE, Part::Read, "new figures\n").expect("has marks");
        assert_eq!(within(&once, Part::Read), Some("new figures\n"));
        assert_eq!(within(&once, Part::Idle), within(TEMPLATE, Part::Idle));
        let twice = replaced(&once, Part::Read, "new figures").expect("has marks");
        assert_eq!(once, twice);
        assert_eq!(replaced("no marks", Part::Idle, "x"), None);
    }
}
