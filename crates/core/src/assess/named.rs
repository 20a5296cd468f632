//! Looks a tool up by name: alone, with a server prefix, in any case.

use super::infer;
use crate::act::Act;
use crate::knowledge::names::AGENT_SPACES;
use crate::knowledge::{self, Effect, ToolRow};
use crate::score::Score;
use crate::shell::syntax::Span;

/// What a name says.
#[derive(Debug)]
pub(super) struct Named {
    /// The name as it was given.
    pub(super) whole: String,
    /// The server, where the name has one.
    pub(super) server: Option<String>,
    /// The tool's own name.
    pub(super) tool: String,
    /// What is known about it.
    pub(super) row: Option<&'static ToolRow>,
    /// Words in front of a known name that are not known to be a server.
    pub(super) skipped: Vec<String>,
    /// How sure we are that the row is about this tool.
    pub(super) certainty: Score,
}

impl Named {
    /// Whether the tool belongs to an agent itself, so that its arguments are known.
    pub(super) fn is_agents_own(&self) -> bool {
        self.row.is_some() && self.certainty >= KNOWN
    }

    /// Returns an act of this tool.
    pub(super) fn act(&self, effect: Effect) -> Act {
        let mut act = Act::new(effect, self.whole.clone(), Span::default());
        act.certainty = act.certainty.min(self.certainty);
        act
    }
}

/// A name that is known.
const KNOWN: Score = Score::new(980);
/// The name of a known tool, offered by some server.
const OFFERED: Score = Score::new(900);
/// A name that ends like that of a known tool.
const ENDS_LIKE: Score = Score::new(800);
/// A name that only its words explain.
const INFERRED: Score = Score::new(600);

/// Looks `tool` up.
pub(super) fn look_up(tool: &str) -> Named {
    let named = |server: Option<&str>, bare: &str, row, skipped, certainty| Named {
        whole: tool.to_owned(),
        server: server.map(str::to_lowercase),
        tool: bare.to_owned(),
        row,
        skipped,
        certainty,
    };
    let trimmed = tool.trim();
    if let Some(row) = by_name(trimmed) {
        return named(None, trimmed, Some(row), Vec::new(), KNOWN);
    }
    let (server, bare) = split_server(trimmed);
    let offered = |row: &&'static ToolRow| !row.builtin || is_agents_own(trimmed, server);
    if let Some(server) = server
        && let Some(row) = by_name(bare).filter(offered)
    {
        let skipped = parts_in_front(trimmed, server);
        return named(Some(server), bare, Some(row), skipped, OFFERED);
    }
    // `mcp_server_tool` and `server_tool` do not say where the server ends, so every end of the
    // name is tried, the longest first. One word alone says too little, unless `mcp_` is in front.
    let words = infer::words(bare);
    let prefixed = bare.len() > 4
        && bare
            .get(..4)
            .is_some_and(|front| front.eq_ignore_ascii_case("mcp_"));
    let shortest = if prefixed { 1 } else { 2 };
    for from in 1..words.len() {
        let Some(rest) = words.get(from..).filter(|rest| rest.len() >= shortest) else {
            break;
        };
        if let Some(row) = knowledge::tool(&rest.join("_")).filter(|row| !row.builtin) {
            let taken = if prefixed { 2 } else { 0 };
            let skipped = words
                .get(..from)
                .unwrap_or(&[])
                .iter()
                .skip(taken)
                .cloned()
                .collect();
            let server = if prefixed {
                words.get(1).map(String::as_str)
            } else {
                server
            };
            return named(server, bare, Some(row), skipped, ENDS_LIKE);
        }
    }
    let server = if prefixed {
        words.get(1).map(String::as_str)
    } else {
        server
    };
    let skipped = server.map_or_else(Vec::new, |server| parts_in_front(trimmed, server));
    named(server, bare, None, skipped, INFERRED)
}

/// Whether the part in front of a name says that the tool belongs to the agent, not to a server.
fn is_agents_own(name: &str, server: Option<&str>) -> bool {
    let server = server.unwrap_or_default().to_lowercase();
    !name.starts_with("mcp__") && AGENT_SPACES.contains(server.as_str())
}

/// Returns the words between the server and the tool: in `users.delete.batch` the deed is there.
fn parts_in_front(name: &str, server: &str) -> Vec<String> {
    if name.starts_with("mcp__") {
        return Vec::new();
    }
    let words = infer::words(server).into_iter();
    words.filter(|word| infer::is_deed(word)).collect()
}

fn by_name(name: &str) -> Option<&'static ToolRow> {
    // Rows with blanks in their names are for calls that are known by their arguments.
    let own = knowledge::tool(name).filter(|_| !name.contains(' '));
    own.or_else(|| knowledge::tool(&infer::words(name).join("_")))
}

/// Splits `mcp__server__tool`, `server__tool`, `server.tool`, `server/tool` and `server:tool`.
fn split_server(name: &str) -> (Option<&str>, &str) {
    let rest = name.strip_prefix("mcp__").unwrap_or(name);
    if let Some((server, tool)) = rest
        .split_once("__")
        .filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
    {
        return (Some(server), tool);
    }
    for separator in ['/', ':', '.'] {
        if let Some((server, tool)) = rest
            .rsplit_once(separator)
            .filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
        {
            return (Some(server), tool);
        }
    }
    (None, rest)
}
