//! Understands what people do: reactions to cards, replies, commands, and words for the agent.
//!
//! A reaction counts by the sign, the event it is about and its sender, all of which the homeserver
//! says. What it means stands in the event itself, which must be ours. Edits of people are nobody's new
//! word, and messages of programs are not answered.

use countersign_core::command::TABLE;
use countersign_core::id::ClarificationId;
use tokio::sync::mpsc;

use super::answers::Asked;
use super::api::ApiError;
use super::legend::{self, YES};
use super::paint::{self, Ours};
use super::sync::{UnderWay, clicker};
use super::wire::{Event, is_event_id, text};
use super::{Known, Matrix, PREFIX};
use crate::chat::{Heard, Message, Received, Route, Typed};
use crate::hearing::{arrive, is_about_a_question};
use crate::press::{Click, Press, Proof, READ_AGAIN};

/// What every command begins with: the whole word, and one for whoever types it often.
const PREFIXES: [&str; 2] = [PREFIX, "!cs"];
/// What a bare prefix means.
const HELP: &str = "help";

impl Matrix {
    /// Tells of one event, in order; what is done about it then is beside all others. An error if the
    /// homeserver has to be asked about it and is away.
    pub(super) async fn deal_with(
        &self,
        known: &Known,
        room: &str,
        event: &Event,
        heard: &mpsc::Sender<Heard>,
    ) -> Result<Option<UnderWay>, ApiError> {
        if event.sender == known.user && event.kind != "m.room.redaction" {
            return Ok(None);
        }
        let read = match event.kind.as_str() {
            "m.reaction" => self.reaction(known, room, event).await?,
            "m.room.message" => self.said(known, room, event, heard).await?,
            "m.room.redaction" => {
                self.redacted(known, room, event, heard).await?;
                None
            }
            _ => None,
        };
        let Some((route, received)) = read else {
            return Ok(None);
        };
        let asked = Asked {
            room: room.to_owned(),
            event: event.id.clone(),
            account: event.sender.clone(),
        };
        let response = arrive(heard, route, received).await;
        Ok(response.map(|response| self.answer_soon(asked, response)))
    }

    /// Reads an event of ours that somebody did something with; `None` if it is not ours, or asks for
    /// nothing.
    async fn ours(
        &self,
        known: &Known,
        room: &str,
        id: &str,
    ) -> Result<Option<(Event, Ours)>, ApiError> {
        if !is_event_id(id) {
            return Ok(None);
        }
        let event = match self.event(room, id).await {
            Ok(event) => event,
            // There is no such event in this room.
            Err(ApiError::Refused { .. }) => return Ok(None),
            Err(away @ ApiError::Away(_)) => return Err(away),
        };
        // An edit is no card: the card is what was edited.
        let is_ours = event.sender == known.user
            && event.id == id
            && event.kind == "m.room.message"
            && !event.is_related("m.replace");
        let read = paint::read(&event.content).filter(|_| is_ours);
        Ok(read.map(|ours| (event, ours)))
    }

    async fn reaction(
        &self,
        known: &Known,
        room: &str,
        event: &Event,
    ) -> Result<Option<(Route, Received)>, ApiError> {
        let relation = event.relation();
        let (target, key) = (text(relation, "event_id"), text(relation, "key"));
        let Some(press) = legend::press(key).filter(|_| event.is_related("m.annotation")) else {
            return Ok(None);
        };
        let click = match self.ours(known, room, target).await? {
            Some((card, Ours::Card { subject })) => {
                let code = paint::code(&card.content, press);
                if code.is_empty() {
                    // It was never offered there.
                    return Ok(None);
                }
                Click {
                    proof: Proof::Button { code },
                    subject,
                    press,
                    reference: format!("{room}/{target}"),
                    ..self.click(clicker(&event.sender))
                }
            }
            Some((
                _,
                Ours::Prompt {
                    subject,
                    press,
                    proof,
                    card,
                },
            )) if legend::is_same(YES, key) && !press.needs_words() => Click {
                proof,
                subject,
                press,
                reference: format!("{room}/{card}"),
                ..self.click(clicker(&event.sender))
            },
            Some((_, Ours::Prompt { .. })) | None => return Ok(None),
        };
        let route = match click.proof {
            Proof::Dialog { .. } => Route::Dialog,
            Proof::Button { .. } | Proof::OnCard | Proof::Typed => Route::Action,
        };
        Ok(Some((route, clicked(click, room, event))))
    }

    /// Reads a message; what is for the agent is told at once.
    async fn said(
        &self,
        known: &Known,
        room: &str,
        event: &Event,
        heard: &mpsc::Sender<Heard>,
    ) -> Result<Option<(Route, Received)>, ApiError> {
        let is_said = text(&event.content, "msgtype") == "m.text" && !event.is_related("m.replace");
        let body = without_quotation(event);
        if !is_said || body.is_empty() {
            return Ok(None);
        }
        let above = match event.above() {
            Some(above) => self.ours(known, room, above).await?,
            None => None,
        };
        if let Some(click) = self.answer_to_prompt(room, event, above.as_ref(), body) {
            return Ok(Some((Route::Dialog, clicked(click, room, event))));
        }
        if let Some(typed) = typed(room, event, body) {
            return Ok(Some((Route::Command, Received::Typed(Box::new(typed)))));
        }
        if let Some(click) = self.answer_to_question(room, event, above.as_ref(), body) {
            return Ok(Some((Route::Action, clicked(click, room, event))));
        }
        let is_alone = self.room(room).await?.is_for_two();
        let meant = meant_for(event, known, body, is_alone);
        let Some(text) = meant.filter(|_| self.inner.settings.talk) else {
            return Ok(None);
        };
        let message = Message {
            id: event.id.clone(),
            thread: conversation(room, event),
            clicker: clicker(&event.sender),
            text,
            at: event.origin_server_ts,
        };
        // Whoever does not hear it any more has gone away.
        let _heard = heard.send(Heard::Message(message)).await;
        Ok(None)
    }

    /// Returns the click that a reply to one of our prompts is.
    fn answer_to_prompt(
        &self,
        room: &str,
        event: &Event,
        above: Option<&(Event, Ours)>,
        words: &str,
    ) -> Option<Click> {
        let (
            _,
            Ours::Prompt {
                subject,
                press,
                proof,
                card,
            },
        ) = above?
        else {
            return None;
        };
        press.needs_words().then(|| Click {
            proof: proof.clone(),
            subject: subject.clone(),
            press: *press,
            reference: format!("{room}/{card}"),
            text: Some(words.to_owned()),
            ..self.click(clicker(&event.sender))
        })
    }

    /// Returns the click that a reply to a question of the agent is. It permits nothing, so it needs no
    /// prompt.
    fn answer_to_question(
        &self,
        room: &str,
        event: &Event,
        above: Option<&(Event, Ours)>,
        words: &str,
    ) -> Option<Click> {
        let (card, Ours::Card { subject }) = above? else {
            return None;
        };
        let number = words.parse::<u8>().ok().filter(|it| (1..=9).contains(it));
        let press = number.map_or(Press::Other, Press::Answer);
        ClarificationId::is_id(subject).then(|| Click {
            subject: subject.clone(),
            press,
            reference: format!("{room}/{}", card.id),
            text: Some(words.to_owned()),
            ..self.click(clicker(&event.sender))
        })
    }

    /// Something was deleted. If it was ours, cards that wait are looked for: what it said the server
    /// does not tell any more.
    async fn redacted(
        &self,
        known: &Known,
        room: &str,
        event: &Event,
        heard: &mpsc::Sender<Heard>,
    ) -> Result<(), ApiError> {
        let inside = text(&event.content, "redacts");
        let gone = event.redacts.as_deref().unwrap_or(inside);
        if !is_event_id(gone) {
            return Ok(());
        }
        let was_ours = match self.event(room, gone).await {
            Ok(gone) => gone.sender == known.user && gone.kind == "m.room.message",
            Err(ApiError::Refused { .. }) => false,
            Err(away @ ApiError::Away(_)) => return Err(away),
        };
        if was_ours {
            // Whoever does not hear it any more has gone away.
            let _heard = heard.send(Heard::Connected).await;
        }
        Ok(())
    }
}

/// Returns a click as it arrives. The event is its ticket: it is told again after a gap.
fn clicked(click: Click, room: &str, event: &Event) -> Received {
    let click = Click {
        ticket: Some(format!("{READ_AGAIN}{}", event.id)),
        place: room.to_owned(),
        ..click
    };
    Received::Click {
        click: Box::new(click),
        handle: String::new(),
    }
}

/// Returns the conversation a message belongs to: its room, and the thread if there is one.
fn conversation(room: &str, event: &Event) -> String {
    match event.thread() {
        Some(above) => format!("{room}/{above}"),
        None => room.to_owned(),
    }
}

fn typed(room: &str, event: &Event, body: &str) -> Option<Typed> {
    let (name, rest) = command(body)?;
    // Below any message it is meant for that one, whether or not it is a card.
    let above = event.above().filter(|_| is_about_a_question(name, rest));
    Some(Typed {
        name: name.to_owned(),
        rest: rest.to_owned(),
        clicker: clicker(&event.sender),
        place: room.to_owned(),
        is_reply: above.is_some(),
        thread: above.map_or_else(
            || conversation(room, event),
            |above| format!("{room}/{above}"),
        ),
        transport: Ok(()),
        ticket: Some(format!("{READ_AGAIN}{}", event.id)),
    })
}

/// Returns the command of ours that a text is, and what follows it. What is none is told how to find
/// them.
fn command(body: &str) -> Option<(&str, &str)> {
    let (first, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
    PREFIXES.iter().find(|it| first.eq_ignore_ascii_case(it))?;
    let rest = rest.trim();
    let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let name = name.trim_start_matches('/');
    let known = TABLE.iter().find(|row| row.name.eq_ignore_ascii_case(name));
    let name = match known {
        Some(row) => row.name,
        None if name.is_empty() => HELP,
        None => name,
    };
    Some((name, rest.trim()))
}

/// Returns what was said, without the quotation that older clients put in front of a reply.
fn without_quotation(event: &Event) -> &str {
    let mut body = text(&event.content, "body");
    let is_reply = event.relation().get("m.in_reply_to").is_some();
    if is_reply && body.starts_with("> <") {
        while let Some(line) = body.strip_prefix('>') {
            body = line.split_once('\n').map_or("", |(_, behind)| behind);
        }
    }
    body.trim()
}

/// Returns what was said to us: everything in a conversation of two, elsewhere what mentions us.
fn meant_for(event: &Event, known: &Known, body: &str, is_alone: bool) -> Option<String> {
    let mentioned = event
        .content
        .get("m.mentions")
        .and_then(|it| it.get("user_ids"));
    let mentioned = mentioned.and_then(|it| it.as_array()).into_iter().flatten();
    let is_mentioned = mentioned
        .into_iter()
        .any(|it| it.as_str() == Some(known.user.as_str()));
    let is_named = body
        .split_whitespace()
        .any(|word| word.trim_end_matches([':', ',']) == known.user);
    if !is_alone && !is_mentioned && !is_named {
        return None;
    }
    let names = [known.user.as_str(), known.name.as_str()];
    let mut names = names.into_iter().filter(|name| !name.is_empty());
    let rest = names.find_map(|name| {
        let rest = body
            .trim_start_matches('@')
            .strip_prefix(name.trim_start_matches('@'))?;
        let is_whole = rest.is_empty() || rest.starts_with([':', ',', ' ', '\n']);
        is_whole.then(|| rest.trim_start_matches([':', ',', ' ', '\n']))
    });
    let rest = rest.unwrap_or(body).trim();
    (!rest.is_empty()).then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(body: &str, more: &serde_json::Value) -> Event {
        let mut content = json!({ "msgtype": "m.text", "body": body });
        for (key, value) in more.as_object().unwrap() {
            content[key] = value.clone();
        }
        Event {
            content,
            ..Event::default()
        }
    }

    #[test]
    fn a_command_is_ours_behind_our_prefix_alone() {
        let rows = [
            (
                "!countersign approve appr_1 once",
                Some(("approve", "appr_1 once")),
            ),
            (
                "!CS  Deny appr_1 not  now",
                Some(("deny", "appr_1 not  now")),
            ),
            ("!cs /pending", Some(("pending", ""))),
            ("!cs", Some(("help", ""))),
            ("!cs frobnicate", Some(("frobnicate", ""))),
            ("!csapprove", None),
            ("!approve", None),
            ("approve", None),
            ("say !cs approve", None),
        ];
        for (text, expected) in rows {
            assert_eq!(command(text), expected, "{text}");
        }
    }

    #[test]
    fn a_quotation_is_nobodys_command() {
        let reply = json!({ "m.relates_to": { "m.in_reply_to": { "event_id": "$1" } } });
        let rows = [
            ("> <@eve:x> !cs approve\n> now\n\nno", &reply, "no"),
            ("> <@eve:x> !cs approve", &reply, ""),
            ("> <@eve:x> text", &json!({}), "> <@eve:x> text"),
            ("!cs approve", &reply, "!cs approve"),
        ];
        for (body, more, expected) in rows {
            assert_eq!(without_quotation(&said(body, more)), expected, "{body}");
        }
    }

    #[test]
    fn a_reply_is_below_what_it_replies_to_and_in_a_thread_below_its_root() {
        let relation = |it: serde_json::Value| said("x", &json!({ "m.relates_to": it }));
        let thread = |is_fallback: bool| {
            json!({
                "rel_type": "m.thread", "event_id": "$root", "is_falling_back": is_fallback,
                "m.in_reply_to": { "event_id": "$last" },
            })
        };
        let rows = [
            (json!({ "m.in_reply_to": { "event_id": "$1" } }), Some("$1")),
            (thread(true), Some("$root")),
            (thread(false), Some("$last")),
            (json!({ "rel_type": "m.replace", "event_id": "$1" }), None),
            (json!({}), None),
        ];
        for (row, expected) in rows {
            assert_eq!(relation(row.clone()).above(), expected, "{row}");
        }
    }

    #[test]
    fn only_what_mentions_us_is_meant_for_us_unless_we_are_alone() {
        let known = Known {
            user: "@cs:x".to_owned(),
            name: "Countersign".to_owned(),
            is_guest: false,
        };
        let mention = json!({ "m.mentions": { "user_ids": ["@cs:x"] } });
        let nobody = json!({ "m.mentions": {} });
        let rows = [
            ("hello", &nobody, true, Some("hello")),
            ("hello", &nobody, false, None),
            ("Countersign: clean up", &mention, false, Some("clean up")),
            ("@cs:x clean up", &mention, false, Some("clean up")),
            (
                "please @cs:x, look",
                &nobody,
                false,
                Some("please @cs:x, look"),
            ),
            ("Countersigner: clean up", &nobody, false, None),
            ("@cs:xy clean up", &nobody, false, None),
            ("Countersign", &mention, false, None),
        ];
        for (text, more, is_alone, expected) in rows {
            let meant = meant_for(&said(text, more), &known, text, is_alone);
            assert_eq!(meant.as_deref(), expected, "{text}");
        }
    }
}
