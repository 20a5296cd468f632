//! The text of a grant: what it covers, in words a person can check.

use super::{CommandShape, Scope};
use crate::display::{line, shortened};
use crate::shell::quote;

/// Said of every scope that leaves something open.
const NO_MORE: &str = "as long as it does nothing else and nothing riskier than this call";

impl Scope {
    /// Returns what it lets run, in words.
    pub fn words(&self) -> String {
        match self {
            // The line has been made safe when the scope was made.
            Self::Exact {
                tool, shown, cwd, ..
            } => format!(
                "{} with exactly these arguments: {}, {}",
                line(tool),
                shortened(shown),
                from(cwd.as_deref())
            ),
            Self::Command {
                tool, shapes, cwd, ..
            } => {
                let text = line(&written(shapes));
                let inside = shapes.iter().find_map(|shape| shape.open.as_deref());
                match inside {
                    None => format!("{}: exactly `{text}`, {}", line(tool), from(cwd.as_deref())),
                    Some(directory) => format!(
                        "{}: `{text} …` on anything inside {}, {}, {NO_MORE}",
                        line(tool),
                        line(directory),
                        from(cwd.as_deref())
                    ),
                }
            }
            Self::Reason {
                tool,
                shapes,
                beside,
                workspace,
                cwd,
                causes,
                ..
            } => {
                let named = |shape: &CommandShape| {
                    format!("`{} …`", line(&written(std::slice::from_ref(shape))))
                };
                let open: Vec<String> = shapes.iter().map(named).collect();
                let alone: Vec<String> = beside.iter().map(apart).collect();
                let beside = if alone.is_empty() {
                    "commands that only show something".to_owned()
                } else {
                    let alone = line(&alone.join("; "));
                    format!("`{alone}` and commands that only show something")
                };
                format!(
                    "{}: {} on ordinary files inside {}, {}, for the same reason ({}), alone or beside {beside}, {NO_MORE}; \
                     not other options, anything outside or sensitive, and nothing critical, sent, unreadable, inline or unknown",
                    line(tool),
                    open.join(", "),
                    line(workspace),
                    from(cwd.as_deref()),
                    line(&causes.join(", ")),
                )
            }
            Self::Path { tool, prefix, .. } => format!(
                "{} on anything inside {}, {NO_MORE}",
                line(tool),
                line(prefix)
            ),
            Self::Recipient {
                tool, recipient, ..
            } => format!("{} to exactly {}, {NO_MORE}", line(tool), line(recipient)),
        }
    }

    /// Returns which calls like this one would still be asked about, in words. Calls of other agents
    /// never count.
    pub fn excludes(&self) -> String {
        match self {
            Self::Exact { .. } => "any other argument, or another directory".to_owned(),
            Self::Command { shapes, .. } => {
                match shapes.iter().find_map(|shape| shape.open.as_deref()) {
                    None => "any other word, option or command, or another directory".to_owned(),
                    Some(directory) => format!(
                        "other options or commands, anything outside {} or sensitive inside it, or \
                         another directory",
                        line(directory)
                    ),
                }
            }
            Self::Reason { workspace, .. } => format!(
                "other options or commands, anything outside {} or sensitive inside it, another \
                 directory, another reason, or another session",
                line(workspace)
            ),
            Self::Path { prefix, .. } => format!(
                "anything outside {} or more sensitive inside it, or other arguments beside path and \
                 content",
                line(prefix)
            ),
            Self::Recipient { .. } => {
                "any other recipient, or other arguments beside recipient and text".to_owned()
            }
        }
    }
}

fn from(cwd: Option<&str>) -> String {
    cwd.map_or_else(
        || "from no named directory".to_owned(),
        |cwd| format!("from {}", line(cwd)),
    )
}

/// Returns `shape` as it would be typed alone.
fn apart(shape: &CommandShape) -> String {
    let alone = CommandShape {
        join: String::new(),
        ..shape.clone()
    };
    let text = written(&[alone]);
    if shape.join.is_empty() {
        text
    } else {
        format!("… | {text}")
    }
}

/// Returns `word` as it would be typed.
fn typed(word: &str) -> String {
    let plain = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(
                letter,
                '-' | '_' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ','
            )
    };
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        quote(word)
    }
}

/// Returns commands as they would be typed.
pub(super) fn written(shapes: &[CommandShape]) -> String {
    let mut text = String::new();
    for shape in shapes {
        match shape.join.as_str() {
            "" => {}
            ";" => text.push_str("; "),
            join => text.extend([" ", join, " "]),
        }
        let words: Vec<String> = shape.words.iter().map(|word| typed(word)).collect();
        text.push_str(&words.join(" "));
        for redirect in &shape.redirects {
            text.extend([" ", redirect]);
        }
    }
    text
}
