//! The manual page and what shells complete, both made from the definition of the arguments. Each command has its own flags alone.

use super::command::{About, Command, Shell};
use super::{meaning, parser};
use clap::Arg;
use clap_complete::aot::{Bash, Fish, Zsh, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io;

/// What is printed.
pub fn text(what: About) -> String {
    match what {
        About::Man => man(),
        About::Completions(shell) => completions(shell),
    }
}

fn completions(shell: Shell) -> String {
    let (mut command, mut bytes) = (with_own_flags(), Vec::new());
    let name = "memgauge";
    match shell {
        Shell::Bash => generate(Bash, &mut command, name, &mut bytes),
        Shell::Zsh => generate(Zsh, &mut command, name, &mut bytes),
        Shell::Fish => generate(Fish, &mut command, name, &mut bytes),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The parser knows each flag everywhere, so that it may stand before the command, and refuses afterwards. Shells should offer
/// what is taken.
fn with_own_flags() -> clap::Command {
    let whole = parser();
    let commands = whole.get_subcommands().cloned().map(|command| {
        let own = flags_of(&whole, command.get_name());
        command.args(own)
    });
    clap::Command::new("memgauge")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .args(flags_of(&whole, ""))
        .subcommands(commands.collect::<Vec<_>>())
}

/// The flags that a command knows, whatever word follows it; those of the default run without a name.
fn flags_of(parser: &clap::Command, name: &str) -> Vec<Arg> {
    let called = |command: &Command| command.words().0 == name;
    let mut commands = Command::all().filter(called).collect::<Vec<_>>();
    if name.is_empty() {
        commands.push(Command::from_typed(None));
    }
    let known = |arg: &&Arg| commands.iter().any(|command| meaning::knows(*command, arg.get_id().as_str()));
    parser.get_arguments().filter(known).map(|arg| arg.clone().global(false)).collect()
}

fn man() -> String {
    let parser = parser();
    let mut bytes = Vec::new();
    // Nothing goes wrong in memory.
    let _ = page(&parser, &mut bytes);
    // roff reads bytes, not every reader of it asks which encoding, and terminals without the character would leave a gap.
    let plain = |c: char| match c {
        '…' => "...".to_owned(),
        c if c.is_ascii() => c.to_string(),
        c => format!("\\[u{:04X}]", u32::from(c)),
    };
    String::from_utf8_lossy(&bytes).chars().map(plain).collect()
}

fn page(parser: &clap::Command, bytes: &mut Vec<u8>) -> io::Result<()> {
    let man = Man::new(parser.clone());
    man.render_title(bytes)?;
    man.render_name_section(bytes)?;
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    roff.text([bold("memgauge"), roman(" [command] [flags]")]);
    roff.to_writer(bytes)?;
    man.render_description_section(bytes)?;
    commands(parser).to_writer(bytes)?;
    man.render_options_section(bytes)?;
    closing(parser).to_writer(bytes)
}

/// Each command, what it does, and the flags that it knows.
fn commands(parser: &clap::Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["COMMANDS"]);
    for command in parser.get_subcommands() {
        let choices = command.get_positionals().flat_map(|arg| arg.get_value_names().unwrap_or_default());
        let choices = choices.map(|names| format!(" {names}")).collect::<String>();
        roff.control("TP", []);
        roff.text([bold(command.get_name()), roman(choices)]);
        roff.text([roman(command.get_about().map(ToString::to_string).unwrap_or_default())]);
        let flags = flags_of(parser, command.get_name());
        if !flags.is_empty() {
            let names = flags.iter().filter_map(Arg::get_long).map(|name| format!("--{name}")).collect::<Vec<_>>();
            roff.control("br", []);
            roff.text([roman(format!("Flags: {}", names.join(" ")))]);
        }
    }
    roff
}

/// What stands behind the help, as it stands there: blocks, each with its heading.
fn closing(parser: &clap::Command) -> Roff {
    let text = parser.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    for block in text.split("\n\n") {
        let (heading, lines) = block.split_once('\n').unwrap_or((block, ""));
        roff.control("SH", [heading.trim_end_matches(':').to_uppercase().as_str()]);
        roff.control("nf", []);
        for line in lines.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    /// `--flag` of every flag that the parser has, and the name of every command.
    fn everything() -> Vec<String> {
        let parser = parser();
        let flags = parser.get_arguments().filter_map(Arg::get_long).map(|name| format!("--{name}"));
        flags.chain(parser.get_subcommands().map(|command| command.get_name().to_owned())).collect()
    }

    #[test]
    fn every_flag_and_every_command_is_in_the_manual() {
        let page = man().replace("\\-", "-");
        assert!(page.is_ascii());
        for name in everything() {
            assert!(page.contains(&format!("\\fB{name}\\fR")), "{name}: {page}");
        }
        let of_topology = page.split("\\fBtopology\\fR").nth(1).unwrap().split(".TP").next().unwrap();
        assert!(of_topology.contains("--root") && !of_topology.contains("--buffer"), "{of_topology}");
    }

    #[test]
    fn every_flag_and_every_command_is_completed() {
        for shell in Shell::value_variants() {
            let script = completions(*shell);
            for name in everything() {
                let name = if *shell == Shell::Fish { name.trim_start_matches('-') } else { &name };
                assert!(script.contains(name), "{shell:?}: {name}");
            }
        }
    }

    #[test]
    fn what_is_completed_is_a_sound_parser() {
        with_own_flags().debug_assert();
    }
}
