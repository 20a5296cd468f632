//! Looks a tool up by name: alone, with a server prefix, in any case.

use super::infer;
use crate::act::Act;
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
    if server.is_some()
        && let Some(row) = by_name(bare)
    {
        return named(server, bare, Some(row), Vec::new(), OFFERED);
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
        if let Some(row) = knowledge::tool(&rest.join("_")) {
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
    named(server, bare, None, Vec::new(), INFERRED)
}

fn by_name(name: &str) -> Option<&'static ToolRow> {
    knowledge::tool(name).or_else(|| knowledge::tool(&infer::words(name).join("_")))
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
