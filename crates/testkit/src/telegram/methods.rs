//! What each method does, and what it refuses.

use serde_json::{Map, Value, json};

use super::found;
use super::params::Params;
use super::server::Shared;
use super::world::{Limit, Message, Webhook, World, now};

/// Limits of the API that stand in its words alone.
const TEXT_UNITS_MAX: usize = 4096;
const CAPTION_UNITS_MAX: usize = 1024;
const DATA_BYTES_MAX: usize = 64;
const BUTTONS_MAX: usize = 100;
const ENTITIES_MAX: usize = 100;
const ALERT_CHARS_MAX: usize = 200;
const COMMANDS_MAX: usize = 100;
/// Entities a bot may send.
const ENTITIES: &[&str] = &[
    "bold",
    "italic",
    "underline",
    "strikethrough",
    "spoiler",
    "blockquote",
    "expandable_blockquote",
    "code",
    "pre",
    "text_link",
    "text_mention",
    "mention",
    "hashtag",
    "cashtag",
    "bot_command",
    "url",
    "email",
    "phone_number",
    "custom_emoji",
];

/// A refusal.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: u16,
    pub(super) words: String,
    pub(super) parameters: Value,
}

pub(super) type Done = Result<Value, Refusal>;

/// Returns a refusal in the real server's words.
pub(super) fn refused(code: u16, words: &str) -> Refusal {
    let name = match code {
        401 => "Unauthorized",
        403 => "Forbidden: ",
        409 => "Conflict: ",
        429 => "Too Many Requests: ",
        _ => "Bad Request: ",
    };
    Refusal {
        code,
        words: format!("{name}{words}"),
        parameters: Value::Null,
    }
}

fn bad(words: &str) -> Refusal {
    refused(400, words)
}

/// Does what a method does that needs no waiting.
pub(super) fn call(shared: &Shared, method: &str, params: &Params) -> Done {
    let limit = *shared
        .limit
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut world = shared.world();
    let world = &mut *world;
    let values = &params.values;
    match method {
        "getMe" => Ok(world.user(world.bot)),
        "sendMessage" => {
            let message = checked_message(world, values)?;
            put(world, message, limit)
        }
        "sendDocument" => {
            let message = checked_document(world, params)?;
            put(world, message, limit)
        }
        "editMessageText" => edit_text(world, values, limit),
        "editMessageReplyMarkup" => edit_markup(world, values),
        "answerCallbackQuery" => answer(shared, world, values),
        "setMyCommands" => {
            let commands = values.get("commands").cloned().unwrap_or_default();
            check_commands(commands.as_array().map_or(&[], Vec::as_slice))?;
            world.commands.insert(menu_key(values), commands);
            Ok(json!(true))
        }
        "getMyCommands" => {
            let kept = world.commands.get(&menu_key(values));
            Ok(kept.cloned().unwrap_or_else(|| json!([])))
        }
        "deleteMyCommands" => {
            world.commands.remove(&menu_key(values));
            Ok(json!(true))
        }
        "setWebhook" => set_webhook(world, values),
        "deleteWebhook" => {
            world.webhook = None;
            Ok(json!(true))
        }
        "getWebhookInfo" => Ok(webhook_info(world)),
        "getChat" => {
            let chat = reachable(world, values)?;
            Ok(world.place(chat))
        }
        "sendChatAction" => {
            reachable(world, values)?;
            if text(values, "action") != "typing" {
                return Err(bad("wrong parameter action in request"));
            }
            Ok(json!(true))
        }
        "getChatMember" => member(world, values),
        _ => Err(refused(404, "method not found")),
    }
}

fn put(world: &mut World, message: Message, limit: Option<Limit>) -> Done {
    let chat = message.chat;
    take(world, chat, limit)?;
    let id = world.put(message);
    shown(world, chat, id)
}

fn checked_document(world: &World, params: &Params) -> Result<Message, Refusal> {
    let mut message = checked_place(world, &params.values)?;
    let caption = text(&params.values, "caption");
    if units(caption) > CAPTION_UNITS_MAX {
        return Err(bad("message caption is too long"));
    }
    caption.clone_into(&mut message.text);
    let file = params.files.get("document").and_then(Value::as_str);
    let file = file.ok_or_else(|| bad("there is no document in the request"))?;
    message.document = Some(file.to_owned());
    Ok(message)
}

fn edit_text(world: &mut World, values: &Map<String, Value>, limit: Option<Limit>) -> Done {
    let known = own_message(world, values)?;
    let (text, entities) = checked_text(values)?;
    let markup = checked_markup(values, &["inline_keyboard"])?;
    let is_same = known.text == text && known.entities == entities;
    if is_same && keys(&known.markup) == keys(&markup) {
        return Err(bad(
            "message is not modified: specified new message content and reply markup are exactly \
             the same as a current content and reply markup of the message",
        ));
    }
    take(world, known.chat, limit)?;
    let found = found::entities(&text, &entities);
    change(world, &known, |message| {
        message.text = text;
        message.entities = entities;
        message.found = found;
        message.markup = markup;
    });
    shown(world, known.chat, known.id)
}

fn edit_markup(world: &mut World, values: &Map<String, Value>) -> Done {
    let known = own_message(world, values)?;
    let markup = checked_markup(values, &["inline_keyboard"])?;
    if keys(&known.markup) == keys(&markup) {
        return Err(bad("message is not modified"));
    }
    change(world, &known, |message| message.markup = markup);
    shown(world, known.chat, known.id)
}

fn set_webhook(world: &mut World, values: &Map<String, Value>) -> Done {
    let (url, secret) = (text(values, "url"), text(values, "secret_token"));
    let is_letter = |it: char| it.is_ascii_alphanumeric() || "_-".contains(it);
    let fits = (1..=256).contains(&secret.len()) && secret.chars().all(is_letter);
    if values.contains_key("secret_token") && !fits {
        return Err(bad("secret token contains unallowed characters"));
    }
    // The real server wants https; on this machine there is no certificate to be had.
    let is_local = url.starts_with("http://127.0.0.1:");
    if !url.is_empty() && !url.starts_with("https://") && !is_local {
        return Err(bad(
            "bad webhook: An HTTPS URL must be provided for webhook",
        ));
    }
    world.webhook = (!url.is_empty()).then(|| Webhook {
        url: url.to_owned(),
        secret: secret.to_owned(),
        last_error: String::new(),
    });
    Ok(json!(true))
}

fn webhook_info(world: &World) -> Value {
    let pending = world.updates.len();
    let url = world.webhook.as_ref().map_or("", |it| it.url.as_str());
    let mut info =
        json!({ "url": url, "has_custom_certificate": false, "pending_update_count": pending });
    let error = world.webhook.as_ref().map(|it| &it.last_error);
    if let (Some(error), Some(info)) = (error.filter(|it| !it.is_empty()), info.as_object_mut()) {
        info.insert("last_error_message".to_owned(), json!(error));
        info.insert("last_error_date".to_owned(), json!(now()));
    }
    info
}

fn member(world: &World, values: &Map<String, Value>) -> Done {
    let chat = reachable(world, values)?;
    let user = values.get("user_id").and_then(Value::as_i64).unwrap_or(0);
    if !world.users.contains_key(&user) {
        return Err(bad("user not found"));
    }
    let place = world.places.get(&chat);
    let status = place.and_then(|place| place.members.get(&user));
    let status = status.copied().unwrap_or("left");
    let mut shown = json!({ "status": status, "user": world.user(user) });
    if let (true, Some(shown)) = (status == "restricted", shown.as_object_mut()) {
        shown.insert("is_member".to_owned(), json!(true));
        shown.insert("can_send_messages".to_owned(), json!(false));
    }
    Ok(shown)
}

fn shown(world: &World, chat: i64, id: i64) -> Done {
    let message = world
        .message(chat, id)
        .ok_or_else(|| bad("message not found"))?;
    Ok(world.shown(message, true))
}

fn change(world: &mut World, known: &Message, change: impl FnOnce(&mut Message)) {
    let mut messages = world.messages.iter_mut();
    if let Some(message) = messages.find(|it| (it.chat, it.id) == (known.chat, known.id)) {
        change(message);
        message.edits += 1;
    }
}

fn take(world: &mut World, chat: i64, limit: Option<Limit>) -> Result<(), Refusal> {
    world.take(chat, limit).map_err(|seconds| Refusal {
        parameters: json!({ "retry_after": seconds }),
        ..refused(429, &format!("retry after {seconds}"))
    })
}

/// Returns a place that the bot may write to.
fn reachable(world: &World, values: &Map<String, Value>) -> Result<i64, Refusal> {
    let chat = values
        .get("chat_id")
        .and_then(Value::as_i64)
        .ok_or_else(|| bad("chat not found"))?;
    let Some(place) = world.places.get(&chat) else {
        return Err(if world.users.contains_key(&chat) {
            refused(403, "bot can't initiate conversation with a user")
        } else {
            bad("chat not found")
        });
    };
    if let Some(new) = place.moved_to {
        return Err(Refusal {
            parameters: json!({ "migrate_to_chat_id": new }),
            ..bad("group chat was upgraded to a supergroup chat")
        });
    }
    match place.members.get(&world.bot).copied() {
        Some("kicked") | None => Err(refused(403, "bot was kicked from the supergroup chat")),
        Some(_) => Ok(chat),
    }
}

fn checked_place(world: &World, values: &Map<String, Value>) -> Result<Message, Refusal> {
    let chat = reachable(world, values)?;
    let place = world.places.get(&chat).cloned().unwrap_or_default();
    if place.members.get(&world.bot).copied() == Some("restricted") {
        return Err(bad("not enough rights to send text messages to the chat"));
    }
    let topic = values.get("message_thread_id").and_then(Value::as_i64);
    match topic.map(|topic| place.topics.get(&topic)) {
        Some(None) => return Err(bad("message thread not found")),
        Some(Some(false)) => return Err(bad("TOPIC_CLOSED")),
        Some(Some(true)) | None => {}
    }
    let reply = values.get("reply_parameters");
    let reply_to = reply
        .and_then(|it| it.get("message_id"))
        .and_then(Value::as_i64);
    let is_there = reply_to.is_none_or(|id| world.message(chat, id).is_some());
    let may_miss = reply.and_then(|it| it.get("allow_sending_without_reply")) == Some(&json!(true));
    if !is_there && !may_miss {
        return Err(bad("message to be replied not found"));
    }
    Ok(Message {
        id: 0,
        chat,
        topic,
        from: world.bot,
        text: String::new(),
        entities: Vec::new(),
        found: Vec::new(),
        markup: Value::Null,
        reply_to: reply_to.filter(|_| is_there),
        document: None,
        edits: 0,
        date: now(),
    })
}

fn checked_message(world: &World, values: &Map<String, Value>) -> Result<Message, Refusal> {
    let (text, entities) = checked_text(values)?;
    let markup = checked_markup(values, &["inline_keyboard", "force_reply"])?;
    Ok(Message {
        found: found::entities(&text, &entities),
        text,
        entities,
        markup,
        ..checked_place(world, values)?
    })
}

fn checked_text(values: &Map<String, Value>) -> Result<(String, Vec<Value>), Refusal> {
    let text = text(values, "text");
    if text.trim().is_empty() {
        return Err(bad("message text is empty"));
    }
    if text.trim() != text {
        return Err(bad(
            "strict: the real server would cut the blanks off and move the entities",
        ));
    }
    if units(text) > TEXT_UNITS_MAX {
        return Err(bad("message is too long"));
    }
    if values.contains_key("parse_mode") {
        return Err(bad("strict: markup is not parsed here"));
    }
    let entities = values
        .get("entities")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    if entities.len() > ENTITIES_MAX {
        return Err(bad(
            "strict: the real server ignores the rest of the entities",
        ));
    }
    for entity in &entities {
        check_entity(text, entity)?;
    }
    Ok((text.to_owned(), entities))
}

fn check_entity(text: &str, entity: &Value) -> Result<(), Refusal> {
    let kind = entity.get("type").and_then(Value::as_str).unwrap_or("");
    if !ENTITIES.contains(&kind) {
        return Err(bad("unknown entity type"));
    }
    let number = |key: &str| {
        let number = entity.get(key).and_then(Value::as_u64);
        number.and_then(|it| usize::try_from(it).ok())
    };
    let (Some(offset), Some(length)) = (number("offset"), number("length")) else {
        return Err(bad("entity with a negative place"));
    };
    let end = offset + length;
    if length == 0 || end > units(text) {
        return Err(bad("strict: entity outside the text"));
    }
    // In the middle of a character there is no place for an entity.
    let mut at = 0;
    let mut borders: Vec<usize> = text
        .chars()
        .map(|letter| {
            let here = at;
            at += letter.len_utf16();
            here
        })
        .collect();
    borders.push(at);
    if borders.binary_search(&offset).is_err() || borders.binary_search(&end).is_err() {
        return Err(bad(
            "entity beginning or ending in the middle of a UTF-16 symbol",
        ));
    }
    Ok(())
}

fn checked_markup(values: &Map<String, Value>, kinds: &[&str]) -> Result<Value, Refusal> {
    let Some(markup) = values.get("reply_markup") else {
        return Ok(Value::Null);
    };
    if !kinds.iter().any(|kind| markup.get(kind).is_some()) {
        return Err(bad("inline keyboard expected"));
    }
    let hint = markup
        .get("input_field_placeholder")
        .and_then(Value::as_str);
    if hint.is_some_and(|hint| hint.is_empty() || hint.chars().count() > 64) {
        return Err(bad("input field placeholder is too long"));
    }
    let rows = markup.get("inline_keyboard").and_then(Value::as_array);
    let buttons: Vec<&Value> = rows
        .into_iter()
        .flatten()
        .filter_map(Value::as_array)
        .flatten()
        .collect();
    if buttons.len() > BUTTONS_MAX {
        return Err(bad("too many buttons"));
    }
    for button in buttons {
        let part = |key: &str| button.get(key).and_then(Value::as_str).unwrap_or("");
        if part("text").trim().is_empty() {
            return Err(bad("inline keyboard button text is empty"));
        }
        if !(1..=DATA_BYTES_MAX).contains(&part("callback_data").len()) {
            return Err(bad("BUTTON_DATA_INVALID"));
        }
        let style = button.get("style").and_then(Value::as_str);
        if style.is_some_and(|style| !["danger", "success", "primary"].contains(&style)) {
            return Err(bad("unknown button style"));
        }
    }
    Ok(markup.clone())
}

/// Returns what can be pressed; an empty keyboard is none.
fn keys(markup: &Value) -> Vec<Value> {
    let rows = markup.get("inline_keyboard").and_then(Value::as_array);
    rows.into_iter()
        .flatten()
        .filter_map(Value::as_array)
        .flatten()
        .cloned()
        .collect()
}

/// Returns a message of the bot itself.
fn own_message(world: &World, values: &Map<String, Value>) -> Result<Message, Refusal> {
    let chat = reachable(world, values)?;
    let id = values
        .get("message_id")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    let message = world.message(chat, id);
    let message = message.ok_or_else(|| bad("message to edit not found"))?;
    if message.from != world.bot {
        return Err(bad("message can't be edited"));
    }
    Ok(message.clone())
}

fn answer(shared: &Shared, world: &mut World, values: &Map<String, Value>) -> Done {
    let id = text(values, "callback_query_id");
    if text(values, "text").chars().count() > ALERT_CHARS_MAX {
        return Err(bad("MESSAGE_TOO_LONG"));
    }
    let old = "query is too old and response timeout expired or query ID is invalid";
    let window = *shared
        .answer_within
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let query = world.queries.get_mut(id).ok_or_else(|| bad(old))?;
    if query.at.elapsed() > window {
        return Err(bad(old));
    }
    query.answer = Some(json!({
        "text": text(values, "text"),
        "show_alert": values.get("show_alert").and_then(Value::as_bool).unwrap_or(false),
    }));
    Ok(json!(true))
}

fn check_commands(commands: &[Value]) -> Result<(), Refusal> {
    if commands.len() > COMMANDS_MAX {
        return Err(bad("too many commands"));
    }
    for command in commands {
        let part = |key: &str| command.get(key).and_then(Value::as_str).unwrap_or("");
        let name = part("command");
        let fits = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
        if !(1..=32).contains(&name.len()) || !name.chars().all(fits) {
            return Err(bad("BOT_COMMAND_INVALID"));
        }
        if !(1..=256).contains(&part("description").chars().count()) {
            return Err(bad("BOT_COMMAND_DESCRIPTION_INVALID"));
        }
    }
    Ok(())
}

fn menu_key(values: &Map<String, Value>) -> String {
    let scope = values
        .get("scope")
        .map_or_else(|| "default".to_owned(), Value::to_string);
    format!("{scope} {}", text(values, "language_code"))
}

fn text<'a>(values: &'a Map<String, Value>, key: &str) -> &'a str {
    values.get(key).and_then(Value::as_str).unwrap_or("")
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}
