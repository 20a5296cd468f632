//! Slash commands: one registry for the terminal and every chat.
//!
//! A command is words; what it does is up to the surface that read it. What one surface cannot do it
//! says, in the words of this table. A chat registers exactly these names, so that no prompt ever
//! tells anybody to type something that does not exist.

use crate::approval::Choice;
use crate::display::inline;
use crate::id::ApprovalId;

/// Longest line that is read as a command, in bytes.
const LINE_BYTES_MAX: usize = 4096;
/// How long an override lasts if nothing is said, in minutes.
const YOLO_MINUTES: u32 = 15;
/// The word by which a call is allowed as it was edited.
pub const EDITED: &str = "edited";
/// Longest override that can be asked for, in minutes.
pub const YOLO_MINUTES_MAX: u32 = 480;

/// A command a person typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Allow a call: the one that waits, if there is just one and none is named.
    Approve {
        /// The id.
        id: Option<String>,
        /// How far.
        choice: Choice,
    },
    /// Allow a call once as the person edited it before.
    ApproveEdited {
        /// The id.
        id: Option<String>,
    },
    /// Edit a call before it is allowed.
    Edit {
        /// The id.
        id: Option<String>,
        /// The text that takes the place of the old one; none: show what can be edited.
        text: Option<String>,
    },
    /// Deny a call.
    Deny {
        /// The id.
        id: Option<String>,
        /// The note for the agent.
        note: Option<String>,
    },
    /// List what waits.
    Pending,
    /// Show one card in full.
    Show {
        /// The id.
        id: String,
    },
    /// Show what led to a call.
    Before {
        /// The id.
        id: Option<String>,
    },
    /// List standing permissions.
    Grants,
    /// Take a standing permission back.
    Revoke {
        /// The id.
        id: String,
    },
    /// Give a waiting call more time.
    Extend {
        /// Which question; the one that waits, if there is just one and none is named.
        id: Option<String>,
    },
    /// Let the agent ask again about what was denied.
    Lift {
        /// Which question.
        id: String,
    },
    /// Stop asking about ordinary calls of this session for a while; the rules that nothing lifts
    /// stay.
    Yolo {
        /// How long.
        minutes: u32,
        /// Whether critical calls run without a question, too.
        all: bool,
    },
    /// Ask again.
    YoloOff,
    /// Say how things are.
    Status,
    /// Say what models cost.
    Usage,
    /// Say which model answers, or take another.
    Model {
        /// The name.
        name: Option<String>,
    },
    /// Say what the agent can do.
    Skills,
    /// Begin another conversation.
    New,
    /// Ask the last thing again.
    Retry,
    /// Tell the agent something while it works.
    Steer {
        /// What it is told.
        text: String,
    },
    /// Stop what the agent is doing.
    Stop,
    /// Say who is asking.
    Whoami,
    /// List the commands.
    Help,
}

/// A command as it is listed and registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name, without the slash.
    pub name: &'static str,
    /// What may follow it; empty if nothing may.
    pub hint: &'static str,
    /// Its effect, as a short text.
    pub does: &'static str,
}

/// Every command, in the order of the help.
pub const TABLE: [Row; 21] = [
    row(
        "approve",
        "[ID] [once|session|always|edited]",
        "allow a waiting call",
    ),
    row("deny", "[ID] [note]", "deny a waiting call"),
    row(
        "edit",
        "[ID] [TEXT]",
        "edit a waiting call; it is judged again before you can allow it",
    ),
    row("pending", "", "list what is waiting for an answer"),
    row("show", "ID", "show one card in full"),
    row(
        "before",
        "[ID]",
        "show what led to a waiting call: the message and the last calls",
    ),
    row("extend", "[ID]", "give a waiting call more time"),
    row("grants", "", "list grants"),
    row("revoke", "ID", "revoke a grant"),
    row("lift", "ID", "lift a denial, so the agent may ask again"),
    row(
        "yolo",
        "[all] [minutes] | off",
        "run this session without questions for a while (all: including critical calls)",
    ),
    row("status", "", "show the status"),
    row("usage", "", "show what models cost"),
    row(
        "model",
        "[NAME]",
        "show which model answers, or choose another for this conversation",
    ),
    row("skills", "", "list what the agent can do, and what asks"),
    row("new", "", "start a new conversation"),
    row("retry", "", "repeat the last message"),
    row("steer", "TEXT", "tell the agent something while it works"),
    row("stop", "", "stop the agent"),
    row("whoami", "", "show who you are"),
    row("help", "", "list these commands"),
];

const fn row(name: &'static str, hint: &'static str, does: &'static str) -> Row {
    Row { name, hint, does }
}

/// Why a line is not a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// It does not begin with a slash: it is something said to the agent.
    #[error("this is not a command")]
    NotOne,
    /// There is no such command.
    #[error("there is no /{name}; /help lists the commands")]
    Unknown {
        /// What was typed, safe to show.
        name: String,
    },
    /// What follows the name does not fit.
    #[error("usage: /{name} {hint}")]
    Usage {
        /// The command.
        name: &'static str,
        /// What may follow it.
        hint: &'static str,
    },
}

impl Command {
    /// Reads a line that begins with a slash.
    pub fn parse(line: &str) -> Result<Self, CommandError> {
        let typed = line.trim();
        let Some(typed) = typed
            .strip_prefix('/')
            .filter(|_| typed.len() <= LINE_BYTES_MAX)
        else {
            return Err(CommandError::NotOne);
        };
        let (name, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        Self::of(name, rest)
    }

    /// Reads a command by its name and what follows, as chats hand them over.
    pub fn of(name: &str, rest: &str) -> Result<Self, CommandError> {
        let known = TABLE.iter().find(|row| row.name.eq_ignore_ascii_case(name));
        let Some(row) = known else {
            let name = inline(name);
            return Err(CommandError::Unknown { name });
        };
        let rest = rest.trim();
        let words: Vec<&str> = rest.split_whitespace().collect();
        let read = match (row.name, words.as_slice()) {
            ("approve", words) => approve(words),
            ("deny", words) => Some(deny(rest, words)),
            ("edit", words) => Some(edit(rest, words)),
            ("before", []) => Some(Self::Before { id: None }),
            ("before", [id]) => Some(Self::Before {
                id: Some((*id).to_owned()),
            }),
            ("pending", []) => Some(Self::Pending),
            ("show", [id]) => Some(Self::Show {
                id: (*id).to_owned(),
            }),
            ("extend", []) => Some(Self::Extend { id: None }),
            ("extend", [id]) => Some(Self::Extend {
                id: Some((*id).to_owned()),
            }),
            ("grants", []) => Some(Self::Grants),
            ("revoke", [id]) => Some(Self::Revoke {
                id: (*id).to_owned(),
            }),
            ("lift", [id]) => Some(Self::Lift {
                id: (*id).to_owned(),
            }),
            ("yolo", words) => yolo(words),
            ("status", []) => Some(Self::Status),
            ("usage", []) => Some(Self::Usage),
            ("model", []) => Some(Self::Model { name: None }),
            ("model", [name]) => Some(Self::Model {
                name: Some((*name).to_owned()),
            }),
            ("skills", []) => Some(Self::Skills),
            ("new", []) => Some(Self::New),
            ("retry", []) => Some(Self::Retry),
            ("steer", [_, ..]) => Some(Self::Steer {
                text: rest.to_owned(),
            }),
            ("stop", []) => Some(Self::Stop),
            ("whoami", []) => Some(Self::Whoami),
            ("help", []) => Some(Self::Help),
            _ => None,
        };
        read.ok_or(CommandError::Usage {
            name: row.name,
            hint: row.hint,
        })
    }
}

impl Command {
    /// Returns the id that was typed with it, for whoever completes a shortened one.
    pub const fn id_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Approve { id, .. }
            | Self::ApproveEdited { id }
            | Self::Edit { id, .. }
            | Self::Deny { id, .. }
            | Self::Before { id }
            | Self::Extend { id } => id.as_mut(),
            Self::Show { id } | Self::Revoke { id } | Self::Lift { id } => Some(id),
            Self::Pending
            | Self::Grants
            | Self::Yolo { .. }
            | Self::YoloOff
            | Self::Status
            | Self::Usage
            | Self::Model { .. }
            | Self::Skills
            | Self::New
            | Self::Retry
            | Self::Steer { .. }
            | Self::Stop
            | Self::Whoami
            | Self::Help => None,
        }
    }
}

/// `[ID] [once|session|always|edited]`, either of them alone, too.
fn approve(words: &[&str]) -> Option<Command> {
    let (id, how_far) = match words {
        [] => (None, "once"),
        [one] if ApprovalId::is_id(one) => (Some(*one), "once"),
        [one] => (None, *one),
        [id, how_far] if ApprovalId::is_id(id) => (Some(*id), *how_far),
        _ => return None,
    };
    let id = id.map(str::to_owned);
    if how_far.eq_ignore_ascii_case(EDITED) {
        return Some(Command::ApproveEdited { id });
    }
    let choices = [Choice::Once, Choice::Session, Choice::Always];
    let choice = choices
        .into_iter()
        .find(|choice| choice.word().eq_ignore_ascii_case(how_far))?;
    Some(Command::Approve { id, choice })
}

/// `[all] [minutes]`, or `off`.
fn yolo(words: &[&str]) -> Option<Command> {
    let is = |word: &str, name: &str| word.eq_ignore_ascii_case(name);
    let (all, minutes) = match words {
        [] => (false, None),
        [off] if is(off, "off") => return Some(Command::YoloOff),
        [all] if is(all, "all") => (true, None),
        [minutes] => (false, Some(*minutes)),
        [all, minutes] if is(all, "all") => (true, Some(*minutes)),
        _ => return None,
    };
    let minutes = match minutes {
        None => YOLO_MINUTES,
        Some(text) => text.parse().ok()?,
    };
    (1..=YOLO_MINUTES_MAX)
        .contains(&minutes)
        .then_some(Command::Yolo { minutes, all })
}

/// `[ID] [note]`.
fn deny(rest: &str, words: &[&str]) -> Command {
    let (id, note) = id_and_words(rest, words);
    Command::Deny { id, note }
}

/// `[ID] [TEXT]`.
fn edit(rest: &str, words: &[&str]) -> Command {
    let (id, text) = id_and_words(rest, words);
    Command::Edit { id, text }
}

/// Returns an id and the words after it, either of them alone, too: what does not look like an id is words.
fn id_and_words(rest: &str, words: &[&str]) -> (Option<String>, Option<String>) {
    let id = words.first().filter(|word| ApprovalId::is_id(word));
    let said = id.map_or(rest, |id| rest.strip_prefix(id).unwrap_or(rest).trim());
    let said = (!said.is_empty()).then(|| said.to_owned());
    (id.map(|id| (*id).to_owned()), said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approve(id: Option<&str>, choice: Choice) -> Command {
        let id = id.map(str::to_owned);
        Command::Approve { id, choice }
    }

    fn deny(id: Option<&str>, note: Option<&str>) -> Command {
        let (id, note) = (id.map(str::to_owned), note.map(str::to_owned));
        Command::Deny { id, note }
    }

    #[test]
    fn what_is_typed_is_read_as_the_table_says() {
        let rows = [
            ("/approve", approve(None, Choice::Once)),
            ("  /APPROVE  ", approve(None, Choice::Once)),
            ("/approve appr_1", approve(Some("appr_1"), Choice::Once)),
            (
                "/approve appr_1 session",
                approve(Some("appr_1"), Choice::Session),
            ),
            ("/approve always", approve(None, Choice::Always)),
            (
                "/approve appr_1 edited",
                Command::ApproveEdited {
                    id: Some("appr_1".to_owned()),
                },
            ),
            (
                "/edit appr_1 ls\n  -la",
                Command::Edit {
                    id: Some("appr_1".to_owned()),
                    text: Some("ls\n  -la".to_owned()),
                },
            ),
            (
                "/edit",
                Command::Edit {
                    id: None,
                    text: None,
                },
            ),
            ("/before", Command::Before { id: None }),
            ("/deny", deny(None, None)),
            ("/deny appr_1", deny(Some("appr_1"), None)),
            (
                "/deny appr_1 not  now",
                deny(Some("appr_1"), Some("not  now")),
            ),
            ("/deny not now", deny(None, Some("not now"))),
            (
                "/show appr_1",
                Command::Show {
                    id: "appr_1".to_owned(),
                },
            ),
            (
                "/yolo",
                Command::Yolo {
                    minutes: YOLO_MINUTES,
                    all: false,
                },
            ),
            (
                "/yolo 5",
                Command::Yolo {
                    minutes: 5,
                    all: false,
                },
            ),
            (
                "/yolo all",
                Command::Yolo {
                    minutes: YOLO_MINUTES,
                    all: true,
                },
            ),
            (
                "/yolo ALL 480",
                Command::Yolo {
                    minutes: 480,
                    all: true,
                },
            ),
            ("/yolo off", Command::YoloOff),
            ("/model", Command::Model { name: None }),
            ("/skills", Command::Skills),
            ("/stop", Command::Stop),
            ("/extend", Command::Extend { id: None }),
            (
                "/extend appr_1",
                Command::Extend {
                    id: Some("appr_1".to_owned()),
                },
            ),
        ];
        for (line, expected) in rows {
            assert_eq!(Command::parse(line), Ok(expected), "{line}");
        }
        let text = "leave  the logs".to_owned();
        let steered = Command::parse("/steer leave  the logs");
        assert_eq!(steered, Ok(Command::Steer { text }));
    }

    #[test]
    fn what_does_not_fit_is_told_how_it_is_used() {
        for line in [
            "/approve deny",
            "/approve appr_1 deny",
            "/approve 7",
            "/approve appr_1 once more",
            "/show",
            "/show a b",
            "/extend a b",
            "/steer",
            "/steer  ",
            "/pending x",
            "/skills terminal",
            "/yolo 0",
            "/yolo -3",
            "/yolo 481",
            "/yolo off 5",
            "/yolo 5 all",
            "/yolo all off",
            "/yolo everything",
        ] {
            let got = Command::parse(line);
            assert!(
                matches!(got, Err(CommandError::Usage { .. })),
                "{line}: {got:?}"
            );
        }
        let unknown = CommandError::Unknown {
            name: "aprove".to_owned(),
        };
        assert_eq!(Command::parse("/aprove"), Err(unknown));
        for said in ["approve", "please /approve", "", "yes"] {
            assert_eq!(Command::parse(said), Err(CommandError::NotOne), "{said}");
        }
    }

    #[test]
    fn every_command_of_the_table_can_be_typed() {
        for row in TABLE {
            let rest = match row.hint {
                "ID" => " appr_1",
                "TEXT" => " leave the logs",
                _ => "",
            };
            let line = format!("/{}{rest}", row.name);
            assert!(Command::parse(&line).is_ok(), "{line}");
        }
    }
}
