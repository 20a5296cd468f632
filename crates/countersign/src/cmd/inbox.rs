//! `countersign` without a command: the inbox of the running gateway, or the getting-started text.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use super::{approvals, plain};
use crate::cli::Approvals;
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::show::text;
use crate::tui::drive;
use crate::tui::inbox::{Bell, Inbox};
use crate::tui::theme::Theme;
use crate::wire::shown::Identity;

/// The getting-started text.
const FIRST: &str = "\
Countersign holds the calls of an AI agent that matter until a person has seen them.

  countersign serve                       start the gateway; prints a link to the page
  countersign                             with a gateway: the inbox, in this terminal
  countersign try                         show a harmless practice card
  countersign approvals                   list the waiting cards
  countersign answer ID once              answer one: once, session, always or deny
  countersign history                     list past calls and how they were decided
  countersign run TEXT                    give the built-in agent a task
  countersign keys create --role agent --name NAME
                                          create a key for an agent

Without a gateway:

  countersign check 'rm -rf /srv/www'     judge one shell command
  countersign config list                 print the configuration

`countersign --help` lists every command.
";

/// What a terminal can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    /// A full screen.
    Screen,
    /// Lines, typed and read.
    Lines,
    /// Nobody is there: output is all there is.
    Output,
}

impl Surface {
    /// Returns what there is here; `wants_lines` if the person asks for no more.
    pub(crate) fn here(wants_lines: WantsLines) -> Self {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let is_dumb = matches!(variable("TERM").as_str(), "" | "dumb");
        let is_plain = !matches!(variable("COUNTERSIGN_PLAIN").as_str(), "" | "0");
        match (is_terminal, is_dumb || is_plain || wants_lines.0) {
            (false, _) => Self::Output,
            (true, true) => Self::Lines,
            (true, false) => Self::Screen,
        }
    }
}

/// Whether a person asked for lines instead of a full screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WantsLines(pub(crate) bool);

/// Opens the inbox if a gateway answers; otherwise says what to do first.
pub(crate) fn run(
    wants_lines: WantsLines,
    bell: Bell,
    reach: &Reach,
) -> Result<ExitCode, Complaint> {
    let is_named = reach.url.is_some() || reach.key_file.is_some();
    let reached = Client::new(reach).and_then(|client| {
        let client = client.in_terminal();
        let answer = client.ask(reqwest::Method::GET, "/v1/whoami", None)?;
        Ok((client, answer))
    });
    let (client, answer) = match reached {
        Ok(reached) => reached,
        // Whoever names a gateway wants that one.
        Err(complaint) if is_named => return Err(complaint),
        Err(_) => {
            let said = std::io::stdout().write_all(FIRST.as_bytes());
            return written(said, ExitCode::SUCCESS);
        }
    };
    let who: Identity = answer.read()?;
    match Surface::here(wants_lines) {
        Surface::Output => approvals::list(&Approvals::default(), reach),
        Surface::Lines => plain::run(&client).map(|()| ExitCode::SUCCESS),
        Surface::Screen => {
            let who = format!("{} · {}", text(&who.name), who.role.word());
            let mut inbox = Inbox::new(Theme::of_environment(), bell, who);
            drive::run(&mut inbox, &client).map(|()| ExitCode::SUCCESS)
        }
    }
}
