//! Assigns streamed fragments to tool calls.
//!
//! A fragment should carry the index of its call. Some servers leave the index out or always say 0,
//! some leave the id out or repeat it, some send whole calls. So a fragment belongs to the latest
//! call with its id, else with its index, else to the latest; unless it clearly begins another call.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::model::ModelError;

/// Most tool calls of one answer.
const CALLS_MAX: usize = 128;

/// The tool calls of an answer, as far as they have come.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

/// One tool call.
#[derive(Debug, Default)]
pub(super) struct Call {
    index: Option<u64>,
    /// As the server said; may be empty, and may stand twice.
    pub(super) id: String,
    /// The tool.
    pub(super) name: String,
    /// JSON text as the model wrote it.
    pub(super) arguments: String,
    nesting: Nesting,
}

/// A part of a tool call.
#[derive(Deserialize)]
pub(super) struct Fragment {
    #[serde(default)]
    index: Value,
    #[serde(default)]
    id: Value,
    #[serde(default)]
    function: Option<Function>,
}

#[derive(Default, Deserialize)]
struct Function {
    #[serde(default)]
    name: Value,
    /// A text that contains JSON, or that JSON itself. Not parsed: keys that stand twice must still
    /// stand twice where the arguments are judged.
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

/// How deep in an object a text has come. Knows when the object is closed without parsing it again
/// with each fragment.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl Calls {
    /// Takes the fragments of one payload.
    pub(super) fn push(&mut self, fragments: Vec<Fragment>) -> Result<(), ModelError> {
        let several = fragments.len() > 1;
        for (position, fragment) in fragments.into_iter().enumerate() {
            let index = fragment.index.as_u64();
            let id = fragment.id.as_str().unwrap_or_default();
            let function = fragment.function.unwrap_or_default();
            let name = function.name.as_str().unwrap_or_default();
            let position = several.then_some(position);
            let place = self.find(index, id, name, position).filter(|place| {
                self.0
                    .get(*place)
                    .is_some_and(|call| !call.is_another(name))
            });
            if place.is_none() {
                if self.0.len() >= CALLS_MAX {
                    return Err(ModelError::Malformed(format!(
                        "it has more than {CALLS_MAX} tool calls"
                    )));
                }
                self.0.push(Call {
                    index,
                    ..Call::default()
                });
            }
            let call = match place {
                Some(place) => self.0.get_mut(place),
                None => self.0.last_mut(),
            };
            let Some(call) = call else { continue };
            if call.id.is_empty() {
                id.clone_into(&mut call.id);
            }
            if call.name.is_empty() {
                name.clone_into(&mut call.name);
            }
            if let Some(arguments) = function.arguments {
                let arguments = arguments.get();
                match serde_json::from_str::<String>(arguments) {
                    Ok(text) => call.write(&text),
                    Err(_) => call.write(arguments),
                }
            }
        }
        Ok(())
    }

    /// Returns the calls in the order in which they came.
    pub(super) fn into_calls(self) -> Vec<Call> {
        self.0
    }

    fn find(
        &self,
        index: Option<u64>,
        id: &str,
        name: &str,
        position: Option<usize>,
    ) -> Option<usize> {
        let latest = |is: &dyn Fn(&Call) -> bool| self.0.iter().rposition(is);
        match (id, index) {
            ("", Some(_)) => latest(&|call| call.index == index),
            ("", None) => position
                .filter(|place| *place < self.0.len())
                .or(self.0.len().checked_sub(1)),
            (_, None) => latest(&|call| call.id == id),
            (_, Some(_)) => latest(&|call| call.index == index && call.id == id)
                .or_else(|| latest(&|call| call.index == index && call.id.is_empty()))
                // An id that stands twice with a name each time is two calls.
                .or_else(|| latest(&|call| name.is_empty() && call.id == id)),
        }
    }
}

impl Call {
    /// Whether a fragment that names the tool `name` must belong to another call than this.
    fn is_another(&self, name: &str) -> bool {
        !name.is_empty() && !self.name.is_empty() && (self.nesting.closed || self.name != name)
    }

    fn write(&mut self, text: &str) {
        self.arguments.push_str(text);
        for byte in text.bytes() {
            self.nesting.step(byte);
        }
    }
}

impl Nesting {
    fn step(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.closed |= self.depth == 0;
            }
            _ => {}
        }
    }
}
