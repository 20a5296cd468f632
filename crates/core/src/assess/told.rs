//! Maps each argument of a call to its role, for cards, grants and digests.

use serde_json::Value;

use super::arguments;
use super::gather::object;
use super::named::look_up;
pub(crate) use super::roles::same_key;
use super::terminal::{command_text, is_terminal};
use crate::call::ToolCall;
use crate::knowledge::names::{ENVIRONMENT_KEYS, INPUT_KEYS};
use crate::knowledge::{ArgumentRole, ToolRow};

/// A call as its tool's row reads it.
#[derive(Debug)]
pub(crate) struct Told {
    /// The knowledge about the tool.
    pub(crate) row: Option<&'static ToolRow>,
    /// Its arguments, in the order they came.
    pub(crate) args: Vec<Argument>,
}

/// One argument.
#[derive(Debug)]
pub(crate) struct Argument {
    /// Its name.
    pub(crate) name: String,
    /// What it stands for, where that is known.
    pub(crate) role: Option<ArgumentRole>,
    /// Its value.
    pub(crate) value: Value,
}

/// Returns `call` as its tool's row reads it; `None` if its arguments are not an object.
pub(crate) fn told(call: &ToolCall) -> Option<Told> {
    let row = look_up(&call.tool).row;
    let args = object(&call.args, row).ok()?;
    let role = |name: &str| {
        row?.args
            .iter()
            .find(|(known, _)| same_key(known, name))
            .map(|(_, role)| *role)
    };
    let args = args
        .iter()
        .map(|(name, value)| Argument {
            name: name.clone(),
            role: role(name),
            value: value.clone(),
        })
        .collect();
    Some(Told { row, args })
}

impl Told {
    /// Whether running shell commands is what the tool is for.
    pub(crate) fn is_terminal(&self) -> bool {
        self.row.is_some_and(is_terminal)
    }

    /// Returns the arguments that stand for `role`.
    pub(crate) fn with(&self, role: ArgumentRole) -> impl Iterator<Item = &Argument> {
        self.args
            .iter()
            .filter(move |argument| argument.role == Some(role))
    }
}

impl Argument {
    /// Whether it is typed into a command or sets variables for it.
    pub(crate) fn feeds_a_command(&self) -> bool {
        let name = self.name.as_str();
        INPUT_KEYS.contains(name) || ENVIRONMENT_KEYS.contains(name)
    }

    /// Returns the words it gives: one, or a list; `None` if it is something else.
    pub(crate) fn words(&self) -> Option<Vec<String>> {
        arguments::words(&self.value)
    }

    /// Returns the shell text the argument stands for; `None` if it is none.
    pub(crate) fn shell_text(&self) -> Option<String> {
        let typed_in = INPUT_KEYS.contains(self.name.as_str());
        (self.role == Some(ArgumentRole::Shell) && !typed_in)
            .then(|| command_text(&self.name, &self.value))
            .flatten()
    }
}
