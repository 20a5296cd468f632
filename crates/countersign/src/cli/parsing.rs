//! Parses the command line and reports usage errors.

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};

use super::Cli;
use crate::complaint::Complaint;
use crate::hook::adapter::{ADAPTERS, Adapter, named};
use crate::init::agents::{self, Agent};
use crate::init::mcp;

/// Parses the process's command line. Help and version are printed and end the process.
pub(crate) fn parse() -> Result<Cli, Complaint> {
    Cli::try_parse().map_err(|error| {
        let asked = matches!(
            error.kind(),
            ErrorKind::DisplayHelp
                | ErrorKind::DisplayVersion
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        );
        if asked {
            error.exit();
        }
        complain(&error, &used_command(std::env::args().skip(1)))
    })
}

/// Reads the name of an agent.
pub(super) fn agent() -> impl clap::builder::TypedValueParser<Value = &'static Adapter> {
    let names = PossibleValuesParser::new(ADAPTERS.iter().map(|adapter| adapter.name));
    names.try_map(|name| named(&name).ok_or("no such agent"))
}

/// Reads the name of an agent that can be set up.
pub(super) fn known_agent() -> impl clap::builder::TypedValueParser<Value = &'static Agent> {
    let all = || {
        agents::AGENTS
            .iter()
            .chain([&agents::EDITORS, &mcp::SERVERS])
    };
    let names = PossibleValuesParser::new(all().map(|agent| agent.name));
    names.try_map(move |name| all().find(|it| it.name == name).ok_or("no such agent"))
}

/// Reads the name of a client that starts MCP servers.
pub(super) fn mcp_client() -> impl clap::builder::TypedValueParser<Value = &'static mcp::Row> {
    let names = PossibleValuesParser::new(mcp::ROWS.iter().map(mcp::Row::name));
    names.try_map(|name| mcp::named(&name).ok_or("no such client"))
}

/// Returns the command that `words` use, as it is typed: `countersign keys create`.
fn used_command(words: impl IntoIterator<Item = String>) -> String {
    let mut command = Cli::command();
    let mut used = command.get_name().to_owned();
    let takes_value: Vec<String> = command
        .get_arguments()
        .filter(|it| it.get_action().takes_values())
        .filter_map(|it| it.get_long().map(|long| format!("--{long}")))
        .collect();
    let mut is_value = false;
    for word in words {
        if std::mem::replace(&mut is_value, takes_value.contains(&word)) {
            continue;
        }
        let Some(next) = command.find_subcommand(&word).cloned() else {
            continue;
        };
        used = format!("{used} {}", next.get_name());
        command = next;
    }
    used
}

fn complain(error: &clap::Error, used: &str) -> Complaint {
    let text = error.to_string();
    let message = text
        .lines()
        .next()
        .unwrap_or("the command line cannot be read");
    let message = message.strip_prefix("error: ").unwrap_or(message);
    // Clap lists what is missing on lines of its own.
    let missing: Vec<&str> = text
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .map(str::trim)
        .collect();
    let message = if missing.is_empty() {
        message.to_owned()
    } else {
        format!("{message} {}", missing.join(" "))
    };
    let suggested = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ]
    .into_iter()
    .find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        // The nearest comes last.
        Some(ContextValue::Strings(texts)) => texts.last().cloned(),
        Some(_) | None => None,
    });
    let hint = match suggested {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("see `{used} --help`"),
    };
    Complaint::usage(message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commands without `--json`: they print another format, or talk with a person or an agent.
    const NO_JSON: [&str; 7] = [
        "acp",
        "chat",
        "completions",
        "hook",
        "man",
        "mcp",
        "mcp serve",
    ];

    fn leaves(command: &clap::Command, path: &str, found: &mut Vec<(String, bool)>) {
        let has_json = command
            .get_arguments()
            .any(|it| it.get_long() == Some("json"));
        let inner: Vec<&clap::Command> = command
            .get_subcommands()
            .filter(|it| it.get_name() != "help")
            .collect();
        // A group whose command may be left out is a command itself.
        if inner.is_empty() || !command.is_subcommand_required_set() {
            found.push((path.to_owned(), has_json));
        }
        for command in inner {
            leaves(
                command,
                format!("{path} {}", command.get_name()).trim(),
                found,
            );
        }
    }

    #[test]
    fn every_command_prints_json_except_those_named_here() {
        let mut command = Cli::command();
        command.build();
        let mut found = Vec::new();
        for command in command.get_subcommands() {
            if command.get_name() != "help" {
                leaves(command, command.get_name(), &mut found);
            }
        }
        assert!(found.len() > 40, "{found:?}");
        for (path, has_json) in found {
            assert_eq!(has_json, !NO_JSON.contains(&path.as_str()), "{path}");
        }
    }

    #[test]
    fn a_hint_names_the_command_that_was_used() {
        let rows = [
            ("--nonsense", "countersign"),
            ("answer x maybe more", "countersign answer"),
            ("--home keys history --limit x", "countersign history"),
            (
                "keys create --role boss --name run",
                "countersign keys create",
            ),
            ("check --home", "countersign check"),
        ];
        for (line, used) in rows {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(used_command(words.clone()), used, "{line}");
            let whole = ["countersign".to_owned()].into_iter().chain(words);
            let error = Cli::try_parse_from(whole).unwrap_err();
            let complaint = complain(&error, used);
            let wanted = format!("see `{used} --help`");
            let hint = complaint.hint();
            assert!(
                hint == wanted || hint.starts_with("did you mean"),
                "{line}: {hint}"
            );
        }
    }
}
