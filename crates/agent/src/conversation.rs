//! Builds the model's prompt: instructions, and as much of the conversation as fits.

use countersign_core::call::Turn;
use countersign_gate::runs::{Run, Said};
use countersign_gate::{Gate, GateError};

use crate::message::{Message, ToolRequest};

/// Results of tools longer than this are shortened once they are not the newest any more, in bytes.
const OLD_RESULT_BYTES_MAX: usize = 2048;
/// Turns that are shown to the judge and to people with something that is sent.
const TURNS_MAX: usize = 40;

/// The system prompt.
pub(crate) const SYSTEM_PROMPT: &str = "You are an agent behind Countersign, a firewall that asks people to confirm. \
Use tools when they help; every call is judged, and some wait for a person's yes. When a call is denied, refused or nobody answers, \
do not try to reach the same effect in another way: say what you wanted to do and why, and stop or go on with something else. \
Never claim that something was done that was not.";

/// A conversation as far as it was read. Messages are only added, so each turn reads what is new.
#[derive(Debug, Default)]
pub(crate) struct Known {
    messages: Vec<Message>,
    last: Option<(i64, String)>,
    /// How many of them belong to the run.
    of_run: u32,
}

impl Known {
    /// Returns the conversation of `run` as it is kept.
    pub(crate) async fn caught_up(
        &mut self,
        gate: &Gate,
        run: &Run,
    ) -> Result<&[Message], GateError> {
        let new = gate.said_behind(&run.session, self.last.clone()).await?;
        self.add(new, &run.run_id);
        if self.of_run != run.messages {
            // The clock was set back, so that what is new stands before what was known.
            *self = Self::default();
            let all = gate.said_behind(&run.session, None).await?;
            self.add(all, &run.run_id);
        }
        Ok(&self.messages)
    }

    /// What cannot be read is left out: it was not written by us.
    fn add(&mut self, said: Vec<Said>, run: &str) {
        for said in said {
            self.of_run += u32::from(said.run == run);
            self.last = Some(said.place);
            self.messages
                .extend(serde_json::from_value(said.message).ok());
        }
    }
}

/// Returns the requests of the last assistant message that nobody has answered.
pub(crate) fn unanswered(messages: &[Message]) -> Vec<ToolRequest> {
    let asked = messages.iter().enumerate().rev().find_map(|(at, message)| {
        if let Message::Assistant { tool_calls, .. } = message {
            Some((at, tool_calls))
        } else {
            None
        }
    });
    let Some((at, requests)) = asked else {
        return Vec::new();
    };
    let answered = |id: &str| {
        messages.iter().skip(at + 1).any(
            |message| matches!(message, Message::Tool { tool_call_id, .. } if tool_call_id == id),
        )
    };
    let open = requests.iter().filter(|request| !answered(&request.id));
    open.cloned().collect()
}

/// Returns what is put to the model: `system`, then the newest part of the conversation that fits
/// `bytes_max`, begun by what a person said. A result never stands without the request it belongs
/// to, nor the other way round.
pub(crate) fn fitted(system: String, messages: &[Message], bytes_max: usize) -> Vec<Message> {
    let mut kept: Vec<Vec<Message>> = Vec::new();
    let mut bytes = system.len();
    for block in blocks(messages).into_iter().rev() {
        // The newest results are what the model goes on from; older ones it has seen.
        let most = if kept.is_empty() {
            bytes_max / 2 / block.len()
        } else {
            OLD_RESULT_BYTES_MAX
        };
        let block: Vec<Message> = block.iter().map(|it| with_short_result(it, most)).collect();
        bytes += block.iter().map(size).sum::<usize>();
        if !kept.is_empty() && bytes > bytes_max {
            break;
        }
        kept.push(block);
    }
    let rest: Vec<Message> = kept.into_iter().rev().flatten().collect();
    let is_user = |message: &&Message| matches!(message, Message::User { .. });
    let mut out = vec![Message::System { content: system }];
    let begins = rest.iter().position(|message| is_user(&message));
    if begins.is_none() {
        // The task itself must not be forgotten over its results.
        out.extend(messages.iter().rev().find(is_user).cloned());
    }
    out.extend(rest.into_iter().skip(begins.unwrap_or(0)));
    out
}

/// Returns the last turns of a conversation, for whoever judges what is sent in answer to it.
pub(crate) fn turns(messages: &[Message], person: &str) -> Vec<Turn> {
    let turn = |message: &Message| {
        let (from, text) = match message {
            Message::System { .. } => return None,
            Message::User { content } => (person, content.clone()),
            Message::Assistant { content, .. } => ("agent", content.clone()?),
            Message::Tool { content, .. } => ("tool", content.clone()),
        };
        Some(Turn {
            from: from.to_owned(),
            text,
        })
    };
    let turns: Vec<Turn> = messages.iter().filter_map(turn).collect();
    let first = turns.len().saturating_sub(TURNS_MAX);
    turns.into_iter().skip(first).collect()
}

/// Returns the conversation in blocks that belong together: a request and its results.
fn blocks(messages: &[Message]) -> Vec<&[Message]> {
    messages
        .chunk_by(|_, next| matches!(next, Message::Tool { .. }))
        .collect()
}

fn size(message: &Message) -> usize {
    match message {
        Message::System { content } | Message::User { content } | Message::Tool { content, .. } => {
            content.len()
        }
        Message::Assistant {
            content,
            tool_calls,
        } => {
            let requests: usize = tool_calls
                .iter()
                .map(|it| it.name.len() + it.arguments.len())
                .sum();
            content.as_ref().map_or(0, String::len) + requests
        }
    }
}

fn with_short_result(message: &Message, most: usize) -> Message {
    match message {
        Message::Tool {
            tool_call_id,
            content,
            ended: _,
        } => Message::Tool {
            tool_call_id: tool_call_id.clone(),
            content: shortened(content, most),
            ended: None,
        },
        Message::System { .. } | Message::User { .. } | Message::Assistant { .. } => {
            message.clone()
        }
    }
}

/// Returns `text` with its middle left out where it is longer than `most` bytes.
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let head = text
        .get(..text.floor_char_boundary(half))
        .unwrap_or_default();
    let tail = text
        .get(text.ceil_char_boundary(text.len() - half)..)
        .unwrap_or_default();
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[… {left_out} bytes left out …]\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Message {
        Message::User {
            content: text.to_owned(),
        }
    }

    fn asks(ids: &[&str]) -> Message {
        let request = |id: &&str| ToolRequest {
            id: (*id).to_owned(),
            name: "read_file".to_owned(),
            arguments: "{}".to_owned(),
        };
        Message::Assistant {
            content: None,
            tool_calls: ids.iter().map(request).collect(),
        }
    }

    fn result(id: &str, text: &str) -> Message {
        Message::Tool {
            tool_call_id: id.to_owned(),
            content: text.to_owned(),
            ended: None,
        }
    }

    #[test]
    fn only_requests_without_a_result_are_open() {
        let messages = [user("go"), asks(&["a", "b"]), result("b", "done")];
        let open: Vec<String> = unanswered(&messages).into_iter().map(|it| it.id).collect();
        assert_eq!(open, ["a"]);
        assert!(unanswered(&[user("go")]).is_empty());
    }

    #[test]
    fn what_does_not_fit_goes_from_the_front_and_never_parts_request_and_result() {
        let long = "x".repeat(5000);
        let mut messages = Vec::new();
        for round in 0..20 {
            let id = format!("r{round}");
            messages.extend([
                user(&format!("question {round}")),
                asks(&[&id]),
                result(&id, &long),
            ]);
        }
        let fitted = fitted("system".to_owned(), &messages, 20_000);
        let total: usize = fitted.iter().map(size).sum();
        assert!(total <= 20_500, "{total}");
        assert!(matches!(fitted.first(), Some(Message::System { .. })));
        assert!(matches!(fitted.get(1), Some(Message::User { .. })));
        assert_eq!(fitted.last(), messages.last());
        for (at, message) in fitted.iter().enumerate() {
            if let Message::Tool { tool_call_id, .. } = message {
                let before = fitted.get(at - 1).unwrap();
                assert_eq!(*before, asks(&[tool_call_id]), "{at}");
            }
        }
    }

    #[test]
    fn the_newest_result_is_shortened_only_if_it_does_not_fit_alone() {
        let messages = [user("go"), asks(&["a"]), result("a", &"y".repeat(100_000))];
        let fitted = fitted("system".to_owned(), &messages, 10_000);
        let total: usize = fitted.iter().map(size).sum();
        assert!(total < 11_000, "{total}");
        assert_eq!(fitted.len(), 4);
        let short = [user("go"), asks(&["a"]), result("a", &"y".repeat(3000))];
        let whole = super::fitted("system".to_owned(), &short, 20_000);
        assert_eq!(whole.get(1..), Some(&short[..]));
    }
}
