//! The to-do list of the agent, one per session, in memory.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use countersign_gate::calls::permit::Permit;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Around, Asks, Outcome, Tool, checked, understood};
use crate::BoxFuture;
use crate::model::ToolSchema;

/// Most things on a list.
const ITEMS_MAX: usize = 100;
/// Longest thing on it, in bytes.
const ITEM_BYTES_MAX: usize = 1000;
/// Lists that are kept; then all are forgotten, and agents write theirs anew.
const LISTS_MAX: usize = 1000;

/// Keeps a list of what is to be done.
#[derive(Debug, Default)]
pub struct Todo {
    lists: Mutex<HashMap<String, Vec<Item>>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listing {
    #[serde(skip_serializing_if = "Option::is_none")]
    todos: Option<Vec<Item>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    content: String,
    #[serde(default)]
    status: Status,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    #[default]
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

impl Tool for Todo {
    fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: "todo".to_owned(),
            description: "Keeps your list of what is to be done. `todos` is the whole new list; \
                          without it the list is shown."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "todos": {
                        "type": "array",
                        "maxItems": ITEMS_MAX,
                        "items": {
                            "type": "object",
                            "properties": {
                                "id": {"type": "string"},
                                "content": {"type": "string"},
                                "status": {
                                    "type": "string",
                                    "enum": ["pending", "in_progress", "completed", "cancelled"],
                                },
                            },
                            "required": ["content"],
                            "additionalProperties": false,
                        },
                    },
                },
                "additionalProperties": false,
            }),
        }
    }

    fn does(&self) -> String {
        "Keeps a list of what is to be done.".to_owned()
    }

    fn asks(&self) -> Asks {
        Asks::Never
    }

    fn resolved(&self, args: Value) -> Result<Value, String> {
        checked::<Listing>(&args)
    }

    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome> {
        Box::pin(async move { self.noted(permit.args(), &around.session).into() })
    }
}

impl Todo {
    fn noted(&self, args: &Value, session: &str) -> Result<String, String> {
        let Listing { todos } = understood(args)?;
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(todos) = todos {
            if todos.len() > ITEMS_MAX {
                return Err(format!("a list has at most {ITEMS_MAX} items"));
            }
            if todos.iter().any(|it| it.content.len() > ITEM_BYTES_MAX) {
                return Err(format!("an item has at most {ITEM_BYTES_MAX} bytes"));
            }
            if lists.len() >= LISTS_MAX && !lists.contains_key(session) {
                lists.clear();
            }
            lists.insert(session.to_owned(), todos);
        }
        let list = lists.get(session).map(Vec::as_slice).unwrap_or_default();
        Ok(json!({ "todos": list }).to_string())
    }
}
